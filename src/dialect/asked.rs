//! A question as an agent asked it, in whichever dialect: how it is read, and how it is answered in the same words.
//! What a dialect looks like is left to its own module.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use super::{cursor, elicitation, grok, kiro, permission, sandboxagent};
use crate::{
    limits,
    question::{Answer, Outcome, Question, Reason},
    wire::scan::Text,
};

/// A question, and what it takes to answer it in the words of the agent that asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What is asked.
    pub question: Question,
    /// How it is answered.
    pub words: Words,
}

/// What it takes to say an outcome to the agent, beyond the question itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    /// The native dialect.
    SandboxAgent,
    /// A form.
    Elicitation(elicitation::Words),
    /// A permission request that is a question.
    Permission(permission::Words),
    /// Cursor's.
    Cursor,
    /// Grok's.
    Grok,
    /// Kiro's.
    Kiro,
}

/// What was understood of a client's `result`.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It is in the words of the agent that asked, and goes on as it is.
    Canonical(Outcome),
    /// It says this in another shape, and is translated to this `result`.
    Translated(Outcome, Box<RawValue>),
    /// It says nothing that is known. Only the agent may understand it.
    Unknown,
}

/// Says whether a request with this method may be a question.
pub fn may_ask(method: &Text<'_>) -> bool {
    let is = |known: &&str| method.is(known);
    is(&sandboxagent::METHOD)
        || is(&permission::METHOD)
        || elicitation::METHODS.iter().any(is)
        || is(&cursor::METHOD)
        || grok::METHODS.iter().any(is)
        || is(&kiro::METHOD)
}

/// Reads a request as a question. `made_up` is its id, where the agent gave it none.
///
/// `None` where it is none, so that it goes on as it is. The error says what is wrong with it and where, for the
/// agent's developer.
pub fn read(method: &str, params: &[u8], made_up: &str) -> Result<Option<Asked>, String> {
    let is = |known: &&str| *known == method;
    let asked = if is(&sandboxagent::METHOD) {
        let question = sandboxagent::request::read(params, made_up)?;
        Some(Asked { question, words: Words::SandboxAgent })
    } else if is(&permission::METHOD) {
        permission::request::read(params, made_up)?
    } else if elicitation::METHODS.iter().any(is) {
        elicitation::request::read(method, params, made_up)?
    } else if is(&cursor::METHOD) {
        Some(Asked { question: cursor::read(params, made_up)?, words: Words::Cursor })
    } else if grok::METHODS.iter().any(is) {
        Some(Asked { question: grok::read(params, made_up)?, words: Words::Grok })
    } else if is(&kiro::METHOD) {
        Some(Asked { question: kiro::read(params, made_up)?, words: Words::Kiro })
    } else {
        None
    };
    match &asked {
        // Any client can show it as the permission request that it is, and its options are the answers.
        Some(Asked { question, words: Words::Permission(permission::Words::Option { .. }) })
            if question.check_limits().is_err() =>
        {
            Ok(None)
        }
        Some(Asked { question, .. }) => question.check_limits().map(|()| asked),
        None => Ok(None),
    }
}

impl Words {
    /// Says an answer that fits the question, as a `result`.
    pub fn answered(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        match self {
            Words::SandboxAgent => json(&sandboxagent::response::answered(question, answer)),
            Words::Elicitation(words) => json(&elicitation::response::answered(words, question, answer)),
            Words::Permission(words) => json(&permission::response::answered(words, question, answer)),
            Words::Cursor => json(&cursor::answered(question, answer)),
            Words::Grok => json(&grok::answered(question, answer)),
            Words::Kiro => json(&kiro::answered(question, answer)),
        }
    }

    /// Says a rejection, as a `result`.
    pub fn rejected(&self, reason: Reason) -> Box<RawValue> {
        match self {
            Words::SandboxAgent => json(&sandboxagent::response::rejected(reason)),
            Words::Elicitation(words) => json(&elicitation::response::rejected(words, reason)),
            Words::Permission(words) => json(&permission::response::rejected(words, reason)),
            Words::Cursor => json(&cursor::rejected(reason)),
            Words::Grok => json(&grok::rejected(reason)),
            Words::Kiro => json(&kiro::rejected()),
        }
    }

    /// Reads what a client said that got the agent's own request.
    pub fn reply(&self, question: &Question, result: &[u8]) -> Reply {
        let outcome = match self {
            Words::SandboxAgent => return sandboxagent::reply::read(result, question),
            Words::Elicitation(words) => elicitation::reply::read(words, question, result),
            Words::Kiro => kiro::reply(question, result),
            // No client says that it takes these: their requests are translated.
            Words::Permission(_) | Words::Cursor | Words::Grok => None,
        };
        outcome.map_or(Reply::Unknown, Reply::Canonical)
    }
}

/// Reads `params` as this type. The error says what is wrong, and where.
pub(super) fn read_params<T: DeserializeOwned>(params: &[u8]) -> Result<T, String> {
    let most = limits::QUESTION;
    if params.len() > most {
        return Err(format!("a question has at most {most} bytes, this one has {}", params.len()));
    }
    if !params.starts_with(b"{") {
        return Err("params is not an object".to_owned());
    }
    // Keeping track of the place is not free: it is done only where it is needed.
    serde_json::from_slice(params).map_err(|_| explain::<T>("params", params))
}

/// Says what is wrong with JSON that does not have this type, and where. `name` is what it is called.
pub(super) fn explain<'de, T: Deserialize<'de>>(name: &str, json: &'de [u8]) -> String {
    let mut json = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Ok(_) => format!("{name} is followed by something else"),
        Err(error) => {
            // The position that it adds counts from the start of what was read, which tells nobody anything.
            let what = error.inner().to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            match error.path().to_string().as_str() {
                "." => format!("{name}: {what}"),
                path => format!("{name}.{path}: {what}"),
            }
        }
    }
}

/// Our own types have string keys and finite numbers, so that this cannot fail.
pub(super) fn json(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
