//! What an answer to a permission of a program allows: the action that was shown, or the same with changed arguments.

use serde_json::Value as Json;

use super::{
    Answer, Field, Kind, Question, Role, Value,
    action::{ARGUMENTS, digest},
};

impl Question {
    /// Returns the field for changed arguments, where the program that asks takes them.
    pub fn arguments(&self) -> Option<&Field> {
        self.action.as_ref().and_then(|_| self.fields.iter().find(|field| field.name == ARGUMENTS))
    }
}

/// What an answer allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed {
    /// The digest of the action that is allowed.
    pub digest: String,
    /// The arguments, where the person changed them.
    pub arguments: Option<Json>,
}

impl Allowed {
    /// Returns what an answer to this question allows. `None` if it allows nothing.
    pub fn by(question: &Question, answer: &Answer) -> Option<Self> {
        let action = question.action.as_deref()?;
        // What a role of another version allows is not known.
        let allows = |field| matches!(role(field, answer), Some(Role::AllowOnce | Role::AllowAlways));
        if !question.fields.iter().any(allows) {
            return None;
        }
        let of_arguments = answer.values.get(ARGUMENTS);
        let changed = match of_arguments {
            Some(Value::Text(text)) if !text.trim().is_empty() => serde_json::from_str::<Json>(text).ok()?,
            _ => return Some(Allowed { digest: action.digest.clone(), arguments: None }),
        };
        if action.request.get(ARGUMENTS) == Some(&changed) {
            return Some(Allowed { digest: action.digest.clone(), arguments: None });
        }
        let mut request = action.request.clone();
        request.insert(ARGUMENTS.to_owned(), changed.clone());
        Some(Allowed { digest: digest(&request).ok()?, arguments: Some(changed) })
    }
}

/// Returns what the option of this field does that an answer chooses.
fn role(field: &Field, answer: &Answer) -> Option<Role> {
    let Kind::Choice { options, .. } = &field.kind else { return None };
    let Some(Value::Text(chosen)) = answer.values.get(&field.name) else { return None };
    options.iter().find(|option| option.value == *chosen)?.role.as_deref().copied()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::question::{Action, FieldOption, Origin, Purpose};

    fn request(json: Json) -> Map<String, Json> {
        json.as_object().expect("an object").clone()
    }

    fn permission() -> Question {
        let option = |value: &str, role| FieldOption {
            value: value.to_owned(),
            label: value.to_owned(),
            role: Some(Box::new(role)),
            ..FieldOption::default()
        };
        let options = vec![option("y", Role::AllowOnce), option("n", Role::RejectOnce)];
        let choice = Field::at(0, "deploy".to_owned(), None, Kind::choice(options, false, false));
        let arguments = Kind::Json { schema: json!({ "type": "object" }) };
        let arguments = Field::new(ARGUMENTS.to_owned(), ARGUMENTS.to_owned(), false, arguments);
        let action = Action::new(request(json!({ "tool": "deploy", "arguments": { "to": "a" } })), None);
        Question {
            purpose: Purpose::Permission,
            action: action.ok().map(Box::new),
            ..Question::new(Origin::Program, "q", vec![choice, arguments])
        }
    }

    #[test]
    fn what_is_allowed_is_bound_to_the_arguments_that_were_decided() {
        let question = permission();
        let asked = question.action.as_deref().expect("an action").digest.clone();
        let allowed = |values: Json| {
            let answer = serde_json::from_value(json!({ "values": values })).expect("an answer");
            Allowed::by(&question, &answer)
        };
        assert_eq!(allowed(json!({ "q0": "n" })), None);
        assert_eq!(allowed(json!({ "q0": "unknown" })), None);
        assert_eq!(allowed(json!({})), None);
        let as_asked = Some(Allowed { digest: asked.clone(), arguments: None });
        for same in [json!({ "q0": "y" }), json!({ "q0": "y", "arguments": " " })] {
            assert_eq!(allowed(same), as_asked);
        }
        assert_eq!(allowed(json!({ "q0": "y", "arguments": "{ \"to\": \"a\" }" })), as_asked);
        assert_eq!(allowed(json!({ "q0": "n", "arguments": "{\"to\":\"b\"}" })), None);
        let changed = allowed(json!({ "q0": "y", "arguments": "{\"to\":\"b\"}" })).expect("allowed");
        assert_eq!(changed.arguments, Some(json!({ "to": "b" })));
        let decided = digest(&request(json!({ "tool": "deploy", "arguments": { "to": "b" } })));
        assert_eq!(Ok(changed.digest), decided);
        // What cannot be bound to a digest is not allowed.
        assert_eq!(allowed(json!({ "q0": "y", "arguments": "{\"to\":9007199254740993}" })), None);
    }
}
