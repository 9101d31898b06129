//! Parses the command line, and adds advice that a person needs: to errors of clap, and for a command that is started
//! by hand although a client should start it.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::{
    Args, CommandFactory, Parser,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    arguments::{LazyArgs, LogArgs},
    bridge::{ProxyArgs, RunArgs},
    cli::{Cli, Command},
    mcp_proxy::McpProxyArgs,
};

/// The subcommands that start a program, whose command stands behind `--`.
const STARTERS: [&str; 2] = ["run", "mock-client"];

/// The options that stand before or behind any subcommand, each with a value.
const LOG_OPTIONS: [&str; 3] = ["--log", "--log-file", "--log-format"];

/// The arguments of one subcommand, without the others beside it.
#[derive(Parser)]
struct StandaloneArgs<T: Args> {
    #[command(flatten)]
    args: T,
    #[command(flatten)]
    log: LogArgs,
}

/// Parses the command line of this process. Help and most errors end the process.
///
/// # Errors
/// The exit code of a hook whose command line cannot be parsed. The reason is printed on stderr.
pub fn parse() -> Result<Cli, ExitCode> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    match bridge(words.clone()) {
        Some(cli) => Ok(cli),
        // Elsewhere, a program without arguments stays a usage error: no script wants an overview.
        None if words.is_empty() && io::stdout().is_terminal() => {
            Cli::try_parse_from(["askbridge", "overview"]).map_err(|error| end(error, words))
        }
        None => Cli::try_parse().map_err(|error| end(error, words)),
    }
}

/// Prints the error, or the help that was asked for, and ends the process. For a hook, returns the exit code instead.
fn end(error: clap::Error, words: Vec<OsString>) -> ExitCode {
    if error.use_stderr() && is_hook(&words) {
        // An agent takes the exit code 2 of a hook for a decision, so a hook ends with 0, even if stderr cannot be
        // written to.
        drop(write!(io::stderr(), "{error}"));
        return ExitCode::SUCCESS;
    }
    with_tip(error, words).exit()
}

/// Returns whether these words are for `askbridge hook`. They may have options that this program does not know: the
/// plugin that wrote them may be newer.
fn is_hook(words: &[OsString]) -> bool {
    let command = Cli::command();
    let is_subcommand = |word: &str| word == "help" || command.find_subcommand(word).is_some();
    let mut before = "";
    // Words behind `--` belong to the command of an agent.
    let words = words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    let mut named = words.filter(|word| {
        // The value of an option may be the name of a subcommand.
        let is_value = LOG_OPTIONS.contains(&std::mem::replace(&mut before, word));
        !is_value && is_subcommand(word)
    });
    named.next().is_some_and(|word| word == "hook")
}

/// Parses the command line of a bridge, without the program's name. This is a fast path, since a bridge must start
/// fast: describing all subcommands, with the options of the log for each, takes longer than everything else here.
/// Returns `None` if it cannot parse the words, or if they ask for help: the parser of the whole command line reads
/// them then.
fn bridge(words: Vec<OsString>) -> Option<Cli> {
    fn parsed<T: Args>(words: Vec<OsString>, command: impl FnOnce(LazyArgs<T>) -> Command) -> Option<Cli> {
        // clap takes the first word for the name of the program: here, that is the subcommand.
        let StandaloneArgs { args, log } = StandaloneArgs::<T>::try_parse_from(words).ok()?;
        Some(Cli { command: command(args.into()), log })
    }
    match words.first()?.to_str()? {
        "run" => parsed::<RunArgs>(words, Command::Run),
        "proxy" => parsed::<ProxyArgs>(words, Command::Proxy),
        "mcp-proxy" => parsed::<McpProxyArgs>(words, Command::McpProxy),
        _ => None,
    }
}

/// Prints on stderr what a command waits for, if a person started it by hand: the command itself prints nothing until a
/// client speaks.
pub fn explain(command: &Command) {
    let name = match command {
        Command::Run(_) => "run",
        Command::Proxy(_) => "proxy",
        Command::McpProxy(_) => "mcp-proxy",
        #[cfg(feature = "mcp")]
        Command::Mcp(_) => "mcp",
        #[cfg(feature = "mock")]
        Command::MockAgent(_) => "mock-agent",
        _ => return,
    };
    if io::stdin().is_terminal() {
        let expected = match name {
            "mcp" => {
                "an agent starts this and speaks MCP to it on stdin; `askbridge mcp --help` says how to add it"
            }
            _ => "an ACP client starts this and speaks to it on stdin; `askbridge demo` shows how it works",
        };
        // The command works without stderr as well.
        drop(writeln!(io::stderr(), "askbridge {name}: {expected}"));
    }
}

fn with_tip(mut error: clap::Error, args: Vec<OsString>) -> clap::Error {
    if let Some(tip) = tip(&error, &args) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Returns what to type instead, for an agent's command without the `--` before it.
fn tip(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || unknown.starts_with('-') {
        return None;
    }
    let starter = args.iter().filter_map(|arg| arg.to_str()).find(|arg| STARTERS.contains(arg))?;
    // Words behind a `--` of the user belong to the agent, even if clap complains of them.
    let is_separated = args.iter().any(|arg| arg == "--");
    (!is_separated).then(|| format!("put the agent's command after `--`: askbridge {starter} -- {unknown}"))
}
