//! Measures the cost of the bridge, compared to a relay that only copies and to no proxy at all.
//!
//! `cargo bench -- --help` shows the options; `rows` has the measurements and their targets. The executable starts
//! itself again as the proxies to compare with and as the agents behind them.

mod options;

mod kind;
mod lines;
mod rows;

mod installed;
mod process;
mod procfs;
mod roles;
mod subscribers;

mod figures;
mod measure;
mod report;
mod rounds;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::options::Options;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let role = arguments.first().filter(|first| !first.starts_with('-')).map_or("bench", String::as_str);
    let ended = roles::play(&arguments).unwrap_or_else(|| compare(&Options::parse()));
    ended.unwrap_or_else(|error| {
        // If stderr is closed, the exit code still reports the error.
        drop(writeln!(io::stderr(), "{role}: {error}"));
        ExitCode::FAILURE
    })
}

fn compare(options: &Options) -> io::Result<ExitCode> {
    let effort = options.effort();
    if !effort.spread {
        process::stay_on_one_cpu()?;
    }
    let rows_of = if options.mcp { rows::mcp } else { rows::all };
    let mut rows = rows_of(effort.long_line, effort.stalled);
    if let Some(part) = &options.only {
        rows.retain(|row| row.name.contains(part));
        if rows.is_empty() {
            return Err(io::Error::other(format!("no row has \"{part}\" in its name")));
        }
    }
    installed::install(options.program.as_deref())?;
    let findings = rounds::run(&rows, &effort);
    subscribers::clean_up()?;
    installed::uninstall()?;
    let findings = findings?;
    let figures = figures::of(&rows, &findings);
    if options.json {
        report::json(&figures, &findings, &effort)?;
    } else {
        report::tables(&figures, &findings)?;
    }
    Ok(if findings.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
