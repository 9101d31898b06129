//! The capabilities that the client advertised in `initialize`, and whether they are enough for an agent to ask.
//! How it asks is left to the dialects.

use serde_json::Value;

use crate::{MockDialect, behaviour::Shape};

/// The advertised capabilities that concern questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientCapabilities {
    /// The client answers `_sandboxagent/session/request_question`.
    pub(crate) native: bool,
    /// The client shows forms. `elicitation: {}` alone does not advertise them.
    pub(crate) forms: bool,
    /// The client answers `_kiro/userInput`.
    pub(crate) user_input: bool,
}

impl ClientCapabilities {
    /// Reads them from `initialize`.
    pub(crate) fn read(capabilities: &Value) -> Self {
        let extensions = &capabilities["_meta"]["sandboxagent.dev"]["extensions"];
        Self {
            native: extensions["sessionRequestQuestion"] == true || extensions["requestQuestion"] == true,
            forms: !capabilities["elicitation"]["form"].is_null(),
            user_input: capabilities["_meta"]["kiro"]["userInput"] == true,
        }
    }

    /// Returns the dialect that the agent uses with this client: Kimi has a second one for clients without forms.
    pub(crate) fn effective_dialect(self, dialect: MockDialect) -> MockDialect {
        match dialect {
            MockDialect::Kimi if !self.forms => MockDialect::KimiPermission,
            dialect => dialect,
        }
    }

    /// Returns the sentence of an agent that does not ask this client, or `None` if it asks.
    pub(crate) fn obstacle(self, dialect: MockDialect, shape: Shape) -> Option<&'static str> {
        match dialect {
            MockDialect::Codex | MockDialect::CodexAsync if !self.forms => {
                Some("The client promised no forms: I answered myself with nothing.")
            }
            MockDialect::Claude
            | MockDialect::OhMyPi
            | MockDialect::Devin
            | MockDialect::Form
            | MockDialect::Historic
                if !self.forms =>
            {
                Some("The client promised no forms: I do not ask.")
            }
            MockDialect::Gemini | MockDialect::Opencode => Some("I ask no questions over ACP."),
            MockDialect::Kiro if !self.user_input => Some("The client promised no user input: I do not ask."),
            MockDialect::Pi if shape == Shape::Free => Some("Input is not supported in ACP yet; cancelling."),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_elicitation_does_not_advertise_forms() {
        let forms = |elicitation| ClientCapabilities::read(&json!({ "elicitation": elicitation })).forms;
        assert!(forms(json!({ "form": {} })));
        for absent in [json!({}), json!({ "url": {} }), json!({ "form": null }), json!(null)] {
            assert!(!forms(absent));
        }
        assert_eq!(ClientCapabilities::read(&Value::Null), ClientCapabilities::default());
    }

    #[test]
    fn each_capability_enables_its_own_dialects() {
        let asks = |capabilities: ClientCapabilities, dialect| {
            capabilities.obstacle(dialect, Shape::Options).is_none()
        };
        let forms = ClientCapabilities { forms: true, ..ClientCapabilities::default() };
        let user_input = ClientCapabilities { user_input: true, ..ClientCapabilities::default() };
        assert!(asks(forms, MockDialect::Claude) && !asks(user_input, MockDialect::Claude));
        assert!(asks(user_input, MockDialect::Kiro) && !asks(forms, MockDialect::Kiro));
        assert!(
            asks(ClientCapabilities::default(), MockDialect::Qwen)
                && asks(ClientCapabilities::default(), MockDialect::Kimi)
        );
        assert_eq!(
            ClientCapabilities::default().effective_dialect(MockDialect::Kimi),
            MockDialect::KimiPermission
        );
        assert_eq!(forms.effective_dialect(MockDialect::Kimi), MockDialect::Kimi);
    }
}
