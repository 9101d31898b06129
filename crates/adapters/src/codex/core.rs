//! A client of Codex' app server. It is pure, so that tests can try every order of events: messages, decisions and the
//! time go in, and effects come out.
//!
//! It follows the status of every thread, and joins those that are at work: the server then sends their open requests.
//! It never sends an error, and it sends a response only if a responder decided.

use std::time::Duration;

use askbridge_core::desk::Settlement;

pub use super::message::Effect;
use super::{
    message::{self, CodexMessage, Effects},
    requests::Requests,
    threads::Threads,
};

/// A client of one app server. Times are counted from its start.
#[derive(Debug, Default)]
pub struct Core {
    threads: Threads,
    requests: Requests,
    effects: Effects,
}

impl Core {
    /// Begins with a new connection. Questions of the connection before continue if the server sends them again.
    pub fn connected(&mut self) {
        self.threads.connected(&mut self.effects);
    }

    /// Notes that the connection is over. Open questions wait for the next one.
    pub fn disconnected(&mut self, now: Duration) {
        self.threads.disconnected();
        self.requests.disconnected(now, &mut self.effects);
        // Queued messages belong to the old connection: the next one begins with `initialize`.
        self.effects.retain(|effect| !matches!(effect, Effect::Send(_)));
    }

    /// Reads a message of the server.
    pub fn message(&mut self, text: &str, now: Duration) {
        let message: CodexMessage<'_> = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => return tracing::debug!(%error, "a message of Codex is not understood"),
        };
        self.requests.hear(text);
        match (message.method.as_deref(), message.id) {
            (Some(method), Some(id)) => {
                self.request(method, id.get(), message.params.map(|it| it.get()), now)
            }
            (Some(method), None) => self.notification(method, &message, now),
            (None, Some(id)) => self.threads.response(id.get(), &message, now, &mut self.effects),
            (None, None) => {}
        }
    }

    fn request(&mut self, method: &str, id: &str, params: Option<&str>, now: Duration) {
        let Some(params) = params else { return };
        self.requests.request(method, id, params, &self.threads, now, &mut self.effects);
    }

    fn notification(&mut self, method: &str, message: &CodexMessage<'_>, now: Duration) {
        match method {
            "thread/status/changed" => {
                if let Some(changed) = message::read::<message::StatusChanged>(message.params) {
                    self.threads.status(&changed.thread_id, &changed.status, &mut self.effects);
                    if changed.status.is_over() {
                        self.requests.turns_over(&changed.thread_id, now);
                    }
                }
            }
            "thread/started" => {
                if let Some(started) = message::read::<message::ThreadMessage>(message.params) {
                    self.threads.learn(&started.thread);
                    self.threads.status(&started.thread.id, &started.thread.status, &mut self.effects);
                }
            }
            "thread/closed" => {
                if let Some(closed) = message::read::<message::RequestPlace>(message.params)
                    && let Some(thread) = closed.thread_id
                {
                    self.requests.thread_closed(&thread, &mut self.effects);
                    self.threads.forget(&thread);
                }
            }
            "serverRequest/resolved" => {
                if let Some(resolved) = message::read::<message::ResolvedRequest>(message.params) {
                    self.requests.resolved(&resolved, &self.threads, now, &mut self.effects);
                }
            }
            "turn/completed" => {
                if let Some(completed) = message::read::<message::TurnCompleted>(message.params) {
                    self.requests.turn_completed(&completed, now, &mut self.effects);
                }
            }
            "item/started" | "item/completed" => {
                if let Some(item) = message::read::<message::ItemMessage<'_>>(message.params) {
                    self.requests.item(&item, &mut self.effects);
                }
            }
            "item/fileChange/patchUpdated" => {
                self.requests.changes_updated(message.params, &mut self.effects)
            }
            _ => {}
        }
    }

    /// Sends a responder's decision to Codex, unless it is too late: then [`Effect::End`] follows.
    pub fn decided(&mut self, key: u64, settlement: &Settlement, now: Duration) {
        self.requests.decided(key, settlement, now, &mut self.effects);
    }

    /// Takes the result of the tool call that asked a question, from the record of its thread ([`Effect::Look`]).
    pub fn recorded(&mut self, key: u64, output: &str) {
        self.requests.recorded(key, output, &mut self.effects);
    }

    /// Leaves a question to Codex' own dialog, because it could not be opened here.
    pub fn left(&mut self, key: u64) {
        self.requests.leave(key);
    }

    /// Returns when [`Core::tick`] is due.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.threads.next_deadline().into_iter().chain(self.requests.next_deadline()).min()
    }

    /// Performs the actions that are due.
    pub fn tick(&mut self, now: Duration) {
        self.threads.tick(now, &mut self.effects);
        let is_settled = self.threads.take_listed(now);
        self.requests.tick(now, is_settled, &self.threads, &mut self.effects);
    }

    /// Returns the next effect to carry out.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Returns whether no question is open.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_core::{
        desk::Timestamp,
        question::{Answer, Context, Outcome, Provenance, Reason, Value},
    };
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::limits;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// A core, and the messages that it sent.
    struct Client {
        core: Core,
        sent: Vec<Json>,
        others: Vec<String>,
        /// What led to the question that was opened last.
        led: Option<Arc<Context>>,
    }

    impl Client {
        fn connected() -> Self {
            let mut client =
                Client { core: Core::default(), sent: Vec::new(), others: Vec::new(), led: None };
            client.core.connected();
            client.hears(&json!({ "id": 1, "result": { "userAgent": "codex" } }), MS(0));
            client
        }

        fn hears(&mut self, message: &Json, now: Duration) {
            self.core.message(&message.to_string(), now);
            self.collect();
        }

        fn collect(&mut self) {
            while let Some(effect) = self.core.poll() {
                match effect {
                    Effect::Send(text) => self.sent.push(serde_json::from_str(&text).expect("JSON")),
                    Effect::Open(key, question, _, context) => {
                        self.led = context;
                        let project = question.project.as_deref().unwrap_or_default();
                        self.others.push(format!("open {key} {} {project}", question.headline()));
                    }
                    Effect::Amend(key, question, kept) => {
                        let subject = question.subject.as_deref().expect("a subject");
                        let texts: Vec<_> = subject.diffs.iter().map(|diff| &*diff.new).collect();
                        assert!(kept > 0, "earlier texts count");
                        self.others.push(format!("amend {key} {texts:?} {:?}", subject.unclear));
                    }
                    Effect::Delivered(key) => self.others.push(format!("delivered {key}")),
                    Effect::Undeliverable(key) => self.others.push(format!("undeliverable {key}")),
                    Effect::Look(key, path, call) => {
                        self.others.push(format!("look {key} {} {call}", path.display()));
                    }
                    Effect::End(key, outcome, by) => {
                        let outcome = serde_json::to_string(&outcome).expect("JSON");
                        self.others.push(format!("end {key} {outcome} {}", by.responder.name()));
                    }
                }
            }
        }

        /// Answers a call of this method, which must be among those that were sent.
        fn replies(&mut self, method: &str, result: &Json, now: Duration) {
            let place = self.sent.iter().position(|sent| sent["method"] == method);
            let call = self.sent.remove(place.unwrap_or_else(|| panic!("{method} of {:?}", self.sent)));
            self.hears(&json!({ "id": call["id"], "result": result }), now);
        }

        fn decides(&mut self, key: u64, outcome: Outcome, now: Duration) {
            let settlement = Settlement::new(
                outcome,
                Provenance::bridge(),
                Timestamp::from(std::time::SystemTime::UNIX_EPOCH),
            );
            self.core.decided(key, &settlement, now);
            self.collect();
        }

        fn took(&mut self) -> Vec<String> {
            std::mem::take(&mut self.others)
        }
    }

    fn status(kind: &str) -> Json {
        json!({ "method": "thread/status/changed", "emittedAtMs": 1,
            "params": { "threadId": "t", "status": { "type": kind, "activeFlags": [] } } })
    }

    fn thread() -> Json {
        json!({ "thread": { "id": "t", "cwd": "/p", "path": "/r.jsonl", "status": { "type": "active", "activeFlags": [] } } })
    }

    fn question(id: u64) -> Json {
        json!({ "method": "item/tool/requestUserInput", "id": id, "params": {
            "threadId": "t", "turnId": "u", "itemId": "i", "isBlocking": true, "autoResolutionMs": null,
            "questions": [{ "id": "db", "header": "Database", "question": "Which?", "isOther": true,
                "isSecret": false, "options": [{ "label": "Postgres", "description": "" }] }] } })
    }

    fn resolved(id: u64) -> Json {
        json!({ "method": "serverRequest/resolved", "params": { "threadId": "t", "requestId": id } })
    }

    fn answer(text: &str) -> Outcome {
        let values = [("db".to_owned(), Value::Text(text.to_owned()))].into();
        Outcome::Answered(Answer { values, ..Answer::default() })
    }

    /// A client that has joined a thread with an open question.
    fn asked() -> Client {
        let mut client = Client::connected();
        client.hears(&status("active"), MS(0));
        client.replies("thread/resume", &thread(), MS(0));
        client.hears(&question(0), MS(0));
        assert_eq!(client.took(), ["open 1 Which? /p"]);
        client.sent.clear();
        client
    }

    #[test]
    fn what_the_agent_said_and_did_before_it_asked_is_known() {
        let mut client = Client::connected();
        client.hears(&status("active"), MS(0));
        client.replies("thread/resume", &thread(), MS(0));
        let item = |method: &str, item: Json| json!({ "method": method, "params": { "threadId": "t", "turnId": "u", "item": item } });
        let run = |id: &str, status: &str| json!({ "type": "commandExecution", "id": id, "command": "make", "status": status });
        for item in [
            item("item/completed", json!({ "type": "userMessage", "id": "a", "text": "token hunter2" })),
            item("item/completed", json!({ "type": "agentMessage", "id": "b", "text": "I build it." })),
            item("item/started", run("c", "inProgress")),
            item("item/completed", run("c", "failed")),
            item("item/completed", json!({ "type": "agentMessage", "id": "d", "text": "It fails." })),
            // What the question is about is shown by itself.
            item("item/started", run("i", "inProgress")),
        ] {
            client.hears(&item, MS(0));
        }
        client.hears(&question(0), MS(0));
        let led = client.led.take().expect("words");
        let calls: Vec<_> = led.calls.iter().map(|call| (&*call.title, call.status.as_deref())).collect();
        assert_eq!((&*led.words, calls), ("I build it.\n\nIt fails.", vec![("make", Some("failed"))]));
        // A thread that is closed is forgotten.
        client.hears(&json!({ "method": "thread/closed", "params": { "threadId": "t" } }), MS(0));
        client.hears(&question(1), MS(0));
        assert_eq!(client.led, None);
    }

    #[test]
    fn threads_at_work_are_joined_and_idle_ones_are_left() {
        let mut client = Client::connected();
        assert_eq!(client.sent[1], json!({ "method": "initialized" }));
        client.replies("thread/loaded/list", &json!({ "data": ["t"], "nextCursor": "c" }), MS(0));
        client.replies("thread/read", &thread(), MS(0));
        client.replies("thread/loaded/list", &json!({ "data": [], "nextCursor": null }), MS(0));
        client.replies("thread/resume", &thread(), MS(0));
        client.hears(&status("active"), MS(0));
        client.hears(&status("idle"), MS(0));
        client.replies("thread/unsubscribe", &json!({}), MS(0));
        let left: Vec<_> = client.sent.iter().map(|sent| &sent["method"]).collect();
        assert_eq!(left, ["initialize", "initialized"], "a joined thread is not joined again");
        client.hears(&status("active"), MS(0));
        assert_eq!(client.sent.last().map(|sent| &sent["method"]), Some(&json!("thread/resume")));
    }

    #[test]
    fn a_request_of_a_thread_that_is_being_left_is_taken_when_it_is_joined_again() {
        let mut client = Client::connected();
        client.hears(&status("active"), MS(0));
        client.replies("thread/resume", &thread(), MS(0));
        client.hears(&status("idle"), MS(1));
        // The server sent this before it read that the thread is left. It tells the end only to those that have joined.
        client.hears(&status("active"), MS(2));
        client.hears(&question(0), MS(2));
        client.replies("thread/unsubscribe", &json!({}), MS(3));
        assert!(client.took().is_empty() && client.core.is_idle());
        client.replies("thread/resume", &thread(), MS(4));
        client.hears(&question(0), MS(4));
        assert_eq!(client.took(), ["open 1 Which? /p"]);
    }

    #[test]
    fn an_answer_counts_as_ours_when_the_record_has_it() {
        let mut client = asked();
        client.hears(&question(0), MS(1));
        client.decides(1, answer("Postgres"), MS(2));
        let result = json!({ "answers": { "db": { "answers": ["Postgres"] } } });
        assert_eq!(client.sent, [json!({ "id": 0, "result": result })]);
        client.hears(&resolved(0), MS(3));
        assert_eq!(client.took(), ["look 1 /r.jsonl i"], "a request that comes again is known");
        client.core.recorded(1, &result.to_string());
        client.collect();
        assert_eq!(client.took(), ["delivered 1"]);
        assert!(client.core.is_idle());
    }

    #[test]
    fn an_answer_of_another_client_overtakes_ours() {
        let mut client = asked();
        client.decides(1, answer("Postgres"), MS(2));
        client.hears(&resolved(0), MS(3));
        client.core.recorded(1, r#"{"answers":{"db":{"answers":["None of the above","user_note: x"]}}}"#);
        client.collect();
        let end = r#"end 1 {"status":"answered","values":{"db":"x"}} dialog"#;
        assert_eq!(client.took()[1..], [end]);
    }

    #[test]
    fn without_a_word_in_the_record_it_is_not_known_whether_an_answer_counted() {
        let mut client = asked();
        client.decides(1, answer("Postgres"), MS(2));
        client.hears(&resolved(0), MS(3));
        let due = client.core.next_deadline().expect("a deadline");
        assert!(due <= MS(3) + Duration::from_secs(1));
        client.core.tick(due);
        client.collect();
        assert_eq!(client.took()[1..], ["undeliverable 1"]);
    }

    #[test]
    fn a_server_that_says_nothing_leaves_it_unknown() {
        let mut client = asked();
        client.decides(1, answer("Postgres"), MS(2));
        client.core.tick(MS(2) + limits::ATTACH_ANSWER);
        client.collect();
        assert_eq!(client.took(), ["undeliverable 1"]);
        // Later events change nothing.
        client.hears(&resolved(0), MS(5000));
        assert!(client.took().is_empty() && client.core.is_idle());
    }

    #[test]
    fn an_interrupted_turn_cancels_its_questions() {
        let until = |client: &mut Client| {
            if let Some(due) = client.core.next_deadline() {
                client.core.tick(due);
                client.collect();
            }
        };
        let completed = json!({ "method": "turn/completed",
            "params": { "threadId": "t", "turn": { "id": "u", "items": [], "status": "interrupted" } } });
        for messages in [
            [status("idle"), completed.clone(), resolved(0)],
            [resolved(0), status("idle"), completed.clone()],
        ] {
            let mut client = asked();
            client.decides(1, answer("Postgres"), MS(2));
            messages.iter().for_each(|message| client.hears(message, MS(3)));
            until(&mut client);
            let took = client.took();
            assert_eq!(
                took.last().expect("an end"),
                r#"end 1 {"status":"rejected","reason":"cancelled"} bridge"#
            );
        }
    }

    #[test]
    fn what_is_not_understood_gets_no_response() {
        let mut client = asked();
        for message in [
            json!({ "method": "item/tool/call", "id": 7, "params": { "threadId": "t" } }),
            json!({ "method": "account/chatgptAuthTokens/refresh", "id": 8, "params": {} }),
            json!({ "method": "item/tool/requestUserInput", "id": 9, "params": { "questions": 5 } }),
            json!({ "method": "item/commandExecution/requestApproval", "id": 10 }),
            json!({ "id": 99, "error": { "code": -32600 } }),
            json!([]),
            json!(5),
        ] {
            client.hears(&message, MS(1));
        }
        client.core.message("{", MS(1));
        assert!(client.sent.is_empty() && client.took().is_empty());
    }

    #[test]
    fn what_is_kept_of_an_approval_counts() {
        let mut client = asked();
        let params = json!({ "threadId": "t", "turnId": "u", "itemId": "i", "command": "make", "cwd": "/p" });
        let approval =
            json!({ "method": "item/commandExecution/requestApproval", "id": 1, "params": params });
        client.core.message(&approval.to_string(), MS(1));
        let opened = std::iter::from_fn(|| client.core.poll()).find_map(|effect| match effect {
            Effect::Open(_, _, kept, _) => Some(kept),
            _ => None,
        });
        assert!(opened.is_some_and(|kept| kept > 0), "{opened:?}");
    }

    fn changes(text: &str) -> Json {
        json!([{ "path": "/p/a", "kind": { "type": "add" }, "diff": text }])
    }

    fn patch_updated(thread: &str, item: &str, text: &str) -> Json {
        json!({ "method": "item/fileChange/patchUpdated",
            "params": { "threadId": thread, "turnId": "u", "itemId": item, "changes": changes(text) } })
    }

    /// A client with an open approval of a file change.
    fn asked_about_changes() -> Client {
        let mut client = Client::connected();
        client.hears(&status("active"), MS(0));
        client.replies("thread/resume", &thread(), MS(0));
        let item =
            json!({ "type": "fileChange", "id": "i", "changes": changes("a"), "status": "inProgress" });
        let started =
            json!({ "method": "item/started", "params": { "threadId": "t", "turnId": "u", "item": item } });
        client.hears(&started, MS(0));
        let params =
            json!({ "threadId": "t", "turnId": "u", "itemId": "i", "reason": null, "grantRoot": null });
        let approval = json!({ "method": "item/fileChange/requestApproval", "id": 0, "params": params });
        client.hears(&approval, MS(0));
        client.took();
        client.sent.clear();
        client
    }

    #[test]
    fn changes_that_become_others_are_shown_while_they_are_asked_about() {
        let mut client = asked_about_changes();
        for (message, took) in [
            (patch_updated("t", "other", "b"), None),
            (patch_updated("other", "i", "a"), None),
            (patch_updated("t", "i", "a"), None),
            (
                patch_updated("t", "i", "b"),
                Some(r#"amend 1 ["b"] Some("its change of files is another one than at first")"#),
            ),
            (patch_updated("t", "i", "b"), None),
            (patch_updated("t", "i", "a"), Some(r#"amend 1 ["a"] None"#)),
        ] {
            client.hears(&message, MS(1));
            assert_eq!(client.took(), Vec::from_iter(took), "{message}");
        }
        client.core.left(1);
        client.hears(&patch_updated("t", "i", "c"), MS(2));
        assert!(client.took().is_empty(), "it is left to Codex' own dialog");
    }

    #[test]
    fn changes_of_an_approval_that_is_decided_are_not_shown() {
        let mut client = asked_about_changes();
        let values = [("q0".to_owned(), Value::Text("accept".to_owned()))].into();
        client.decides(1, Outcome::Answered(Answer { values, ..Answer::default() }), MS(1));
        client.hears(&patch_updated("t", "i", "b"), MS(2));
        assert!(client.took().is_empty() && client.sent.len() == 1, "{:?}", client.sent);
    }

    #[test]
    fn a_timeout_is_no_answer() {
        let mut client = asked();
        client.decides(1, Outcome::Rejected(Reason::Timeout), MS(2));
        assert_eq!((client.took(), client.sent.len()), (vec!["delivered 1".to_owned()], 0));
        client.hears(&resolved(0), MS(3));
        assert!(client.took().is_empty(), "its dialog is still there, and answers");
    }

    #[test]
    fn a_question_goes_on_over_a_new_connection() {
        let mut client = asked();
        client.core.disconnected(MS(10));
        client.decides(1, answer("Postgres"), MS(20));
        client.core.connected();
        client.collect();
        client.hears(&question(4), MS(30));
        assert_eq!(client.sent.last().expect("the answer")["id"], 4);
        assert!(client.took().is_empty());
        client.hears(&resolved(4), MS(40));
        assert_eq!(client.took(), ["look 1 /r.jsonl i"]);
    }

    #[test]
    fn a_question_that_is_not_sent_again_is_withdrawn() {
        let withdrawn = r#"end 1 {"status":"rejected","reason":"withdrawn"} bridge"#;
        let mut client = asked();
        client.core.disconnected(MS(10));
        client.core.tick(MS(10) + limits::ATTACH_REJOIN);
        client.collect();
        assert_eq!(client.took(), [withdrawn]);
        // An answer that could not be sent does not count.
        let mut client = asked();
        client.core.disconnected(MS(10));
        client.decides(1, answer("Postgres"), MS(20));
        client.core.tick(MS(9) + limits::ATTACH_REJOIN);
        client.collect();
        assert!(client.took().is_empty(), "the next connection may still come");
        client.core.tick(MS(10) + limits::ATTACH_REJOIN);
        client.collect();
        assert_eq!(client.took(), [withdrawn]);
        // A question that was decided at the last moment gets the whole time, too.
        let mut client = asked();
        client.core.disconnected(MS(10));
        let last = MS(9) + limits::ATTACH_REJOIN;
        client.decides(1, answer("Postgres"), last);
        client.core.tick(MS(10) + limits::ATTACH_REJOIN);
        client.collect();
        assert!(client.took().is_empty());
        client.core.tick(last + limits::ATTACH_ANSWER);
        client.collect();
        assert_eq!(client.took(), [withdrawn]);
        // As soon as all threads are read, where that is sooner.
        let mut client = asked();
        client.core.disconnected(MS(10));
        client.core.connected();
        client.collect();
        client.replies("initialize", &json!({}), MS(20));
        client.replies("thread/loaded/list", &json!({ "data": [] }), MS(20));
        let due = client.core.next_deadline().expect("a deadline");
        client.core.tick(due);
        client.collect();
        assert_eq!(client.took().len(), 1);
    }

    #[test]
    fn a_call_that_an_overloaded_server_refuses_is_made_again() {
        let mut client = Client::connected();
        client.hears(&json!({ "id": 2, "error": { "code": -32001, "message": "Server overloaded" } }), MS(0));
        client.sent.clear();
        let due = client.core.next_deadline().expect("a deadline");
        client.core.tick(due);
        client.collect();
        assert_eq!(client.sent[0]["method"], "thread/loaded/list");
    }
}
