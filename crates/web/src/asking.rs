//! Asking over REST, and waiting for the outcome. Without more, `POST /v1/questions` waits until its question is settled,
//! and the end of its connection withdraws the question. A question with a key, or one that its asker does not wait for,
//! outlives the connection and this process: `GET` waits for its outcome, and `DELETE` withdraws it.
//! Keeping a question, and withdrawing one whose request is dropped, is left to the inbox.

use std::{sync::Arc, time::Duration};

use askbridge_control::inbox::{AskedUnder, Inbox, Kept, NotKept, Standing, asked, wait_until};
use askbridge_core::{
    desk::{Record, Refusal, State as Stage},
    question::FieldError,
};
use axum::{
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    app::App,
    body,
    find::{QuestionPath, find},
    new_question::{self, NewQuestion},
    problem::Problem,
    stream,
};
use crate::limits;

/// The header by which an asker names a question that it may ask again.
pub(super) const KEY: &str = "idempotency-key";
/// The preference of an asker that does not wait.
const LEAVES: &str = "respond-async";

/// How a question is asked.
#[derive(Debug, PartialEq)]
struct Manner {
    key: Option<String>,
    waits: bool,
}

impl Manner {
    fn read(headers: &HeaderMap, question: &NewQuestion) -> Result<Self, Problem> {
        let prefers = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
        let leaves = prefers.flat_map(|value| value.split(',')).any(is_leaving);
        let waits = question.wait.unwrap_or(!leaves);
        let session = question.session_id.as_deref().filter(|session| !session.is_empty());
        let key = match (key(headers)?, session.zip(question.question_id.as_deref())) {
            // Those who leave have no other way to find their question again after a crash. No header has a NUL.
            (None, Some(ids)) if !waits => Some(format!("\u{0}{}", json!(ids))),
            (key, _) => key,
        };
        Ok(Manner { key, waits })
    }
}

/// Returns whether this preference, with or without parameters, says that the asker does not wait.
fn is_leaving(preference: &str) -> bool {
    preference.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(LEAVES))
}

/// Returns the key of a request, with or without the quotation marks that a structured header has.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let bad = |why: &str| Problem::new(StatusCode::BAD_REQUEST, "bad_key", format!("Idempotency-Key: {why}"));
    if values.next().is_some() {
        return Err(bad("there are several"));
    }
    let text = value.to_str().map_err(|_| bad("it has characters other than those of ASCII"))?;
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    match inner.len() {
        0 => Err(bad("it is empty")),
        1..=limits::KEY => Ok(Some(inner.to_owned())),
        _ => Err(bad(&format!("it is longer than {} characters", limits::KEY))),
    }
}

/// Asks a question. The response has how it was settled or, if its asker does not wait, the question as it is now.
pub(super) async fn ask<I: Inbox>(
    State(app): State<App<I>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let question: NewQuestion = body::read(&headers, body, new_question::SHAPE)?;
    let Manner { key, waits } = Manner::read(&headers, &question)?;
    if key.is_none() && waits {
        if question.callback.is_some() {
            let why = "only a question that is kept has one: give a key, or do not wait";
            return Err(NotKept::Callback(why.to_owned()).into());
        }
        // hyper drops this future, or the body that has taken it over, when the client disconnects, which withdraws the
        // question.
        let (question, place) = (question.read()?, app.wait()?);
        let asking = async move {
            let _place = place;
            app.inbox.ask(question).await.map(stream::json)
        };
        return Ok(stream::when_ready(asking).await?);
    }
    let under = key.map(|key| AskedUnder { key, digest: question.digest() });
    let standing = standing(&app)?;
    let callback = question.callback.clone();
    let Kept { record, is_new } = standing.ask(question.read()?, under, callback).await?;
    if waits {
        let place = app.wait()?;
        let waiting = async move {
            let _place = place;
            let record = over(&*standing, &record).await?;
            app.inbox.keep_up(&record).await;
            Ok::<_, NotKept>(stream::json(record.settlement.clone()))
        };
        return Ok(stream::when_ready(waiting).await?);
    }
    app.inbox.keep_up(&record).await;
    let location = HeaderValue::try_from(format!("/v1/questions/{}", record.id));
    let mut response = stream::json(record);
    *response.status_mut() = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    // An ID has letters, digits and hyphens, so that this cannot fail.
    response.headers_mut().extend(location.ok().map(|location| (header::LOCATION, location)));
    Ok(response)
}

/// Waits until a question is over, however long that takes.
async fn over(standing: &dyn Standing, record: &Record) -> Result<Arc<Record>, NotKept> {
    loop {
        let record = standing.outcome(&record.id, limits::OUTCOME).await?;
        if !record.is_open() {
            return Ok(record);
        }
    }
}

pub(super) fn standing<I: Inbox>(app: &App<I>) -> Result<Arc<dyn Standing>, Problem> {
    app.inbox.standing().map_err(|why| Refusal::NotKept(why.to_owned()).into())
}

/// The parameters of a question that is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowParams {
    /// How long to wait until the question is over, such as `30s`. By default, the response has the question as it is now.
    wait: Option<String>,
}

/// Returns a question as it is now, or once it is over.
pub(super) async fn show<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
    params: Result<Query<ShowParams>, QueryRejection>,
) -> Result<Response, Problem> {
    let bad = |why: String| Problem::new(StatusCode::BAD_REQUEST, "bad_request", why);
    let Query(ShowParams { wait }) = params.map_err(|error| bad(error.body_text()))?;
    let record = find(&app, &name).await?;
    let Some(wait) = wait else {
        // The inbox that keeps the question is never behind, unlike the store that joins it with others.
        let is_kept = app.inbox.standing().is_ok_and(|standing| standing.has(&record.id));
        let now = if is_kept { shown_after(&app, record, Duration::ZERO).await? } else { record };
        return Ok(stream::json(now));
    };
    let within = duration(&wait).ok_or_else(|| {
        bad(format!("wait={wait}: not a time of at most {} s, such as `30s`", limits::OUTCOME.as_secs()))
    })?;
    let place = app.wait()?;
    let waiting = async move {
        let _place = place;
        shown_after(&app, record, within).await.map(stream::json)
    };
    Ok(stream::when_ready(waiting).await?)
}

/// Reads a time such as `30s`, or a number of seconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| humantime::parse_duration(text).ok()).filter(|time| *time <= limits::OUTCOME)
}

async fn shown_after<I: Inbox>(
    app: &App<I>,
    record: Arc<Record>,
    within: Duration,
) -> Result<Arc<Record>, NotKept> {
    let id = record.id.clone();
    if app.inbox.standing().is_ok_and(|standing| standing.has(&id)) {
        return asked::outcome(&app.inbox, &id, within).await;
    }
    let is_over = |record: &Arc<Record>| !record.is_open();
    wait_until(app.inbox.store(), within, |now| now.get(&id).is_none_or(is_over)).await;
    // A question that is over for long is forgotten: then it was over before.
    let now = app.inbox.store().read(|_, snapshot| snapshot.get(&id).cloned());
    match now {
        Some(now) if now.state == Stage::Lost => Err(Refusal::Unavailable.into()),
        Some(now) => Ok(now),
        None if record.is_open() => Ok(app.look_up(&id.to_string()).await?),
        None => Ok(record),
    }
}

/// Withdraws a question that no connection holds.
pub(super) async fn withdraw<I: Inbox>(
    State(app): State<App<I>>,
    Path(name): Path<QuestionPath>,
) -> Result<StatusCode, Problem> {
    let record = find(&app, &name).await?;
    if !app.inbox.standing().is_ok_and(|standing| standing.has(&record.id)) {
        return Err(Refusal::Held.into());
    }
    asked::withdraw(&app.inbox, &record.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<NotKept> for Problem {
    fn from(error: NotKept) -> Self {
        match error {
            NotKept::Ends(_) => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "inbox_ends", error.to_string())
            }
            NotKept::Callback(why) => {
                let mut problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_callback", &*why);
                problem.more.errors = vec![FieldError { field: "callback".to_owned(), message: why }];
                problem
            }
            _ => Refusal::from(error).into(),
        }
    }
}
