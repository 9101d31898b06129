//! The agents, and what each can ask. How an agent asks is left to `asking.rs`, how it reads a response to `hearing.rs`.

use crate::matrix::field::{Field, Kind, MANY, TEXT};

/// A dialect, named after its best-known agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Native,
    Claude,
    Codex,
    CodexAsync,
    Kimi,
    OhMyPi,
    Opencode,
    Devin,
    Form,
    Historic,
    Qwen,
    KimiPermission,
    Pi,
    Cursor,
    Grok,
    Kiro,
    Agentao,
    Hrns,
}

impl Agent {
    pub(crate) const ALL: [Agent; 18] = [
        Agent::Native,
        Agent::Form,
        Agent::Claude,
        Agent::Codex,
        Agent::CodexAsync,
        Agent::Kimi,
        Agent::OhMyPi,
        Agent::Opencode,
        Agent::Devin,
        Agent::Historic,
        Agent::Qwen,
        Agent::KimiPermission,
        Agent::Pi,
        Agent::Cursor,
        Agent::Grok,
        Agent::Kiro,
        Agent::Agentao,
        Agent::Hrns,
    ];

    /// Returns the name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Agent::Native => "native: `_sandboxagent/session/request_question`",
            Agent::Form => "any form: `elicitation/create`",
            Agent::Claude => "Claude: form",
            Agent::Codex => "Codex: form",
            Agent::CodexAsync => "Codex while it works: form",
            Agent::Kimi => "Kimi: form",
            Agent::OhMyPi => "oh-my-pi: form",
            Agent::Opencode => "opencode 2: form",
            Agent::Devin => "Devin: form",
            Agent::Historic => "a form's former name: `session/elicitation`",
            Agent::Qwen => "Qwen: `session/request_permission`",
            Agent::KimiPermission => "Kimi without forms: `session/request_permission`",
            Agent::Pi => "pi-acp: `session/request_permission`",
            Agent::Cursor => "Cursor: `cursor/ask_question`",
            Agent::Grok => "Grok: `_x.ai/ask_user_question`",
            Agent::Kiro => "Kiro: `_kiro/userInput`",
            Agent::Agentao => "agentao: `_agentao.cn/ask_user`",
            Agent::Hrns => "hrns: `_hrns/ask_user`",
        }
    }

    pub(crate) fn can_ask(self, kind: Kind) -> bool {
        match (self, kind) {
            (_, Kind::One) | (Agent::Native | Agent::Form | Agent::Historic, _) => true,
            (Agent::Codex | Agent::Qwen | Agent::Grok | Agent::Kiro | Agent::Agentao, Kind::Text { .. }) => {
                true
            }
            (
                Agent::Codex | Agent::CodexAsync | Agent::KimiPermission | Agent::Pi | Agent::Kiro,
                Kind::Many { .. },
            ) => false,
            (_, Kind::Many { .. }) => true,
            (_, Kind::Text { .. } | Kind::Flag | Kind::Number { .. }) => false,
        }
    }

    /// Returns whether the agent can ask for several fields at once.
    pub(crate) fn asks_several(self) -> bool {
        !matches!(self, Agent::KimiPermission | Agent::Pi | Agent::Kiro | Agent::Agentao)
    }

    /// Returns whether the agent accepts a free text in place of an option.
    fn takes_typed(self) -> bool {
        match self {
            Agent::Form
            | Agent::Historic
            | Agent::Kimi
            | Agent::KimiPermission
            | Agent::Pi
            | Agent::Cursor => false,
            Agent::Native
            | Agent::Claude
            | Agent::Codex
            | Agent::CodexAsync
            | Agent::OhMyPi
            | Agent::Opencode
            | Agent::Devin
            | Agent::Qwen
            | Agent::Grok
            | Agent::Kiro
            | Agent::Agentao
            | Agent::Hrns => true,
        }
    }

    /// Returns whether the agent can receive a note, in its own format or under `_meta`.
    fn takes_notes(self) -> bool {
        !matches!(self, Agent::Cursor | Agent::Kiro | Agent::Agentao | Agent::Hrns)
    }

    /// Returns whether the agent's own format has a place for notes.
    pub(crate) fn asks_for_notes(self) -> bool {
        matches!(self, Agent::Native | Agent::Claude | Agent::Codex | Agent::CodexAsync | Agent::Grok)
    }

    /// Returns the field in this place of the form, restricted to what the agent can ask.
    pub(crate) fn fitted(self, mut field: Field, place: usize) -> Field {
        let free = matches!(self, Agent::Native | Agent::Form | Agent::Historic);
        field.key = match self {
            Agent::Claude | Agent::CodexAsync => format!("question_{place}"),
            Agent::Native
            | Agent::Form
            | Agent::Historic
            | Agent::Opencode
            | Agent::Devin
            | Agent::Codex
            | Agent::Cursor => format!("{}-{place}", field.key),
            _ => format!("q{place}"),
        };
        for (place, (value, label)) in field.options.iter_mut().enumerate() {
            match self {
                Agent::Native | Agent::Form | Agent::Historic | Agent::Opencode | Agent::Devin => {}
                Agent::Cursor => {}
                Agent::KimiPermission => *value = format!("q0_opt_{place}"),
                Agent::Pi => *value = format!("choice_{place}"),
                _ => value.clone_from(label),
            }
        }
        field.required = match self {
            Agent::Claude | Agent::CodexAsync | Agent::OhMyPi => false,
            Agent::Native | Agent::Form | Agent::Historic | Agent::Opencode | Agent::Devin => field.required,
            _ => true,
        };
        field.kind = match field.kind {
            Kind::Many { .. } if self == Agent::Kimi => Kind::Many { least: 1, most: u32::MAX },
            Kind::Many { .. } if !free => MANY,
            Kind::Text { .. } if !free => TEXT,
            kind => kind,
        };
        // These accept a free text for every choice.
        field.typed |= matches!(
            self,
            Agent::Qwen | Agent::Grok | Agent::Kiro | Agent::Devin | Agent::Agentao | Agent::Hrns
        );
        field.typed &= self.takes_typed() && !field.options.is_empty();
        field.noted &= self.takes_notes();
        field
    }
}
