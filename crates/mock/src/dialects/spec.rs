//! The table of the dialects: each row has everything in which the mock agent of one dialect differs from the others.
//! When an agent asks at all is left to `capabilities.rs`.

use super::{
    extensions::{
        read_agentao, read_cursor, read_grok, read_hrns, read_kimi as read_kimi_permission, read_kiro,
        read_pi, read_qwen, read_sandboxagent,
    },
    forms::{read_claude, read_codex, read_codex_async, read_devin, read_kimi, read_oh_my_pi, read_schema},
    question::MockQuestion,
    response::QuestionResponse,
};
use crate::MockDialect;

/// One dialect.
pub(crate) struct DialectSpec {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its line in the help text.
    pub(crate) summary: &'static str,
    /// The templates of its questions.
    pub(crate) questions: &'static str,
    /// The templates of its permissions, in version 1 of the protocol.
    pub(crate) permissions: &'static str,
    /// The kinds of fields that it can express.
    pub(crate) fields: FieldSupport,
    /// Reads a response as strictly as the real agent does. `None` if the dialect has no such response.
    pub(crate) read: fn(&MockQuestion, &str) -> Option<QuestionResponse>,
}

/// The kinds of fields that a dialect can express.
#[derive(Clone, Copy)]
pub(crate) struct FieldSupport {
    /// Fields without choices.
    pub(crate) text: bool,
    /// Fields of which several choices can be taken.
    pub(crate) multiple: bool,
    /// Questions with several fields.
    pub(crate) several: bool,
}

const EVERY_FIELD: FieldSupport = FieldSupport { text: true, multiple: true, several: true };
const CHOICES: FieldSupport = FieldSupport { text: false, multiple: true, several: true };
const SINGLE_CHOICES: FieldSupport = FieldSupport { text: false, multiple: false, several: true };
const ONE_CHOICE: FieldSupport = FieldSupport { text: false, multiple: false, several: false };
const ONE_FIELD: FieldSupport = FieldSupport { text: true, multiple: false, several: false };

/// The templates of one dialect's questions or permissions.
macro_rules! templates {
    ($kind:literal, $name:literal) => {
        include_str!(concat!("../requests/", $kind, "/", $name, ".json"))
    };
}

impl MockDialect {
    /// Returns the row of this dialect.
    #[expect(clippy::too_many_lines, reason = "it is a table")]
    pub(crate) fn spec(self) -> DialectSpec {
        match self {
            Self::Sandboxagent => DialectSpec {
                name: "sandboxagent",
                summary: "`_sandboxagent/session/request_question`",
                questions: templates!("questions", "sandboxagent"),
                // The plain shape of the standard, for agents whose own shape is not known.
                permissions: templates!("permissions", "standard"),
                fields: EVERY_FIELD,
                read: read_sandboxagent,
            },
            Self::Claude => DialectSpec {
                name: "claude",
                summary: "Claude: a form, with a second property for each field's own text",
                questions: templates!("questions", "claude"),
                // claude-agent-acp 0.100.0 sends the whole tool call, after an update with the same content. Claude
                // Code withholds the lasting option from commands that delete.
                permissions: templates!("permissions", "claude"),
                fields: CHOICES,
                read: read_claude,
            },
            Self::Codex => DialectSpec {
                name: "codex",
                summary: "Codex: a form that names the question in its titles, with notes",
                questions: templates!("questions", "codex"),
                // codex-acp 2.6.0 sends the change of a file only in the update that begins its tool call.
                permissions: templates!("permissions", "codex"),
                fields: SINGLE_CHOICES,
                read: read_codex,
            },
            Self::CodexAsync => DialectSpec {
                name: "codex-async",
                summary: "Codex, working on meanwhile: the question is withdrawn at the end of the turn",
                questions: templates!("questions", "codex-async"),
                read: read_codex_async,
                ..Self::Codex.spec()
            },
            Self::Kimi => DialectSpec {
                name: "kimi",
                summary: "Kimi: a form without texts, or the next one where the client promised no forms",
                questions: templates!("questions", "kimi"),
                // kimi-code 2.1.0 sends the name of a tool and a sentence. Only the update before has the input.
                permissions: templates!("permissions", "kimi"),
                fields: CHOICES,
                read: read_kimi,
            },
            Self::KimiPermission => DialectSpec {
                name: "kimi-permission",
                summary: "Kimi without forms: one permission request for the first field",
                questions: templates!("questions", "kimi-permission"),
                fields: ONE_CHOICE,
                read: read_kimi_permission,
                ..Self::Kimi.spec()
            },
            Self::OhMyPi => DialectSpec {
                name: "oh-my-pi",
                summary: "oh-my-pi: a form with recommended options",
                // The first option is the recommended one.
                questions: templates!("questions", "oh-my-pi"),
                // The plain shape of the standard, with oh-my-pi's four options.
                permissions: templates!("permissions", "oh-my-pi"),
                fields: CHOICES,
                read: read_oh_my_pi,
            },
            Self::Devin => DialectSpec {
                name: "devin",
                summary: "Devin: a form that allows other texts than its options",
                // Its documentation puts the mark `allowOther` on the property, but Devin was seen to put it on the
                // request: here it is on both.
                questions: templates!("questions", "devin"),
                permissions: templates!("permissions", "standard"),
                fields: EVERY_FIELD,
                read: read_devin,
            },
            Self::Form => DialectSpec {
                name: "form",
                summary: "A plain form of the standard; `fields` has every type of property",
                questions: templates!("questions", "form"),
                // The example of the standard names the tool call and leaves the rest to its earlier update.
                permissions: templates!("permissions", "form"),
                fields: EVERY_FIELD,
                read: read_schema,
            },
            Self::Historic => DialectSpec {
                name: "historic",
                summary: "The same under its first name, `session/elicitation`",
                ..Self::Form.spec()
            },
            Self::Qwen => DialectSpec {
                name: "qwen",
                summary: "Qwen: a permission request, answered beside its outcome",
                questions: templates!("questions", "qwen"),
                // Qwen Code 0.24.4 grew from Gemini CLI, and adds the raw input.
                permissions: templates!("permissions", "qwen"),
                fields: CHOICES,
                read: read_qwen,
            },
            Self::Pi => DialectSpec {
                name: "pi",
                summary: "pi-acp: a permission request whose options are the choices",
                questions: templates!("questions", "pi"),
                // pi-acp 0.0.34: an extension of pi asks a question that is answered with yes or no.
                permissions: templates!("permissions", "pi"),
                fields: ONE_CHOICE,
                read: read_pi,
            },
            Self::Cursor => DialectSpec {
                name: "cursor",
                summary: "`cursor/ask_question`, which names no session",
                questions: templates!("questions", "cursor"),
                // As several clients recorded them: a command stands between backticks in the title, and as raw input
                // only in the update before. Cursor asks for commands and MCP tools; a plan and an edit are made up of
                // the same parts.
                permissions: templates!("permissions", "cursor"),
                fields: CHOICES,
                read: read_cursor,
            },
            Self::Grok => DialectSpec {
                name: "grok",
                summary: "Grok: `_x.ai/ask_user_question`",
                questions: templates!("questions", "grok"),
                // As clients recorded them. The first option has the kind `allow_once` and allows everything from now
                // on.
                permissions: templates!("permissions", "grok"),
                fields: CHOICES,
                read: read_grok,
            },
            Self::Kiro => DialectSpec {
                name: "kiro",
                summary: "Kiro: `_kiro/userInput`",
                questions: templates!("questions", "kiro"),
                permissions: templates!("permissions", "standard"),
                fields: ONE_FIELD,
                read: read_kiro,
            },
            Self::Agentao => DialectSpec {
                name: "agentao",
                summary: "agentao: `_agentao.cn/ask_user`, answered with a text",
                questions: templates!("questions", "agentao"),
                // agentao 0.5.17 sends the standard's shape.
                permissions: templates!("permissions", "standard"),
                fields: FieldSupport { multiple: true, ..ONE_FIELD },
                read: read_agentao,
            },
            Self::Hrns => DialectSpec {
                name: "hrns",
                summary: "hrns: `_hrns/ask_user`, which names no session",
                questions: templates!("questions", "hrns"),
                permissions: templates!("permissions", "standard"),
                fields: CHOICES,
                read: read_hrns,
            },
            Self::Gemini => DialectSpec {
                name: "gemini",
                summary: "Gemini: asks for permissions, and no questions",
                // Gemini sends no update before a request. A plan is only in its file.
                permissions: templates!("permissions", "gemini"),
                // It never asks a question, so the template of its questions is never used.
                fields: ONE_CHOICE,
                ..Self::Form.spec()
            },
            Self::Opencode => DialectSpec {
                name: "opencode",
                summary: "opencode: asks for permissions, and no questions",
                // opencode 1.18.33 announces a tool call before its input is known. It has no permission for a plan,
                // which is asked for in the shape of a tool without a kind.
                permissions: templates!("permissions", "opencode"),
                ..Self::Gemini.spec()
            },
        }
    }
}
