//! opencode's HTTP interface as its clients see it: requests for an answer or a permission, the replies to them, and the
//! events that tell of both. Sending and receiving is left to `origin`.
//!
//! Source: opencode 1.18.33 as it was run, and `@opencode-ai/sdk` 1.19.3, `v2/gen`. `serve::opencode` is the other side.

mod ending;

mod path;

mod question;

mod permission;

mod request;

mod event;

mod project;

pub use ending::Ending;
pub use event::{LocatedEvent, OpencodeEvent, read_event};
pub use path::encode;
pub use project::used_since;
pub use request::{Call, OpencodeRequest, Verdict, list, verdict};
