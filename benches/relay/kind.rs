//! The kinds of proxies that are compared, and the kinds of stdio.
//! Starting them is left to `process`.

use std::{io, process::Command};

use serde::Serialize;

use crate::{installed::installed, lines::Speech, subscribers};

/// A proxy between the client and the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// No proxy.
    Direct,
    /// A proxy that only copies bytes: the reference of all ratios.
    Relay,
    /// A proxy that parses and prints each line.
    Naive,
    /// `askbridge run`, or `askbridge mcp-proxy`.
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

    /// Returns whether lines pass unchanged. The naive proxy sorts the keys, so only its bytes can be counted.
    pub(crate) fn keeps_contents(self) -> bool {
        self != Kind::Naive
    }

    /// Returns the command that starts it around an agent of the benchmark that speaks this.
    pub(crate) fn command(self, speech: Speech, agent: &[String]) -> io::Result<Command> {
        let ourselves = &installed()?.ourselves;
        let mut command = match self {
            Kind::Direct => Command::new(ourselves),
            Kind::Relay | Kind::Naive => {
                let mut command = Command::new(ourselves);
                command.arg(self.name()).arg(ourselves);
                command
            }
            Kind::Bridge => {
                let mut command = Command::new(&installed()?.askbridge);
                if speech.is_mcp() {
                    command.args(["mcp-proxy", "--"]).arg(ourselves);
                } else {
                    command.args(["run", "--protocol", speech.name(), "--"]).arg(ourselves);
                }
                // The settings of the person who measures must not count.
                let folder = subscribers::folder()?;
                command
                    .env("XDG_RUNTIME_DIR", &folder)
                    .env("XDG_STATE_HOME", &folder)
                    .env("XDG_CONFIG_HOME", folder);
                command
            }
        };
        command.args(agent);
        Ok(command)
    }
}

/// The type of a subject's stdin and stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Pipes, with which most programs start an agent.
    Pipes,
    /// A pair of UNIX sockets each, as with Node's `spawn`.
    Sockets,
}

impl Channel {
    /// Returns the suffix of a row's name; pipes are the default and have none.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Channel::Pipes => "",
            Channel::Sockets => ", UNIX sockets",
        }
    }
}
