//! What the peers said of themselves. Reading it from their lines is left to the protocols.

/// What a peer said of itself when the connection began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Introduction {
    /// Its own name. A long one is left out.
    pub name: Option<String>,
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// What it promises that has to do with questions: `questions`, `forms`, `notices` or `kiro`.
    pub promises: Vec<&'static str>,
}

/// What both peers said of themselves last. `None` before they did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Introductions {
    /// The client.
    pub client: Option<Introduction>,
    /// The agent.
    pub agent: Option<Introduction>,
}
