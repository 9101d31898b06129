//! The options after `cargo bench --`, and the amount of work that they mean.

use std::{path::PathBuf, time::Duration};

use clap::Parser;

use crate::measure::Amount;

/// Measure the cost of the bridge compared to a plain relay
///
/// Compares a direct pipe, a relay that only copies, a proxy that parses and prints each line, and the bridge.
/// Each round takes a sample of each of them; a ratio is the median of the rounds' ratios to the relay.
/// The exit code is 1 if anything did not arrive as it was sent; a missed target is only reported.
#[derive(Debug, Parser)]
#[command(name = "relay", override_usage = "cargo bench -- [OPTIONS]", max_term_width = 100)]
pub(crate) struct Options {
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,

    /// Count this many rounds, after one that warms up [default: 11, or 3 if quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Check in a few seconds that everything works; the figures are not meaningful
    #[arg(long)]
    quick: bool,

    /// Let the scheduler place the processes, instead of keeping all of them on one CPU
    ///
    /// On one CPU the ratios repeat within a few per cent, even under other load. Spread over several CPUs, each
    /// hand-over has the cost of waking another CPU, which is often more than all the work of a proxy.
    #[arg(long)]
    spread: bool,

    /// Measure MCP through `askbridge mcp-proxy`, in place of ACP and others through `askbridge run`
    #[arg(long)]
    pub(crate) mcp: bool,

    /// Measure while this many subscribers follow the bridge's questions
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    subscribers: usize,

    /// Run only the rows whose name contains this
    #[arg(long, value_name = "SUBSTRING")]
    pub(crate) only: Option<String>,

    /// Measure this program as the bridge, such as one of `packaging/build`
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,

    /// Passed by cargo to a benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: u32,
    /// Whether the processes of a run may use several CPUs.
    pub(crate) spread: bool,
    /// The duration of a transfer; its volume follows from the rate of the previous sample.
    pub(crate) transfer: Duration,
    /// The amount of a counted sample, without its volume, and of a warm-up sample, which compares the contents.
    pub(crate) counted: Amount,
    pub(crate) warm_up: Amount,
    /// The bytes of the long line, and the bytes that are sent to a stalled client.
    pub(crate) long_line: usize,
    pub(crate) stalled: u64,
}

impl Options {
    /// Returns the amount of work. Without `--bench` the benchmark runs as a test, by `cargo test --all-targets`, so it
    /// is quick.
    pub(crate) fn effort(&self) -> Effort {
        let quick = self.quick || !self.bench;
        let mut effort = if quick { QUICK } else { FULL };
        effort.rounds = self.rounds.unwrap_or(effort.rounds);
        effort.spread = self.spread;
        effort.counted.subscribers = self.subscribers;
        effort.warm_up.subscribers = self.subscribers;
        effort
    }
}

const WARM_UP: Amount = Amount {
    volume: 4 << 20,
    contents: true,
    pings: 200,
    turns: 50,
    starts: 1,
    stall: Duration::from_millis(300),
    subscribers: 0,
};

const FULL: Effort = Effort {
    rounds: 11,
    spread: false,
    transfer: Duration::from_millis(200),
    counted: Amount {
        contents: false,
        pings: 4000,
        turns: 1000,
        starts: 10,
        stall: Duration::from_secs(2),
        ..WARM_UP
    },
    warm_up: WARM_UP,
    long_line: 1 << 30,
    stalled: 256 << 20,
};

const QUICK: Effort = Effort {
    rounds: 3,
    transfer: Duration::from_millis(20),
    counted: Amount { contents: false, pings: 500, turns: 100, starts: 3, ..WARM_UP },
    long_line: 64 << 20,
    stalled: 32 << 20,
    ..FULL
};
