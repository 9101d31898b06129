//! The ways to say a question on the wire, each as pure functions between JSON and [`crate::question`].
//! Which one is used when is left to `engine`.

pub mod sandboxagent;
