//! A permission put to the person of a client, as the program that has the client does it: what a typed line means is
//! none of the mock's. Showing the permission is left to `client`.

use serde_json::Value;

/// Begins to ask a person for a permission: the parameters of its request, with all that is known of the tool call.
/// `None` where it asks for something else.
pub type AskConsent = fn(&Value) -> Option<Box<dyn Consent>>;

/// A permission, as far as the person has decided.
pub trait Consent {
    /// Returns the lines above the prompt.
    fn above(&self) -> Vec<String>;

    /// Returns the prompt, behind which the person types.
    fn prompt(&self) -> String;

    /// Returns whether the next line confirms something: what was typed ahead must not.
    fn is_caution(&self) -> bool;

    /// Takes a typed line.
    fn typed(&mut self, line: &str) -> ConsentReply;
}

/// What a typed line leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsentReply {
    /// These lines are said, and the person is asked again, or the next thing.
    Say(Vec<String>),
    /// The option with this ID is chosen.
    Option(String),
    /// No option is chosen: it is refused.
    Denied,
}
