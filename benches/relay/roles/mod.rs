//! The roles of the benchmark's executable: the first argument can name a proxy or an agent.

mod agents;
mod proxies;

use std::io;
use std::process::ExitCode;

/// Plays the role that the first argument names. Returns `None` if the arguments are options of the benchmark.
pub(crate) fn play(arguments: &[String]) -> Option<io::Result<ExitCode>> {
    let (role, rest) = arguments.split_first()?;
    let played = match role.as_str() {
        "relay" => proxies::relay(rest),
        "naive" => proxies::naive(rest),
        "sink" => agents::sink(rest),
        "source" => agents::source(rest),
        "echo" => agents::echo(rest),
        "asker" => agents::asker(rest),
        "inquirer" => agents::inquirer(rest),
        "initializer" => agents::initializer(rest),
        "server" => agents::server(rest),
        _ => return None,
    };
    Some(played)
}
