//! The rows of the tables: the work, the metrics with their units, and the targets of the bridge.

use serde::Serialize;

use crate::{
    kind::{Channel, Kind},
    lines::{Direction, Shape, Speech},
};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) work: Work,
}

/// The work of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// As many lines one way as fit into the time.
    Transfer(Shape, Channel),
    /// This number of bytes one way, the first that pass.
    Burst(Shape, u64),
    /// A request and its response, one at a time.
    Ping(Channel),
    /// A request of MCP and its response, one at a time.
    Call(Call),
    /// A prompt, what the agent asks, its answer, the prompt's response.
    Asking(Asks),
    /// From the start of the process to the response to `initialize`.
    Start(Speech),
    /// Nothing, once the peers know each other, to measure memory.
    Idle(Speech),
    /// This many open questions, to measure memory.
    Open(u32),
    /// A single long line, to measure memory.
    LongLine(Shape),
    /// This number of bytes to a client that does not read for a while, to measure memory.
    Stall(Shape, u64),
}

/// A request of MCP and its response, with the bytes of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// The bytes of a call of a tool. Other requests are as long as they are.
    pub(crate) request: usize,
    pub(crate) response: usize,
}

impl Call {
    /// Returns whether the bridge takes note of it, and its length does not outweigh that.
    pub(crate) fn is_noted(self) -> bool {
        self.is_short() && self.method != "ping"
    }

    /// Returns whether neither is long.
    pub(crate) fn is_short(self) -> bool {
        self.request.max(self.response) < 64 * KIB
    }
}

/// What the agent asks in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A native question.
    Question,
    /// A permission to run a command.
    Permission,
}

impl Asks {
    /// Returns its name, in the table and for the agent.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Asks::Question => "question",
            Asks::Permission => "permission",
        }
    }

    /// Returns the result that answers it.
    pub(crate) fn result(self) -> &'static str {
        match self {
            Asks::Question => r#"{"status":"answered","answers":[["a"]]}"#,
            Asks::Permission => r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#,
        }
    }
}

impl Work {
    /// Returns whether the row measures only memory, for which one run is enough.
    pub(crate) fn is_for_memory(self) -> bool {
        matches!(self, Work::Idle(_) | Work::Open(_) | Work::LongLine(_) | Work::Stall(..))
    }

    /// Returns the kinds that the row compares. The naive proxy has no memory rows: it would hold the long line several
    /// times.
    pub(crate) fn kinds(self) -> &'static [Kind] {
        if self.is_for_memory() { &[Kind::Relay, Kind::Bridge] } else { &Kind::ALL }
    }
}

/// Returns all rows, with a long line of `long_line` bytes and `stalled` bytes for a stalled client.
pub(crate) fn all(long_line: usize, stalled: u64) -> Vec<Row> {
    let directions = [Direction::ToAgent, Direction::ToClient];
    let mut rows = Vec::new();
    for direction in directions {
        for (line, write) in [
            (200, 200),
            (200, 64 * KIB),
            (4 * KIB, 4 * KIB),
            (4 * KIB, 64 * KIB),
            (64 * KIB, 64 * KIB),
            (MIB, MIB),
        ] {
            rows.push(transfer(Shape { speech: Speech::Acp, direction, line, write }, Channel::Pipes));
        }
        rows.push(transfer(
            Shape { speech: Speech::Acp, direction, line: 4 * KIB, write: 64 * KIB },
            Channel::Sockets,
        ));
    }
    for (speech, direction, what) in [
        (Speech::Acp, Direction::ToAgent, "lines"),
        (Speech::Images, Direction::ToAgent, "prompts"),
        (Speech::Acp, Direction::ToClient, "lines"),
    ] {
        let name = format!("{}, the first 32 {what} of 1 MiB", direction.name());
        let shape = Shape { speech, direction, line: MIB, write: MIB };
        rows.push(Row { name, work: Work::Burst(shape, 32 * MIB as u64) });
    }
    for speech in [Speech::Claude, Speech::Codex] {
        for direction in directions {
            for line in [200, 4 * KIB] {
                let shape = Shape { speech, direction, line, write: 64 * KIB };
                let Row { name, work } = transfer(shape, Channel::Pipes);
                rows.push(Row { name: format!("{name}, {}", speech.name()), work });
            }
        }
    }
    for channel in [Channel::Pipes, Channel::Sockets] {
        rows.push(Row { name: format!("ping{}", channel.suffix()), work: Work::Ping(channel) });
    }
    for asks in [Asks::Question, Asks::Permission] {
        rows.push(Row { name: asks.name().to_owned(), work: Work::Asking(asks) });
    }
    rows.push(Row { name: "start".to_owned(), work: Work::Start(Speech::Acp) });
    rows.push(Row { name: "idle".to_owned(), work: Work::Idle(Speech::Acp) });
    rows.push(Row { name: "1,024 open questions".to_owned(), work: Work::Open(1024) });
    for direction in directions {
        let shape = Shape { speech: Speech::Acp, direction, line: long_line, write: MIB };
        let name = format!("a line of {}, {}", size(long_line), direction.name());
        rows.push(Row { name, work: Work::LongLine(shape) });
    }
    let shape = Shape { speech: Speech::Acp, direction: Direction::ToClient, line: 4 * KIB, write: 64 * KIB };
    let name = format!("{} to a client that stalls", size(usize::try_from(stalled).unwrap_or(usize::MAX)));
    rows.push(Row { name, work: Work::Stall(shape, stalled) });
    rows
}

/// Returns the rows of MCP: what passes between a host and a server that asks nothing.
pub(crate) fn mcp(long_line: usize, stalled: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (speech, what) in [(Speech::Mcp, "progress"), (Speech::McpLog, "log")] {
        for (line, write) in [(200, 200), (200, 64 * KIB), (4 * KIB, 64 * KIB)] {
            let shape = Shape { speech, direction: Direction::ToClient, line, write };
            let work = Work::Transfer(shape, Channel::Pipes);
            let writes =
                if line == write { "one a write".to_owned() } else { format!("{} a write", size(write)) };
            rows.push(Row { name: format!("{what}, {}, {writes}", size(line)), work });
        }
    }
    for (name, method, request, response) in [
        ("ping", "ping", 0, 200),
        ("tools/call", "tools/call", 200, 200),
        ("tools/call, a result of 64 KiB", "tools/call", 200, 64 * KIB),
        ("tools/call, a result of 1 MiB", "tools/call", 200, MIB),
        ("tools/call, arguments of 64 KiB", "tools/call", 64 * KIB, 200),
        ("tools/call, arguments of 1 MiB", "tools/call", MIB, 200),
        ("resources/read, 4 KiB", "resources/read", 0, 4 * KIB),
        ("resources/read, 1 MiB", "resources/read", 0, MIB),
    ] {
        rows.push(Row { name: name.to_owned(), work: Work::Call(Call { method, request, response }) });
    }
    rows.push(Row { name: "start".to_owned(), work: Work::Start(Speech::Mcp) });
    rows.push(Row { name: "idle".to_owned(), work: Work::Idle(Speech::Mcp) });
    rows.push(Row { name: "idle, `askbridge run`".to_owned(), work: Work::Idle(Speech::Acp) });
    let shape = Shape { speech: Speech::Mcp, direction: Direction::ToClient, line: long_line, write: MIB };
    rows.push(Row { name: format!("a line of {}", size(long_line)), work: Work::LongLine(shape) });
    let shape = Shape { line: 4 * KIB, write: 64 * KIB, ..shape };
    let name = format!("{} to a host that stalls", size(usize::try_from(stalled).unwrap_or(usize::MAX)));
    rows.push(Row { name, work: Work::Stall(shape, stalled) });
    rows
}

fn transfer(shape: Shape, channel: Channel) -> Row {
    let writes = if shape.line == shape.write {
        "one a write".to_owned()
    } else {
        format!("{} a write", size(shape.write))
    };
    let name = format!("{}, {}, {writes}{}", shape.direction.name(), size(shape.line), channel.suffix());
    Row { name, work: Work::Transfer(shape, channel) }
}

fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes >= KIB * MIB => format!("{} GiB", bytes / (KIB * MIB)),
        bytes if bytes >= MIB => format!("{} MiB", bytes / MIB),
        bytes if bytes >= KIB => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} B"),
    }
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Metric {
    Throughput,
    PingMedian,
    PingTail,
    /// What a request takes longer than with the relay.
    Added,
    Turn,
    Start,
    Cpu,
    Memory,
    Anonymous,
}

/// A target of the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// At least this many times the relay's figure.
    RatioAtLeast(f64),
    /// At most this many times the relay's figure.
    RatioAtMost(f64),
    /// At most this much.
    AtMost(f64),
}

impl Metric {
    pub(crate) const ALL: [Metric; 9] = [
        Metric::Throughput,
        Metric::PingMedian,
        Metric::PingTail,
        Metric::Added,
        Metric::Turn,
        Metric::Start,
        Metric::Cpu,
        Metric::Memory,
        Metric::Anonymous,
    ];

    /// Returns the title of its table and the unit.
    pub(crate) fn title(self) -> (&'static str, &'static str) {
        match self {
            Metric::Throughput => ("Throughput", "MB/s"),
            Metric::PingMedian => ("Ping, median", "µs"),
            Metric::PingTail => ("Ping, 99 % are at least as fast", "µs"),
            Metric::Added => ("Longer than with the relay, median", "µs"),
            Metric::Turn => ("Turn with a question or a permission, median", "µs"),
            Metric::Start => ("Start to the response to initialize", "ms"),
            Metric::Cpu => ("CPU of the proxy alone", "s/GB"),
            Metric::Memory => ("Peak memory of the proxy alone", "MiB"),
            Metric::Anonymous => ("Peak memory of the proxy alone, without files", "MiB"),
        }
    }

    /// Returns the target of the bridge in a row of this work, or in the row for the most memory.
    pub(crate) fn target(self, work: Option<Work>) -> Option<Target> {
        let is_short = matches!(work, Some(Work::Transfer(shape, _)) if shape.line < 4 * KIB);
        let is_mcp = matches!(work, Some(Work::Transfer(shape, _)) if shape.speech.is_mcp());
        let call = match work {
            Some(Work::Call(call)) => Some(call),
            _ => None,
        };
        match self {
            Metric::Throughput if is_mcp => Some(Target::RatioAtLeast(0.97)),
            Metric::Throughput => Some(Target::RatioAtLeast(0.9)),
            Metric::Added => call.filter(|call| call.is_noted()).map(|_| Target::AtMost(30.0)),
            Metric::PingMedian if call.is_some_and(Call::is_noted) => None,
            Metric::PingMedian if call.is_some() => Some(Target::RatioAtMost(1.03)),
            Metric::PingMedian => Some(Target::RatioAtMost(1.15)),
            Metric::PingTail => None,
            Metric::Turn => Some(Target::RatioAtMost(2.0)),
            Metric::Start => Some(Target::RatioAtMost(1.35)),
            Metric::Cpu if is_short => Some(Target::RatioAtMost(4.0)),
            Metric::Cpu => Some(Target::RatioAtMost(2.0)),
            Metric::Memory => Some(Target::AtMost(12.0)),
            Metric::Anonymous if matches!(work, Some(Work::Idle(_))) => Some(Target::AtMost(1.0)),
            Metric::Anonymous => Some(Target::AtMost(3.0)),
        }
    }
}
