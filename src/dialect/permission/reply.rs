//! What a permission request says about its reply. Reading it is left to `request.rs` and `grant.rs`, writing the reply
//! to `response.rs`.

/// The reply format of a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionReply {
    /// The chosen option is the answer: Kimi and pi-acp.
    Option {
        /// The option that skips the question.
        skip: Option<String>,
    },
    /// One option submits the answers, which are in another member: Qwen.
    Answers {
        /// The option that submits the answers.
        submit: String,
        /// The option that skips the question.
        cancel: Option<String>,
    },
    /// The chosen option grants or refuses a permission.
    Grant {
        /// The option that refuses it.
        reject: Option<String>,
    },
}
