//! How a question is classified: the protocol in which it was asked, whether it asks for an answer or for a permission,
//! and the risk of a wrong answer. A permission is never granted by default (I12). Reading the protocols is left to
//! `dialect` and the adapters, assessing the risk to `guard`.

use super::encoding::open_enum;

open_enum! {
    /// The protocol in which a question was asked.
    pub enum Origin {
        /// `_sandboxagent/session/request_question`.
        SandboxAgent = "sandboxagent",
        /// `elicitation/create` in form mode, and its legacy names.
        Elicitation = "elicitation",
        /// A `session/request_permission` whose options are the answers to a question.
        Permission = "permission",
        /// `cursor/ask_question`.
        Cursor = "cursor",
        /// `_x.ai/ask_user_question`.
        Grok = "grok",
        /// `_kiro/userInput`.
        Kiro = "kiro",
        /// An extension request whose name ends in `/ask_user`, of agentao, hrns and others.
        AskUser = "ask_user",
        /// Claude Code, by its hooks or its control protocol.
        Claude = "claude",
        /// Codex, by the protocol of its app server.
        Codex = "codex",
        /// opencode, by its HTTP interface.
        Opencode = "opencode",
        /// Copilot CLI, by the server beside its terminal.
        Copilot = "copilot",
        /// An MCP client, by a tool of `askbridge mcp`.
        Mcp = "mcp",
        /// An MCP server, by an elicitation, or by a call of one of its tools.
        McpServer = "mcp_server",
        /// A program on this machine, by `askbridge ask` or the control protocol.
        Program = "program",
    }
}

open_enum! {
    /// The purpose of a question.
    #[derive(Default)]
    pub enum Purpose {
        /// The agent wants to know something.
        #[default]
        Question = "question",
        /// The agent wants permission to do something.
        Permission = "permission",
    }
}

open_enum! {
    /// The harm that a wrong answer may do, in three degrees.
    pub enum Risk {
        /// Nothing that is hard to undo: the agent reads, searches, runs a command that only looks at files of its
        /// project, or changes files of it that are shown whole.
        Plain = "plain",
        /// The agent acts: it runs a command, uses the network, or changes files elsewhere or without showing all of
        /// it.
        Acts = "acts",
        /// It may do harm: it deletes, publishes, leaves its sandbox, or its effect is unknown.
        Dangerous = "dangerous",
    }
}

/// What the user wants of permissions before they are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarding {
    /// A permission of this risk, or of a higher one, takes a second step.
    pub confirm: Risk,
    /// What a command risks that only looks at files of the project.
    pub looks: Risk,
}

impl Risk {
    /// Returns whether it takes more than one key or tap to allow it.
    pub fn is_guarded(self) -> bool {
        self != Risk::Plain
    }

    /// Returns its place in the order of degrees. An unknown degree of another version counts as the highest.
    pub fn degree(self) -> u8 {
        match self {
            Risk::Plain => 0,
            Risk::Acts => 1,
            _ => 2,
        }
    }

    /// Returns whether it may do harm. An unknown degree of another version counts as harmful.
    pub fn is_dangerous(self) -> bool {
        self.degree() > Risk::Acts.degree()
    }
}
