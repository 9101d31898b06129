//! What is typed on the command line, as an answer to a question. A text that may be a slip is never taken for an own
//! text: an answer cannot be taken back.
//! Whether an answer fits its question is checked by the bridge; which option a text means is left to `form`.

use std::collections::BTreeMap;

use crate::{
    form::read::{self, TypedText},
    present::answer::{about, brief},
    question::{Answer, Field, Question, Value},
};

/// An answer, as texts. What they mean depends on the question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// The ID of the question, with its number.
    pub id: String,
    /// The answer to each field in turn.
    pub values: Vec<String>,
    /// Answers to fields by name, as `NAME=VALUE`.
    pub fields: Vec<String>,
    /// Own texts, as they are: the text alone where there is one field, otherwise `NAME=TEXT`.
    pub texts: Vec<String>,
    /// Notes on fields, as `NAME=TEXT`, or as the text alone for the first field.
    pub notes: Vec<String>,
    /// The answer of the same question from before, and nothing else.
    pub again: bool,
}

/// Reads the answer. What was answered already, and is not given again, stays.
///
/// # Errors
/// What cannot be read, a sentence for each: the field is named as a person knows it.
pub(super) fn read(
    question: &Question,
    kept: Option<&Answer>,
    options: &AnswerOptions,
) -> Result<Answer, Vec<String>> {
    let given = sort(question, options).map_err(|error| vec![error])?;
    let mut answer = kept.cloned().unwrap_or_default();
    let mut errors = Vec::new();
    for field in &question.fields {
        let Some(given) = given.get(&*field.name) else { continue };
        match value(question, field, given) {
            Ok(value) => drop(answer.values.insert(field.name.clone(), value)),
            Err(message) => errors.push(format!("{} {message}", about(question, field))),
        }
    }
    errors.extend(notes(question, &options.notes, &mut answer).err());
    if errors.is_empty() { Ok(answer) } else { Err(errors) }
}

/// Sorts what is typed by the names of the fields.
fn sort<'a>(
    question: &'a Question,
    options: &'a AnswerOptions,
) -> Result<BTreeMap<&'a str, Vec<TypedText<'a>>>, String> {
    let mut sorted: BTreeMap<&str, Vec<TypedText<'_>>> = BTreeMap::new();
    let (count, values) = (question.fields.len(), options.values.len());
    for (place, text) in options.values.iter().enumerate() {
        // The only field takes all there is.
        let field = question.fields.get(if count == 1 { 0 } else { place }).ok_or_else(|| {
            format!("the question has {count} fields, but {values} values are given: quote a value that has spaces")
        })?;
        if !text.is_empty() {
            sorted.entry(&field.name).or_default().push(TypedText::Value(text));
        }
    }
    for given in &options.fields {
        let (field, text) =
            named(question, given).ok_or_else(|| unnamed(question, "--field takes NAME=VALUE", given))?;
        sorted.entry(&field.name).or_default().push(TypedText::Value(text));
    }
    for given in &options.texts {
        let (field, text) = match &*question.fields {
            [field] => (field, &**given),
            _ => named(question, given).ok_or_else(|| unnamed(question, "--text takes NAME=TEXT", given))?,
        };
        sorted.entry(&field.name).or_default().push(TypedText::Text(text));
    }
    Ok(sorted)
}

/// Splits `NAME=TEXT` where it begins with the name, header or label of a field.
fn named<'a>(question: &'a Question, given: &'a str) -> Option<(&'a Field, &'a str)> {
    let ways: [fn(&Field) -> Option<&str>; 3] =
        [|field| Some(&field.name), |field| field.header.as_deref(), |field| Some(&field.label)];
    let after = |name: &str| given.strip_prefix(name)?.strip_prefix('=');
    ways.iter().find_map(|way| question.fields.iter().find_map(|field| Some((field, after(way(field)?)?))))
}

fn unnamed(question: &Question, wanted: &str, given: &str) -> String {
    let names: Vec<_> = question.fields.iter().map(|field| &*field.name).collect();
    let names = match &*names {
        [name] => (*name).to_owned(),
        names => format!("one of {}", names.join(", ")),
    };
    format!("“{}” does not begin with a field: {wanted}, where NAME is {names}", brief(given))
}

/// Adds the notes to the answer.
fn notes(question: &Question, notes: &[String], answer: &mut Answer) -> Result<(), String> {
    let mut noted: Vec<&str> = Vec::new();
    for note in notes {
        let (field, text) = match (named(question, note), question.fields.first()) {
            (Some(named), _) => named,
            // `q1=text` where there is no q1 is a slip: on another field, the note would say something else.
            (None, _) if seems_named(note) => return Err(unnamed(question, "--note takes NAME=TEXT", note)),
            (None, Some(first)) => (first, &**note),
            (None, None) => continue,
        };
        if noted.contains(&&*field.name) {
            return Err(format!("{} takes one note, but several are given", about(question, field)));
        }
        noted.push(&field.name);
        answer.notes.insert(field.name.clone(), text.to_owned());
    }
    Ok(())
}

/// Returns whether a text begins with what can only be meant as a name.
fn seems_named(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || "_-.".contains(char))
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn value(question: &Question, field: &Field, given: &[TypedText<'_>]) -> Result<Value, String> {
    let hint = if question.fields.len() == 1 {
        "`--text TEXT` sends a text as it is".to_owned()
    } else {
        format!("`--text {}=TEXT` sends a text as it is", field.name)
    };
    read::value(field, given, &hint)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::question::Origin;

    fn question(fields: &Json) -> Question {
        Question::new(Origin::SandboxAgent, "q", serde_json::from_value(fields.clone()).expect("fields"))
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn typed(question: &Question, values: &[&str], texts: &[&str]) -> Result<Json, String> {
        let options =
            AnswerOptions { values: strings(values), texts: strings(texts), ..AnswerOptions::default() };
        let answer = read(question, None, &options).map_err(|errors| errors.join("; "))?;
        Ok(serde_json::to_value(answer.values).expect("JSON"))
    }

    fn databases(kind: &str) -> Question {
        let options = json!([{ "value": "pg", "label": "Postgres" }, { "value": "lite", "label": "SQLite" }]);
        question(
            &json!([{ "name": "q0", "label": "Which?", "kind": kind, "other": true, "options": options }]),
        )
    }

    #[test]
    fn an_own_text_that_may_be_meant_as_an_option_needs_the_flag() {
        let question = databases("choice");
        for (text, told) in [
            (
                "Postgrse",
                "“Which?” has no option “Postgrse”: did you mean Postgres? (`--text TEXT` sends a text as it is)",
            ),
            (
                "3",
                "“Which?” has no option “3”: choose Postgres, SQLite, or a number from 1 to 2 (`--text TEXT` sends",
            ),
            ("x", "has no option “x”"),
            ("sqlite, please", "takes one option, or a text of your own, not “sqlite, please”"),
            ("1,2", "takes one option, or a text of your own, not “1,2”"),
        ] {
            let error = typed(&question, &[text], &[]).expect_err(text);
            assert!(error.contains(told), "{error}");
            assert_eq!(typed(&question, &[], &[text]), Ok(json!({ "q0": text })));
        }
        assert_eq!(typed(&question, &["2"], &[]), Ok(json!({ "q0": "lite" })));
        assert_eq!(typed(&question, &["MySQL, if it runs"], &[]), Ok(json!({ "q0": "MySQL, if it runs" })));
    }

    #[test]
    fn an_own_text_beside_options_needs_the_flag() {
        let question = databases("choices");
        for (values, told) in [
            (&["Postgres, SQLight thing"][..], "has no option “SQLight thing”: choose Postgres"),
            (&["1,7"], "has no option “7”"),
            (&["Postgres", "something else"], "has no option “something else”"),
            (&["something else", "another"], "has no option “something else”"),
            (&["Postgrse, SQLiet"], "did you mean Postgres?"),
            (&["a thing, SQLiet"], "did you mean SQLite?"),
        ] {
            let error = typed(&question, values, &[]).expect_err("a slip");
            assert!(error.contains(told), "{error}");
        }
        assert_eq!(typed(&question, &["2, postgres,2"], &[]), Ok(json!({ "q0": ["lite", "pg"] })));
        assert_eq!(typed(&question, &["1"], &["a, b"]), Ok(json!({ "q0": ["pg", "a, b"] })));
        assert_eq!(
            typed(&question, &["one thing, and another"], &[]),
            Ok(json!({ "q0": ["one thing, and another"] }))
        );
    }

    #[test]
    fn an_own_text_is_refused_where_there_is_no_place_for_it() {
        let options = json!([{ "value": "a", "label": "A" }]);
        let fields = json!([
            { "name": "n", "label": "N", "kind": "number" },
            { "name": "c", "label": "C", "kind": "choices", "options": options },
        ]);
        let question = question(&fields);
        for (text, told) in [
            ("n=5", "“N” (n) takes no own text"),
            ("c=A", "“C” (c) takes no own text"),
            ("d=A", "“d=A” does not begin with a field: --text takes NAME=TEXT, where NAME is one of n, c"),
        ] {
            assert_eq!(typed(&question, &[], &[text]), Err(told.to_owned()));
        }
    }

    #[test]
    fn a_note_is_for_a_field_that_exists_and_each_field_has_one() {
        let text = |name: &str| json!({ "name": name, "label": name, "kind": "text" });
        let question = question(&json!([text("q0"), text("q1")]));
        let noted = |notes: &[&str]| {
            let options = AnswerOptions { notes: strings(notes), ..AnswerOptions::default() };
            let answer = read(&question, None, &options).map_err(|errors| errors.join("; "))?;
            Ok(serde_json::to_value(answer.notes).expect("JSON"))
        };
        assert_eq!(noted(&["q1=x=y", "as it is"]), Ok(json!({ "q0": "as it is", "q1": "x=y" })));
        assert_eq!(noted(&["if a = b"]), Ok(json!({ "q0": "if a = b" })));
        let error: String = noted(&["q0=x", "q=1"]).expect_err("there is no q");
        assert_eq!(
            error,
            "“q=1” does not begin with a field: --note takes NAME=TEXT, where NAME is one of q0, q1"
        );
        let error: String = noted(&["q0=x", "y"]).expect_err("two notes");
        assert_eq!(error, "“q0” (q0) takes one note, but several are given");
    }
}
