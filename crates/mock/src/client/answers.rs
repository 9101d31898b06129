//! The sources of the client's answers: the prepared answers of the command line, the lines that a person types, and,
//! for a permission, the program that embeds the client. This file also keeps an answer that is not complete yet,
//! field by field, and a refusal that waits. The meaning of a typed line is left to `form.rs`, and asking for the fields
//! to `answering.rs`.

use std::{collections::VecDeque, time::Instant};

use serde_json::Value;

use super::{
    form::{ClientField, ValueKind},
    request::AgentRequest,
};
use crate::Fallback;

/// The option that ends a multiple choice that is asked in rounds.
const DONE: &str = "Done";

/// The next input for a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextInput {
    /// This line is typed.
    Type(String),
    /// The question is rejected.
    Reject,
    /// A person types a line.
    AskPerson,
}

/// A refusal that the person gives once the time has passed that a person takes to read.
#[derive(Debug)]
pub(super) struct HeldRefusal {
    pub(super) until: Instant,
    pub(super) request: AgentRequest,
    pub(super) line: Vec<u8>,
}

/// The answers of `--answer`: one for each field in turn, and the last one for all further fields.
#[derive(Debug)]
pub(crate) struct ScriptedAnswers {
    answers: VecDeque<String>,
    fallback: Fallback,
    /// Whether the last answer has been used.
    repeats: bool,
    /// The options that are still to be chosen in a field that is asked in rounds.
    parts: VecDeque<String>,
    /// Whether the next permission request is another round of the same field.
    in_rounds: bool,
}

impl ScriptedAnswers {
    /// Returns a source of these answers. Without any answer, `fallback` decides.
    pub(crate) fn new(answers: &[String], fallback: Fallback) -> Self {
        Self {
            answers: answers.iter().cloned().collect(),
            fallback,
            repeats: false,
            parts: VecDeque::new(),
            in_rounds: false,
        }
    }

    /// Returns whether questions are left open.
    pub(super) fn leaves_open(&self) -> bool {
        self.fallback == Fallback::LeaveOpen
    }

    /// Returns the input for this field of the request.
    pub(super) fn next(&mut self, request: &AgentRequest, field: &ClientField) -> NextInput {
        if !request.is_permission() || !field.is_marked() {
            self.in_rounds = false;
            return self.answer(field);
        }
        if !self.in_rounds {
            match self.answer(field) {
                // An answer that is an option as a whole is not split at its commas.
                NextInput::Type(answer) if field.option(&answer).is_none() => {
                    let parts = answer.split(',').map(str::trim).filter(|part| !part.is_empty());
                    self.parts = parts.map(str::to_owned).collect();
                }
                NextInput::Type(answer) => self.parts = VecDeque::from([answer]),
                other => return other,
            }
        }
        let next = self.next_part(field);
        let chosen = field.option(&next).and_then(|value| field.options.iter().find(|o| o.value == value));
        self.in_rounds = chosen.is_some_and(|option| option.is_marked());
        NextInput::Type(next)
    }

    /// Returns the next part that is not chosen yet, or the option that ends the field.
    fn next_part(&mut self, field: &ClientField) -> String {
        while let Some(part) = self.parts.pop_front() {
            let value = field.option(&part);
            let is_chosen = field.options.iter().any(|o| Some(&o.value) == value.as_ref() && o.is_chosen());
            if !is_chosen {
                return part;
            }
        }
        DONE.to_owned()
    }

    fn answer(&mut self, field: &ClientField) -> NextInput {
        let last = match self.answers.len() {
            0 => {
                return match self.fallback {
                    Fallback::TakeFirst => NextInput::Type(first(field).to_owned()),
                    Fallback::Reject => NextInput::Reject,
                    Fallback::AskPerson | Fallback::LeaveOpen => NextInput::AskPerson,
                };
            }
            1 => self.answers.front().cloned().unwrap_or_default(),
            _ => return NextInput::Type(self.answers.pop_front().unwrap_or_default()),
        };
        // The last answer repeats for further fields, but not as a note, which was not meant.
        let left_out = self.repeats && field.secondary;
        self.repeats = true;
        NextInput::Type(if left_out { String::new() } else { last })
    }
}

/// Returns an answer that always fits; an empty one for a secondary text.
fn first(field: &ClientField) -> &'static str {
    match field.kind {
        _ if field.secondary => "",
        ValueKind::Text if field.options.is_empty() => "text",
        // The first option of a prompt of the bridge moves the question to another place.
        _ if field.options.first().is_some_and(|option| option.label.starts_with("Answer elsewhere")) => "2",
        _ => "1",
    }
}

/// An answer that is not complete yet.
pub(super) struct Draft {
    pub(super) request: AgentRequest,
    /// The values of the fields that have been answered.
    pub(super) answers: Vec<Vec<String>>,
    /// The number of fields that were shown.
    pub(super) shown: usize,
    /// The dialog with the person, if the request asks for a permission.
    pub(super) consent: Option<Box<dyn Consent>>,
}

impl Draft {
    /// Returns an answer without a field yet.
    pub(super) fn new(request: AgentRequest) -> Self {
        Self { request, answers: Vec::new(), shown: 0, consent: None }
    }

    /// Returns what can be typed for the next field.
    pub(super) fn hint(&self) -> String {
        if let Some(consent) = &self.consent {
            return consent.prompt().trim_end().trim_end_matches(':').to_owned();
        }
        let fields = &self.request.form.fields;
        fields.get(self.answers.len()).map(|field| field.hint(fields.len())).unwrap_or_default()
    }
}

/// Begins to ask a person for a permission. The argument has the parameters of the request, with all that is known of
/// the tool call. Returns `None` if the request is to be asked as a question.
pub type AskConsent = fn(&Value) -> Option<Box<dyn Consent>>;

/// A permission on which a person is deciding.
pub trait Consent {
    /// Returns the lines above the prompt.
    fn above(&self) -> Vec<String>;

    /// Returns the prompt, behind which the person types.
    fn prompt(&self) -> String;

    /// Takes a typed line.
    fn typed(&mut self, line: &str) -> ConsentReply;
}

/// What a typed line leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsentReply {
    /// These lines are shown, and the person is asked again or asked for the next step.
    Say(Vec<String>),
    /// The option with this ID is chosen.
    Option(String),
    /// No option is chosen: the permission is refused.
    Denied,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        ClientKind,
        message::{self, RpcMessage},
    };

    fn request(client: ClientKind, method: &str, params: &Value) -> AgentRequest {
        let line = message::request(0, method, params).unwrap();
        let Ok(RpcMessage::Request { id, method, params }) = RpcMessage::read(&line) else {
            panic!("no request")
        };
        AgentRequest::read(client, &id, &method, &params).unwrap().unwrap()
    }

    fn permission(names: &[&str]) -> AgentRequest {
        let options: Vec<Value> = names
            .iter()
            .map(|name| json!({ "optionId": name, "name": name, "kind": "allow_once" }))
            .collect();
        let params = json!({ "toolCall": { "toolCallId": "t", "title": "Which?" }, "options": options });
        request(ClientKind::Permission, "session/request_permission", &params)
    }

    /// Answers these requests in turn, and returns the names that were typed.
    fn typed(answers: &mut ScriptedAnswers, rounds: &[&[&str]]) -> Vec<String> {
        let typed = rounds.iter().map(|names| {
            let request = permission(names);
            match answers.next(&request, &request.form.fields[0]) {
                NextInput::Type(line) => line,
                other => panic!("{other:?}"),
            }
        });
        typed.collect()
    }

    fn scripted(answers: &[&str]) -> ScriptedAnswers {
        let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
        ScriptedAnswers::new(&answers, Fallback::TakeFirst)
    }

    const NONE: [&str; 5] = ["Elsewhere", "☐ Auth", "☐ Search", "Done", "Skip"];
    const AUTH: [&str; 5] = ["Elsewhere", "☑ Auth", "☐ Search", "Done", "Skip"];
    const BOTH: [&str; 5] = ["Elsewhere", "☑ Auth", "☑ Search", "Done", "Skip"];

    #[test]
    fn options_are_chosen_in_rounds_until_all_are_chosen() {
        let mut many = scripted(&["Auth, Search", "B"]);
        let rounds: [&[&str]; 4] = [&NONE, &AUTH, &BOTH, &["A", "B"]];
        assert_eq!(typed(&mut many, &rounds), ["Auth", "Search", "Done", "B"]);
    }

    #[test]
    fn the_next_field_begins_after_the_end_of_the_rounds() {
        let mut two = scripted(&["Auth", "Search"]);
        assert_eq!(typed(&mut two, &[&NONE, &AUTH, &NONE, &AUTH]), ["Auth", "Done", "Search", "Done"]);
    }

    #[test]
    fn an_option_that_is_chosen_already_is_not_chosen_again() {
        assert_eq!(typed(&mut scripted(&["Auth, Search"]), &[&AUTH, &BOTH]), ["Search", "Done"]);
        assert_eq!(typed(&mut scripted(&["Auth"]), &[&AUTH]), ["Done"]);
    }

    #[test]
    fn an_option_with_a_comma_is_not_split() {
        let rounds: [&[&str]; 2] = [&["☐ a, b", "☐ a", "Done"], &["☑ a, b", "☐ a", "Done"]];
        assert_eq!(typed(&mut scripted(&["a, b"]), &rounds), ["a, b", "Done"]);
        assert_eq!(typed(&mut scripted(&["a, b"]), &[&["A", "a, b"]]), ["a, b"]);
    }

    #[test]
    fn the_fallback_counts_without_answers() {
        assert_eq!(typed(&mut scripted(&[]), &[&["A", "B"], &NONE, &NONE]), ["1", "1", "1"]);
        assert_eq!(typed(&mut scripted(&[]), &[&["☐ A", "Done"], &["☑ A", "Done"]]), ["1", "Done"]);
        let mut reject = ScriptedAnswers::new(&[], Fallback::Reject);
        let request = permission(&NONE);
        assert_eq!(reject.next(&request, &request.form.fields[0]), NextInput::Reject);
    }

    #[test]
    fn the_last_answer_is_repeated_except_for_secondary_texts() {
        let properties = json!({
            "a": { "type": "string", "enum": ["x", "y"] }, "a_note": { "type": "string" },
            "b": { "type": "string", "enum": ["x", "y"] }, "n": { "type": "integer" },
        });
        let form =
            json!({ "mode": "form", "requestedSchema": { "type": "object", "properties": properties } });
        let request = request(ClientKind::Forms, "elicitation/create", &form);
        let lines = |mut answers: ScriptedAnswers| -> Vec<NextInput> {
            request.form.fields.iter().map(|field| answers.next(&request, field)).collect()
        };
        let expected = |lines: [&str; 4]| Vec::from(lines.map(|line| NextInput::Type(line.to_owned())));
        assert_eq!(lines(scripted(&["2"])), expected(["2", "", "2", "2"]));
        assert_eq!(lines(scripted(&["y", "why", "x", "5"])), expected(["y", "why", "x", "5"]));
        assert_eq!(lines(scripted(&[])), expected(["1", "", "1", "1"]));
        assert_eq!(
            lines(ScriptedAnswers::new(&[], Fallback::AskPerson)),
            [(); 4].map(|()| NextInput::AskPerson)
        );
    }
}
