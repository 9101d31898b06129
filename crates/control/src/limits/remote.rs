//! Limits of the connections to other machines.

use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// How long a machine may take to say that an `askbridge dial` runs there.
pub const GREETING: Duration = Duration::from_secs(20);
/// Interval of the calls by which an idle connection shows that it lives. It is shorter than [`super::PRESENCE`], since
/// the same calls report that this machine notifies its user of questions.
pub const HEARTBEAT: Duration = Duration::from_secs(25);
/// How long the reply to such a call may take. With [`HEARTBEAT`], a frozen machine is noticed within 40 s.
pub const REPLY: Duration = Duration::from_secs(15);
/// Interval of such calls while a person waits for the verdict on an answer, and how long each may take: a frozen
/// machine is noticed within 5 s then.
pub const URGENT: Duration = Duration::from_millis(2400);
/// The first pause before a machine is tried again. Each further pause is twice as long.
pub const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest pause before a machine is tried again.
pub const BACK_OFF_MOST: Duration = Duration::from_secs(60);
/// How long a connection must last for the pauses to be short again once it ends.
pub const STEADY: Duration = Duration::from_secs(60);
/// The first pause before an answer whose verdict was lost asks for another connection. Each further pause is twice as
/// long, so that a machine that ends each time is tried seven times while the answer waits, and not without end.
pub const RESEND: Duration = Duration::from_millis(500);
/// How long an answer that was not sent waits for a connection.
pub const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer is sent again, over one connection after the other, until its verdict is known.
pub const RECONNECT: Duration = Duration::from_secs(45);
/// The same, once a machine or the way to it has not replied while a person waits.
pub const FROZEN: Duration = Duration::from_secs(12);
/// How long the process that keeps a connection may take to say what has become of an answer: a little longer than it
/// tries itself.
pub const VERDICT: Duration = Duration::from_secs(48);
/// How long the questions of a machine that is not connected count as open.
pub const KEPT: Duration = Duration::from_secs(600);
/// How long a command that lists all questions waits for the machines that it connects to by itself. A new connection
/// by ssh takes about half a second.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Length of a message of a machine. A question has 256 KiB at the most, and a listing of the past 1 MiB.
pub const MESSAGE: usize = 4 * MIB;
/// Size of the open questions of one machine. Further ones are left out, and only counted.
pub const QUESTIONS: usize = 16 * MIB;
/// Size of the open questions of all machines. The rest of [`super::MACHINE_BYTES`] is for the bridges of this machine,
/// so that no other machine takes their room.
pub const QUESTIONS_OF_ALL: usize = super::MACHINE_BYTES / 2;
/// Number of questions in the snapshot of the process that has the connections to other machines. Its questions fit into
/// [`QUESTIONS_OF_ALL`], so that there are fewer.
pub const LISTED_OF_ALL: usize = 64 * super::LISTED;
/// Length of a message of the process that has the connections to other machines: a list of all their questions.
pub const LISTING: usize = QUESTIONS_OF_ALL + 8 * MIB;
/// What one machine can make the process hold that keeps its connection, whatever it sends: the messages of the
/// subscription that are not read yet, a message while it is read, in a few copies, and the questions, which are kept once.
/// How questions ended, and the events about them, are kept where the connection is and in the inbox of all bridges.
pub const HELD: usize =
    (super::MESSAGES + 8) * MESSAGE + QUESTIONS + 2 * (super::REMEMBERED_BYTES + super::EVENTS_BYTES);
/// The most machines.
pub const MACHINES: usize = 64;
/// Maximum number of bridges shown of one machine.
pub const BRIDGES: usize = 1000;
/// Bytes that wait in each direction of a stream that a task of this process carries. The stream keeps this memory for as
/// long as it is open, and a process has thousands of them.
pub const STREAM: usize = 4 * 1024;
/// The most lines before the greeting that are skipped, such as those of a login shell.
pub const BANNER: usize = 1000;
