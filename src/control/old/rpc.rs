//! The control protocol: what an inbox offers, as JSON-RPC methods.
//! Over which connection it is spoken is left to `socket.rs` and to `serve`.

use std::sync::{Arc, OnceLock};

use jsonrpsee::{
    PendingSubscriptionSink, SubscriptionMessage,
    core::{RpcResult, SubscriptionResult, async_trait},
    proc_macros::rpc,
    types::ErrorObjectOwned,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::watch;

use super::source::{Source, Status};
use crate::{
    acp::Submission,
    limits,
    question::{Provenance, Question, Responder},
};
use crate::{
    control::old::{
        book::Book,
        refusal::Refusal,
        view::{Record, Settlement},
    },
    question::input::AnswerInput,
};

/// The state of an inbox at one revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "QuestionListing"))]
pub struct Listing {
    /// Grows with each change.
    pub revision: u64,
    /// The open questions, oldest first.
    pub questions: Vec<Record>,
    /// To who subscribed: what was settled since the listing before, as far as it is remembered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<Record>,
}

impl Listing {
    /// Lists what is open.
    pub fn of(book: &Book) -> Self {
        Listing {
            revision: book.revision,
            questions: book.open().iter().map(|view| (**view).clone()).collect(),
            settled: Vec::new(),
        }
    }
}

/// The methods. `by` is who answers, where that is known. From others than programs of ours only the name in it counts.
#[rpc(server, client)]
pub trait Questions {
    /// Returns the open questions, of one session if it is given.
    #[method(name = "question_list", param_kind = map)]
    async fn list(&self, session: Option<String>) -> RpcResult<Listing>;

    /// Returns one question, open or settled. The beginning of its name is enough where that is unique.
    #[method(name = "question_get", param_kind = map)]
    async fn get(&self, id: String) -> RpcResult<Record>;

    /// Answers a question, by all of its name, and returns it settled once the agent has the answer on its stdin.
    #[method(name = "question_answer", param_kind = map)]
    async fn answer(&self, id: String, answer: AnswerInput, by: Option<Provenance>) -> RpcResult<Record>;

    /// Rejects a question, by all of its name, and returns it settled once the agent has that on its stdin.
    #[method(name = "question_reject", param_kind = map)]
    async fn reject(&self, id: String, reason: Option<String>, by: Option<Provenance>) -> RpcResult<Record>;

    /// Gives a question, by all of its name, this much more time, in milliseconds.
    #[method(name = "question_extend", param_kind = map)]
    async fn extend(&self, id: String, milliseconds: u64) -> RpcResult<Record>;

    /// Asks a question, and returns what became of it. It is withdrawn when the caller goes away.
    #[method(name = "question_ask", param_kind = map)]
    async fn ask(&self, question: Question) -> RpcResult<Settlement>;

    /// Sends the open questions, now and whenever that changes, and what was settled meanwhile. Whoever reads slowly is
    /// sent the latest state once what was sent before is read, and hears less often.
    #[subscription(name = "question_subscribe" => "question_changed", unsubscribe = "question_unsubscribe", item = Listing)]
    async fn changes(&self) -> SubscriptionResult;

    /// Says which bridges there are.
    #[method(name = "bridge_status")]
    async fn status(&self) -> RpcResult<Vec<Status>>;
}

/// Who calls the methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Anybody who may come this way. Its name is what it says; what it is, is known.
    Of(Responder),
    /// A program of ours, which passes on what came to it from others: who answers is who it says.
    Ours,
}

impl Caller {
    fn is(self, by: Option<Provenance>) -> Provenance {
        let responder = match self {
            Caller::Of(responder) => responder,
            Caller::Ours => by.as_ref().map_or(Responder::CommandLine, |by| by.responder),
        };
        let name = by.and_then(|by| by.name).filter(|name| name.len() <= limits::NAME);
        Provenance { responder, name }
    }
}

/// The methods, over an inbox.
#[derive(Debug)]
pub struct Methods<S> {
    source: S,
    caller: Caller,
    latest: OnceLock<watch::Receiver<Arc<State>>>,
}

impl<S: Source> Methods<S> {
    /// Offers this inbox.
    pub fn new(source: S, caller: Caller) -> Self {
        Methods { source, caller, latest: OnceLock::new() }
    }

    async fn submit(
        &self,
        view: Record,
        submission: Submission,
        by: Option<Provenance>,
    ) -> RpcResult<Record> {
        let by = self.caller.is(by);
        self.source.submit(&view.id, submission.clone(), by.clone()).await.map_err(error)?;
        // It may be forgotten already, where much is settled at once.
        Ok(self.source.find(&view.id).map_or_else(|_| view.settled(submission, by), |view| (*view).clone()))
    }

    /// Returns the question of this name. Who settles one says all of its name: nobody settles one unseen.
    fn named(&self, id: &str) -> RpcResult<Record> {
        let view = self.found(id)?;
        if view.id == id { Ok(view) } else { Err(error(Refusal::NotFound)) }
    }

    fn found(&self, id: &str) -> RpcResult<Record> {
        self.source.find(id).map(|view| (*view).clone()).map_err(error)
    }
}

#[async_trait]
impl<S: Source> QuestionsServer for Methods<S> {
    async fn list(&self, session: Option<String>) -> RpcResult<Listing> {
        let book = self.source.book().borrow().clone();
        let mut listing = Listing::of(&book);
        if session.is_some() {
            listing.questions.retain(|view| view.question.session == session);
        }
        Ok(listing)
    }

    async fn get(&self, id: String) -> RpcResult<Record> {
        self.found(&id)
    }

    async fn answer(&self, id: String, answer: AnswerInput, by: Option<Provenance>) -> RpcResult<Record> {
        let view = self.named(&id)?;
        let answer = answer.read(&view.question).map_err(|errors| error(Refusal::DoesNotFit(errors)))?;
        self.submit(view, Submission::Answer(answer), by).await
    }

    async fn reject(&self, id: String, reason: Option<String>, by: Option<Provenance>) -> RpcResult<Record> {
        self.submit(self.named(&id)?, Submission::Reject(reason), by).await
    }

    async fn extend(&self, id: String, milliseconds: u64) -> RpcResult<Record> {
        let time = std::time::Duration::from_millis(milliseconds);
        self.submit(self.named(&id)?, Submission::Extend(time), None).await
    }

    async fn ask(&self, question: Question) -> RpcResult<Settlement> {
        self.source.ask(question).await.map_err(error)
    }

    async fn changes(&self, pending: PendingSubscriptionSink) -> SubscriptionResult {
        let sink = pending.accept().await?;
        let mut latest = self.latest.get_or_init(|| handed_on(self.source.clone())).clone();
        let mut state = Arc::clone(&latest.borrow_and_update());
        let mut known = state.last.clone();
        loop {
            // Who read too slowly for one is told its own.
            if state.since != known {
                let book = self.source.book().borrow().clone();
                state = Arc::new(State::of(&book, known));
            }
            if sink.send(SubscriptionMessage::from(state.listing.clone())).await.is_err() {
                return Ok(());
            }
            known = state.last.clone();
            tokio::select! {
                changed = latest.changed() => if changed.is_err() { return Ok(()) },
                () = sink.closed() => return Ok(()),
            }
            state = Arc::clone(&latest.borrow_and_update());
        }
    }

    async fn status(&self) -> RpcResult<Vec<Status>> {
        Ok(self.source.status())
    }
}

/// What all who subscribed are told. It holds on to no question: its memory is the bridge's.
#[derive(Debug)]
struct State {
    /// The question that was settled last before this listing, and that which was last in it.
    since: Option<String>,
    last: Option<String>,
    listing: Box<RawValue>,
}

impl State {
    fn of(book: &Book, since: Option<String>) -> Self {
        let settled = book.settled_after(since.as_deref()).map(|view| (**view).clone()).collect();
        let listing = to_raw_value(&Listing { settled, ..Listing::of(book) });
        // It can always be written: its names are texts.
        State { since, last: last_settled(book), listing: listing.unwrap_or_default() }
    }
}

fn last_settled(book: &Book) -> Option<String> {
    book.settled().next_back().map(|view| view.id.clone())
}

/// Hands on the latest state. A bridge wakes whoever waits for a change of its book, on its own thread: that is this
/// one only, however many subscribe, and not for each of many changes (I7).
fn handed_on<S: Source>(source: S) -> watch::Receiver<Arc<State>> {
    let mut changes = source.book();
    // The bridge writes in it: it is let go before the questions themselves are copied.
    let book = changes.borrow_and_update().clone();
    let first = State::of(&book, last_settled(&book));
    let (sender, latest) = watch::channel(Arc::new(first));
    tokio::spawn(async move {
        loop {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
            let book = changes.borrow_and_update().clone();
            let since = sender.borrow().last.clone();
            sender.send_replace(Arc::new(State::of(&book, since)));
            drop(book);
            source.calm().await;
        }
    });
    latest
}

/// Says a refusal: its code, its text, and under `data` its name and what belongs to it.
pub fn error(refusal: Refusal) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(refusal.code(), refusal.to_string(), Some(refusal.detail()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use crate::control::old::rpc::*;
    use crate::{
        acp::{Opened, Refused, Settled},
        control::{
            self,
            old::{Owner, played::question},
        },
        question::{Answer, Outcome, Value},
    };

    #[tokio::test(start_paused = true)]
    async fn of_many_changes_the_last_is_handed_on() {
        let owner = Owner { bridge: "b".to_owned(), agent: String::new(), folder: String::new() };
        let (inbox, feed) = control::old::new(owner);
        let open = |number| view(&feed, number);
        let mut latest = handed_on(inbox);
        let began = Instant::now();
        let mut told = async || {
            latest.changed().await.unwrap();
            let listing: Listing = serde_json::from_str(latest.borrow_and_update().listing.get()).unwrap();
            (listing.questions.len(), began.elapsed())
        };
        open(1);
        assert_eq!(told().await, (1, Duration::ZERO), "nobody waits for the first");
        open(2);
        open(3);
        assert_eq!(told().await, (3, limits::CALM));
        open(4);
        // Nobody asks any more.
        drop(feed);
        assert_eq!(told().await, (4, limits::CALM), "nor for the last");
    }

    fn view(feed: &control::old::Feed, number: u64) {
        let question = Arc::new(question("a"));
        let since = Duration::ZERO;
        feed.opened(&Opened { number, question, since, deadline: None, elsewhere: false });
    }

    #[tokio::test]
    async fn whoever_answered_is_told_so_though_it_is_forgotten_already() {
        let owner = Owner { bridge: "b".to_owned(), agent: String::new(), folder: String::new() };
        let (inbox, mut feed) = control::old::new(owner);
        (1..=2).for_each(|number| view(&feed, number));
        let methods = Methods::new(inbox.clone(), Caller::Of(Responder::Rpc));
        let answer = |text: &str| Answer {
            values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(),
            ..Answer::default()
        };
        let settled = |number, answer| Settled {
            number,
            question: Arc::new(question("a")),
            outcome: Outcome::Answered(answer),
            by: Provenance::bridge(),
            after: Duration::ZERO,
            remark: None,
        };
        let answers =
            async |text| methods.answer("b-1".to_owned(), AnswerInput::from(answer(text)), None).await;
        let bridge = async {
            let (first, second) = (feed.next().await.unwrap(), feed.next().await.unwrap());
            feed.settled(&settled(1, answer("a")), Duration::ZERO);
            feed.settled(&settled(2, answer(&"x".repeat(limits::REMEMBERED_BYTES))), Duration::ZERO);
            first.verdict.send(Ok(())).unwrap();
            second.verdict.send(Err(Refused::NotOpen)).unwrap();
        };
        let (won, lost, ()) = tokio::join!(answers("a"), answers("b"), bridge);
        let settlement = won.unwrap().settlement.unwrap();
        assert_eq!(settlement.outcome, Outcome::Answered(answer("a")));
        assert_eq!(settlement.by.responder, Responder::Rpc);
        assert_eq!(lost.unwrap_err().code(), Refusal::Unavailable.code(), "nobody knows how it was settled");
        assert!(inbox.find("b-1").is_err(), "it is not remembered");
    }

    #[tokio::test]
    async fn whoever_settles_a_question_says_all_of_its_name() {
        let owner = Owner { bridge: "bridge".to_owned(), agent: String::new(), folder: String::new() };
        let (inbox, feed) = control::old::new(owner);
        view(&feed, 1);
        let methods = Methods::new(inbox, Caller::Of(Responder::Rpc));
        assert!(methods.get("b".to_owned()).await.is_ok());
        let not_found = |refused: RpcResult<Record>| {
            assert_eq!(refused.unwrap_err().code(), Refusal::NotFound.code());
        };
        not_found(methods.reject("b".to_owned(), None, None).await);
        not_found(methods.extend("b-1".to_owned(), 1).await);
        not_found(methods.answer("bridge".to_owned(), AnswerInput::from(Answer::default()), None).await);
    }

    #[test]
    fn a_program_of_ours_says_for_whom_it_answers() {
        let by = |responder| Some(Provenance { responder, name: Some("x".to_owned()) });
        assert_eq!(Caller::Ours.is(by(Responder::Http)), by(Responder::Http).unwrap());
        assert_eq!(Caller::Ours.is(None).responder, Responder::CommandLine);
        assert_eq!(Caller::Of(Responder::Rpc).is(by(Responder::Client)), by(Responder::Rpc).unwrap());
        assert_eq!(Caller::Of(Responder::Rpc).is(None).name, None);
        let long = Provenance { responder: Responder::Http, name: Some("x".repeat(limits::NAME + 1)) };
        assert_eq!(Caller::Ours.is(Some(long)).name, None);
    }
}
