//! What a person says of single lines of a question: comments, each with the lines that it is about. They go to the agent as
//! one text, beside the decision: in the note on the first field of an answer, or in the reason of a rejection.
//! Which lines can be commented is left to those who show the question.

use serde::{Deserialize, Serialize};

use super::{Answer, Field, FieldError, Kind, Purpose, Question};

/// A comment on lines of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "QuestionComment"))]
pub struct Comment {
    /// The file and the line that it is about, of a change: `src/main.rs:7`. The heading above it, of a longer text.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What stands there: the beginning of the text that it is about.
    pub quote: String,
    /// What the person says of it.
    pub text: String,
}

/// Returns comments as one text: each below the lines that it is about. Empty if none says anything.
pub fn text(comments: &[Comment]) -> String {
    let comments = comments.iter().filter(|comment| !comment.text.trim().is_empty());
    let of = |comment: &Comment| {
        let place = comment.place.iter().filter(|place| !place.is_empty()).map(String::as_str);
        let quoted: Vec<_> = place.chain(comment.quote.lines()).map(|line| format!("> {line}\n")).collect();
        quoted.concat() + comment.text.trim()
    };
    comments.map(of).collect::<Vec<_>>().join("\n\n")
}

/// Returns the field whose note takes the comments, if they can go with an answer. Otherwise only a rejection takes them.
pub fn field(question: &Question) -> Option<&Field> {
    let takes = question.purpose == Purpose::Question && question.notes;
    question.fields.iter().find(|field| takes && !matches!(field.kind, Kind::Unknown(_)))
}

/// Returns an answer with comments below the person's own note.
///
/// # Errors
/// The agent takes no comments with an answer.
pub fn with_answer(
    question: &Question,
    mut answer: Answer,
    comments: &[Comment],
) -> Result<Answer, Vec<FieldError>> {
    let said = text(comments);
    if said.is_empty() {
        return Ok(answer);
    }
    let Some(field) = field(question) else {
        let message = "must be empty: this agent takes comments with a rejection only".to_owned();
        return Err(vec![FieldError { field: "comments".to_owned(), message }]);
    };
    let note = answer.notes.entry(field.name.clone()).or_default();
    *note = joined(note, &said);
    Ok(answer)
}

/// Returns the reason of a rejection with comments below it.
pub fn with_reason(reason: Option<String>, comments: &[Comment]) -> Option<String> {
    let said = text(comments);
    if said.is_empty() { reason } else { Some(joined(reason.as_deref().unwrap_or_default(), &said)) }
}

fn joined(words: &str, said: &str) -> String {
    if words.is_empty() { said.to_owned() } else { format!("{words}\n\n{said}") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::question::Origin;

    fn comments(comments: Json) -> Vec<Comment> {
        serde_json::from_value(comments).expect("comments")
    }

    fn question(kinds: &[&str]) -> Question {
        let fields = kinds.iter().map(|kind| json!({ "name": kind, "label": "L", "kind": kind }));
        let fields = serde_json::from_value(fields.collect()).expect("fields");
        Question::new(Origin::Program, "q", fields)
    }

    #[test]
    fn each_comment_stands_below_its_lines() {
        for (given, expected) in [
            (json!([]), ""),
            (json!([{ "quote": "a", "text": " \n" }]), ""),
            (json!([{ "quote": "a", "text": " Why? \n" }]), "> a\nWhy?"),
            (
                json!([{ "where": "src/a.rs:7", "quote": "+b", "text": "No" }, { "where": "", "quote": "c\nd", "text": "e\n\nf" }]),
                "> src/a.rs:7\n> +b\nNo\n\n> c\n> d\ne\n\nf",
            ),
            (json!([{ "quote": "", "text": "x" }]), "x"),
        ] {
            assert_eq!(text(&comments(given.clone())), expected, "{given}");
        }
    }

    #[test]
    fn they_go_with_an_answer_where_a_note_does_and_with_each_rejection() {
        let said = comments(json!([{ "quote": "a", "text": "b" }]));
        let noted = |kinds: &[&str], note: &str| {
            let given = json!({ "values": {}, "notes": if note.is_empty() { json!({}) } else { json!({ "text": note }) } });
            let given: Answer = serde_json::from_value(given).expect("an answer");
            with_answer(&question(kinds), given, &said).map(|answer| json!(answer.notes))
        };
        assert_eq!(noted(&["text", "number"], ""), Ok(json!({ "text": "> a\nb" })));
        assert_eq!(noted(&["drawing", "text"], "mine"), Ok(json!({ "text": "mine\n\n> a\nb" })));
        assert_eq!(noted(&["drawing"], "").expect_err("no field takes it")[0].field, "comments");
        let (mut quiet, mut permission) = (question(&["text"]), question(&["text"]));
        (quiet.notes, permission.purpose) = (false, Purpose::Permission);
        for asked in [quiet, permission] {
            assert!(with_answer(&asked, Answer::default(), &said).is_err());
            assert_eq!(with_answer(&asked, Answer::default(), &[]), Ok(Answer::default()));
        }
        assert_eq!(with_reason(None, &[]), None);
        assert_eq!(with_reason(Some("No".to_owned()), &[]).as_deref(), Some("No"));
        assert_eq!(with_reason(None, &said).as_deref(), Some("> a\nb"));
        assert_eq!(with_reason(Some("No".to_owned()), &said).as_deref(), Some("No\n\n> a\nb"));
    }
}
