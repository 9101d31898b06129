//! The answers that were given on the command line, and which of them is typed next.
//! What a typed line means is left to `form.rs`.

use std::collections::VecDeque;

use super::{
    asked::Asked,
    form::{Field, Kind},
};

/// The option that ends a field of which many can be chosen, one at a time.
const DONE: &str = "Done";

/// What is done about a field that no answer was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mock) enum Otherwise {
    /// A person is asked.
    AskPerson,
    /// The first option that answers is taken, `text`, 1 or true.
    TakeFirst,
    /// Everything is rejected.
    Reject,
    /// Nothing is answered at all.
    LeaveOpen,
}

/// What is to be done about a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This is typed.
    Type(String),
    Reject,
    AskPerson,
}

/// The answers of `--answer`: one for each field in turn, and the last one for all that follow.
#[derive(Debug)]
pub(in crate::mock) struct Given {
    answers: VecDeque<String>,
    otherwise: Otherwise,
    /// Whether the last answer was given once.
    repeats: bool,
    /// What is still to be chosen of a field that is asked for round by round.
    parts: VecDeque<String>,
    /// Whether such a field goes on.
    in_rounds: bool,
}

impl Given {
    pub(in crate::mock) fn new(answers: &[String], otherwise: Otherwise) -> Self {
        Self {
            answers: answers.iter().cloned().collect(),
            otherwise,
            repeats: false,
            parts: VecDeque::new(),
            in_rounds: false,
        }
    }

    pub(super) fn leaves_open(&self) -> bool {
        self.otherwise == Otherwise::LeaveOpen
    }

    /// What is to be done about this field of the question.
    pub(super) fn next(&mut self, asked: &Asked, field: &Field) -> Next {
        if !asked.is_permission() || !field.is_marked() {
            self.in_rounds = false;
            return self.answer(field);
        }
        if !self.in_rounds {
            match self.answer(field) {
                // One that is an option as a whole is not taken apart.
                Next::Type(answer) if field.option(&answer).is_none() => {
                    let parts = answer.split(',').map(str::trim).filter(|part| !part.is_empty());
                    self.parts = parts.map(str::to_owned).collect();
                }
                Next::Type(answer) => self.parts = VecDeque::from([answer]),
                other => return other,
            }
        }
        let next = self.next_part(field);
        let chosen = field.option(&next).and_then(|value| field.options.iter().find(|o| o.value == value));
        self.in_rounds = chosen.is_some_and(|option| option.is_marked());
        Next::Type(next)
    }

    /// The next part that is not chosen yet, or the end of the field.
    fn next_part(&mut self, field: &Field) -> String {
        while let Some(part) = self.parts.pop_front() {
            let value = field.option(&part);
            let is_chosen = field.options.iter().any(|o| Some(&o.value) == value.as_ref() && o.is_chosen());
            if !is_chosen {
                return part;
            }
        }
        DONE.to_owned()
    }

    fn answer(&mut self, field: &Field) -> Next {
        let last = match self.answers.len() {
            0 => {
                return match self.otherwise {
                    Otherwise::TakeFirst => Next::Type(first(field).to_owned()),
                    Otherwise::Reject => Next::Reject,
                    Otherwise::AskPerson | Otherwise::LeaveOpen => Next::AskPerson,
                };
            }
            1 => self.answers.front().cloned().unwrap_or_default(),
            _ => return Next::Type(self.answers.pop_front().unwrap_or_default()),
        };
        let left_out = self.repeats && field.aside;
        self.repeats = true;
        Next::Type(if left_out { String::new() } else { last })
    }
}

/// The answer that fits always, or nothing where nobody asked for a text.
fn first(field: &Field) -> &'static str {
    match field.kind {
        _ if field.aside => "",
        Kind::Text if field.options.is_empty() => "text",
        // As a person would who wants to answer here.
        _ if field.options.first().is_some_and(|option| option.label.starts_with("Answer elsewhere")) => "2",
        _ => "1",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        cli::Tier,
        mock::message::{self, Message},
    };

    fn asked(tier: Tier, method: &str, params: &Value) -> Asked {
        let line = message::request(0, method, params).unwrap();
        let Ok(Message::Request { id, method, params }) = Message::read(&line) else { panic!("no request") };
        Asked::read(tier, &id, &method, &params).unwrap().unwrap()
    }

    fn permission(names: &[&str]) -> Asked {
        let options: Vec<Value> = names
            .iter()
            .map(|name| json!({ "optionId": name, "name": name, "kind": "allow_once" }))
            .collect();
        let params = json!({ "toolCall": { "toolCallId": "t", "title": "Which?" }, "options": options });
        asked(Tier::Permission, "session/request_permission", &params)
    }

    /// Answers these requests in turn, and returns the names that were typed.
    fn typed(given: &mut Given, rounds: &[&[&str]]) -> Vec<String> {
        let typed = rounds.iter().map(|names| {
            let asked = permission(names);
            match given.next(&asked, &asked.form.fields[0]) {
                Next::Type(line) => line,
                other => panic!("{other:?}"),
            }
        });
        typed.collect()
    }

    fn given(answers: &[&str]) -> Given {
        let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
        Given::new(&answers, Otherwise::TakeFirst)
    }

    const NONE: [&str; 5] = ["Elsewhere", "☐ Auth", "☐ Search", "Done", "Skip"];
    const AUTH: [&str; 5] = ["Elsewhere", "☑ Auth", "☐ Search", "Done", "Skip"];
    const BOTH: [&str; 5] = ["Elsewhere", "☑ Auth", "☑ Search", "Done", "Skip"];

    #[test]
    fn many_are_chosen_round_by_round_until_all_are() {
        let mut many = given(&["Auth, Search", "B"]);
        let rounds: [&[&str]; 4] = [&NONE, &AUTH, &BOTH, &["A", "B"]];
        assert_eq!(typed(&mut many, &rounds), ["Auth", "Search", "Done", "B"]);
    }

    #[test]
    fn two_fields_of_many_are_told_apart_by_the_end_of_the_first() {
        let mut two = given(&["Auth", "Search"]);
        assert_eq!(typed(&mut two, &[&NONE, &AUTH, &NONE, &AUTH]), ["Auth", "Done", "Search", "Done"]);
    }

    #[test]
    fn what_is_chosen_already_is_not_taken_back() {
        assert_eq!(typed(&mut given(&["Auth, Search"]), &[&AUTH, &BOTH]), ["Search", "Done"]);
        assert_eq!(typed(&mut given(&["Auth"]), &[&AUTH]), ["Done"]);
    }

    #[test]
    fn an_option_with_a_comma_in_it_is_one() {
        let rounds: [&[&str]; 2] = [&["☐ a, b", "☐ a", "Done"], &["☑ a, b", "☐ a", "Done"]];
        assert_eq!(typed(&mut given(&["a, b"]), &rounds), ["a, b", "Done"]);
        assert_eq!(typed(&mut given(&["a, b"]), &[&["A", "a, b"]]), ["a, b"]);
    }

    #[test]
    fn the_first_option_is_taken_where_nothing_is_given() {
        assert_eq!(typed(&mut given(&[]), &[&["A", "B"], &NONE, &NONE]), ["1", "1", "1"]);
        assert_eq!(typed(&mut given(&[]), &[&["☐ A", "Done"], &["☑ A", "Done"]]), ["1", "Done"]);
        let mut reject = Given::new(&[], Otherwise::Reject);
        let asked = permission(&NONE);
        assert_eq!(reject.next(&asked, &asked.form.fields[0]), Next::Reject);
    }

    #[test]
    fn the_last_answer_is_given_again_but_not_as_a_text_beside_others() {
        let properties = json!({
            "a": { "type": "string", "enum": ["x", "y"] }, "a_note": { "type": "string" },
            "b": { "type": "string", "enum": ["x", "y"] }, "n": { "type": "integer" },
        });
        let form =
            json!({ "mode": "form", "requestedSchema": { "type": "object", "properties": properties } });
        let asked = asked(Tier::Forms, "elicitation/create", &form);
        let lines = |mut given: Given| -> Vec<Next> {
            asked.form.fields.iter().map(|field| given.next(&asked, field)).collect()
        };
        let expected = |lines: [&str; 4]| Vec::from(lines.map(|line| Next::Type(line.to_owned())));
        assert_eq!(lines(given(&["2"])), expected(["2", "", "2", "2"]));
        assert_eq!(lines(given(&["y", "why", "x", "5"])), expected(["y", "why", "x", "5"]));
        assert_eq!(lines(given(&[])), expected(["1", "", "1", "1"]));
        assert_eq!(lines(Given::new(&[], Otherwise::AskPerson)), [(); 4].map(|()| Next::AskPerson));
    }
}
