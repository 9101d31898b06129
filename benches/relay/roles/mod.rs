//! What the benchmark's own executable can be when it is started with a role as its first argument.

mod agents;
mod proxies;

use std::io;
use std::process::ExitCode;

/// Plays the role that the arguments begin with; none if they are options of the benchmark itself.
pub(crate) fn play(arguments: &[String]) -> Option<io::Result<ExitCode>> {
    let (role, rest) = arguments.split_first()?;
    let played = match role.as_str() {
        "relay" => proxies::relay(rest),
        "naive" => proxies::naive(rest),
        "sink" => agents::sink(rest),
        "source" => agents::source(rest),
        "echo" => agents::echo(rest),
        "asker" => agents::asker(),
        "initializer" => agents::initializer(),
        _ => return None,
    };
    Some(played)
}
