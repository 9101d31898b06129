//! What is compared with what, and over which kind of stdio.

use std::{env, io, process::Command};

use serde::Serialize;

use crate::subscribers;

/// What stands between the client and the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Nothing.
    Direct,
    /// The least that a proxy must do; what all others are measured by.
    Relay,
    /// A parse and a print for each line.
    Naive,
    /// `askbridge run`.
    Bridge,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Direct, Kind::Relay, Kind::Naive, Kind::Bridge];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Direct => "direct",
            Kind::Relay => "relay",
            Kind::Naive => "naive",
            Kind::Bridge => "bridge",
        }
    }

    /// Whether a line leaves as it came. The naive proxy sorts the keys, so only its bytes can be counted.
    pub(crate) fn keeps_contents(self) -> bool {
        self != Kind::Naive
    }

    /// The command that starts it around one of our own agents.
    pub(crate) fn command(self, agent: &[String]) -> io::Result<Command> {
        let ourselves = env::current_exe()?;
        let mut command = match self {
            Kind::Direct => Command::new(&ourselves),
            Kind::Relay | Kind::Naive => {
                let mut command = Command::new(&ourselves);
                command.arg(self.name()).arg(&ourselves);
                command
            }
            Kind::Bridge => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
                command.args(["run", "--"]).arg(&ourselves);
                command.env("XDG_RUNTIME_DIR", subscribers::folder()?);
                command
            }
        };
        command.args(agent);
        Ok(command)
    }
}

/// What a subject's stdin and stdout are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// As most programs start an agent.
    Pipes,
    /// A pair of UNIX sockets each, as Node's `spawn` makes them.
    Sockets,
}

impl Channel {
    /// What a row's name says of it: pipes are the rule.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Channel::Pipes => "",
            Channel::Sockets => ", UNIX sockets",
        }
    }
}
