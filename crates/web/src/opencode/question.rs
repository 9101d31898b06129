//! The questions of opencode's API: lists them, and answers or rejects one. Also what questions and permissions share:
//! finding one, listing all, and the envelope of an event.
//! Permissions are left to `permission.rs`, the events to `routes.rs`.

use std::{borrow::Cow, iter, sync::Arc};

use askbridge_control::inbox::Inbox;
use askbridge_core::{
    desk::{Record, Refusal, Submission},
    question::{Field, Kind, Purpose, Question},
};
use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::Response,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::shown::{self, ShownId};
use crate::{
    app::App,
    body, labels,
    problem::Problem,
    rest,
    stream::{self, SseMessage},
};

const ANSWER: &str = r#"{"answers":[["LABEL"]]}"#;

/// A question in opencode's format.
#[derive(Serialize)]
struct QuestionRequest<'a> {
    id: ShownId,
    #[serde(rename = "sessionID")]
    session: &'a str,
    questions: Vec<Info<'a>>,
}

#[derive(Serialize)]
struct Info<'a> {
    question: String,
    /// A very short label, for a tab or a chip.
    header: Cow<'a, str>,
    options: Vec<QuestionOption<'a>>,
    multiple: bool,
    /// Whether a typed text is accepted. Always written, because clients take a missing member for true.
    custom: bool,
}

#[derive(Serialize)]
struct QuestionOption<'a> {
    label: Cow<'a, str>,
    description: &'a str,
}

/// An answer. Other members are ignored, as in opencode.
#[derive(Deserialize)]
struct AnswerBody {
    answers: Vec<Vec<String>>,
}

impl<'a> QuestionRequest<'a> {
    fn of(record: &'a Record) -> Self {
        let question = &record.question;
        let infos = question.fields.iter().enumerate();
        QuestionRequest {
            id: ShownId::of(record),
            session: session(record),
            questions: infos.map(|(index, field)| Info::of(question, index == 0, field)).collect(),
        }
    }
}

impl<'a> Info<'a> {
    fn of(question: &'a Question, first: bool, field: &'a Field) -> Self {
        // opencode's format has no member for the message of the form, so it precedes the text of the first field.
        let message = Some(&question.message).filter(|message| first && **message != field.label);
        let texts = [message, Some(&field.label), field.help.as_ref()];
        let texts: Vec<_> =
            texts.into_iter().flatten().filter(|text| !text.is_empty()).map(|text| &**text).collect();
        let options = options(&field.kind);
        Info {
            question: texts.join("\n\n"),
            header: header(question, field),
            multiple: matches!(field.kind, Kind::Choices { .. }),
            custom: options.is_empty() || field.kind.takes_other(),
            options,
        }
    }
}

/// Characters of the longest header that is derived from a text: as many as opencode allows its own agents.
const HEADER: usize = 30;

/// Returns the header of a field, or else the beginning of its text. The name of a field, such as `q0`, means nothing
/// to a person.
fn header<'a>(question: &'a Question, field: &'a Field) -> Cow<'a, str> {
    let is_said = |text: &&String| !text.trim().is_empty();
    // With several fields, the title would be the same on each tab.
    let title = question.title.as_ref().filter(|_| question.fields.len() == 1);
    if let Some(header) = [field.header.as_ref(), title].into_iter().flatten().find(is_said) {
        return header.into();
    }
    let text = [&field.label, &question.message].into_iter().find(is_said);
    text.map_or("Question".into(), |text| shortened(text.trim()))
}

/// Returns the first line of a text, cut behind a word if it is longer than a header.
fn shortened(text: &str) -> Cow<'_, str> {
    let line = text.lines().next().unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(HEADER) else { return line.into() };
    // Leave room for the ellipsis.
    let cut = line[..end].char_indices().next_back().map_or("", |(last, _)| &line[..last]);
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end()).into()
}

/// Returns the choices of a field. A reply identifies a choice by its label alone.
fn options(kind: &Kind) -> Vec<QuestionOption<'_>> {
    let descriptions = kind.options().iter().map(|option| option.description.as_deref().unwrap_or_default());
    let choice = |(label, description)| QuestionOption { label, description };
    // A yes and a no have labels, but no options that would have descriptions.
    labels::labels(kind).into_iter().zip(descriptions.chain(iter::repeat(""))).map(choice).collect()
}

/// A question that is converted only when it is serialized.
struct QuestionData(Arc<Record>);

impl Serialize for QuestionData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        QuestionRequest::of(&self.0).serialize(serializer)
    }
}

/// Lists the open questions.
pub(super) async fn list<I: Inbox>(State(app): State<App<I>>) -> Response {
    list_records(&app, false, QuestionData)
}

/// Answers a question.
pub(super) async fn reply<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<bool>, Problem> {
    let reply: AnswerBody = body::read(&headers, body, ANSWER)?;
    let (record, seen) = find(&app, &id, false).await?;
    let answer = labels::answer(&record.question, reply.answers).map_err(Refusal::DoesNotFit)?;
    rest::submit_answer(&app, &record.id, Submission::answer(answer, seen)).await?;
    Ok(Json(true))
}

/// Rejects a question.
pub(super) async fn reject<I: Inbox>(
    State(app): State<App<I>>,
    Path(id): Path<String>,
) -> Result<Json<bool>, Problem> {
    let (record, _) = find(&app, &id, false).await?;
    rest::submit_rejection(&app, &record.id, None).await?;
    Ok(Json(true))
}

/// Returns the event of an open question.
pub(super) fn asked(name: &str, record: Arc<Record>) -> SseMessage {
    message(name, "question.asked", QuestionData(record))
}

/// Returns the event of a question that ended. `record` has its outcome, if that is known.
pub(super) fn ended(name: &str, id: &ShownId, session: &str, record: Option<&Record>) -> SseMessage {
    let mut properties = json!({ "sessionID": session, "requestID": id });
    match record.and_then(labels::chosen) {
        Some(answers) => {
            properties["answers"] = answers.into();
            message(name, "question.replied", properties)
        }
        None => message(name, "question.rejected", properties),
    }
}

/// Returns whether a question belongs to the permission API. All others belong to the question API.
pub(super) fn is_permission(record: &Record) -> bool {
    record.question.purpose == Purpose::Permission
}

/// Returns the session, or an empty text: some dialects have no sessions, but opencode's clients need the member.
pub(super) fn session(record: &Record) -> &str {
    record.question.session.as_deref().unwrap_or_default()
}

/// Returns the question or permission with this ID, open or settled, and the edition that the ID stands for.
pub(super) async fn find<I: Inbox>(
    app: &App<I>,
    id: &str,
    permission: bool,
) -> Result<(Arc<Record>, u32), Refusal> {
    let (id, edition) = shown::read(id).ok_or(Refusal::NotFound)?;
    let record = app.look_up(id).await?;
    // In opencode's API, questions and permissions are separate: an ID of the other kind does not exist. Nor does that
    // of a text that nobody was shown yet.
    let is_meant = is_permission(&record) == permission && edition <= record.edition;
    if is_meant { Ok((record, edition)) } else { Err(Refusal::NotFound) }
}

/// Returns the open questions or permissions, each converted by `write`.
pub(super) fn list_records<I: Inbox, T: Serialize + Send + 'static>(
    app: &App<I>,
    permissions: bool,
    write: impl Fn(Arc<Record>) -> T + Send + 'static,
) -> Response {
    let (_, open) = app.open();
    let wanted = open.iter().filter(|record| is_permission(record) == permissions);
    let ids = wanted.map(|record| record.id.clone()).collect();
    stream::json_of(stream::body(app.array(ids, write)))
}

/// An event in opencode's format.
#[derive(Serialize)]
struct Envelope<T> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    properties: T,
}

/// Returns an event. The ID is unique within a stream.
pub(super) fn message(
    id: &str,
    kind: &'static str,
    properties: impl Serialize + Send + 'static,
) -> SseMessage {
    SseMessage::new(Envelope { id: format!("evt_{id}"), kind, properties })
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Origin;

    use super::*;

    #[test]
    fn a_header_is_short_and_never_the_name_of_a_field() {
        let field = |label: &str, header: Option<&str>| {
            Field::at(0, label.to_owned(), header.map(str::to_owned), Kind::free_text())
        };
        let told = |label: &str, given: Option<&str>, title: Option<&str>, message: &str, count: usize| {
            let fields = vec![field(label, given); count];
            let mut question = Question::new(Origin::Kiro, "q", fields);
            (question.title, question.message) = (title.map(str::to_owned), message.to_owned());
            header(&question, &question.fields[0]).into_owned()
        };
        assert_eq!(told("Why?", Some("Reason"), Some("Title"), "", 1), "Reason");
        assert_eq!(told("Why?", None, Some("Title"), "", 1), "Title");
        assert_eq!(told("Why?", None, Some("Title"), "", 2), "Why?", "each tab has a header of its own");
        assert_eq!(told("", Some(" "), None, "Why\nnot?", 1), "Why");
        assert_eq!(told("", None, None, "", 1), "Question");
        let long = "Which database should the payments service use?";
        assert_eq!(told(long, None, None, "", 1), "Which database should the…");
        assert_eq!(told(&"ü".repeat(31), None, None, "", 1), format!("{}…", "ü".repeat(29)));
        assert_eq!(told(&"ü".repeat(30), None, None, "", 1), "ü".repeat(30));
    }
}
