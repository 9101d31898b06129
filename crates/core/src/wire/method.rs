//! The names of the methods that the bridge looks at, each written once.
//! The methods between a conductor and its components are left to `successor.rs`, which builds them.

/// ACP: the client opens the connection and declares its capabilities.
pub const INITIALIZE: &str = "initialize";

/// ACP: the client opens a new session. The response names it.
pub const SESSION_NEW: &str = "session/new";

/// ACP: the client opens a new session that begins like another one. The response names it.
pub const SESSION_FORK: &str = "session/fork";

/// ACP: the client opens a session again, and wants its history.
pub const SESSION_LOAD: &str = "session/load";

/// ACP: the client opens a session again.
pub const SESSION_RESUME: &str = "session/resume";

/// ACP: the client starts a turn.
pub const SESSION_PROMPT: &str = "session/prompt";

/// ACP: the agent reports progress. Most of all traffic is this notification.
pub const SESSION_UPDATE: &str = "session/update";

/// ACP: the client cancels the running turn of a session.
pub const SESSION_CANCEL: &str = "session/cancel";

/// ACP: the client closes a session.
pub const SESSION_CLOSE: &str = "session/close";

/// ACP: the client deletes a session.
pub const SESSION_DELETE: &str = "session/delete";

/// ACP: the sender of a request takes it back.
pub const CANCEL_REQUEST: &str = "$/cancel_request";

/// ACP: the agent asks for permission. Some agents ask questions with it.
pub const REQUEST_PERMISSION: &str = "session/request_permission";

/// ACP: the agent asks the user to fill in a form.
pub const ELICITATION_CREATE: &str = "elicitation/create";

/// Names that [`ELICITATION_CREATE`] had in the drafts of ACP.
pub const LEGACY_ELICITATIONS: [&str; 2] = ["session/elicitation/create", "session/create_elicitation"];

/// Names from the drafts whose result is one level deeper: `{"action":{"action":"accept",…}}`.
pub const LEGACY_NESTED_ELICITATIONS: [&str; 2] = ["session/elicitation", "_session/elicitation"];

/// The extension of Sandbox Agent: the agent asks a question.
pub const REQUEST_QUESTION: &str = "_sandboxagent/session/request_question";

/// Cursor: the agent asks a question.
pub const CURSOR_ASK_QUESTION: &str = "cursor/ask_question";

/// Grok: the agent asks a question. Both spellings were observed.
pub const GROK_ASK_USER_QUESTION: [&str; 2] = ["_x.ai/ask_user_question", "x.ai/ask_user_question"];

/// agentao and hrns: the agent asks a question. Other agents name it alike.
pub const ASK_USER: [&str; 2] = ["_agentao.cn/ask_user", "_hrns/ask_user"];

/// Kiro: the agent asks a question.
pub const KIRO_USER_INPUT: &str = "_kiro/userInput";

/// MCP: the host calls a tool.
pub const TOOLS_CALL: &str = "tools/call";

/// MCP: the host wants to know which versions the server speaks, before any `initialize`.
pub const MCP_DISCOVER: &str = "server/discover";

/// MCP: the requests of a host that a server may need a person for.
pub const MCP_CALLS: [&str; 4] = [TOOLS_CALL, "prompts/get", "resources/read", "tasks/result"];

/// MCP: the sender of a request takes it back.
pub const MCP_CANCELLED: &str = "notifications/cancelled";

/// MCP: how far a request has come.
pub const MCP_PROGRESS: &str = "notifications/progress";

/// MCP: the person is done with a page.
pub const MCP_ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
