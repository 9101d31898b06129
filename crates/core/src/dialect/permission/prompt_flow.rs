//! Asking a question with a sequence of permission prompts: one for each field, and for a multiple choice one for each
//! choice that is made. How a prompt is written is left to `prompt.rs`.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{
    prompt::{Prompt, PromptChoice, Protocol},
    response::{PermissionOutcome, read_outcome},
};
use crate::question::{
    Answer, Field, Kind, Question, Reason, Value, check,
    naming::{names, pair},
};

/// The progress of the prompts for one question.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptFlow {
    /// The number of the current prompt.
    number: u64,
    /// The values of the fields that are answered.
    answer: Answer,
    /// The options that are chosen in the current field, if it is a multiple choice.
    chosen: Vec<String>,
}

/// The step that follows a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptStep {
    /// Show the next prompt.
    Next,
    /// The question is answered.
    Answered(Answer),
    /// The user does not want to answer, or the client cancelled the prompt.
    Rejected(Reason),
    /// The user answers elsewhere.
    Elsewhere,
    /// The reply has no known meaning.
    Unknown,
}

impl PromptFlow {
    /// Creates a flow whose first prompt has this number.
    pub fn new(number: u64) -> Self {
        PromptFlow { number, answer: Answer::default(), chosen: Vec::new() }
    }

    /// Returns the answer so far.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Writes the current prompt as the `params` of a permission request. `name` is the name under which
    /// `askbridge answer` finds the question.
    ///
    /// Returns `None` if the question has no session, which a permission request needs.
    pub fn prompt(
        &self,
        question: &Question,
        protocol: Protocol,
        name: Option<&str>,
    ) -> Option<Box<RawValue>> {
        let session = question.session.as_deref()?;
        let field = self.field(question);
        let (choices, done) = field.map_or((Vec::new(), false), |field| self.choices(field));
        Some(Prompt { number: self.number, name, field, choices, done }.write(question, session, protocol))
    }

    /// Handles the `result` of the current prompt. `number` is the number of the next prompt.
    pub fn handle_reply(&mut self, question: &Question, result: &[u8], number: u64) -> PromptStep {
        let option_id = match read_outcome(result) {
            Some(PermissionOutcome::Selected { option_id }) => option_id,
            Some(PermissionOutcome::Cancelled) => return PromptStep::Rejected(Reason::Cancelled),
            None => return PromptStep::Unknown,
        };
        // Some clients reply with an option of an earlier prompt, or with one that no prompt had.
        let Some(chosen) = PromptChoice::read(&option_id, self.number) else { return PromptStep::Unknown };
        let field = self.field(question);
        let value = match (chosen, field) {
            (PromptChoice::Elsewhere | PromptChoice::Other, _) => return PromptStep::Elsewhere,
            (PromptChoice::Skip, _) => return PromptStep::Rejected(Reason::User),
            (PromptChoice::Choice(place), Some(field)) => self.choose(field, place),
            (PromptChoice::Done, Some(field)) if self.choices(field).1 => {
                Some(FieldChoice::Value(Value::Many(std::mem::take(&mut self.chosen))))
            }
            _ => None,
        };
        let (Some(field), Some(value)) = (field, value) else { return PromptStep::Unknown };
        self.number = number;
        if let FieldChoice::Value(value) = value {
            self.answer.values.insert(field.name.clone(), value);
        }
        if self.is_over(question) { PromptStep::Answered(self.answer.clone()) } else { PromptStep::Next }
    }

    /// Returns the current field. Returns `None` if prompts can ask for no further field: then the prompt says so.
    fn field<'a>(&self, question: &'a Question) -> Option<&'a Field> {
        // A client that answers without its user must not get an option that may do harm.
        let open = |field: &&Field| !self.answer.values.contains_key(&field.name) && can_be_asked(field);
        question.fields.iter().find(open).filter(|_| !question.dangerous)
    }

    fn is_over(&self, question: &Question) -> bool {
        !question.dangerous && self.field(question).is_none() && check(question, &self.answer).is_ok()
    }

    /// Returns the labels of a field's choices, and whether the choices made so far are a complete value.
    fn choices(&self, field: &Field) -> (Vec<String>, bool) {
        match &field.kind {
            Kind::Choice { options, .. } => {
                (names(options).into_iter().map(Cow::into_owned).collect(), false)
            }
            Kind::Choices { options, min, max, .. } => {
                let marked = options.iter().zip(names(options)).map(|(option, name)| {
                    let mark = if self.chosen.contains(&option.value) { '☑' } else { '☐' };
                    format!("{mark} {name}")
                });
                let least = min.unwrap_or(0).max(u32::from(field.required)) as usize;
                let most = max.map_or(usize::MAX, |max| max as usize);
                // An optional field may stay empty, even if it has a minimum.
                let may_stay_empty = !field.required && self.chosen.is_empty();
                (marked.collect(), may_stay_empty || (least..=most).contains(&self.chosen.len()))
            }
            Kind::Boolean { .. } => (vec!["Yes".to_owned(), "No".to_owned()], false),
            Kind::Confirm { yes, no } => (pair(yes, no).map(Cow::into_owned).into(), false),
            _ => (Vec::new(), false),
        }
    }

    /// Makes the choice at this index, or takes it back.
    fn choose(&mut self, field: &Field, place: usize) -> Option<FieldChoice> {
        match &field.kind {
            Kind::Choice { options, .. } => {
                Some(FieldChoice::Value(Value::Text(options.get(place)?.value.clone())))
            }
            Kind::Choices { options, .. } => {
                let value = &options.get(place)?.value;
                match self.chosen.iter().position(|chosen| chosen == value) {
                    Some(place) => drop(self.chosen.remove(place)),
                    None => self.chosen.push(value.clone()),
                }
                Some(FieldChoice::Toggled)
            }
            Kind::Boolean { .. } | Kind::Confirm { .. } => {
                (place < 2).then_some(FieldChoice::Value(Value::Flag(place == 0)))
            }
            _ => None,
        }
    }
}

/// The effect of a choice.
enum FieldChoice {
    /// The field has a value.
    Value(Value),
    /// The field is a multiple choice, and is asked for again.
    Toggled,
}

/// Returns whether options are enough to answer this field.
fn can_be_asked(field: &Field) -> bool {
    match &field.kind {
        Kind::Choice { options, .. } | Kind::Choices { options, .. } => !options.is_empty(),
        Kind::Boolean { .. } | Kind::Confirm { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::sandboxagent;

    fn question(fields: &serde_json::Value, dangerous: bool) -> Question {
        let additions = json!({ "fields": fields, "dangerous": dangerous });
        let params = json!({ "sessionId": "s", "prompt": "?", "_meta": { "askbridge": additions } });
        sandboxagent::request::read(params.to_string().as_bytes(), "q").expect("a question")
    }

    /// A question, and the prompts for it, numbered from 1.
    struct Prompts {
        question: Question,
        flow: PromptFlow,
        number: u64,
    }

    impl Prompts {
        fn of(fields: &serde_json::Value) -> Self {
            Prompts { question: question(fields, false), flow: PromptFlow::new(1), number: 1 }
        }

        /// The ids of the options in the current prompt, without their common prefix.
        fn shown(&self) -> Vec<String> {
            let prompt = self.flow.prompt(&self.question, Protocol::V1, None).expect("a prompt");
            let prompt: serde_json::Value = serde_json::from_str(prompt.get()).expect("JSON");
            let options = prompt["options"].as_array().expect("options").iter();
            let ids = options.map(|option| option["optionId"].as_str().expect("an id"));
            ids.map(|id| id.rsplit('-').next().unwrap_or_default().to_owned()).collect()
        }

        fn choose(&mut self, option: &str) -> PromptStep {
            let id = format!("askbridge-{}-{option}", self.number);
            self.number += 1;
            let step = self.say(&json!({ "outcome": { "outcome": "selected", "optionId": id } }));
            if step != PromptStep::Next {
                self.number -= 1;
            }
            step
        }

        fn say(&mut self, result: &serde_json::Value) -> PromptStep {
            self.flow.handle_reply(&self.question, result.to_string().as_bytes(), self.number)
        }
    }

    fn answered(values: &serde_json::Value) -> PromptStep {
        PromptStep::Answered(serde_json::from_value(json!({ "values": values })).expect("an answer"))
    }

    fn choices(members: &serde_json::Value) -> serde_json::Value {
        let mut field = json!({ "name": "m", "label": "M", "kind": "choices", "options": [
            { "value": "a", "label": "A" }, { "value": "b", "label": "B" },
        ] });
        let object = field.as_object_mut().expect("an object");
        object.extend(members.as_object().expect("an object").clone());
        field
    }

    #[test]
    fn done_is_offered_from_the_minimum_to_the_maximum() {
        for (members, at) in [
            (json!({}), [true, true, true]),
            (json!({ "required": true }), [false, true, true]),
            (json!({ "required": true, "min": 2 }), [false, false, true]),
            (json!({ "min": 2 }), [true, false, true]),
            (json!({ "max": 1 }), [true, true, false]),
        ] {
            let mut prompts = Prompts::of(&json!([choices(&members)]));
            for (chosen, done) in at.into_iter().enumerate() {
                assert_eq!(prompts.shown().contains(&"done".to_owned()), done, "{members}, {chosen} chosen");
                if chosen < 2 {
                    assert_eq!(prompts.choose(&chosen.to_string()), PromptStep::Next);
                }
            }
        }
    }

    #[test]
    fn choosing_twice_takes_a_choice_back() {
        let mut prompts = Prompts::of(&json!([choices(&json!({}))]));
        for option in ["1", "0", "1"] {
            assert_eq!(prompts.choose(option), PromptStep::Next);
        }
        assert_eq!(prompts.choose("done"), answered(&json!({ "m": ["a"] })));
    }

    #[test]
    fn each_field_starts_without_choices() {
        let mut second = choices(&json!({}));
        second["name"] = json!("n");
        let mut prompts = Prompts::of(&json!([choices(&json!({})), second]));
        assert_eq!(prompts.choose("0"), PromptStep::Next);
        assert_eq!(prompts.choose("done"), PromptStep::Next);
        assert_eq!(prompts.choose("done"), answered(&json!({ "m": ["a"], "n": [] })));
    }

    #[test]
    fn fields_without_choices_are_skipped_or_answered_elsewhere() {
        let flag = json!({ "name": "b", "label": "B", "kind": "boolean" });
        let text =
            |required: bool| json!({ "name": "t", "label": "T", "kind": "text", "required": required });
        let mut prompts = Prompts::of(&json!([text(false), flag]));
        assert_eq!(prompts.choose("1"), answered(&json!({ "b": false })));
        let mut prompts = Prompts::of(&json!([text(true), flag]));
        assert_eq!(prompts.choose("0"), PromptStep::Next);
        assert_eq!(prompts.shown(), ["elsewhere", "skip"]);
        assert_eq!(prompts.choose("elsewhere"), PromptStep::Elsewhere);
        assert_eq!(prompts.flow.answer().values.len(), 1);
    }

    #[test]
    fn dangerous_question_is_never_answered_by_prompts() {
        let fields = json!([{ "name": "b", "label": "B", "kind": "boolean" }]);
        let mut prompts = Prompts::of(&fields);
        prompts.question = question(&fields, true);
        assert_eq!(prompts.shown(), ["elsewhere", "skip"]);
        assert_eq!(prompts.choose("0"), PromptStep::Unknown);
        assert_eq!(prompts.choose("skip"), PromptStep::Rejected(Reason::User));
    }

    #[test]
    fn reply_with_an_option_that_the_prompt_does_not_have_is_unknown() {
        let mut prompts = Prompts::of(&json!([{ "name": "b", "label": "B", "kind": "boolean" }]));
        let selected = |id: &str| json!({ "outcome": { "outcome": "selected", "optionId": id } });
        for (result, step) in [
            (selected("askbridge-0-0"), PromptStep::Unknown),
            (selected("askbridge-11-0"), PromptStep::Unknown),
            (selected("askbridge-"), PromptStep::Unknown),
            (selected("askbridge-1-2"), PromptStep::Unknown),
            (selected("askbridge-1-done"), PromptStep::Unknown),
            (selected("askbridge-1-all"), PromptStep::Unknown),
            (selected("allow"), PromptStep::Unknown),
            (json!({ "outcome": { "outcome": "cancelled" } }), PromptStep::Rejected(Reason::Cancelled)),
            (json!({ "outcome": "cancelled" }), PromptStep::Unknown),
            (json!({ "outcome": ["cancelled"] }), PromptStep::Unknown),
            (json!([{ "outcome": "cancelled" }]), PromptStep::Unknown),
            (json!({}), PromptStep::Unknown),
            (json!(null), PromptStep::Unknown),
        ] {
            assert_eq!(prompts.say(&result), step, "{result}");
        }
    }
}
