//! Limits of the connections to other machines.

use std::time::Duration;

/// How long a machine may take to say that an `askbridge dial` runs there.
pub const GREETING: Duration = Duration::from_secs(20);
/// The same where a person is at the terminal: ssh may ask for a password, or for a touch of a key.
pub const AT_TERMINAL: Duration = Duration::from_secs(120);
/// Interval of the calls by which an idle connection shows that it lives. It is shorter than [`super::PRESENCE`], since
/// the same calls say that this machine tells its person of questions.
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
/// How long an answer that was not sent waits for a connection.
pub const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer whose verdict is not known waits for another connection, to be sent again.
pub const RECONNECT: Duration = Duration::from_secs(45);
/// How long the questions of a machine that is not connected count as open.
pub const KEPT: Duration = Duration::from_secs(600);
/// How long a command waits for the machines that it connects to by itself.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The most machines.
pub const MACHINES: usize = 64;
/// The most bridges that are shown of one machine.
pub const BRIDGES: usize = 1000;
/// The most lines before the greeting that are skipped, such as those of a login shell.
pub const BANNER: usize = 1000;
/// Interval at which the process that holds the connections looks whether the settings have changed.
pub const SETTINGS: Duration = Duration::from_secs(10);
