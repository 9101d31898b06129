//! Finds the bridges of all coding agents on this computer, shows what their agents ask, and hands each question one
//! answer. For programs that answer (*responders*: a bot, a status bar, another front end), and for those that ask.
//!
//! # A first responder
//!
//! ```
//! # mod shown {
//! use askbridge_control::{Inbox, JoinedInbox, Openings, Places, printable_line};
//! use askbridge_control::core::desk::{Record, Refusal, Submission};
//! use askbridge_control::core::question::{Provenance, Purpose, Responder, input::AnswerInput};
//!
//! /// Prints each question, and answers one that always comes.
//! async fn respond(inbox: &JoinedInbox) {
//!     let mut openings = Openings::with_changes(inbox.store());
//!     while let Some(opened) = openings.next().await {
//!         for record in opened {
//!             let (id, question) = (&record.id, &record.question);
//!             println!("{id}: {}", printable_line(&question.summary()));
//!             if question.purpose != Purpose::Question || question.heading() != "Which database?" {
//!                 continue; // It waits for the person.
//!             }
//!             match answer(inbox, &record, "Postgres").await {
//!                 Ok(()) => println!("{id}: the agent has the answer"),
//!                 Err(refusal) => println!("{id}: {refusal}"),
//!             }
//!         }
//!     }
//! }
//!
//! async fn answer(inbox: &JoinedInbox, record: &Record, text: &str) -> Result<(), Refusal> {
//!     // One list of texts for each field: labels or values of its options, or what a person would type.
//!     let input = AnswerInput::ByPlace { answers: vec![vec![text.to_owned()]], notes: Default::default(), images: Vec::new() };
//!     let answer = input.read(&record.question).map_err(Refusal::DoesNotFit)?;
//!     let by = Provenance { responder: Responder::Rpc, name: Some("database bot".to_owned()) };
//!     inbox.submit(&record.id, Submission::answer(answer, record.edition), by).await?;
//!     Ok(())
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let inbox = JoinedInbox::open(&Places::here()?).await?;
//!     // Without `follow`, the inbox shows what was open at the beginning.
//!     tokio::select! {
//!         followed = inbox.follow() => followed?,
//!         () = respond(&inbox) => {}
//!     }
//!     Ok(())
//! }
//! #
//! # #[tokio::main(flavor = "current_thread")]
//! # pub async fn tried() {
//! #     let folder = tempfile::tempdir().unwrap();
//! #     let mut bridge = askbridge_control::rpc::played::PlayedBridge::start(folder.path(), "b");
//! #     let inbox = JoinedInbox::open(folder.path()).await.unwrap();
//! #     let answered = async {
//! #         bridge.open("Which port?").await;
//! #         bridge.open("Which database?").await;
//! #         bridge.obey().await;
//! #         bridge.inbox.store().read(|_, now| {
//! #             assert_eq!(now.open_count(), 1);
//! #             let by = &now.get(&"b-2".parse().unwrap()).unwrap().settlement.as_ref().unwrap().by;
//! #             assert_eq!(by.name.as_deref(), Some("database bot"));
//! #         });
//! #     };
//! #     tokio::select! { _ = inbox.follow() => panic!(), () = respond(&inbox) => panic!(), () = answered => {} }
//! # }
//! # }
//! # fn main() { shown::tried() }
//! ```
//!
//! Try it with a question of a script, which it answers: `askbridge ask "Which database?" --option Postgres`.
//! `askbridge demo` asks as an agent does. Two whole programs are [`examples/status_bar.rs`] and
//! [`examples/answers_from_file`], a bot whose tests play a bridge to it.
//!
//! [`examples/status_bar.rs`]: https://github.com/askbridge/askbridge/blob/main/crates/control/examples/status_bar.rs
//! [`examples/answers_from_file`]: https://github.com/askbridge/askbridge/tree/main/crates/control/examples/answers_from_file
//!
//! It needs Unix, and a tokio runtime with time and I/O: the program above depends on `tokio` with the features `macros`
//! and `rt`. The types of questions and answers are those of [`askbridge_core`], which is `askbridge_control::core` here:
//! a line of its own in `Cargo.toml` could get another version.
//!
//! # What you do, and how
//!
//! | | |
//! | --- | --- |
//! | read what is open, once | [`JoinedInbox::open`], or `open_soon`; then `store().read(\|_, now\| now.open())`, the oldest first |
//! | see each question once, or once in each edition | [`Openings`] |
//! | see each change | [`Store::follow`] |
//! | find the question that a person typed | parse an [`IdPrefix`], such as `k3-1`; then [`JoinedInbox::seek`] |
//! | the same, without asking the other bridges | [`JoinedInbox::open_for`] |
//! | make texts an answer | [`AnswerInput`], as above; [`Answer`] has the values themselves |
//! | answer, reject, give more time | [`Submission`] |
//! | know how long it has waited, and who asks | [`Inbox::age`]; `agent` and `project` of the question, [`Inbox::status`] |
//! | keep notifiers quiet while a person looks | [`Inbox::watch`], at least every 30 s |
//! | write a question as JSON | a [`Record`] is `Serialize`: `schema/question_record.schema.json` |
//!
//! [`IdPrefix`]: askbridge_core::desk::IdPrefix
//! [`AnswerInput`]: askbridge_core::question::input::AnswerInput
//! [`Answer`]: askbridge_core::question::Answer
//! [`Submission`]: askbridge_core::desk::Submission
//! [`Record`]: askbridge_core::desk::Record
//!
//! # The picture
//!
//! ```text
//!   agent ◀─ stdin, stdout ─▶ bridge ◀─ stdin, stdout ─▶ client (IDE)   `askbridge run -- AGENT`, one for each agent
//!                               │
//!                             Inbox                   its open questions, and those that were settled last
//!                               │
//!                             socket                  k3f9q2.sock in one of the Places: only its user can open it
//!                               │  control protocol
//!   sockets of other bridges ─┐ │
//!                             ▼ ▼
//!                          JoinedInbox                in your process: all of them as one Inbox, whose Store is read
//!                          │         ▲                and followed
//!              Record, Batch         Submission, Provenance
//!                          ▼         │
//!                         your responder              beside the client, the page, the terminal, rules, a phone
//! ```
//!
//! The bridge alone decides: a responder never speaks with an agent. So any number of responders may run at once, and any
//! of them may crash.
//!
//! # What you can rely on
//!
//! The numbers are those of the invariants on the front page of [`askbridge_core`].
//!
//! - **`Ok` means that the agent has it** (I9): the answer was written to its stdin, or handed to the program that asked.
//!   The store shows the question as settled by then.
//! - **Each question gets one answer** (I4): the first valid one, whoever gives it. The same decision again is accepted and
//!   does nothing, and another one is a `Conflict`. So whoever does not know whether an answer arrived sends it again.
//! - **An answer is for what you saw** (I13). A record never changes under your hands. Name its `edition` in the
//!   submission: if the agent has changed the question since, the answer is refused as `Changed`. `None` stands for the
//!   first edition.
//! - **A store tells states, not history.** The first [`Batch`] is a snapshot, and one comes again if you fall behind. A
//!   question that is settled before you read it arrives as settled, or not at all.
//! - **Lost is not over.** If a bridge disappears, its questions are settled for followers, with [`State::Lost`]. They
//!   open again once the bridge is back.
//! - **Nothing is hidden silently**: [`JoinedInbox::gaps`] counts what could not be asked, read or kept. Say so where you
//!   list questions, since an empty list may mean that nobody was asked.
//! - **Versions mix** (I11): a name that your version does not know is `Other` or `Unknown`. Leave such a question to the
//!   person: what it asks cannot be shown.
//!
//! [`State::Lost`]: askbridge_core::desk::State::Lost
//!
//! # What you owe
//!
//! No type enforces these. A responder that breaks them breaks the promises that askbridge makes to its user.
//!
//! - **Only a person approves** (I12, I14). A permission is a question with [`Purpose::Permission`]. Do not allow one by
//!   default, by a timeout, or by a rule that does not name it. If [`takes_second_step`] says so, ask the person twice.
//! - **A person decides on what was shown** (I13): all of [`subject`] and of `unshown`, and what an option `grants`.
//! - **Text of an agent is hostile** (I10): print it with [`printable_line`] or [`printable`], and never run or render it.
//! - **Secrets stay with the agent**: the value of a field that is `secret` is not shown, logged or stored.
//! - **Say who answers**, in [`Provenance`]: the history shows it. `Rpc` and your program's name where it decides by itself,
//!   `Terminal`, `CommandLine` or `Page` where a person decides there. The others are of askbridge itself.
//!
//! [`Purpose::Permission`]: askbridge_core::question::Purpose::Permission
//! [`takes_second_step`]: askbridge_core::question::Question::takes_second_step
//! [`subject`]: askbridge_core::question::Subject
//! [`Provenance`]: askbridge_core::question::Provenance
//!
//! # What may go wrong
//!
//! [`Inbox::submit`] returns a [`Refusal`], which prints as a sentence:
//!
//! | | what happened | what to do |
//! | --- | --- | --- |
//! | `Changed(record)` | the agent changed the question after you looked | decide anew, on this record |
//! | `Conflict(record)` | somebody else settled it, in another way | nothing: `record.settlement` says how and by whom |
//! | `Gone(record)` | it ended without an answer | nothing |
//! | `DoesNotFit(errors)` | a value is not one that its field takes | correct it: `errors` says what is wrong, by field |
//! | `Unknown` | it was sent, and no word came back | send the same again, or wait until it is settled |
//! | `Unavailable` | there is no connection to its bridge, or it ended meanwhile | wait: it opens again if the bridge is back |
//! | `NotFound` | no bridge has such a question, or has forgotten it | nothing |
//! | `TooManyRequests` | the bridge has no room for it now | send it again in a second |
//! | `OwnAgent` | the agent that asked has started your program | nothing: an agent cannot answer itself |
//! | `NoDeadline` | [`Submission::Extend`] for a question that never expires | nothing |
//! | `Unreached(why)`, `ReadOnly` | its machine is not connected, or may not be answered from here | show it |
//! | `Other(name)` | a newer bridge has a reason of its own | show it |
//!
//! `Ambiguous` comes from [`Inbox::find`], [`Inbox::look_up`] and [`JoinedInbox::seek`] alone, `HistoryUnavailable` from the
//! history, `Full` and `BadQuestion` from [`Inbox::ask`]. [`JoinedInbox::open`] and [`JoinedInbox::follow`] fail if the
//! folders of the sockets cannot be used: others than the user could enter them. A bridge that hangs is no error, but a gap.
//!
//! [`Refusal`]: askbridge_core::desk::Refusal
//! [`Submission::Extend`]: askbridge_core::desk::Submission::Extend
//!
//! # Limits
//!
//! | | |
//! | --- | --- |
//! | a question | [256 KiB](limits::QUESTION), [32](limits::FIELDS) fields of [64](limits::OPTIONS) options |
//! | its images | [8](limits::IMAGES) of [3 MiB](limits::IMAGE), which [`Inbox::image`] tells while it is open |
//! | a text of it | [4,000](limits::TEXT) characters |
//! | the joined inbox | [64 MiB](limits::MACHINE_BYTES) of records; further questions are counted in its gaps |
//! | settled questions that it remembers | [128](limits::REMEMBERED), or [1 MiB](limits::REMEMBERED_BYTES) |
//! | the name of a responder | [200 bytes](limits::NAME); a longer one is left out |
//! | submissions that wait in a bridge | [64](limits::COMMANDS) of [4 MiB](limits::WAITING_BYTES) together |
//! | connections to a bridge | [128](limits::CONNECTIONS): a joined inbox takes one |
//! | [`JoinedInbox::open`] waits for a bridge that hangs | [3 s](limits::HANDSHAKE_TIMEOUT) |
//! | a new bridge is found within | [250 ms](limits::DISCOVERY_INTERVAL) |
//! | a batch comes after the one before it | [10 ms](limits::DEBOUNCE) later at the earliest |
//! | [`Inbox::submit`] waits for the agent to read | [12 s](limits::VERDICT), then it is `Unknown` |
//!
//! # Test it
//!
//! With the feature `testing`, a test plays a bridge, and puts anything between your looking and your answer:
//!
//! ```
//! use askbridge_control::{Inbox, JoinedInbox, rpc::played::PlayedBridge};
//! use askbridge_control::core::desk::{Refusal, Submission};
//! use askbridge_control::core::question::{Answer, Provenance, Responder};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let folder = tempfile::tempdir().unwrap();
//! let mut bridge = PlayedBridge::start(folder.path(), "b");
//! bridge.open("Which port?").await;
//!
//! let inbox = JoinedInbox::open(folder.path()).await.unwrap();
//! let record = inbox.store().read(|_, now| now.open().remove(0));
//! let by = Provenance { responder: Responder::Rpc, name: Some("test".into()) };
//! let submit = |port: &str| {
//!     let answer = Answer::text(&record.question.fields[0].name, port);
//!     inbox.submit(&record.id, Submission::answer(answer, record.edition), by.clone())
//! };
//!
//! // The bridge obeys meanwhile: its agent reads the answer.
//! let (first, ()) = tokio::join!(submit("8080"), bridge.obey());
//! assert!(first.is_ok());
//! let (same, ()) = tokio::join!(submit("8080"), bridge.obey());
//! assert!(same.is_ok());
//! let (other, ()) = tokio::join!(submit("9090"), bridge.obey());
//! assert!(matches!(other, Err(Refusal::Conflict(_))));
//! # }
//! ```
//!
//! # Where to read on
//!
//! What a responder needs stands on this page. The rooms have the rest, in reading order:
//!
//! 1. [`limits`]: the bounds, with their reasons, beside the core's.
//! 2. [`inbox`]: the open questions of a process, who may answer them, and the seam to a journal. A program that asks by
//!    itself has a [`BridgeInbox`](inbox::BridgeInbox).
//! 3. [`rpc`]: the control protocol, over which other processes reach an inbox.
//! 4. [`join`]: all bridges of this machine as one inbox, and the connections to other machines.
//!
//! Of [`askbridge_core`], a responder meets [`desk`](askbridge_core::desk) (records, submissions, refusals) and
//! [`question`](askbridge_core::question) (fields, answers).
//!
//! The crate depends on no settings, journal, web server or fleet.

pub mod inbox;
pub mod join;
pub mod limits;
pub mod rpc;

pub use askbridge_core as core;
pub use askbridge_os::terminal::{printable, printable_line};

pub use inbox::{Batch, BridgeStatus, Follower, Inbox, Store, openings::Openings};
pub use join::{Gaps, JoinedInbox, Missing, Places};
