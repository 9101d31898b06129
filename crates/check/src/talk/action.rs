//! The steps of the client of an agent, as cases spell them.
//! Performing them is left to `perform.rs`.

use super::prompts::Prompts;

/// A step of an agent's client: something that it does, or that must happen to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// Among the lines that come, one has at least these members.
    GetsAmong(String),
    /// Prompts, by the name of the prompt, in the session that this variable is bound to.
    Prompts { prompt: String, session: String },
    /// The agent asks.
    IsAsked { what: Asking, at_once: bool },
    /// Prompts for the last permission again, and the agent asks again.
    IsAskedAgain,
    /// Replies to the oldest request that a step has seen and that has no reply, or to the newest one.
    Answers { how: How, newest: bool },
    /// The agent says something in the turn that runs.
    Hears,
    /// Cancels the turn in the session.
    Cancels,
    /// The turn in the session that this variable is bound to ends, with any reason or with this one.
    TurnEnds { session: String, reason: Option<String> },
    /// The turn ends, or its prompt gets an error.
    TurnEndsSomehow,
    /// The turn ends, and the agent asks nothing more before that.
    NothingMore,
    /// No message of the agent comes any more.
    HearsNoMore,
    /// The last permission has an option that refuses.
    CanRefuse,
    /// The tool call of the last permission is not completed, and no file has changed.
    NothingDone,
    /// The tool call of the last permission has not failed.
    Done,
    /// The case applies only to agents with this capability, by its path.
    WasPromised(String),
    /// While the session was loaded or resumed, the agent told of it again, or did not.
    History { is_told: bool },
    /// The list that the request of this ID gets has the session and its folder.
    FindsItsSession(String),
    /// The case applies only to agents that offered this with their session.
    WasOffered(Offer),
    /// The response to the request of this ID has all options that were offered.
    FindsItsOptions(String),
    /// The agent repeats what was chosen.
    IsRepeated,
}

/// What an agent offers with its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Modes,
    Options,
}

impl Offer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Modes => "modes",
            Self::Options => "options",
        }
    }
}

/// What the agent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    Question,
    Permission,
}

impl Asking {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Question => "a question",
            Self::Permission => "a permission",
        }
    }
}

/// How the client replies to a question or a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// One of the options, by its place.
    Option(usize),
    EveryOption,
    Text,
    /// A text in place of an option.
    OwnText,
    Yes,
    Number,
    EveryField,
    Declined,
    Cancelled,
    Error,
    AllowOnce,
    RejectOnce,
    UnknownOption,
    /// The last reply once more.
    Again,
}

/// The replies, as cases spell them.
const ANSWERS: [(&str, How); 15] = [
    ("the first option", How::Option(0)),
    ("the second option", How::Option(1)),
    ("every option", How::EveryOption),
    ("a text", How::Text),
    ("another text than the options", How::OwnText),
    ("yes", How::Yes),
    ("a number", How::Number),
    ("every field", How::EveryField),
    ("declined", How::Declined),
    ("cancelled", How::Cancelled),
    ("an error", How::Error),
    ("allow once", How::AllowOnce),
    ("reject once", How::RejectOnce),
    ("an unknown option", How::UnknownOption),
    ("the same again", How::Again),
];

/// The variable with the session of a step that names no other.
const SESSION: &str = "session";

/// Reads the words behind `client! `. `None` if a client has no such step.
pub(crate) fn read(text: &str) -> Option<Talk> {
    let (text, session) = match text.rsplit_once(" in $") {
        Some((text, session)) => (text, session.to_owned()),
        None => (text, SESSION.to_owned()),
    };
    if let Some(prompt) = text.strip_prefix("prompts ") {
        let prompt = Prompts::names().into_iter().find(|name| *name == prompt)?.to_owned();
        return Some(Talk::Prompts { prompt, session });
    }
    for (words, newest) in [("answers ", false), ("answers the newest ", true)] {
        let how =
            text.strip_prefix(words).and_then(|how| ANSWERS.iter().find(|(spelled, _)| *spelled == how));
        if let Some((_, how)) = how {
            return Some(Talk::Answers { how: *how, newest });
        }
    }
    if let Some(path) = text.strip_prefix("was promised ") {
        return Some(Talk::WasPromised(format!("/{path}")));
    }
    if let Some(id) = text.strip_prefix("finds its session in the list ") {
        return Some(Talk::FindsItsSession(id.to_owned()));
    }
    if let Some(id) = text.strip_prefix("finds its options in the response ") {
        return Some(Talk::FindsItsOptions(id.to_owned()));
    }
    if let Some(reason) = text.strip_prefix("sees the turn end as ") {
        return Some(Talk::TurnEnds { session, reason: Some(reason.to_owned()) });
    }
    let (text, at_once) = match text.strip_suffix(" at once") {
        Some(text) => (text, true),
        None => (text, false),
    };
    Some(match text {
        "is asked a question" => Talk::IsAsked { what: Asking::Question, at_once },
        "is asked a permission" => Talk::IsAsked { what: Asking::Permission, at_once },
        "is asked for the permission again" => Talk::IsAskedAgain,
        "hears the agent" => Talk::Hears,
        "cancels" => Talk::Cancels,
        "sees the turn end" => Talk::TurnEnds { session, reason: None },
        "sees the turn end, or an error" => Talk::TurnEndsSomehow,
        "sees the turn end, and is asked nothing more" => Talk::NothingMore,
        "hears no more" => Talk::HearsNoMore,
        "was offered modes" => Talk::WasOffered(Offer::Modes),
        "was offered options" => Talk::WasOffered(Offer::Options),
        "has heard the history" => Talk::History { is_told: true },
        "has heard no history" => Talk::History { is_told: false },
        "can refuse" => Talk::CanRefuse,
        "sees that nothing was done" => Talk::NothingDone,
        "sees that it was done" => Talk::Done,
        "hears what it chose" => Talk::IsRepeated,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_are_spelled() {
        let prompts = Talk::Prompts { prompt: "two".to_owned(), session: "other".to_owned() };
        assert_eq!(read("prompts two in $other"), Some(prompts));
        let answers = Talk::Answers { how: How::Option(1), newest: true };
        assert_eq!(read("answers the newest the second option"), Some(answers));
        let asked = Talk::IsAsked { what: Asking::Question, at_once: true };
        assert_eq!(read("is asked a question at once"), Some(asked));
        for wrong in ["prompts quiz", "answers maybe", "is asked", "sees"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
