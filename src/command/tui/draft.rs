//! A draft of an answer: the chosen and typed values of each field, until it is sent or discarded.
//! Whether it fits is checked by `question`; which key changes it is left to `card_keys.rs`.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use askbridge_core::{
    desk::Record,
    question::{
        Answer, Comment, Field, FieldError, Kind, Question, Value, check,
        comments::{self, with_answer},
        naming::{names, pair},
    },
};

use super::editor::Editor;
use crate::present::{
    passage::Passage,
    prompt::default_of,
    typed::{self, TypedText},
};

/// The values of a question's fields so far, and the place of the cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The value of each field.
    pub entries: Vec<DraftField>,
    /// The field that is shown; one more than there are fields is the review of all of them.
    pub tab: usize,
    /// The line that is shown first; `None` follows the cursor.
    pub scroll: Option<usize>,
    /// Whether its last line was in view, where the question is longer than the screen.
    pub is_read: bool,
    /// Whether unchanged lines of a change are shown, which are folded otherwise.
    pub is_unfolded: bool,
    /// Whether the person changed something.
    pub is_touched: bool,
    /// What the person says of single lines of the question.
    pub comments: Vec<DraftComment>,
    /// The mistakes in it, since it was last sent.
    pub errors: Vec<FieldError>,
}

/// A comment that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftComment {
    /// What it is about.
    pub of: Arc<Passage>,
    /// What the person says.
    pub text: String,
}

/// The value of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftField {
    /// The places of the chosen options.
    pub chosen: BTreeSet<usize>,
    /// Whether the person's own text is chosen.
    pub is_other: bool,
    /// The person's own text beside the options.
    pub other: Editor,
    /// The text of a field without options.
    pub text: Editor,
    /// Whether it is null, rather than left out, as long as it has no value.
    pub is_null: bool,
    /// The note on the field.
    pub note: Editor,
    /// Whether the note is shown.
    pub has_note: bool,
    /// The row with the cursor, if any.
    pub row: Option<usize>,
}

/// One row of a field that the cursor can be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// An option, by its place.
    Option(usize),
    /// The person's own text beside the options.
    Other,
    /// The text of a field without options.
    Text,
    /// Null, for a field that may be left out as well.
    Null,
    /// The note on the field.
    Note,
}

/// Returns the names of the options of a field. A yes-or-no question has two.
pub fn labels(field: &Field) -> Vec<Cow<'_, str>> {
    match &field.kind {
        Kind::Boolean { .. } => vec!["Yes".into(), "No".into()],
        Kind::Confirm { yes, no } => pair(yes, no).into(),
        kind => names(kind.options()),
    }
}

/// Returns whether several options can be chosen.
pub fn is_many(field: &Field) -> bool {
    matches!(field.kind, Kind::Choices { .. })
}

/// Returns whether a field's text may have several lines.
pub fn is_multiline(field: &Field) -> bool {
    let takes_lines =
        matches!(field.kind, Kind::Text { multiline: true, .. } | Kind::Texts { .. } | Kind::Json { .. });
    takes_lines && !field.secret
}

impl Draft {
    /// Begins with the values that were given before, and the defaults.
    pub fn new(record: &Record) -> Self {
        let question = &record.question;
        let kept = record.kept.as_ref();
        let entries = question.fields.iter().map(|field| {
            let kept = kept.and_then(|kept| kept.values.get(&field.name)).cloned();
            let note = record.kept.as_ref().and_then(|kept| kept.notes.get(&field.name));
            let mut entry = DraftField::new(field, kept.or_else(|| default_of(question, field)));
            if let Some(note) = note {
                (entry.note, entry.has_note) = (Editor::new(note), true);
            }
            entry
        });
        Draft {
            entries: entries.collect(),
            tab: 0,
            scroll: None,
            is_read: false,
            is_unfolded: false,
            is_touched: false,
            comments: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Returns the comments, in the order of what they are about.
    pub fn sent(&self) -> Vec<Comment> {
        self.comments.iter().map(|comment| comment.of.comment(&comment.text)).collect()
    }

    /// Returns the comment on a part.
    pub(super) fn comment_at(&self, of: &Passage) -> Option<&DraftComment> {
        self.comments.iter().find(|comment| *comment.of == *of)
    }

    /// Returns the field that is shown, and its value; `None` in the review.
    pub fn at<'a>(&'a self, question: &'a Question) -> Option<(&'a Field, &'a DraftField)> {
        Some((question.fields.get(self.tab)?, self.entries.get(self.tab)?))
    }

    /// Returns the row with the cursor.
    pub fn row(&self, question: &Question) -> Option<Row> {
        let (field, entry) = self.at(question)?;
        entry.rows(field).get(entry.row?).copied()
    }

    /// Returns the answer.
    ///
    /// # Errors
    /// What does not fit, by field.
    pub fn answer(&self, question: &Question) -> Result<Answer, Vec<FieldError>> {
        let (mut answer, mut errors) = (Answer::default(), Vec::new());
        for (field, entry) in question.fields.iter().zip(&self.entries) {
            match entry.value(field) {
                Ok(Some(value)) => drop(answer.values.insert(field.name.clone(), value)),
                Ok(None) => {}
                Err(message) => errors.push(FieldError { field: field.name.clone(), message }),
            }
            if question.notes && entry.has_note && !entry.note.text().trim().is_empty() {
                answer.notes.insert(field.name.clone(), entry.note.text().to_owned());
            }
        }
        if comments::field(question).is_some()
            && let Ok(said) = with_answer(question, answer.clone(), &self.sent())
        {
            answer = said;
        }
        let checked = check(question, &answer).err().unwrap_or_default();
        // A field whose value cannot be read is missing for `check` as well: the first error says more.
        let is_new =
            |error: &FieldError| errors.iter().all(|before: &FieldError| before.field != error.field);
        let more: Vec<_> = checked.into_iter().filter(is_new).collect();
        errors.extend(more);
        // The screen jumps to the first error, which must be that of the first field.
        errors.sort_by_key(|error| question.fields.iter().position(|field| field.name == error.field));
        if errors.is_empty() { Ok(answer) } else { Err(errors) }
    }
}

impl DraftField {
    fn new(field: &Field, value: Option<Value>) -> Self {
        let mut entry = DraftField::default();
        let place = |text: &String| field.kind.options().iter().position(|option| option.value == *text);
        match value {
            Some(Value::Text(text)) if field.kind.options().is_empty() => entry.text = Editor::new(&text),
            Some(Value::Text(text)) => entry.choose_text(place(&text), &text),
            Some(Value::Many(texts)) if field.kind.options().is_empty() => {
                entry.text = Editor::new(&typed::as_lines(&texts));
            }
            Some(Value::Many(texts)) => texts.iter().for_each(|text| entry.choose_text(place(text), text)),
            // In `labels`, yes comes before no.
            Some(Value::Flag(flag)) => drop(entry.chosen.insert(usize::from(!flag))),
            Some(Value::Number(number)) => entry.text = Editor::new(&number.to_string()),
            Some(Value::Null) => entry.is_null = true,
            None => {}
        }
        // The cursor begins on the chosen option. Without one it is on no option, so that Enter cannot choose and send
        // it.
        let first = entry.chosen.first().copied();
        entry.row = first.or_else(|| labels(field).is_empty().then_some(0));
        entry
    }

    fn choose_text(&mut self, place: Option<usize>, text: &str) {
        match place {
            Some(place) => drop(self.chosen.insert(place)),
            None => (self.is_other, self.other) = (true, Editor::new(text)),
        }
    }

    /// Returns the rows of the field.
    pub fn rows(&self, field: &Field) -> Vec<Row> {
        let options = labels(field).len();
        let mut rows: Vec<_> = (0..options).map(Row::Option).collect();
        if field.kind.takes_other() {
            rows.push(Row::Other);
        }
        if options == 0 {
            rows.push(Row::Text);
        }
        if field.nullable && !field.required {
            rows.push(Row::Null);
        }
        if self.has_note {
            rows.push(Row::Note);
        }
        rows
    }

    /// Chooses an option, or clears that choice.
    pub fn toggle(&mut self, field: &Field, place: usize) {
        if is_many(field) {
            if !self.chosen.remove(&place) {
                self.chosen.insert(place);
            }
        } else {
            self.choose(field, place);
        }
    }

    /// Chooses an option. It replaces the previous choice, unless several options can be chosen.
    pub fn choose(&mut self, field: &Field, place: usize) {
        if !is_many(field) {
            self.chosen.clear();
            self.is_other = false;
        }
        self.chosen.insert(place);
    }

    /// Chooses the person's own text, or clears that choice if the text is empty.
    pub fn choose_other(&mut self, field: &Field) {
        self.is_other = !self.other.text().trim().is_empty();
        if self.is_other && !is_many(field) {
            self.chosen.clear();
        }
    }

    /// Makes the field null, without any value that it had, or leaves it out.
    pub fn toggle_null(&mut self) {
        self.is_null = !self.shows_null();
        self.chosen.clear();
        self.is_other = false;
        self.text = Editor::default();
    }

    /// Returns whether the field is null, and has no value that was chosen or typed since.
    pub fn shows_null(&self) -> bool {
        self.is_null && self.chosen.is_empty() && !self.is_other && self.text.text().trim().is_empty()
    }

    /// Returns the editor of the text in a row. `None` for what is chosen.
    pub fn editor(&mut self, row: Row) -> Option<&mut Editor> {
        match row {
            Row::Option(_) | Row::Null => None,
            Row::Other => Some(&mut self.other),
            Row::Text => Some(&mut self.text),
            Row::Note => Some(&mut self.note),
        }
    }

    /// Returns the value of the field; `None` if it is left out.
    ///
    /// # Errors
    /// What is wrong, as a sentence that lacks the field as its subject.
    pub fn value(&self, field: &Field) -> Result<Option<Value>, String> {
        let options = field.kind.options();
        let mut chosen: Vec<_> = self
            .chosen
            .iter()
            .filter_map(|place| options.get(*place))
            .map(|option| option.value.clone())
            .collect();
        let typed = self.text.text();
        if self.shows_null() {
            return Ok(Some(Value::Null));
        }
        Ok(match &field.kind {
            Kind::Boolean { .. } | Kind::Confirm { .. } => {
                self.chosen.first().map(|place| Value::Flag(*place == 0))
            }
            Kind::Choice { .. } if self.is_other => Some(Value::Text(self.other.text().to_owned())),
            Kind::Choice { .. } => chosen.pop().map(Value::Text),
            Kind::Choices { .. } => {
                chosen.extend(self.is_other.then(|| self.other.text().to_owned()));
                (!chosen.is_empty()).then_some(Value::Many(chosen))
            }
            _ if typed.trim().is_empty() => None,
            Kind::Text { .. } => Some(Value::Text(typed.to_owned())),
            Kind::Number { .. } | Kind::Texts { .. } | Kind::Json { .. } | Kind::Unknown(_) => {
                Some(typed::value(field, &[TypedText::Value(typed)], "")?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Origin;
    use serde_json::{Value as Json, json};

    use super::*;

    fn record(fields: &Json, more: &Json) -> Record {
        let question =
            Question::new(Origin::Program, "q", serde_json::from_value(fields.clone()).expect("fields"));
        let mut record = json!({ "id": "k3f9q2-1", "bridge": "k3f9q2", "openedAt": "2026-11-21T12:00:00Z", "question": question });
        record.as_object_mut().expect("an object").extend(more.as_object().expect("members").clone());
        serde_json::from_value(record).expect("a record")
    }

    fn options() -> Json {
        json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }])
    }

    #[test]
    fn a_draft_begins_with_defaults_and_what_was_kept_and_is_an_answer_at_once() {
        let fields = json!([
            { "name": "one", "label": "1", "kind": "choice", "options": options(), "other": true, "default": "b" },
            { "name": "many", "label": "2", "kind": "choices", "options": options(), "other": true, "default": ["a", "own"] },
            { "name": "text", "label": "3", "kind": "text", "default": "x" },
            { "name": "number", "label": "4", "kind": "number", "default": 2.5 },
            { "name": "flag", "label": "5", "kind": "boolean", "default": false },
            { "name": "sure", "label": "6", "kind": "confirm", "yes": "Y", "no": "N" },
        ]);
        let kept = json!({ "values": { "one": "else", "sure": true }, "notes": { "one": "n" } });
        let record = record(&fields, &json!({ "kept": kept }));
        let answer = Draft::new(&record).answer(&record.question).expect("an answer");
        let values = json!({ "one": "else", "many": ["a", "own"], "text": "x", "number": 2.5, "flag": false, "sure": true });
        assert_eq!(
            serde_json::to_value(&answer).expect("JSON"),
            json!({ "values": values, "notes": { "one": "n" } })
        );
    }

    #[test]
    fn null_is_given_where_a_field_may_be_left_out_as_well() {
        let field = |kind: &str| json!({ "name": kind, "label": "L", "kind": kind, "options": options(), "nullable": true, "default": null });
        let fields =
            json!([field("text"), field("number"), field("choice"), field("choices"), field("boolean")]);
        let record = record(&fields, &json!({ "kept": { "values": { "number": null } } }));
        let mut draft = Draft::new(&record);
        let answer = |draft: &Draft| {
            serde_json::to_value(draft.answer(&record.question).expect("an answer")).expect("JSON")["values"]
                .clone()
        };
        assert_eq!(answer(&draft), json!({ "number": null }));
        for (field, entry) in record.question.fields.iter().zip(&mut draft.entries) {
            assert!(entry.rows(field).contains(&Row::Null), "{}", field.name);
            entry.is_null = false;
            entry.toggle_null();
        }
        let all = json!({ "text": null, "number": null, "choice": null, "choices": null, "boolean": null });
        assert_eq!(answer(&draft), all);
        // What is given afterwards counts.
        draft.entries[0].text.insert("x", false);
        draft.entries[4].choose(&record.question.fields[4], 0);
        draft.entries[1].toggle_null();
        assert_eq!(answer(&draft), json!({ "text": "x", "choice": null, "choices": null, "boolean": true }));
        let mut needed = record.question.fields[0].clone();
        needed.required = true;
        assert!(!draft.entries[0].rows(&needed).contains(&Row::Null), "blank is null already");
    }

    #[test]
    fn what_does_not_fit_is_said_once_for_each_field() {
        let fields = json!([
            { "name": "one", "label": "1", "kind": "choice", "required": true, "options": options() },
            { "name": "number", "label": "4", "kind": "number", "required": true },
        ]);
        let record = record(&fields, &json!({}));
        let mut draft = Draft::new(&record);
        draft.entries[1].text.insert("many", false);
        let errors = draft.answer(&record.question).expect_err("errors");
        let said: Vec<_> = errors.iter().map(|error| (&*error.field, &*error.message)).collect();
        assert_eq!(said, [("one", "is required"), ("number", "must be a number, is “many”")]);
    }

    #[test]
    fn one_is_chosen_in_place_of_another_and_several_beside_each_other() {
        let field = |kind: &str| json!({ "name": kind, "label": "L", "kind": kind, "other": true, "options": options() });
        let record = record(&json!([field("choice"), field("choices")]), &json!({}));
        let [one, many] = &*record.question.fields else { panic!("two fields") };
        let mut draft = Draft::new(&record);
        for (field, entry) in [one, many].into_iter().zip(&mut draft.entries) {
            entry.toggle(field, 1);
            entry.other.insert("own", false);
            entry.choose_other(field);
            entry.toggle(field, 0);
        }
        let value = |place: usize, field: &Field| {
            serde_json::to_value(draft.entries[place].value(field)).expect("JSON")
        };
        assert_eq!(value(0, one), json!({ "Ok": "a" }));
        assert_eq!(value(1, many), json!({ "Ok": ["a", "b", "own"] }));
    }
}
