//! How something that Copilot asked ended, as its events and our calls say it.

use serde_json::{Map, Value as Json};

/// The end of a question or a permission.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// A form was filled in, declined or cancelled.
    Form {
        /// `accept`, `decline` or `cancel`. Absent where the event does not say.
        action: Option<String>,
        /// The values, by field.
        content: Map<String, Json>,
    },
    /// A question was answered with this text.
    Text(Option<String>),
    /// A permission was decided: `approved`, `approved-for-session`, `denied-interactively-by-user` and so on.
    Decided(String),
    /// A plan was approved with this action, or not approved.
    Plan {
        /// Whether it was approved. Absent where the event does not say.
        approved: Option<bool>,
        /// How Copilot goes on.
        action: Option<String>,
    },
}
