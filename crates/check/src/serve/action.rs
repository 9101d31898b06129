//! The steps of the agent of a client, as cases spell them.
//! Performing them is left to `perform.rs`.

/// A step of a client's agent: something that it does, or that must happen to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Serve {
    /// Among the lines that come, one has at least these members.
    GetsAmong(String),
    /// The client opens a session and prompts.
    IsPrompted,
    /// The prompt gets its response.
    EndsTurn,
    /// The case applies only to clients with this capability, or only to those without it.
    WasPromised { what: Promise, is_promised: bool },
    /// A person answers the request of this ID, and the answer is valid.
    GetsAnswer(String),
    /// Nobody answers the request of this ID, so the client must not allow or answer it.
    GetsNoAnswer(String),
    /// The client ends, or closes the agent's stdin.
    IsLeft,
}

/// A capability of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    Forms,
    Urls,
    Files,
    Terminals,
}

impl Promise {
    const ALL: [Self; 4] = [Self::Forms, Self::Urls, Self::Files, Self::Terminals];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Forms => "forms",
            Self::Urls => "URLs",
            Self::Files => "files",
            Self::Terminals => "terminals",
        }
    }
}

/// Reads the words behind `agent! `.
pub(crate) fn read(text: &str) -> Option<Serve> {
    let promise = |name: &str| Promise::ALL.into_iter().find(|promise| promise.name() == name);
    let promised = |is_promised| move |what| Serve::WasPromised { what, is_promised };
    match text {
        "is prompted" => return Some(Serve::IsPrompted),
        "ends the turn" => return Some(Serve::EndsTurn),
        "is left" => return Some(Serve::IsLeft),
        _ => {}
    }
    if let Some(name) = text.strip_prefix("was promised ") {
        return promise(name).map(promised(true));
    }
    if let Some(name) = text.strip_prefix("was not promised ") {
        return promise(name).map(promised(false));
    }
    if let Some(id) = text.strip_prefix("gets an answer to ") {
        return Some(Serve::GetsAnswer(id.to_owned()));
    }
    text.strip_prefix("gets no answer to ").map(|id| Serve::GetsNoAnswer(id.to_owned()))
}
