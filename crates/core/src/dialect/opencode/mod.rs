//! opencode's HTTP interface as its clients see it: requests for an answer or a permission, the replies to them, and
//! the events that announce both. Sending and receiving is left to `adapters`.
//!
//! Source: opencode 1.18.33 as it was run, and `@opencode-ai/sdk` 1.19.3, `v2/gen`. `serve::opencode` is the other
//! side.

mod question;
mod request;
mod said;

pub use question::Ending;
pub use request::{
    Call, LocatedEvent, OpencodeEvent, OpencodeRequest, Verdict, encode, list, read_event, used_since,
    verdict,
};
pub use said::Voice;
