//! Performs the steps of the agent of a client.
//! The meaning of a line is left to `receive.rs`.

use std::{sync::atomic::Ordering, time::Instant};

use askbridge_core::{
    dialect::{AgentQuestion, Reply, read},
    question::{Outcome, check_shape},
};
use serde_json::Value;

use super::{
    action::{Judged, Serve},
    driver::{Driver, Progress},
    state::{Response, SESSION, Served},
};
use crate::{
    end::Next,
    expect::Expected,
    limits,
    play::{Play, Problem},
    rule::Rule,
    step::Side,
    wire::shown,
};

/// The method of a permission request.
const PERMISSION: &str = "session/request_permission";

impl Play {
    pub(crate) fn serve(&mut self, serve: &Serve) -> Result<(), Problem> {
        match serve {
            Serve::GetsAmong(text) => self.agent_gets_among(text),
            Serve::IsPrompted => self.is_prompted(),
            Serve::EndsTurn => self.end_turn(),
            Serve::WasPromised { what, is_promised } => {
                let verb = if *is_promised { "did not promise" } else { "promised" };
                match self.served()?.promised(*what) == *is_promised {
                    true => Ok(()),
                    false => Err(Problem::Inconclusive(format!("the client {verb} {}", what.name()))),
                }
            }
            Serve::Settles => self.settle(),
            Serve::GetsResponse(id) => self.gets_response(id),
            Serve::GetsSomeResponse => self.gets_some_response(),
            Serve::GetsAnswer { id, judged } => self.gets_answer(id, *judged),
            Serve::GetsNoAnswer(id) => self.gets_no_answer(id),
            Serve::IsLeft => loop {
                match self.stage.until(self.deadline, |stage| stage.end(Side::Agent)?.next_line()) {
                    Some(Next::Line(line)) => self.receive(&line)?,
                    Some(Next::End) => return Ok(()),
                    None => return Err("the client does not leave its agent".into()),
                }
            },
        }
    }

    fn served(&mut self) -> Result<&mut Served, Problem> {
        self.served.as_deref_mut().ok_or_else(|| "only the agent of a client does this".into())
    }

    fn agent_gets_among(&mut self, text: &str) -> Result<(), Problem> {
        let expected = Expected::part(text);
        let (message, id) = self.expected_message(text);
        loop {
            if id.is_some() && self.breaches.line(Rule::ResponseIds).is_some() {
                return Err(Problem::Inconclusive("the client responded under another ID".to_owned()));
            }
            // An earlier step may have received this response while it waited for something else.
            if let Some(response) = id.as_ref().and_then(|id| self.served.as_mut()?.take_response(id)) {
                return self.compare(expected, &response.line, "response");
            }
            let Some(line) = self.next_message(self.deadline)? else {
                return Err("the agent did not get it in time".into());
            };
            let received: Value = serde_json::from_slice(&line).unwrap_or_default();
            if id.is_none() && received["method"] == message["method"] {
                return self.compare(expected, &line, &received["method"].to_string());
            }
        }
    }

    fn is_prompted(&mut self) -> Result<(), Problem> {
        while self.served()?.prompt.is_none() {
            if self.next_message(self.deadline)?.is_none() {
                return Err(Problem::Inconclusive("the client did not prompt its agent".to_owned()));
            }
        }
        self.variables.bind("session", &Value::from(SESSION).to_string());
        Ok(())
    }

    fn end_turn(&mut self) -> Result<(), Problem> {
        let id = self.served()?.prompt.take().ok_or("no turn runs")?;
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
        self.write(Side::Agent, format!("{line}\n").as_bytes())
    }

    /// Returns the response to a request, if it comes until then.
    fn response_to(&mut self, id: &str, until: Instant) -> Result<Option<Response>, Problem> {
        loop {
            if let Some(response) = self.served()?.take_response(id) {
                return Ok(Some(response));
            }
            if self.next_message(until)?.is_none() {
                return Ok(None);
            }
        }
    }

    fn gets_response(&mut self, id: &str) -> Result<(), Problem> {
        let id = &self.variables.fill(id)?;
        match self.response_to(id, self.deadline)? {
            Some(_) => Ok(()),
            None => Err(Problem::Broken {
                what: "the client did not respond under the ID of the request".to_owned(),
                expected: Some(format!(r#"a response with "id":{id}"#)),
                got: self.breaches.line(Rule::ResponseIds).map(str::to_owned),
            }),
        }
    }

    fn gets_some_response(&mut self) -> Result<(), Problem> {
        loop {
            let served = self.served()?;
            if served.answered.len() + served.strays > served.heard {
                served.heard += 1;
                return Ok(());
            }
            // It may have much to read before.
            if self.next_message(self.deadline)?.is_none() && !self.waits_on() {
                return Err("the client did not respond".into());
            }
        }
    }

    fn gets_answer(&mut self, id: &str, judged: Judged) -> Result<(), Problem> {
        let persons = &self.served()?.persons;
        let (is_driven, is_automatic) = (persons.command.is_some(), persons.is_automatic);
        let response = if is_driven {
            self.driven_response(id)?
        } else {
            let patience = if is_automatic { self.deadline } else { Instant::now() + limits::PERSON };
            self.response_to(id, patience)?
        };
        match response {
            Some(response) => self.judge_answer(&response, judged),
            None if self.breaches.line(Rule::ResponseIds).is_some() => {
                Err(Problem::Inconclusive("the client responded under another ID".to_owned()))
            }
            None if is_driven || is_automatic => {
                let words = self.served()?.driver.as_ref().and_then(Driver::last_words);
                let words = words.map(|words| format!("; the command of `--answer-with` says: {words}"));
                Err(format!("the client did not respond to request {id}{}", words.unwrap_or_default()).into())
            }
            None => Err(Problem::Inconclusive(
                "nobody answered in the client: `--answer-with` or `--answers-itself` says who does"
                    .to_owned(),
            )),
        }
    }

    /// Judges a response. An error is judged by one case, and so is an answer where the case is about something else.
    fn judge_answer(&mut self, response: &Response, judged: Judged) -> Result<(), Problem> {
        let Err(wrong) = answered(response) else { return Ok(()) };
        let is_permission = response.request.method == PERMISSION;
        match wrong {
            Wrong::Error(what) if judged == Judged::Errors => {
                Err(Problem::Broken { what, expected: None, got: Some(shown(&response.line)) })
            }
            Wrong::Error(what) => {
                let rule = if is_permission { Rule::PermissionErrors } else { Rule::FormErrors };
                self.breaks(rule, what.clone(), &response.line);
                Err(Problem::Inconclusive(what))
            }
            Wrong::Answer(what) if judged == Judged::Answer => {
                Err(Problem::Broken { what, expected: None, got: Some(shown(&response.line)) })
            }
            Wrong::Answer(what) if is_permission => {
                self.breaks(Rule::Options, what, &response.line);
                Ok(())
            }
            Wrong::Answer(_) => Ok(()),
        }
    }

    /// Returns the response to a request, which the driver makes the client give.
    ///
    /// A client may respond to none of two requests before it has the answers to both. So the driver is run for the next request
    /// where it has ended and the client has not responded.
    fn driven_response(&mut self, id: &str) -> Result<Option<Response>, Problem> {
        let mut next = self.served()?.take_undriven(Some(id));
        let mut done = None;
        loop {
            if let Some(next) = next.take() {
                self.drive(&next)?;
                done = None;
            }
            if let Some(response) = self.response_to(id, self.deadline.min(Instant::now() + limits::STOP))? {
                // A driver may go on after the client has responded.
                self.served()?.driver.take_if(|driver| driver.id == id);
                return Ok(Some(response));
            }
            let now = Instant::now();
            if now >= self.deadline || self.stage.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match self.served()?.driver.as_ref().map(Driver::progress) {
                Some(Progress::Failed) => {
                    let words = self.served()?.driver.as_ref().and_then(Driver::last_words);
                    let words = words.unwrap_or_else(|| "it says nothing on stderr".to_owned());
                    return Err(Problem::Inconclusive(format!(
                        "the command of `--answer-with` failed: {words}"
                    )));
                }
                Some(Progress::Done) if *done.get_or_insert(now) + limits::PERSON < now => {
                    next = self.served()?.take_undriven(None);
                }
                _ => {}
            }
        }
    }

    /// Runs the driver for a request.
    fn drive(&mut self, id: &str) -> Result<(), Problem> {
        let served = self.served()?;
        let (Some(request), Some(command)) = (served.open.get(id), &served.persons.command) else {
            return Ok(());
        };
        let (line, command) = (request.line(id), command.clone());
        let driver = Driver::start(&command, id, &line, self.surroundings());
        let driver = driver.map_err(|error| format!("cannot start a shell: {error}"))?;
        self.served()?.driver = Some(driver);
        Ok(())
    }

    fn gets_no_answer(&mut self, id: &str) -> Result<(), Problem> {
        if self.served()?.persons.is_automatic {
            return Err(Problem::Inconclusive(
                "the client answers by itself, as `--answers-itself` says".to_owned(),
            ));
        }
        let Some(response) = self.response_to(id, Instant::now() + limits::SETTLE)? else { return Ok(()) };
        // A client that nobody sits in front of may refuse, also by an error.
        let is_answer = match answered(&response) {
            Ok(is_answer) => is_answer,
            Err(Wrong::Error(_)) => false,
            Err(Wrong::Answer(what)) => {
                self.breaks(Rule::Options, what, &response.line);
                true
            }
        };
        if !is_answer {
            return Ok(());
        }
        let why = "the client answered by itself, without a person: `--answers-itself` says that it does so by design";
        Err(Problem::Broken { what: why.to_owned(), expected: None, got: Some(shown(&response.line)) })
    }
}

/// What is wrong with a response to a question.
enum Wrong {
    /// It is an error.
    Error(String),
    /// It is no answer to this question.
    Answer(String),
}

/// Returns whether a response gives an answer, and not a refusal.
fn answered(response: &Response) -> Result<bool, Wrong> {
    let message: Value = serde_json::from_slice(&response.line).unwrap_or_default();
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        let (code, method) = (&error["code"], &response.request.method);
        return Err(Wrong::Error(format!("the client answered `{method}` with the error {code}")));
    }
    if response.request.method == PERMISSION {
        let params: Value = serde_json::from_str(&response.request.params).unwrap_or_default();
        return decided(&params, &message["result"]);
    }
    let asked = read(&response.request.method, response.request.params.as_bytes(), &response.id)
        .map_err(|why| Wrong::Answer(format!("the request of the case is not valid: {why}")))?;
    let Some(AgentQuestion { question, reply_format }) = asked else {
        return Err(Wrong::Answer("the request of the case is not a question".to_owned()));
    };
    match reply_format.read_reply(&question, message["result"].to_string().as_bytes()) {
        Reply::Canonical(Outcome::Answered(answer)) => {
            if let Err(errors) = check_shape(&question, &answer) {
                return Err(Wrong::Answer(format!("the answer does not fit the question: {errors:?}")));
            }
            Ok(true)
        }
        Reply::Canonical(Outcome::Rejected(_)) => Ok(false),
        Reply::Canonical(_) | Reply::Translated(..) | Reply::Unknown => {
            Err(Wrong::Answer(format!("the client's result is not one of `{}`", response.request.method)))
        }
    }
}

/// Returns whether the result of a permission chooses an option that does not refuse. A question in the words of a permission
/// is answered alike.
fn decided(params: &Value, result: &Value) -> Result<bool, Wrong> {
    let (outcome, id) = (&result["outcome"]["outcome"], &result["outcome"]["optionId"]);
    let offered = params["options"].as_array().into_iter().flatten();
    match (outcome.as_str(), offered.into_iter().find(|option| option["optionId"] == *id)) {
        (Some("cancelled"), _) => Ok(false),
        // An option of an unknown kind counts as one that allows: a client must not choose that without a person either.
        (Some("selected"), Some(option)) => {
            Ok(!option["kind"].as_str().is_some_and(|kind| kind.starts_with("reject")))
        }
        (Some("selected"), None) => {
            Err(Wrong::Answer(format!("the client chose the option {id}, which was not offered")))
        }
        _ => Err(Wrong::Answer(format!("the client's result is not one of `{PERMISSION}`"))),
    }
}
