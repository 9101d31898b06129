//! What an agent wants of its person: an answer, or permission to do something. A permission is never granted by default
//! (I12).

use super::names::open_enum;

open_enum! {
    /// What a question is for.
    #[derive(Default)]
    pub enum Purpose {
        /// The agent wants to know something.
        #[default]
        Question = "question",
        /// The agent wants permission to do something.
        Permission = "permission",
    }
}
