//! The agents, and what each can ask. How an agent asks is left to `asking.rs`, how it reads a response to `hearing.rs`.

use crate::matrix::field::{Field, Kind, MANY, TEXT};

/// Everything that the matrix has to know of an agent beside its request and its reader.
struct Traits {
    /// Its name in the tables.
    name: &'static str,
    asks: Asks,
    at_once: AtOnce,
    typed: Typed,
    notes: Notes,
    ends: Ends,
}

/// The kinds of fields that it can ask for. Each can ask for one of some options.
enum Asks {
    Everything,
    OneOrText,
    OneOrMany,
    OneManyOrText,
    One,
}

/// How many fields one request can have.
#[derive(PartialEq, Eq)]
enum AtOnce {
    Single,
    Several,
}

/// Whether it accepts a free text in place of an option.
enum Typed {
    Never,
    IfAsked,
    Always,
}

/// Where it reads a note.
#[derive(PartialEq, Eq)]
enum Notes {
    Nowhere,
    InMeta,
    InItsFormat,
}

/// How it hears that there is no answer: whether it tells a person who declines from any other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Apart,
    Cancelled,
    Declined,
}

/// Declares the agents, each with all of its traits, and the list of them.
macro_rules! agents {
    ($($agent:ident: $name:literal, $asks:ident, $at_once:ident, $typed:ident, $notes:ident, $ends:ident;)+) => {
        /// A dialect, named after its best-known agent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Agent {
            $($agent,)+
        }

        impl Agent {
            /// All agents, in the order of the tables.
            pub(crate) const ALL: [Agent; [$(Agent::$agent),+].len()] = [$(Agent::$agent),+];

            fn traits(self) -> Traits {
                match self {
                    $(Agent::$agent => Traits {
                        name: $name,
                        asks: Asks::$asks,
                        at_once: AtOnce::$at_once,
                        typed: Typed::$typed,
                        notes: Notes::$notes,
                        ends: Ends::$ends,
                    },)+
                }
            }
        }
    };
}

agents! {
    Native: "native: `_sandboxagent/session/request_question`", Everything, Several, IfAsked, InItsFormat, Apart;
    Form: "any form: `elicitation/create`", Everything, Several, Never, InMeta, Apart;
    Claude: "Claude: form", OneOrMany, Several, IfAsked, InItsFormat, Apart;
    Codex: "Codex: form", OneOrText, Several, IfAsked, InItsFormat, Apart;
    CodexAsync: "Codex while it works: form", One, Several, IfAsked, InItsFormat, Apart;
    Kimi: "Kimi: form", OneOrMany, Several, Never, InMeta, Apart;
    OhMyPi: "oh-my-pi: form", OneOrMany, Several, IfAsked, InMeta, Apart;
    Opencode: "opencode 2: form", OneOrMany, Several, IfAsked, InMeta, Apart;
    Devin: "Devin: form", OneOrMany, Several, Always, InMeta, Apart;
    Historic: "a form's former name: `session/elicitation`", Everything, Several, Never, InMeta, Apart;
    Qwen: "Qwen: `session/request_permission`", OneManyOrText, Several, Always, InMeta, Apart;
    KimiPermission: "Kimi without forms: `session/request_permission`", One, Single, Never, InMeta, Apart;
    // It has no option to decline.
    Pi: "pi-acp: `session/request_permission`", One, Single, Never, InMeta, Cancelled;
    Cursor: "Cursor: `cursor/ask_question`", OneOrMany, Several, Never, Nowhere, Apart;
    Grok: "Grok: `_x.ai/ask_user_question`", OneManyOrText, Several, Always, InItsFormat, Apart;
    Kiro: "Kiro: `_kiro/userInput`", OneOrText, Single, Always, Nowhere, Declined;
    Agentao: "agentao: `_agentao.cn/ask_user`", OneManyOrText, Single, Always, Nowhere, Cancelled;
    Hrns: "hrns: `_hrns/ask_user`", OneOrMany, Several, Always, Nowhere, Cancelled;
}

impl Agent {
    /// Returns the name in the table.
    pub(crate) fn name(self) -> &'static str {
        self.traits().name
    }

    pub(crate) fn can_ask(self, kind: Kind) -> bool {
        let asks = self.traits().asks;
        match kind {
            Kind::One => true,
            Kind::Many { .. } => matches!(asks, Asks::Everything | Asks::OneOrMany | Asks::OneManyOrText),
            Kind::Text { .. } => matches!(asks, Asks::Everything | Asks::OneOrText | Asks::OneManyOrText),
            Kind::Flag | Kind::Number { .. } => matches!(asks, Asks::Everything),
        }
    }

    /// Returns whether the agent can ask for several fields at once.
    pub(crate) fn asks_several(self) -> bool {
        self.traits().at_once == AtOnce::Several
    }

    /// Returns whether the agent's own format has a place for notes.
    pub(crate) fn asks_for_notes(self) -> bool {
        self.traits().notes == Notes::InItsFormat
    }

    /// Returns how the agent hears that there is no answer.
    pub(crate) fn ends(self) -> Ends {
        self.traits().ends
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
        field.typed = match self.traits().typed {
            Typed::Never => false,
            Typed::IfAsked => field.typed,
            Typed::Always => true,
        };
        field.typed &= !field.options.is_empty();
        field.noted &= self.traits().notes != Notes::Nowhere;
        field
    }
}
