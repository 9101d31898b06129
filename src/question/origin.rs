//! Where a question comes from: the protocol and the agent that asked it.
//! How each of them is read is left to the room above that speaks it.

use super::names::open_enum;

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
        /// A program on this machine, by `askbridge ask` or the control protocol.
        Program = "program",
    }
}
