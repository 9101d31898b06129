//! What an agent wants of its person: an answer, or leave to do something.

use super::names::open_enum;

open_enum! {
    /// What a question is for.
    #[derive(Default)]
    pub enum Purpose {
        /// The agent wants to know something.
        #[default]
        Question = "question",
        /// The agent wants leave to do something.
        Permission = "permission",
    }
}
