//! `askbridge answer` and `reject`: reads the answer from the command line, submits it, and confirms what
//! was understood. A probable typo is never taken as the user's own text: an answer cannot be taken back.
//! Which option a text means is left to `present/typed.rs`, whether the answer fits its question to the bridge.

use std::{collections::BTreeMap, sync::Arc};

use askbridge_control::{inbox::Inbox, join::JoinedInbox};
use askbridge_core::{
    desk::{IdPrefix, Record, Refusal, Submission},
    question::{Answer, Field, FieldError, Image, Outcome, Purpose, Question, Value, check},
};
use askbridge_os::exit;
use clap::Args;

use super::{
    CommandError, Context,
    answer_args::{AnswerArgs, images, with_stdin},
    converse::{by, converse, said},
    help,
    next::{NextArgs, next},
    reach::MachineArgs,
    runner::{self, look_up, say},
    second_step::{confirmed, danger},
    typist::{Leftovers, can_ask},
};
use crate::present::{
    answer::{self, about, brief},
    bridges::Bridges,
    dialogue::Dialogue,
    typed::{self, TypedText},
};

/// Answers a question.
pub async fn answer(context: &Context, args: &AnswerArgs) -> Result<u8, CommandError> {
    let AnswerArgs { values, field: fields, text: texts, note: notes, image: files, .. } = args;
    let is_empty = [values, fields, texts, notes].into_iter().all(Vec::is_empty) && files.is_empty();
    let Some(id) = args.id.as_deref() else {
        return if is_empty && !args.again && can_ask() {
            next(context, &NextArgs { machine: args.machine.clone(), ..NextArgs::default() }).await
        } else {
            Err(CommandError::NoId)
        };
    };
    if args.again {
        return by_option(context, id, &args.machine, |record| again(record, args.seen)).await;
    }
    if is_empty && can_ask() {
        return talk(context, id, &args.machine, Dialogue::new).await;
    }
    if is_empty {
        return Err(CommandError::NoAnswer(id.to_owned()));
    }
    let images = images(id, files)?;
    // Stdin is read before the question is looked up, because a person may take long to type it.
    let args = with_stdin(id, args)?;
    let leftovers = Leftovers::of_person();
    let found = look_up(context, id, &args.machine).await?;
    if can_ask()
        && !args.yes
        && let Some(dialogue) = confirming(Arc::clone(&found.2), &args, &images)
    {
        return converse(&found.0, dialogue, leftovers).await;
    }
    let read = |record: &Record| {
        let kept = record.kept.as_ref();
        let mut answer = read(&record.question, kept, &args)
            .map_err(|errors| CommandError::DoesNotFit(id.to_owned(), errors.join("; ")))?;
        answer.images.clone_from(&images);
        // No released agent reads notes for which its form has no place, so they must not seem to be sent.
        if !answer.notes.is_empty() && !record.question.notes {
            answer.notes.clear();
            say(&format!("{}: the note is not sent: this agent accepts no notes", record.id));
        }
        // Only a person who has been asked sends an answer that says nothing.
        let fields = &record.question.fields;
        let has_null = answer.values.values().any(|value| *value == Value::Null);
        if answer.is_blank() && !has_null && !fields.is_empty() && fields.iter().all(|field| !field.required)
        {
            return Err(CommandError::DoesNotFit(id.to_owned(), nothing_chosen(record)));
        }
        if !args.yes && !can_ask() {
            confirmed(record, &answer, || format!("answer {} …", record.id))?;
        }
        Ok(Submission::answer(answer, args.seen))
    };
    to_found(id, found, read).await
}

/// Returns the dialogue in which a person confirms what is dangerous; `None` if there is nothing to confirm.
fn confirming(record: Arc<Record>, args: &AnswerArgs, images: &[Image]) -> Option<Dialogue> {
    let mut answer = read(&record.question, record.kept.as_ref(), args).ok()?;
    answer.images = images.to_vec();
    danger(&record, &answer).map(|_| Dialogue::confirming(record, answer))
}

fn nothing_chosen(record: &Record) -> String {
    format!(
        "nothing is chosen: `askbridge reject {0}` rejects it, and `askbridge answer {0}` at a terminal asks whether to \
         send it empty",
        record.id
    )
}

/// Returns the answer that the same question got before. A permission must be given again.
fn again(record: &Record, seen: Option<u32>) -> Result<Submission, CommandError> {
    if record.question.purpose == Purpose::Permission {
        let how = format!(
            "{0}: an earlier permission cannot be repeated: `askbridge allow {0}` gives a new one",
            record.id
        );
        return Err(CommandError::Usage(how));
    }
    match record.earlier.as_deref().map(|earlier| &earlier.outcome) {
        Some(Outcome::Answered(answer)) => Ok(Submission::answer(answer.clone(), seen)),
        _ => Err(CommandError::Usage(format!("{}: no answer to the same question is known", record.id))),
    }
}

/// Puts a question to the person at the terminal. The person sees which question it is, so the ID may lack the number.
pub(super) async fn talk(
    context: &Context,
    id: &str,
    at: &MachineArgs,
    begin: impl FnOnce(Arc<Record>) -> Dialogue,
) -> Result<u8, CommandError> {
    let leftovers = Leftovers::of_person();
    let (joined, _, record) = look_up(context, id, at).await?;
    converse(&joined, begin(record), leftovers).await
}

/// Submits to a question the submission that `read` returns for it, and confirms that submission.
pub(super) async fn by_option(
    context: &Context,
    id: &str,
    at: &MachineArgs,
    read: impl FnOnce(&Record) -> Result<Submission, CommandError>,
) -> Result<u8, CommandError> {
    to_found(id, look_up(context, id, at).await?, read).await
}

/// The same for a question that was looked up.
pub(super) async fn to_found(
    id: &str,
    found: (JoinedInbox, IdPrefix, Arc<Record>),
    read: impl FnOnce(&Record) -> Result<Submission, CommandError>,
) -> Result<u8, CommandError> {
    submit(id, found, read, |_, record, submission| said(record, submission)).await
}

/// Rejects a question, or what an agent asks permission for: this time, if the agent has an option for that. At a terminal,
/// the person is asked for a reason.
pub async fn reject(context: &Context, args: &RejectArgs) -> Result<u8, CommandError> {
    let (id, reason) = (args.id.as_deref().ok_or(CommandError::NoId)?, args.reason.as_deref());
    if reason.is_none() && can_ask() {
        let leftovers = Leftovers::of_person();
        let (joined, _, record) = look_up(context, id, &args.machine).await?;
        // A settled question is refused before the user types a reason.
        if record.is_open() {
            return converse(&joined, Dialogue::rejecting(record), leftovers).await;
        }
    }
    let read = |_: &Record| Ok(Submission::Reject(reason.map(str::to_owned)));
    by_option(context, id, &args.machine, read).await
}

/// Submits to a question that was looked up, and says what `done` makes of it.
pub(super) async fn submit(
    id: &str,
    (joined, typed, record): (JoinedInbox, IdPrefix, Arc<Record>),
    read: impl FnOnce(&Record) -> Result<Submission, CommandError>,
    done: impl FnOnce(&Bridges, &Record, &Submission) -> String,
) -> Result<u8, CommandError> {
    if !typed.has_number() {
        // A command that is repeated from the history of a shell must not hit the next question of the same bridge.
        return Err(CommandError::NoNumber(id.to_owned(), record));
    }
    let submission = read(&record).map_err(|error| match error {
        // A submission that does not fit is not the one that settled the question. A journal without texts cannot tell
        // more.
        CommandError::DoesNotFit(id, _) if !record.is_open() => {
            CommandError::Refused(id, Refusal::Conflict(Arc::clone(&record)))
        }
        error => error,
    })?;
    let submitted = joined.submit(&record.id, submission.clone(), by()).await;
    let now: Arc<Record> = submitted.map_err(|refusal| match refusal {
        Refusal::DoesNotFit(errors) => {
            CommandError::DoesNotFit(id.to_owned(), answer::errors(&record.question, &errors))
        }
        refusal => CommandError::Refused(id.to_owned(), refusal),
    })?;
    let said = done(&Bridges::new(joined.status()), &now, &submission);
    Ok(runner::done(exit::OK, &format!("{} {said}\n", record.id)))
}

/// Options of `askbridge reject`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct RejectArgs {
    /// The question's ID
    pub id: Option<String>,

    /// The reason, in your own words: it is shown with the outcome, and agents that have a place for it receive it
    /// [default: asked at a terminal]
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub reason: Option<String>,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Reads the answer. Fields that were answered before, and are not given again, keep their values.
///
/// # Errors
/// A sentence for each value that cannot be read: it names the field as the user knows it.
pub(super) fn read(
    question: &Question,
    kept: Option<&Answer>,
    args: &AnswerArgs,
) -> Result<Answer, Vec<String>> {
    let given = sort(question, args).map_err(|error| vec![error])?;
    let mut answer = kept.cloned().unwrap_or_default();
    // All mistakes are reported at once, so that the person need not try for each of them.
    let mut unread = Vec::new();
    for field in &question.fields {
        let Some(given) = given.get(&*field.name) else { continue };
        match value(question, field, given) {
            Ok(value) => drop(answer.values.insert(field.name.clone(), value)),
            Err(message) => unread.push(FieldError { field: field.name.clone(), message }),
        }
    }
    let wrong_note = notes(question, &args.note, &mut answer).err();
    if unread.is_empty() && wrong_note.is_none() {
        return Ok(answer);
    }
    let mut errors = with_all(question, &answer, unread);
    errors.extend(wrong_note);
    Err(errors)
}

/// Returns the mistakes in the values that could not be read, together with those in all others, in the order of the fields.
fn with_all(question: &Question, answer: &Answer, unread: Vec<FieldError>) -> Vec<String> {
    let mut errors = check(question, answer).err().unwrap_or_default();
    // What cannot be read is missing as well.
    errors.retain(|error| unread.iter().all(|other| other.field != error.field));
    errors.extend(unread);
    let place = |error: &FieldError| question.fields.iter().position(|field| field.name == error.field);
    errors.sort_by_key(place);
    errors.iter().map(|error| answer::errors(question, std::slice::from_ref(error))).collect()
}

/// Groups the typed texts by the names of the fields.
fn sort<'a>(
    question: &'a Question,
    args: &'a AnswerArgs,
) -> Result<BTreeMap<&'a str, Vec<TypedText<'a>>>, String> {
    let mut sorted: BTreeMap<&str, Vec<TypedText<'_>>> = BTreeMap::new();
    let (count, values) = (question.fields.len(), args.values.len());
    for (place, text) in args.values.iter().enumerate() {
        // If there is only one field, it takes all the values.
        let field = question.fields.get(if count == 1 { 0 } else { place }).ok_or_else(|| {
            format!("the question has {count} fields, but {values} values are given: quote a value that has spaces")
        })?;
        // An empty value leaves out its field, so that a later field can be given by its position.
        if !text.is_empty() {
            sorted.entry(&field.name).or_default().push(TypedText::Value(text));
        }
    }
    for given in &args.field {
        let (field, text) =
            named(question, given).ok_or_else(|| unnamed(question, "--field takes NAME=VALUE", given))?;
        sorted.entry(&field.name).or_default().push(TypedText::Value(text));
    }
    for given in &args.text {
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
    // A label may have a `=` in it, so the text is not simply split at the first one.
    let after = |name: &str| given.strip_prefix(name)?.strip_prefix('=');
    let (found, is_shared) = ways.iter().find_map(|way| {
        let mut found = question.fields.iter().filter_map(|field| Some((field, after(way(field)?)?)));
        let first = found.next()?;
        Some((first, found.any(|other| other.1 == first.1)))
    })?;
    // The label of two fields names neither.
    (!is_shared).then_some(found)
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
            // `q1=text` is a mistake if there is no field q1: as a note on the first field, it would mean something
            // else.
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

/// Returns whether a text begins with `NAME=`, in which the name can only be that of a field.
fn seems_named(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || "_-.".contains(char))
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn value(question: &Question, field: &Field, given: &[TypedText<'_>]) -> Result<Value, String> {
    let hint = if question.fields.len() == 1 {
        "`--text TEXT` sends a text unchanged".to_owned()
    } else {
        format!("`--text {}=TEXT` sends a text unchanged", field.name)
    };
    typed::value(field, given, &hint)
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Origin;
    use serde_json::{Value as Json, json};

    use super::*;

    fn question(fields: &Json) -> Question {
        Question::new(Origin::SandboxAgent, "q", serde_json::from_value(fields.clone()).expect("fields"))
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn typed(question: &Question, values: &[&str], texts: &[&str]) -> Result<Json, String> {
        let options = AnswerArgs { values: strings(values), text: strings(texts), ..AnswerArgs::default() };
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
    fn all_wrong_fields_are_named_at_once_in_their_order() {
        let fields = question(&json!([
            { "name": "a", "label": "A", "kind": "number", "integer": true, "required": true },
            { "name": "b", "label": "B", "kind": "boolean" },
            { "name": "c", "label": "C", "kind": "text", "maxLength": 2 },
            { "name": "d", "label": "D", "kind": "number", "max": 3 },
            { "name": "e", "label": "E", "kind": "text", "required": true },
        ]));
        let error = typed(&fields, &["1.5", "perhaps", "abc", "4"], &[]).unwrap_err();
        let named: Vec<_> = error.split("; ").map(|error| &error[..9]).collect();
        assert_eq!(
            named,
            ["“A” (a)", "“B” (b)", "“C” (c)", "“D” (d)", "“E” (e)"].map(|it| &it[..9]),
            "{error}"
        );
        let error = typed(&fields, &["many"], &[]).unwrap_err();
        assert_eq!(error, "“A” (a) must be a number, is “many”; “E” (e) is required");
        // What is read is left to the bridge.
        assert!(typed(&fields, &["1.5", "yes"], &[]).is_ok());
    }

    #[test]
    fn an_own_text_that_may_be_meant_as_an_option_needs_the_flag() {
        let question = databases("choice");
        for (text, told) in [
            (
                "Postgrse",
                "“Which?” has no option “Postgrse”: did you mean Postgres? (`--text TEXT` sends a text unchanged)",
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
    fn the_label_of_two_fields_names_neither() {
        let field = |name: &str, label: &str| json!({ "name": name, "label": label, "kind": "text" });
        let question = question(&json!([field("a", "File"), field("b", "File"), field("c", "Folder")]));
        for (text, values) in [
            ("a=x", Ok(json!({ "a": "x" }))),
            ("Folder=x", Ok(json!({ "c": "x" }))),
            ("File=x", Err("“File=x” does not begin with a field: --text takes NAME=TEXT, where NAME is one of a, b, c".to_owned())),
        ] {
            assert_eq!(typed(&question, &[], &[text]), values);
        }
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
            ("n=5", "“N” (n) accepts no free text"),
            ("c=A", "“C” (c) accepts no free text"),
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
            let options = AnswerArgs { note: strings(notes), ..AnswerArgs::default() };
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
