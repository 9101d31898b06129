//! The kinds of programs that are checked, and the words in which each is spoken of.
//! The cases of each are left to `library.rs`.

/// The kind of program that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An agent. The checker is its client.
    Agent,
    /// A client. The checker is its agent.
    Client,
    /// A program between the two. The checker is both.
    Bridge,
    /// A program between a host of MCP and a server. The checker is both.
    Mcp,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Client, Self::Bridge, Self::Mcp];

    /// Returns its name, which is the folder of its cases as well.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Bridge => "bridge",
            Self::Mcp => "mcp",
        }
    }

    /// Returns how the command line of `askbridge check` names it.
    pub fn command(self) -> &'static str {
        match self {
            Self::Mcp => "bridge --mcp",
            kind => kind.name(),
        }
    }

    /// Returns the word of the command line that stands for the program which the command starts.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Mcp => "{server}",
            Self::Agent | Self::Client | Self::Bridge => "{agent}",
        }
    }

    /// Returns the name of the protocol.
    pub(crate) fn protocol(self) -> &'static str {
        match self {
            Self::Mcp => "MCP",
            Self::Agent | Self::Client | Self::Bridge => "ACP",
        }
    }

    /// Returns whether the checker is both ends, and the command passes on what they say.
    pub fn is_between(self) -> bool {
        matches!(self, Self::Bridge | Self::Mcp)
    }
}
