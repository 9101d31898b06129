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
    /// The request of this ID gets a response, whatever it says.
    GetsResponse(String),
    /// One more of the requests so far gets a response, whatever it says and whatever ID it has.
    GetsSomeResponse,
    /// A person answers the request of this ID.
    GetsAnswer { id: String, judged: Judged },
    /// Nobody answers the request of this ID, so the client must not allow or answer it.
    GetsNoAnswer(String),
    /// Receives what comes within the settle time.
    Settles,
    /// The client ends, or closes the agent's stdin.
    IsLeft,
}

/// What of an answer a case is about. The rest is judged by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// That there is a response.
    Presence,
    /// Whether the answer fits the question.
    Answer,
    /// Whether it is an error.
    Errors,
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
        "waits a moment" => return Some(Serve::Settles),
        "gets some response" => return Some(Serve::GetsSomeResponse),
        _ => {}
    }
    if let Some(name) = text.strip_prefix("was promised ") {
        return promise(name).map(promised(true));
    }
    if let Some(name) = text.strip_prefix("was not promised ") {
        return promise(name).map(promised(false));
    }
    for (words, judged) in [
        ("gets an answer to ", Judged::Presence),
        ("gets a valid answer to ", Judged::Answer),
        ("gets an answer and no error to ", Judged::Errors),
    ] {
        if let Some(id) = text.strip_prefix(words) {
            return Some(Serve::GetsAnswer { id: id.to_owned(), judged });
        }
    }
    if let Some(id) = text.strip_prefix("gets a response to ") {
        return Some(Serve::GetsResponse(id.to_owned()));
    }
    text.strip_prefix("gets no answer to ").map(|id| Serve::GetsNoAnswer(id.to_owned()))
}
