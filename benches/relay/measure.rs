//! Takes one sample of one row with one subject, and checks that the bytes arrived as they were sent.
//! Choosing the samples and combining them is left to `rounds` and `figures`.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use crate::{
    kind::{Channel, Kind},
    lines::{self, Direction, GO, Shape, Speech, Tally},
    process::{self, Subject},
    procfs::Memory,
    rows::{Asks, Call, Metric, Work},
};

/// The bytes of a ping's request, and of its response.
const PING: usize = 200;
/// The timeout of a sample, and of a sample with a long line or a stall.
const LIMIT: Duration = Duration::from_secs(15);
const LONG_LIMIT: Duration = Duration::from_secs(120);

/// The amount of work of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    /// The bytes of a transfer.
    pub(crate) volume: u64,
    /// Whether the contents are compared as well. This takes time, so it is off while time is measured.
    pub(crate) contents: bool,
    pub(crate) pings: u32,
    pub(crate) turns: u32,
    pub(crate) starts: u32,
    /// How long the client of a stall does not read.
    pub(crate) stall: Duration,
    /// The number of subscribers that follow the bridge's questions meanwhile.
    pub(crate) subscribers: usize,
}

/// The result of a sample.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) figures: Vec<(Metric, f64)>,
    /// The memory of the proxy.
    pub(crate) memory: Option<Memory>,
}

/// Takes a sample.
pub(crate) fn sample(work: Work, kind: Kind, amount: &Amount) -> io::Result<Sample> {
    match work {
        Work::Transfer(shape, channel) => {
            let total = shape.whole_lines(amount.volume);
            transfer(shape, channel, kind, total, amount)
        }
        Work::Burst(shape, total) => burst(shape, kind, total, amount),
        Work::Ping(channel) => ping(channel, kind, amount),
        Work::Call(call) => calls(call, kind, amount),
        Work::Asking(asks) => asking(asks, kind, amount),
        Work::Start(speech) => start(speech, kind, amount.starts),
        Work::Idle(speech) => idle(speech, kind),
        Work::Open(count) => open(kind, count),
        Work::LongLine(shape) => long_line(shape, kind),
        Work::Stall(shape, total) => stall(shape, kind, total, amount.stall),
    }
}

/// Returns the command line of the agent for a transfer.
fn agent_for(shape: Shape, total: u64, contents: bool) -> Vec<String> {
    match shape.direction {
        Direction::ToAgent => vec!["sink".to_owned(), total.to_string(), contents.to_string()],
        Direction::ToClient => {
            vec![
                "source".to_owned(),
                shape.line.to_string(),
                shape.write.to_string(),
                total.to_string(),
                shape.speech.name().to_owned(),
            ]
        }
    }
}

fn transfer(shape: Shape, channel: Channel, kind: Kind, total: u64, amount: &Amount) -> io::Result<Sample> {
    let contents = amount.contents && kind.keeps_contents();
    process::with(kind, channel, shape.speech, &agent_for(shape, total, contents), LIMIT, |subject| {
        subject.expect_line("_bench/ready")?;
        let _subscribers = subject.follow(amount.subscribers)?;
        let cpu_before = subject.cpu();
        let took = carry(subject, shape, total, contents)?;
        let gigabytes = total as f64 / 1e9;
        let mut figures = vec![(Metric::Throughput, gigabytes * 1e3 / took.as_secs_f64())];
        if let Some((after, before)) = subject.cpu().zip(cpu_before) {
            figures.push((Metric::Cpu, after.saturating_sub(before).as_secs_f64() / gigabytes));
        }
        Ok(Sample { figures, memory: subject.memory() })
    })
}

/// Moves the first bytes of several processes one way. Returns the medians.
fn burst(shape: Shape, kind: Kind, total: u64, amount: &Amount) -> io::Result<Sample> {
    let taken: io::Result<Vec<Sample>> =
        (0..amount.starts).map(|_| transfer(shape, Channel::Pipes, kind, total, amount)).collect();
    let taken = taken?;
    let median_of = |metric| {
        let of_metric =
            |sample: &Sample| sample.figures.iter().find(|figure| figure.0 == metric).map(|figure| figure.1);
        let mut values: Vec<f64> = taken.iter().filter_map(of_metric).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).map(|value| (metric, *value))
    };
    let figures = [Metric::Throughput, Metric::Cpu].into_iter().filter_map(median_of).collect();
    let memory = taken.iter().filter_map(|sample| sample.memory).reduce(Memory::max);
    Ok(Sample { figures, memory })
}

/// Moves the bytes one way. One thread is enough, because nothing comes back until all bytes are sent.
fn carry(subject: &mut Subject, shape: Shape, total: u64, contents: bool) -> io::Result<Duration> {
    let mut sent = Tally::new(contents);
    let mut arrived = Tally::new(contents);
    let began = Instant::now();
    let took = match shape.direction {
        Direction::ToAgent => {
            shape.write_to(subject.input(), total, &mut sent)?;
            let line = subject.expect_line("_bench/received")?;
            let took = began.elapsed();
            arrived = Tally::from_line(&line)?;
            took
        }
        Direction::ToClient => {
            subject.input().write_all(GO)?;
            subject.drain(total, &mut arrived)?;
            let took = began.elapsed();
            replay(shape, total, &mut sent)?;
            took
        }
    };
    compare(&sent, &arrived)?;
    Ok(took)
}

/// Computes the tally of the agent. Without a digest there is no need to generate the bytes again.
fn replay(shape: Shape, total: u64, sent: &mut Tally) -> io::Result<()> {
    if !sent.has_digest() {
        sent.bytes = total;
        return Ok(());
    }
    shape.write_to(&mut io::sink(), total, sent)
}

fn compare(sent: &Tally, arrived: &Tally) -> io::Result<()> {
    if sent == arrived {
        return Ok(());
    }
    Err(io::Error::other(match (sent.bytes, arrived.bytes) {
        (sent, arrived) if sent == arrived => {
            "the number of bytes is right, but their contents differ".to_owned()
        }
        (sent, arrived) => format!("{sent} bytes were sent, but {arrived} arrived"),
    }))
}

fn ping(channel: Channel, kind: Kind, amount: &Amount) -> io::Result<Sample> {
    let agent = ["echo".to_owned(), PING.to_string()];
    process::with(kind, channel, Speech::Acp, &agent, LIMIT, |subject| {
        let _subscribers = subject.follow(amount.subscribers)?;
        let pings = amount.pings;
        let mut times = Vec::new();
        let mut response = Vec::new();
        // The first tenth only warms up.
        for id in 0..u64::from(pings + pings / 10) {
            let request = lines::ping(id, PING);
            let began = Instant::now();
            subject.input().write_all(&request)?;
            subject.read_line(&mut response)?;
            let took = began.elapsed();
            if response.len() != PING || lines::id_of(&response) != lines::id_of(&request) {
                return Err(io::Error::other(format!("no answer to a ping: {}", lines::excerpt(&response))));
            }
            if id >= u64::from(pings / 10) {
                times.push(took);
            }
        }
        times.sort_unstable();
        let figures = vec![
            (Metric::PingMedian, microseconds(quantile(&times, 50))),
            (Metric::PingTail, microseconds(quantile(&times, 99))),
        ];
        Ok(Sample { figures, memory: subject.memory() })
    })
}

/// Sends requests of MCP one after the other. A long one is sent less often.
fn calls(call: Call, kind: Kind, amount: &Amount) -> io::Result<Sample> {
    let server = ["server".to_owned(), call.response.to_string()];
    process::with(kind, Channel::Pipes, Speech::Mcp, &server, LIMIT, |subject| {
        initialize(subject, Speech::Mcp)?;
        let calls = if call.is_short() { amount.pings } else { amount.pings.div_ceil(20) };
        let mut times = Vec::new();
        let mut response = Vec::new();
        // The first tenth only warms up.
        for id in 1..=u64::from(calls + calls / 10) {
            let request = lines::call(call.method, id, call.request);
            let began = Instant::now();
            subject.input().write_all(&request)?;
            subject.read_line(&mut response)?;
            let took = began.elapsed();
            if response.len() != call.response || lines::id_of(&response) != lines::id_of(&request) {
                return Err(io::Error::other(format!("no answer to a call: {}", lines::excerpt(&response))));
            }
            if id > u64::from(calls / 10) {
                times.push(took);
            }
        }
        times.sort_unstable();
        let median = microseconds(quantile(&times, 50));
        let tail = (Metric::PingTail, microseconds(quantile(&times, 99)));
        let figures = vec![(Metric::PingMedian, median), (Metric::Added, median), tail];
        Ok(Sample { figures, memory: subject.memory() })
    })
}

/// Introduces the client to the agent.
fn initialize(subject: &mut Subject, speech: Speech) -> io::Result<()> {
    subject.input().write_all(speech.initialize().as_bytes())?;
    subject.expect_line("\"protocolVersion\":").map(drop)
}

fn asking(asks: Asks, kind: Kind, amount: &Amount) -> io::Result<Sample> {
    let agent = ["asker".to_owned(), asks.name().to_owned()];
    process::with(kind, Channel::Pipes, Speech::Acp, &agent, LIMIT, |subject| {
        initialize(subject, Speech::Acp)?;
        let _subscribers = subject.follow(amount.subscribers)?;
        let mut times = Vec::new();
        for turn in 1..=amount.turns {
            times.push(one_turn(asks, subject, turn)?);
        }
        times.sort_unstable();
        let figures = vec![(Metric::Turn, microseconds(quantile(&times, 50)))];
        Ok(Sample { figures, memory: subject.memory() })
    })
}

fn one_turn(asks: Asks, subject: &mut Subject, turn: u32) -> io::Result<Duration> {
    let prompt = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"session/prompt","#,
            r#""params":{{"sessionId":"s","prompt":[{{"type":"text","text":"Please ask me."}}]}}}}"#,
            "\n"
        ),
        turn
    );
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"q-{turn}\",\"result\":{}}}\n", asks.result());
    let began = Instant::now();
    subject.input().write_all(prompt.as_bytes())?;
    subject.expect_line(&format!("\"q-{turn}\""))?;
    subject.input().write_all(answer.as_bytes())?;
    let ended = subject.expect_line("\"end_turn\"")?;
    let took = began.elapsed();
    if lines::id_of(&ended) == Some(turn.to_string().as_bytes()) {
        return Ok(took);
    }
    Err(io::Error::other(format!("no end of turn {turn}: {}", lines::excerpt(&ended))))
}

fn start(speech: Speech, kind: Kind, starts: u32) -> io::Result<Sample> {
    let mut times = Vec::new();
    let mut memory: Option<Memory> = None;
    for _ in 0..starts {
        let agent = ["initializer".to_owned(), speech.name().to_owned()];
        let (took, now) = process::with(kind, Channel::Pipes, speech, &agent, LIMIT, |subject| {
            initialize(subject, speech)?;
            Ok((subject.began().elapsed(), subject.memory()))
        })?;
        times.push(took);
        memory = now.map(|now| now.max(memory.unwrap_or_default()));
    }
    times.sort_unstable();
    let figures = vec![(Metric::Start, quantile(&times, 50).as_secs_f64() * 1e3)];
    Ok(Sample { figures, memory })
}

/// Stands still once the peers know each other.
fn idle(speech: Speech, kind: Kind) -> io::Result<Sample> {
    let agent = ["initializer".to_owned(), speech.name().to_owned()];
    process::with(kind, Channel::Pipes, speech, &agent, LIMIT, |subject| {
        initialize(subject, speech)?;
        Ok(Sample { memory: subject.memory(), ..Sample::default() })
    })
}

/// Holds this many open questions.
fn open(kind: Kind, count: u32) -> io::Result<Sample> {
    process::with(
        kind,
        Channel::Pipes,
        Speech::Acp,
        &["inquirer".to_owned(), count.to_string()],
        LIMIT,
        |subject| {
            initialize(subject, Speech::Acp)?;
            for number in 0..count {
                subject.expect_line(&format!("\"q-{number}\""))?;
            }
            Ok(Sample { memory: subject.memory(), ..Sample::default() })
        },
    )
}

/// Moves a single line.
fn long_line(shape: Shape, kind: Kind) -> io::Result<Sample> {
    let total = shape.whole_lines(0);
    process::with(kind, Channel::Pipes, shape.speech, &agent_for(shape, total, true), LONG_LIMIT, |subject| {
        subject.expect_line("_bench/ready")?;
        carry(subject, shape, total, true)?;
        Ok(Sample { memory: subject.memory(), ..Sample::default() })
    })
}

/// Lets the agent write while the client does not read, then reads all of it.
fn stall(shape: Shape, kind: Kind, total: u64, stall: Duration) -> io::Result<Sample> {
    let total = shape.whole_lines(total);
    process::with(kind, Channel::Pipes, shape.speech, &agent_for(shape, total, true), LONG_LIMIT, |subject| {
        subject.expect_line("_bench/ready")?;
        let (mut sent, mut arrived) = (Tally::new(true), Tally::new(true));
        subject.input().write_all(GO)?;
        thread::sleep(stall);
        subject.drain(total, &mut arrived)?;
        replay(shape, total, &mut sent)?;
        compare(&sent, &arrived)?;
        Ok(Sample { memory: subject.memory(), ..Sample::default() })
    })
}

/// Returns the percentile of sorted times.
fn quantile(sorted: &[Duration], per_cent: usize) -> Duration {
    let at = (sorted.len() * per_cent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
