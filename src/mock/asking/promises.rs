//! What the client promised in `initialize`, and whether that is enough for an agent to ask at all.
//! What it asks then is left to the dialects.

use serde_json::Value;

use crate::{cli::Dialect, mock::behaviour::Shape};

/// What a client can promise about questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::mock) struct Promises {
    /// `_sandboxagent/session/request_question` is answered, be it with a rejection.
    pub(in crate::mock) native: bool,
    /// Forms are shown. `elicitation: {}` alone promises none.
    pub(in crate::mock) forms: bool,
    /// `_kiro/userInput` is answered.
    pub(in crate::mock) user_input: bool,
}

impl Promises {
    /// Reads the client's capabilities.
    pub(in crate::mock) fn read(capabilities: &Value) -> Self {
        let extensions = &capabilities["_meta"]["sandboxagent.dev"]["extensions"];
        Self {
            native: extensions["sessionRequestQuestion"] == true || extensions["requestQuestion"] == true,
            forms: !capabilities["elicitation"]["form"].is_null(),
            user_input: capabilities["_meta"]["kiro"]["userInput"] == true,
        }
    }

    /// The dialect that is left to the agent: Kimi has a second one for clients without forms.
    pub(in crate::mock) fn left(self, dialect: Dialect) -> Dialect {
        match dialect {
            Dialect::Kimi if !self.forms => Dialect::KimiPermission,
            dialect => dialect,
        }
    }

    /// Why the agent does not ask this, and what it does instead.
    pub(in crate::mock) fn obstacle(self, dialect: Dialect, shape: Shape) -> Option<&'static str> {
        match dialect {
            Dialect::Codex | Dialect::CodexAsync if !self.forms => {
                Some("The client promised no forms: I answered myself with nothing.")
            }
            Dialect::Claude | Dialect::OhMyPi | Dialect::Devin | Dialect::Form | Dialect::Historic
                if !self.forms =>
            {
                Some("The client promised no forms: I do not ask.")
            }
            Dialect::Kiro if !self.user_input => Some("The client promised no user input: I do not ask."),
            Dialect::Pi if shape == Shape::Free => Some("Input is not supported in ACP yet; cancelling."),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_elicitation_promises_no_forms() {
        let forms = |elicitation| Promises::read(&json!({ "elicitation": elicitation })).forms;
        assert!(forms(json!({ "form": {} })));
        for none in [json!({}), json!({ "url": {} }), json!({ "form": null }), json!(null)] {
            assert!(!forms(none));
        }
        assert_eq!(Promises::read(&Value::Null), Promises::default());
    }

    #[test]
    fn each_promise_is_enough_for_its_own_dialects() {
        let asks = |promises: Promises, dialect| promises.obstacle(dialect, Shape::Options).is_none();
        let forms = Promises { forms: true, ..Promises::default() };
        let user_input = Promises { user_input: true, ..Promises::default() };
        assert!(asks(forms, Dialect::Claude) && !asks(user_input, Dialect::Claude));
        assert!(asks(user_input, Dialect::Kiro) && !asks(forms, Dialect::Kiro));
        assert!(asks(Promises::default(), Dialect::Qwen) && asks(Promises::default(), Dialect::Kimi));
        assert_eq!(Promises::default().left(Dialect::Kimi), Dialect::KimiPermission);
        assert_eq!(forms.left(Dialect::Kimi), Dialect::Kimi);
    }
}
