//! Performs the steps of the agent of a client.
//! The meaning of a line is left to `receive.rs`.

use std::time::Instant;

use askbridge_core::{
    dialect::{AgentQuestion, Reply, read},
    question::{Outcome, Purpose, Role, Value as Given, check_shape},
};
use serde_json::Value;

use super::{
    action::Serve,
    driver::Driver,
    state::{Response, SESSION, Served},
};
use crate::{
    end::Next,
    expect::Expected,
    limits,
    play::{Play, Problem},
    step::Side,
    wire::shown,
};

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
            Serve::GetsAnswer(id) => self.gets_answer(id),
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

    fn gets_answer(&mut self, id: &str) -> Result<(), Problem> {
        let served = self.served()?;
        let persons = served.persons.clone();
        let request = served.open.get(id).or_else(|| {
            served.responses.iter().find(|response| response.id == id).map(|response| &response.request)
        });
        let request = request.ok_or_else(|| format!("the agent has no request {id}"))?;
        let request = format!(r#"{{"id":{id},"method":{:?},"params":{}}}"#, request.method, request.params);
        // The driver is killed when it is dropped, so it has to live until the response has arrived.
        let _driver = match &persons.command {
            Some(command) => Some(
                Driver::start(command, &request).map_err(|error| format!("cannot start a shell: {error}"))?,
            ),
            None => None,
        };
        let is_alone = persons.command.is_none() && !persons.is_automatic;
        let until = if is_alone { Instant::now() + limits::PERSON } else { self.deadline };
        match self.response_to(id, until)? {
            Some(response) => answered(&response).map(drop),
            None if is_alone => Err(Problem::Inconclusive(
                "nobody answered: `--answer-with`, or `--answers-itself`".to_owned(),
            )),
            None => Err(format!("the client did not respond to request {id}").into()),
        }
    }

    fn gets_no_answer(&mut self, id: &str) -> Result<(), Problem> {
        if self.served()?.persons.is_automatic {
            return Err(Problem::Inconclusive(
                "the client answers by itself, as `--answers-itself` says".to_owned(),
            ));
        }
        let Some(response) = self.response_to(id, Instant::now() + limits::SETTLE)? else { return Ok(()) };
        // A client that nobody sits in front of may refuse.
        let message: Value = serde_json::from_slice(&response.line).unwrap_or_default();
        if message.get("error").is_some() || !answered(&response)? {
            return Ok(());
        }
        Err(Problem::Broken {
            what: "the client answered by itself, without a person".to_owned(),
            expected: None,
            got: Some(shown(&response.line)),
        })
    }
}

/// Returns whether a response gives an answer, and not a refusal. An answer that does not fit is a problem.
fn answered(response: &Response) -> Result<bool, Problem> {
    let wrong = |what: String| Problem::Broken { what, expected: None, got: Some(shown(&response.line)) };
    let message: Value = serde_json::from_slice(&response.line).unwrap_or_default();
    if let Some(error) = message.get("error") {
        return Err(wrong(format!("the client responded with the error {}", error["code"])));
    }
    let asked = read(&response.request.method, response.request.params.as_bytes(), &response.id)
        .map_err(|why| wrong(format!("the request of the case is not valid: {why}")))?;
    let Some(AgentQuestion { question, reply_format }) = asked else {
        return Err(wrong("the request of the case is not a question".to_owned()));
    };
    match reply_format.read_reply(&question, message["result"].to_string().as_bytes()) {
        Reply::Canonical(Outcome::Answered(answer)) => {
            if let Err(errors) = check_shape(&question, &answer) {
                return Err(wrong(format!("the answer does not fit the question: {errors:?}")));
            }
            let allows = |value: &Given| {
                // An option without a known role counts as an allowing one: a client must not choose that without a
                // person either.
                let Given::Text(value) = value else { return true };
                let options = question.fields.iter().flat_map(|field| field.kind.options());
                let chosen = options.into_iter().find(|option| option.value == *value);
                !chosen
                    .and_then(|option| option.role.as_deref())
                    .is_some_and(|role| matches!(role, Role::RejectOnce | Role::RejectAlways))
            };
            Ok(question.purpose != Purpose::Permission || answer.values.values().any(allows))
        }
        Reply::Canonical(_) => Ok(false),
        Reply::Translated(..) | Reply::Unknown => {
            Err(wrong(format!("the client's result is not one of `{}`", response.request.method)))
        }
    }
}
