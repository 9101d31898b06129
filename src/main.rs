//! Parses the command line, starts the log, runs the command, and returns its exit code.
//! Building a bridge or a server is left to `compose`.

mod compose;

use std::{
    io::{ErrorKind, Write},
    process::ExitCode,
};

use askbridge::{
    command::{
        self, Context,
        cli::{Cli, Command},
        parse::{explain, parse},
    },
    driver::FatalError,
    hub::LocalHosts,
};
#[cfg(feature = "mock")]
use askbridge_mock::{agent, client, demo};
use askbridge_os::exit;
use clap::CommandFactory;

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    // The log's own level and file are settings, so they are read first.
    let context = Context::read(cli.command.is_of_a_project(), &cli.log);
    // Held until the end of `main`: dropping the log waits until its lines are written.
    let _log = match compose::log(&cli, &context.settings) {
        Ok(guard) => guard,
        Err(error) => return fail(exit::FAILED, &error.to_string()),
    };
    explain(&cli.command);
    run(&cli.command, &context)
}

/// Runs a command, and returns its exit code.
fn run(command: &Command, context: &Context) -> ExitCode {
    match command {
        Command::Run(args) => ended(compose::run(&args.settings(&context.settings))),
        Command::Proxy(args) => ended(compose::proxy(&args.settings(&context.settings))),
        Command::McpProxy(args) => ended(compose::mcp_proxy(&args.settings(&context.settings))),
        Command::Hook(args) => command::hook(context, args, &LocalHosts::default()),
        Command::Attach(args) => command::run(command::attach(context, args, LocalHosts::shared())),
        Command::Inbox(args) => command::run(command::inbox(context, args, LocalHosts::shared())),
        Command::Open(args) => command::run(command::open::open(context, args)),
        Command::Machine(args) => command::run(command::machine(context, args)),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => command::run(command::fleet(context, args)),
        Command::Dial(args) => command::run(command::dial(context, args)),
        Command::List(args) => command::run(command::list(context, args)),
        Command::Status(args) => command::run(command::status(context, args)),
        Command::Show(args) => command::run(command::show(context, args)),
        Command::Answer(args) => command::run(command::answer(context, args)),
        Command::Allow(args) => command::run(command::allow(context, args)),
        Command::Next(args) => command::run(command::next(context, args)),
        #[cfg(feature = "tui")]
        Command::Tui(args) => command::run(askbridge::command::tui::tui(context, args)),
        Command::Reject(args) => command::run(command::reject(context, args)),
        Command::Extend(args) => command::run(command::extend(context, args)),
        Command::Later(args) => command::run(command::later(context, args)),
        Command::Ask(args) => command::run(command::ask(context, args)),
        Command::Wait(args) => command::run(command::wait(context, args)),
        #[cfg(feature = "notify")]
        Command::Notify(args) => command::run(command::notify(context, args)),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => command::run(command::mcp(args, LocalHosts::default())),
        #[cfg(feature = "mcp")]
        Command::McpHttp(args) => command::run(command::mcp_http(context, args)),
        Command::Config(args) => command::run(command::config(context, args)),
        #[cfg(feature = "journal")]
        Command::History(args) => command::run(command::history(context, args)),
        Command::Rules(args) => command::run(command::rules(context, args)),
        Command::Doctor(args) => command::run(command::doctor(context, args)),
        Command::Setup(args) => command::run(command::setup::setup(context, args)),
        Command::Overview(_) => command::run(command::overview(context)),
        Command::Completions(args) => written(args.print(Cli::command())),
        Command::Complete(args) => written(args.print(Cli::command())),
        Command::Man(args) => written(args.write(Cli::command())),
        #[cfg(feature = "check")]
        Command::Check(args) => command::run(command::check(args)),
        #[cfg(feature = "mock")]
        Command::MockAgent(args) => agent::run(&args.settings()),
        #[cfg(feature = "mock")]
        Command::MockClient(args) => client::run(&args.settings()),
        #[cfg(feature = "mock")]
        Command::Mock(args) => args.what.run(),
        #[cfg(feature = "mock")]
        Command::Demo(args) => demo::run(&args.settings(), command::consent),
    }
}

/// Returns the exit code of a bridge, however it ended.
fn ended(result: Result<ExitCode, FatalError>) -> ExitCode {
    result.unwrap_or_else(|error| fail(error.exit_code(), &error.to_string()))
}

/// Returns the exit code of a command that only writes output.
fn written(result: std::io::Result<()>) -> ExitCode {
    match result {
        // A reader that closes the pipe, such as `head`, has all that it wants.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => fail(exit::FAILED, &error.to_string()),
        _ => ExitCode::from(exit::OK),
    }
}

/// Reports on one line why the program failed, and returns the exit code.
fn fail(code: u8, error: &str) -> ExitCode {
    // If stderr is closed, the exit code still reports the failure: ignore the error.
    drop(writeln!(std::io::stderr(), "askbridge: {error}"));
    ExitCode::from(code)
}
