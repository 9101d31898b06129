//! A question put to a user in plain lines: the next prompt, and the effect of each typed line.
//! No I/O: `command` prints the prompts, reads the lines, and submits.

use std::sync::Arc;

use askbridge_core::{
    desk::{Record, Submission},
    question::{Answer, Field, FieldError, Kind, Purpose, Question, Role, Value, check, form},
};

use super::{
    answer::{about, errors, is_empty, summary},
    caution::{self, caution},
    prompt::{self, Word, word},
    typed::{self, TypedText, meant},
};

/// A question with the answer that the user has given so far.
#[derive(Clone, Debug)]
pub struct Dialogue {
    record: Arc<Record>,
    answer: Answer,
    /// Whether the user has been through each field. If so, an empty line does not take the field's default any more.
    passed: Vec<bool>,
    pub(super) step: DialogueStep,
    /// Whether the user came from the review to change this field. The review is then the next step.
    is_change: bool,
    /// The earlier lines of a text that continues on the next line.
    begun: Option<String>,
}

/// The current prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialogueStep {
    /// The value of this field.
    Field(usize),
    /// Whether to send the whole answer.
    Review,
    /// The word that confirms.
    Caution,
    /// Why the question is rejected.
    Reason,
}

/// The effect of a typed line.
#[derive(Clone, Debug, PartialEq)]
pub enum DialogueReply {
    /// Print these lines, then the next prompt.
    Say(Vec<String>),
    /// Submit this.
    Submit(Submission),
    /// Extend the deadline, then continue with the question.
    MoreTime,
    /// Leave the question open.
    Leave,
}

impl Dialogue {
    /// Begins with the first field.
    pub fn new(record: Arc<Record>) -> Self {
        let answer = record.kept.clone().unwrap_or_default();
        let passed = vec![false; record.question.fields.len()];
        Dialogue { record, answer, passed, step: DialogueStep::Field(0), is_change: false, begun: None }
    }

    /// Begins with the confirmation of an answer that the user gave without going through the fields.
    pub fn confirming(record: Arc<Record>, answer: Answer) -> Self {
        Dialogue { answer, step: DialogueStep::Caution, ..Dialogue::new(record) }
    }

    /// Begins with the reason of a rejection.
    pub fn rejecting(record: Arc<Record>) -> Self {
        Dialogue { step: DialogueStep::Reason, ..Dialogue::new(record) }
    }

    /// Returns the question.
    pub fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Replaces the record after a change of the question, such as a new deadline. If its text has changed, what was
    /// given for the earlier text is not sent: the dialogue begins anew, and keeps the answers.
    pub fn update(&mut self, record: Arc<Record>) {
        if record.edition != self.record.edition && self.step != DialogueStep::Reason {
            (self.step, self.is_change, self.begun) = (DialogueStep::Field(0), false, None);
        }
        self.record = record;
    }

    /// Returns the field that the prompt asks for, if it asks for one.
    pub fn field(&self) -> Option<&Field> {
        match self.step {
            DialogueStep::Field(place) => self.question().fields.get(place),
            _ => None,
        }
    }

    /// Returns whether to print the field's label and options: not in the middle of a text.
    pub fn is_new_field(&self) -> bool {
        self.field().is_some() && self.begun.is_none()
    }

    /// Returns whether the next line confirms a risk.
    pub(super) fn is_caution(&self) -> bool {
        self.step == DialogueStep::Caution
    }

    /// Returns the lines above the prompt: what would be sent, or what must be confirmed.
    pub fn above(&self) -> Vec<String> {
        match self.step {
            DialogueStep::Review => summary(self.question(), &self.answer),
            DialogueStep::Caution => {
                let (question, answer) = (self.question(), &self.answer);
                vec![caution::line(question, answer), caution::asked(question, answer)]
            }
            DialogueStep::Field(_) | DialogueStep::Reason => Vec::new(),
        }
    }

    /// Returns the prompt, behind which the person types.
    pub fn prompt(&self) -> String {
        let asked = match (self.step, self.field()) {
            (DialogueStep::Field(_), Some(_)) if self.begun.is_some() => "(continued)".to_owned(),
            (DialogueStep::Field(place), Some(field)) => {
                let default = self.default_of(place, field);
                format!(
                    "{}{} (? for help)",
                    prompt::instruction(field),
                    prompt::bracket(field, default.as_ref())
                )
            }
            (DialogueStep::Review, _) if is_empty(&self.answer) => {
                "Send it empty? Type yes, or the number of a field to fill it in".to_owned()
            }
            (DialogueStep::Review, _) => {
                "Send it? Type yes, or the number of a field to change it [yes]".to_owned()
            }
            (DialogueStep::Caution, _) => format!("Type {} to confirm", caution::WORD),
            (DialogueStep::Reason, _) => "Why is it rejected? [no reason]".to_owned(),
            (DialogueStep::Field(_), None) => "Type /quit".to_owned(),
        };
        format!("{asked}: ")
    }

    /// Takes a typed line.
    pub fn typed(&mut self, line: &str) -> DialogueReply {
        let place = match self.step {
            DialogueStep::Field(place) => place,
            DialogueStep::Review => return self.reviewed(line),
            DialogueStep::Caution if caution::confirms(line) => return self.submit(),
            DialogueStep::Caution if word(line).is_some() => return self.commanded(line),
            // The step stays the same: a second attempt to confirm must not become the answer to a field.
            DialogueStep::Caution => {
                return say(&format!("Nothing was sent. Type {} to send it, or /back.", caution::WORD));
            }
            DialogueStep::Reason => return self.reasoned(line),
        };
        match self.question().fields.get(place).cloned() {
            Some(field) => self.typed_for(place, &field, line),
            None => DialogueReply::Leave,
        }
    }

    /// Returns why the answer was refused, and goes to the first field that is wrong.
    pub fn refused(&mut self, wrong: &[FieldError]) -> Vec<String> {
        let question = Arc::clone(&self.record.question);
        let place =
            wrong.iter().find_map(|error| question.fields.iter().position(|it| it.name == error.field));
        self.step = DialogueStep::Field(place.unwrap_or_default());
        self.is_change = question.fields.len() > 1;
        vec![errors(&question, wrong)]
    }

    pub(super) fn question(&self) -> &Question {
        &self.record.question
    }

    /// Returns the value that an empty line gives to a field: the value that was given before, or else its default.
    fn default_of(&self, place: usize, field: &Field) -> Option<Value> {
        // An empty line must never grant a permission (I12).
        if self.question().purpose == Purpose::Permission {
            return None;
        }
        let has_passed = self.passed.get(place).copied().unwrap_or_default();
        let given = self.answer.values.get(&field.name).cloned();
        given.or_else(|| prompt::default_of(self.question(), field).filter(|_| !has_passed))
    }

    fn typed_for(&mut self, place: usize, field: &Field, line: &str) -> DialogueReply {
        if let Some(begun) = self.begun.take() {
            return self.lines(place, field, begun, line);
        }
        // An option may have the name of a command word. The option wins, since it is what the user sees.
        let is_option = !meant(line.trim(), field.kind.options()).is_none();
        if let Some(Word::Text(text)) = word(line).filter(|_| !is_option) {
            return self.read(place, field, TypedText::Text(text));
        }
        if !is_option && word(line).is_some() {
            return self.commanded(line);
        }
        if line.trim().is_empty() {
            return match self.default_of(place, field) {
                Some(value) => self.take(place, field, Some(value)),
                None if (field.required && !field.nullable)
                    || self.question().purpose == Purpose::Permission =>
                {
                    say(&format!("{} is required.", about(self.question(), field)))
                }
                None => self.take(place, field, None),
            };
        }
        match field.kind {
            Kind::Text { multiline: true, .. } | Kind::Json { .. } => {
                self.lines(place, field, String::new(), line)
            }
            Kind::Text { .. } => self.read(place, field, TypedText::Value(line)),
            _ => match typed::listed(field, line.trim()) {
                Some(value) => self.take(place, field, Some(value)),
                None => self.read(place, field, TypedText::Value(line.trim())),
            },
        }
    }

    /// Adds a line to a text. A backslash at its end continues the text on the next line.
    fn lines(&mut self, place: usize, field: &Field, begun: String, line: &str) -> DialogueReply {
        if let Some(line) = line.strip_suffix('\\') {
            self.begun = Some(format!("{begun}{line}\n"));
            return DialogueReply::Say(Vec::new());
        }
        self.read(place, field, TypedText::Value(&format!("{begun}{line}")))
    }

    fn read(&mut self, place: usize, field: &Field, given: TypedText<'_>) -> DialogueReply {
        match typed::value(field, &[given], "`/text TEXT` sends a text unchanged") {
            Ok(value) => self.take(place, field, Some(value)),
            Err(message) => say(&format!("{} {message}.", about(self.question(), field))),
        }
    }

    /// Takes a value for a field if it is valid, and moves to the next field.
    fn take(&mut self, place: usize, field: &Field, value: Option<Value>) -> DialogueReply {
        let before = match value {
            Some(value) => self.answer.values.insert(field.name.clone(), value),
            None => self.answer.values.remove(&field.name),
        };
        // The whole answer is checked, but only errors of this field count: later fields have no value yet.
        let wrong = check(self.question(), &self.answer).err().unwrap_or_default();
        if let Some(error) = wrong.iter().find(|error| error.field == field.name) {
            let message = say(&format!("{} {}.", about(self.question(), field), error.message));
            self.answer.values.remove(&field.name);
            self.answer.values.extend(before.map(|before| (field.name.clone(), before)));
            return message;
        }
        if let Some(passed) = self.passed.get_mut(place) {
            *passed = true;
        }
        self.go_on(place)
    }

    fn go_on(&mut self, place: usize) -> DialogueReply {
        let count = self.question().fields.len();
        let next = if self.is_change { count } else { place + 1 };
        if next < count {
            self.step = DialogueStep::Field(next);
            return DialogueReply::Say(Vec::new());
        }
        if self.question().purpose == Purpose::Permission {
            return self.decided();
        }
        // A single typed value is sent without a review. An empty answer is most likely a mistake.
        if count > 1 || self.answer.values.is_empty() || !self.answer.notes.is_empty() {
            self.step = DialogueStep::Review;
            return DialogueReply::Say(Vec::new());
        }
        self.finish()
    }

    /// Continues after the choice of a permission: a refusal may have a reason.
    fn decided(&mut self) -> DialogueReply {
        let refusals = form::options_with_role(self.question(), Role::RejectOnce).count();
        // A rejection with a reason does not name an option, so with several refusals the chosen one would get lost.
        if refusals == 1 && caution::role(self.question(), &self.answer) == Some(Role::RejectOnce) {
            self.step = DialogueStep::Reason;
            return DialogueReply::Say(Vec::new());
        }
        self.finish()
    }

    /// Sends the answer, or asks to confirm it first.
    fn finish(&mut self) -> DialogueReply {
        match caution(self.question(), &self.answer) {
            Some(_) => {
                self.step = DialogueStep::Caution;
                DialogueReply::Say(Vec::new())
            }
            None => self.submit(),
        }
    }

    fn submit(&self) -> DialogueReply {
        let mut answer = self.answer.clone();
        if !self.question().notes {
            answer.notes.clear();
        }
        DialogueReply::Submit(Submission::answer(answer, self.record.edition))
    }

    fn reviewed(&mut self, line: &str) -> DialogueReply {
        let typed = line.trim();
        // An empty line sends what the person has seen, but never nothing at all.
        let is_yes = ["y", "yes"].iter().any(|yes| typed.eq_ignore_ascii_case(yes));
        if is_yes || typed.is_empty() && !is_empty(&self.answer) {
            return self.finish();
        }
        let count = self.question().fields.len();
        let place = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match place.filter(|place| *place < count) {
            Some(place) => {
                (self.step, self.is_change) = (DialogueStep::Field(place), true);
                DialogueReply::Say(Vec::new())
            }
            None if word(line).is_some() => self.commanded(line),
            None => {
                say(&format!("Type yes, a number from 1 to {count}, or /quit to leave the question open."))
            }
        }
    }

    fn reasoned(&mut self, line: &str) -> DialogueReply {
        if let Some(Word::Quit | Word::More | Word::Back | Word::Help) = word(line) {
            return self.commanded(line);
        }
        let reason = Some(line.trim()).filter(|line| !line.is_empty()).map(str::to_owned);
        // Without a reason, submit the option that the user chose: only a rejection can carry a reason.
        let is_chosen = !self.answer.values.is_empty() && self.question().purpose == Purpose::Permission;
        if reason.is_none() && is_chosen {
            self.submit()
        } else {
            DialogueReply::Submit(Submission::Reject(reason))
        }
    }

    /// Carries out a command word.
    fn commanded(&mut self, line: &str) -> DialogueReply {
        let question = Arc::clone(&self.record.question);
        match (word(line), self.step) {
            (Some(Word::Quit), _) => DialogueReply::Leave,
            (Some(Word::More), _) => DialogueReply::MoreTime,
            (Some(Word::Reject), _) => {
                self.answer = Answer::default();
                self.step = DialogueStep::Reason;
                DialogueReply::Say(Vec::new())
            }
            (Some(Word::Help), DialogueStep::Field(place)) => DialogueReply::Say(
                question.fields.get(place).map(|field| prompt::help(&question, field)).unwrap_or_default(),
            ),
            (Some(Word::None), DialogueStep::Field(place)) => match question.fields.get(place) {
                Some(field) if !field.required || field.nullable => self.take(place, field, None),
                _ => say("It is required."),
            },
            (Some(Word::Null), DialogueStep::Field(place)) => match question.fields.get(place) {
                Some(field) if field.nullable => self.take(place, field, Some(Value::Null)),
                _ => say("It takes no null."),
            },
            (Some(Word::Note(note)), DialogueStep::Field(place)) => {
                self.note(question.fields.get(place), note)
            }
            (Some(Word::Back), step) => {
                self.step = match step {
                    DialogueStep::Field(place) => DialogueStep::Field(place.saturating_sub(1)),
                    _ => DialogueStep::Field(question.fields.len().saturating_sub(1)),
                };
                DialogueReply::Say(Vec::new())
            }
            _ if self.question().purpose == Purpose::Permission => {
                say("/back returns to the options, /reject rejects it, /quit leaves it open.")
            }
            _ => say("/back returns to the fields, /reject rejects the question, /quit leaves it open."),
        }
    }

    fn note(&mut self, field: Option<&Field>, note: &str) -> DialogueReply {
        let Some(field) = field.filter(|_| self.question().notes) else {
            return say("The note is left out: this agent accepts no notes.");
        };
        if note.trim().is_empty() {
            self.answer.notes.remove(&field.name);
            return say("The field has no note.");
        }
        self.answer.notes.insert(field.name.clone(), note.trim().to_owned());
        say("The note is added.")
    }
}

pub(super) fn say(line: &str) -> DialogueReply {
    DialogueReply::Say(vec![line.to_owned()])
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    pub(in super::super) fn record(question: &Json) -> Arc<Record> {
        let mut whole = json!({
            "questionId": "q", "message": "", "origin": "program", "dangerous": false, "blocking": true, "fields": [],
        });
        whole.as_object_mut().expect("an object").extend(question.as_object().expect("members").clone());
        let record = json!({ "id": "k3f9q2-1", "bridge": "k3f9q2", "openedAt": "2026-11-21T12:00:00Z", "question": whole });
        Arc::new(serde_json::from_value(record).expect("a record"))
    }

    pub(in super::super) fn database() -> Json {
        let options = json!([{ "value": "pg", "label": "Postgres" }, { "value": "lite", "label": "SQLite" }]);
        json!({ "name": "db", "label": "Database", "kind": "choice", "required": true, "other": true, "options": options, "default": "lite" })
    }

    pub(in super::super) fn text(name: &str) -> Json {
        json!({ "name": name, "label": name, "kind": "text", "multiline": true })
    }

    /// Types these lines, and returns all that is said, with the prompts, and what the last line led to.
    fn play(dialogue: &mut Dialogue, lines: &[&str]) -> (String, DialogueReply) {
        let (mut said, mut last) = (String::new(), DialogueReply::Leave);
        for line in lines {
            said += &format!(
                "{}{line}\n",
                [dialogue.above().as_slice(), &[dialogue.prompt()]].concat().join("\n")
            );
            last = dialogue.typed(line);
            if let DialogueReply::Say(lines) = &last {
                said.extend(lines.iter().map(|line| format!("{line}\n")));
            }
        }
        (said, last)
    }

    pub(in super::super) fn answered(values: &Json, notes: &Json) -> DialogueReply {
        let answer = serde_json::from_value(json!({ "values": values, "notes": notes })).expect("an answer");
        DialogueReply::Submit(Submission::answer(answer, 0))
    }

    #[test]
    fn a_slip_is_refused_and_one_field_is_sent_at_once() {
        let record = record(&json!({ "fields": [database()] }));
        let (said, last) = play(&mut Dialogue::new(Arc::clone(&record)), &["Postgrse", "7", "1"]);
        let prompt = "Choose 1 to 2, or type free text [SQLite] (? for help): ";
        assert_eq!(
            said,
            format!(
                "{prompt}Postgrse\n“Database” has no option “Postgrse”: did you mean Postgres? (`/text TEXT` sends a text unchanged).\n\
                 {prompt}7\n“Database” has no option “7”: choose Postgres, SQLite, or a number from 1 to 2 (`/text TEXT` sends a text unchanged).\n\
                 {prompt}1\n"
            )
        );
        assert_eq!(last, answered(&json!({ "db": "pg" }), &json!({})));
        for (line, value) in [("", "lite"), ("/text 7", "7"), ("MySQL, if it runs", "MySQL, if it runs")] {
            let (_, last) = play(&mut Dialogue::new(Arc::clone(&record)), &[line]);
            assert_eq!(last, answered(&json!({ "db": value }), &json!({})), "{line}");
        }
    }

    #[test]
    fn a_number_means_its_place_in_the_list_that_was_just_read() {
        let options = json!([{ "value": "0", "label": "Keep" }, { "value": "1", "label": "Delete" }]);
        for (kind, lines, sent) in [
            ("choice", &["1"][..], json!("0")),
            ("choice", &["2"], json!("1")),
            ("choice", &["delete"], json!("1")),
            ("choices", &["2, 1"], json!(["1", "0"])),
        ] {
            let field =
                json!({ "name": "q0", "label": "?", "required": true, "kind": kind, "options": options });
            let (_, last) = play(&mut Dialogue::new(record(&json!({ "fields": [field] }))), lines);
            assert_eq!(last, answered(&json!({ "q0": sent }), &json!({})), "{lines:?}");
        }
    }

    #[test]
    fn several_fields_are_reviewed_and_changed_before_they_are_sent() {
        let mut dialogue = Dialogue::new(record(&json!({ "fields": [database(), text("why")] })));
        let lines = ["", "one\\", "two\\", "", "/note", "/quit"];
        let (said, last) = play(&mut dialogue, &lines);
        assert!(said.ends_with("  1  Database: SQLite\n  2  why: “one␊two␊”\n\
            Send it? Type yes, or the number of a field to change it [yes]: /note\n\
            /back returns to the fields, /reject rejects the question, /quit leaves it open.\n  1  Database: SQLite\n  2  why: “one␊two␊”\n\
            Send it? Type yes, or the number of a field to change it [yes]: /quit\n"), "{said}");
        assert_eq!(last, DialogueReply::Leave);
        let (said, last) = play(&mut dialogue, &["1", "/note for now", "1", "2", "/none", ""]);
        assert!(said.contains("Database: Postgres (note: “for now”)\n  2  why: left out\n"), "{said}");
        assert_eq!(last, answered(&json!({ "db": "pg" }), &json!({ "db": "for now" })));
    }

    #[test]
    fn nothing_is_sent_by_an_empty_line_alone() {
        let optional = |kind: &str| {
            let mut field = database();
            for (name, value) in [("kind", json!(kind)), ("required", json!(false)), ("default", json!(null))]
            {
                field[name] = value;
            }
            field
        };
        let mut choices = optional("choices");
        choices["default"] = json!([]);
        for fields in [
            json!([text("why")]),
            json!([optional("choice")]),
            json!([choices]),
            json!([optional("choice"), text("why")]),
            json!([{ "name": "b", "label": "B", "kind": "boolean" }]),
        ] {
            let mut dialogue = Dialogue::new(record(&json!({ "fields": fields })));
            let empty = vec![""; fields.as_array().expect("fields").len() + 3];
            let (said, last) = play(&mut dialogue, &empty);
            assert!(said.contains("[leave out]") && matches!(last, DialogueReply::Say(_)), "{said}");
            assert!(said.contains("Nothing is chosen or typed.\nSend it empty? Type yes"), "{said}");
            let (said, last) = play(&mut dialogue, &["yes"]);
            assert_eq!(last, answered(&json!({}), &json!({})), "{said}");
        }
        let required = json!({ "name": "n", "label": "N", "kind": "number", "required": true, "max": 5 });
        let mut dialogue = Dialogue::new(record(&json!({ "fields": [required] })));
        let (said, last) = play(&mut dialogue, &["", "many", "7", "/none", "5"]);
        for why in [
            "“N” is required.",
            "“N” must be a number, is “many”.",
            "“N” must be at most 5, is 7.",
            "It is required.",
        ] {
            assert!(said.contains(why), "{said}");
        }
        assert_eq!(last, answered(&json!({ "n": 5 }), &json!({})));
    }

    #[test]
    fn a_question_is_skipped_with_a_reason_or_without() {
        for (reason, told) in [("", None), ("not /now", Some("not /now".to_owned()))] {
            let mut dialogue = Dialogue::new(record(&json!({ "fields": [database()] })));
            let (said, last) = play(&mut dialogue, &["/reject", reason]);
            assert!(said.contains("Why is it rejected? [no reason]: "), "{said}");
            assert_eq!(last, DialogueReply::Submit(Submission::Reject(told)));
        }
    }

    pub(in super::super) fn permission(dangerous: bool) -> Arc<Record> {
        let option = |role: &str| json!({ "value": role, "label": role, "role": role });
        let options = ["allow_always", "allow_once", "reject_once"].map(option);
        let field = json!({ "name": "p", "label": "?", "kind": "choice", "required": true, "options": options, "default": "allow_once" });
        let risk = if dangerous { "dangerous" } else { "plain" };
        record(
            &json!({ "purpose": "permission", "dangerous": dangerous, "risk": risk, "fields": [field], "message": "rm -rf build" }),
        )
    }

    #[test]
    fn what_is_dangerous_is_confirmed_by_the_whole_word() {
        let (said, last) = play(&mut Dialogue::new(permission(true)), &["", "2", "y", "/back", "2", "yes"]);
        assert!(said.starts_with("Choose 1 to 3 (? for help): \n“?” is required.\n"), "{said}");
        assert!(
            said.contains(
                "it can do harm.\nAllow “rm -rf build”?\nType yes to confirm: y\nNothing was sent. Type yes to send it, or /back.\n"
            ),
            "{said}"
        );
        assert_eq!(last, answered(&json!({ "p": "allow_once" }), &json!({})));
        let (_, last) = play(&mut Dialogue::new(permission(false)), &["2"]);
        assert_eq!(last, answered(&json!({ "p": "allow_once" }), &json!({})));
        let (said, last) = play(&mut Dialogue::new(permission(false)), &["1", "yes"]);
        let asked = "Allow “rm -rf build” from now on?\nType yes";
        assert!(said.contains(asked), "{said}");
        assert_eq!(last, answered(&json!({ "p": "allow_always" }), &json!({})));
        let dangerous = record(&json!({ "dangerous": true, "fields": [database()] }));
        let (said, last) = play(&mut Dialogue::new(dangerous), &["1"]);
        assert!(last == DialogueReply::Say(Vec::new()), "{said}");
    }

    /// The word is typed again after a slip: it is no answer to the options, one of which may be called so.
    #[test]
    fn a_slip_in_the_word_stays_at_the_word() {
        for slip in ["yse", "y", "", "no", "3", "s"] {
            let mut dialogue = Dialogue::new(permission(true));
            let (said, last) = play(&mut dialogue, &["2", slip]);
            assert!(matches!(last, DialogueReply::Say(_)) && dialogue.is_caution(), "{slip:?}: {said}");
            let (said, last) = play(&mut dialogue, &["yes"]);
            assert_eq!(last, answered(&json!({ "p": "allow_once" }), &json!({})), "{slip:?}: {said}");
        }
    }

    #[test]
    fn a_permission_is_denied_with_a_reason_or_by_its_option() {
        let (said, last) = play(&mut Dialogue::new(permission(true)), &["3", ""]);
        assert!(said.contains("Why is it rejected? [no reason]: "), "{said}");
        assert_eq!(last, answered(&json!({ "p": "reject_once" }), &json!({})));
        let (_, last) = play(&mut Dialogue::new(permission(true)), &["3", "not on a Friday"]);
        assert_eq!(last, DialogueReply::Submit(Submission::Reject(Some("not on a Friday".to_owned()))));
    }

    #[test]
    fn a_refused_answer_is_asked_again() {
        let mut dialogue = Dialogue::new(record(&json!({ "fields": [database(), text("why")] })));
        play(&mut dialogue, &["", "because", ""]);
        let error = FieldError { field: "why".to_owned(), message: "is too long".to_owned() };
        assert_eq!(dialogue.refused(&[error]), ["“why” (why) is too long"]);
        assert_eq!(dialogue.field().map(|field| &*field.name), Some("why"));
        assert!(dialogue.prompt().contains("[because]"), "{}", dialogue.prompt());
    }
}
