//! Machines over a NATS server: where no ssh leads to a machine, such as a sandbox without an open port.
//!
//! # Design
//!
//! The broker carries bytes and remembers who is there. It decides nothing, and nothing that decides is kept in it.
//!
//! - **Subjects.** A bridge's user `box` runs a machine `box-k3f9q2`; `ana` is a person's user:
//!   - `askbridge.v1.box.box-k3f9q2.call.ana`: ana publishes, that machine subscribes to `….call.*`.
//!   - `askbridge.v1.box.box-k3f9q2.reply.ana.TOKEN.s`: that machine publishes, ana subscribes.
//!   - `$KV.askbridge.box.box-k3f9q2`: that machine publishes its entry, persons subscribe.
//! - **Identity.** The permissions of the broker bind the second token to the user of the machine, and the last to the
//!   user of the person. So a machine knows who answers, and a person knows whose machine asks, whatever a payload says.
//! - **Sessions.** A session is a stream of bytes in both directions between one person's process and one machine, on
//!   which the machine speaks as `askbridge dial` does on stdio. Its messages are numbered, so that a lost one ends it,
//!   and a window bounds what is on its way. It ends with the connection to the broker of either side, and is never
//!   continued over another one: what was sent and not replied to is then unknown, and [`askbridge_control::join::remote`] asks
//!   again. The bridge settles, and takes the same answer twice.
//! - **Nothing waits at the broker.** Each connection is made by a client of its own, so that what one had not sent is
//!   never sent over the next. Where no machine listens, the broker says so at once, and to which message: an answer in
//!   it was certainly not given.
//! - **The fence.** Each session has letters that its person draws anew, and begins with its first message. What belongs
//!   to a session with an earlier process of the machine reaches nobody, although the machine keeps its name.
//! - **The directory.** A machine writes its entry into the bucket `askbridge` every 10 s, and the broker forgets it
//!   after 30 s. A person reads the bucket once, and hears each write as a message, so that the directory works without
//!   JetStream's quorum too, only slower for those who come later. An entry has counts and no texts. It only says whom
//!   to ask: a machine is shown once it has replied.
//! - **The operator** creates the bucket, and nobody else may. Each connection of the others looks at how it is
//!   configured, and does not use the broker if it is not as askbridge creates it: a stream can read what it is told to
//!   keep.
//! - **The gateway** of a machine runs in `askbridge inbox`, or in a process of its own that a bridge starts. One
//!   process does it for all bridges of the user: the one that has the lock.

mod access;
mod broker;
mod bucket;
mod directory;
mod following;
mod gateway;
pub mod limits;
mod lock;
mod owner;
mod persons;
mod place;
mod session;
mod subjects;
mod users;

pub use access::{Access, Role};
pub use bucket::create as create_directory;
pub use gateway::{Gateway, run};
pub use lock::Lock;
pub use persons::{Fleet, FleetStatus, status};
pub use place::UserName;
pub use users::{NewUser, server_config};
