//! The way through a question by permission prompts: field by field, and many choices round by round.
//! How a prompt looks is left to `prompt.rs`.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::prompt::{Chosen, Prompt, Protocol};
use crate::question::{Answer, Field, Kind, Question, Reason, Value, check};

/// How far the prompts have come.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// The number of the prompt that is shown.
    number: u64,
    /// What was answered so far.
    answer: Answer,
    /// The options that are chosen in the field that is asked, where it takes many.
    chosen: Vec<String>,
}

/// What a reply leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The next prompt is shown.
    Next,
    /// The question is answered.
    Answered(Answer),
    /// The person does not want to answer, or the client took the prompt back.
    Rejected(Reason),
    /// It is not answered here.
    Elsewhere,
    /// It belongs to an earlier prompt: the one that is shown still waits.
    Stale,
    /// It says nothing that is known.
    Unknown,
}

#[derive(Deserialize)]
struct Reply {
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Outcome {
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: String,
    },
    Cancelled,
}

impl Walk {
    /// Begins. `number` is that of the first prompt.
    pub fn new(number: u64) -> Self {
        Walk { number, answer: Answer::default(), chosen: Vec::new() }
    }

    /// Returns what was answered so far.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Says the prompt that is shown now, as the `params` of a permission request. `None` where there is no session
    /// to show it in. `name` is that by which the question can be answered elsewhere.
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

    /// Takes the `result` of the prompt that is shown. `number` is that of the next one.
    pub fn take(&mut self, question: &Question, result: &[u8], number: u64) -> Step {
        let reply = result.starts_with(b"{").then(|| serde_json::from_slice(result).ok()).flatten();
        let Some(Reply { outcome }) = reply else { return Step::Unknown };
        let Outcome::Selected { option_id } = outcome else { return Step::Rejected(Reason::Cancelled) };
        let Some(chosen) = Chosen::read(&option_id, self.number) else {
            // Some clients answer twice, and some make ids up.
            return if option_id.starts_with("askbridge-") { Step::Stale } else { Step::Unknown };
        };
        let field = self.field(question);
        let value = match (chosen, field) {
            (Chosen::Elsewhere, _) => return Step::Elsewhere,
            (Chosen::Skip, _) => return Step::Rejected(Reason::User),
            (Chosen::Choice(place), Some(field)) => self.choose(field, place),
            (Chosen::Done, Some(field)) if self.choices(field).1 => {
                Some(Choice::Value(Value::Many(std::mem::take(&mut self.chosen))))
            }
            _ => None,
        };
        let (Some(field), Some(value)) = (field, value) else { return Step::Unknown };
        self.number = number;
        if let Choice::Value(value) = value {
            self.answer.values.insert(field.name.clone(), value);
        }
        if self.is_over(question) { Step::Answered(self.answer.clone()) } else { Step::Next }
    }

    /// Returns the field that is asked for now. `None` where no field is left that can be: then the prompt says so.
    fn field<'a>(&self, question: &'a Question) -> Option<&'a Field> {
        let open = |field: &&Field| !self.answer.values.contains_key(&field.name) && can_be_asked(field);
        question.fields.iter().find(open).filter(|_| !question.dangerous)
    }

    fn is_over(&self, question: &Question) -> bool {
        !question.dangerous && self.field(question).is_none() && check(question, &self.answer).is_ok()
    }

    /// Returns the names of a field's choices, and whether those that are chosen can be its value.
    fn choices(&self, field: &Field) -> (Vec<String>, bool) {
        let name = |name: &str| name.to_owned();
        match &field.kind {
            Kind::Choice { options, .. } => {
                (options.iter().map(|option| name(&option.label)).collect(), false)
            }
            Kind::Choices { options, min, max, .. } => {
                let marked = options.iter().map(|option| {
                    let mark = if self.chosen.contains(&option.value) { '☑' } else { '☐' };
                    format!("{mark} {}", option.label)
                });
                let least = min.unwrap_or(0).max(u32::from(field.required)) as usize;
                let most = max.map_or(usize::MAX, |max| max as usize);
                // What is optional may be left out, however many it takes otherwise.
                let left_out = !field.required && self.chosen.is_empty();
                (marked.collect(), left_out || (least..=most).contains(&self.chosen.len()))
            }
            Kind::Boolean { .. } => (vec![name("Yes"), name("No")], false),
            Kind::Confirm { yes, no } => (vec![name(yes), name(no)], false),
            Kind::Text { .. } | Kind::Number { .. } | Kind::Unknown(_) => (Vec::new(), false),
        }
    }

    fn choose(&mut self, field: &Field, place: usize) -> Option<Choice> {
        match &field.kind {
            Kind::Choice { options, .. } => {
                Some(Choice::Value(Value::Text(options.get(place)?.value.clone())))
            }
            Kind::Choices { options, .. } => {
                let value = &options.get(place)?.value;
                match self.chosen.iter().position(|chosen| chosen == value) {
                    Some(place) => drop(self.chosen.remove(place)),
                    None => self.chosen.push(value.clone()),
                }
                Some(Choice::Toggled)
            }
            Kind::Boolean { .. } | Kind::Confirm { .. } => {
                (place < 2).then_some(Choice::Value(Value::Flag(place == 0)))
            }
            Kind::Text { .. } | Kind::Number { .. } | Kind::Unknown(_) => None,
        }
    }
}

/// What choosing an option of a field leads to.
enum Choice {
    /// The field has its value.
    Value(Value),
    /// The field is asked for again.
    Toggled,
}

/// Says whether options are enough to answer a field. An optional text is left out.
fn can_be_asked(field: &Field) -> bool {
    match &field.kind {
        Kind::Choice { options, .. } | Kind::Choices { options, .. } => !options.is_empty(),
        Kind::Boolean { .. } | Kind::Confirm { .. } => true,
        Kind::Text { .. } | Kind::Number { .. } | Kind::Unknown(_) => false,
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

    /// The prompts of one question, by the numbers 1, 2 and so on.
    struct Prompts {
        question: Question,
        walk: Walk,
        number: u64,
    }

    impl Prompts {
        fn of(fields: &serde_json::Value) -> Self {
            Prompts { question: question(fields, false), walk: Walk::new(1), number: 1 }
        }

        /// The ids of the options that are shown, without what all of this prompt begin with.
        fn shown(&self) -> Vec<String> {
            let prompt = self.walk.prompt(&self.question, Protocol::V1, None).expect("a prompt");
            let prompt: serde_json::Value = serde_json::from_str(prompt.get()).expect("JSON");
            let options = prompt["options"].as_array().expect("options").iter();
            let ids = options.map(|option| option["optionId"].as_str().expect("an id"));
            ids.map(|id| id.rsplit('-').next().unwrap_or_default().to_owned()).collect()
        }

        fn choose(&mut self, option: &str) -> Step {
            let id = format!("askbridge-{}-{option}", self.number);
            self.number += 1;
            let step = self.say(&json!({ "outcome": { "outcome": "selected", "optionId": id } }));
            if step != Step::Next {
                self.number -= 1;
            }
            step
        }

        fn say(&mut self, result: &serde_json::Value) -> Step {
            self.walk.take(&self.question, result.to_string().as_bytes(), self.number)
        }
    }

    fn answered(values: &serde_json::Value) -> Step {
        Step::Answered(serde_json::from_value(json!({ "values": values })).expect("an answer"))
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
    fn done_is_there_from_the_least_to_the_most() {
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
                    assert_eq!(prompts.choose(&chosen.to_string()), Step::Next);
                }
            }
        }
    }

    #[test]
    fn a_choice_is_taken_back_by_choosing_it_again() {
        let mut prompts = Prompts::of(&json!([choices(&json!({}))]));
        for option in ["1", "0", "1"] {
            assert_eq!(prompts.choose(option), Step::Next);
        }
        assert_eq!(prompts.choose("done"), answered(&json!({ "m": ["a"] })));
    }

    #[test]
    fn the_choices_of_one_field_are_not_those_of_the_next() {
        let mut second = choices(&json!({}));
        second["name"] = json!("n");
        let mut prompts = Prompts::of(&json!([choices(&json!({})), second]));
        assert_eq!(prompts.choose("0"), Step::Next);
        assert_eq!(prompts.choose("done"), Step::Next);
        assert_eq!(prompts.choose("done"), answered(&json!({ "m": ["a"], "n": [] })));
    }

    #[test]
    fn what_cannot_be_chosen_is_left_out_or_left_to_others() {
        let flag = json!({ "name": "b", "label": "B", "kind": "boolean" });
        let text =
            |required: bool| json!({ "name": "t", "label": "T", "kind": "text", "required": required });
        let mut prompts = Prompts::of(&json!([text(false), flag]));
        assert_eq!(prompts.choose("1"), answered(&json!({ "b": false })));
        let mut prompts = Prompts::of(&json!([text(true), flag]));
        assert_eq!(prompts.choose("0"), Step::Next);
        assert_eq!(prompts.shown(), ["elsewhere", "skip"]);
        assert_eq!(prompts.choose("elsewhere"), Step::Elsewhere);
        assert_eq!(prompts.walk.answer().values.len(), 1);
    }

    #[test]
    fn what_is_dangerous_is_never_answered() {
        let fields = json!([{ "name": "b", "label": "B", "kind": "boolean" }]);
        let mut prompts = Prompts::of(&fields);
        prompts.question = question(&fields, true);
        assert_eq!(prompts.shown(), ["elsewhere", "skip"]);
        assert_eq!(prompts.choose("0"), Step::Unknown);
        assert_eq!(prompts.choose("skip"), Step::Rejected(Reason::User));
    }

    #[test]
    fn what_is_no_choice_of_this_prompt() {
        let mut prompts = Prompts::of(&json!([{ "name": "b", "label": "B", "kind": "boolean" }]));
        let selected = |id: &str| json!({ "outcome": { "outcome": "selected", "optionId": id } });
        for (result, step) in [
            (selected("askbridge-0-0"), Step::Stale),
            (selected("askbridge-11-0"), Step::Stale),
            (selected("askbridge-"), Step::Stale),
            (selected("askbridge-1-2"), Step::Unknown),
            (selected("askbridge-1-done"), Step::Unknown),
            (selected("askbridge-1-all"), Step::Stale),
            (selected("allow"), Step::Unknown),
            (json!({ "outcome": { "outcome": "cancelled" } }), Step::Rejected(Reason::Cancelled)),
            (json!({ "outcome": "cancelled" }), Step::Unknown),
            (json!({}), Step::Unknown),
            (json!(null), Step::Unknown),
        ] {
            assert_eq!(prompts.say(&result), step, "{result}");
        }
    }
}
