//! The settings of what becomes of a question that no person can answer.

use serde_json::{Value, json};

use super::{
    key::{EffectTime, Key},
    value::{Setting, list, quoted, text, typed_list},
};
use crate::config::{UnattendedAction, UnattendedConditions};

/// Why a project must not set any of them: a cloned repository could reject what you would answer.
const DECIDES: &str = "it decides in your place";

/// `unattended.then`
pub static UNATTENDED_THEN: Key<UnattendedAction> = Key::own(
    "unattended.then",
    EffectTime::NextQuestion,
    DECIDES,
    UnattendedAction::default,
    "What becomes of a question that no person can answer: it waits, it is rejected, or the agent is ended",
);
/// `unattended.when`
pub static UNATTENDED_WHEN: Key<UnattendedConditions> = Key::own(
    "unattended.when",
    EffectTime::NextQuestion,
    DECIDES,
    UnattendedConditions::default,
    "When no person can answer: all of these hold, of [\"no-client\", \"no-terminal\", \"ci\"]",
);

/// What `when` can name: no client shows the question, no terminal is there, the variable CI is set.
const CONDITIONS: [&str; 3] = ["no-client", "no-terminal", "ci"];

impl Setting for UnattendedConditions {
    fn read(value: &Value) -> Result<Self, String> {
        let condition = |value: &Value| {
            let name = text(value, "a condition")?;
            let known = CONDITIONS.into_iter().find(|known| *known == name);
            known.ok_or_else(|| {
                format!("{} is not one of {}", quoted(value), Value::from(CONDITIONS.to_vec()))
            })
        };
        let names = list(value, "a list of conditions such as [\"no-client\", \"ci\"]", condition)?;
        if names.is_empty() {
            // Otherwise every question would be rejected, however many people wait for it.
            return Err("it names no condition".to_owned());
        }
        let has = |name| names.contains(&name);
        Ok(UnattendedConditions {
            no_client: has("no-client"),
            no_terminal: has("no-terminal"),
            ci: has("ci"),
        })
    }

    fn to_value(&self) -> Value {
        let UnattendedConditions { no_client, no_terminal, ci } = *self;
        let named = CONDITIONS.into_iter().zip([no_client, no_terminal, ci]);
        json!(named.filter_map(|(name, is_named)| is_named.then_some(name)).collect::<Vec<_>>())
    }

    fn typed(text: &str) -> Value {
        typed_list(text)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "enum": CONDITIONS }, "uniqueItems": true, "minItems": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_named_one_by_one() {
        let read = |text: &str| {
            UnattendedConditions::read(&UnattendedConditions::typed(text)).map(|when| when.to_value())
        };
        assert_eq!(read("no-client"), Ok(json!(["no-client"])));
        assert_eq!(UnattendedConditions::default().to_value(), json!(["no-client"]));
        let both = UnattendedConditions::read(&json!(["ci", "no-client"])).expect("conditions");
        assert_eq!(both, UnattendedConditions { no_client: true, no_terminal: false, ci: true });
        assert!(read("never").is_err_and(|error| error.contains("no-terminal")));
        assert!(UnattendedConditions::read(&json!([])).is_err());
        assert!(UnattendedConditions::read(&json!(true)).is_err());
    }
}
