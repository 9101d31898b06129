//! Every constant that bounds the memory that peers and responders can make the program use (I6), and every time that
//! is not a setting, in addition to those of the core. Sizes are in bytes unless their name says otherwise.

use std::time::Duration;

pub use askbridge_adapters::limits::*;
pub use askbridge_control::limits::*;
#[cfg(feature = "fleet")]
pub use askbridge_fleet::limits as fleet;
#[cfg(feature = "journal")]
pub use askbridge_journal::limits as journal;
pub use askbridge_settings::limits::*;
pub use askbridge_web::limits::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

// The data path.

/// Length of a read that counts as part of a flood: half of a pipe's default capacity.
pub const FLOOD_READ: usize = 32 * KIB;
/// Number of consecutive [`FLOOD_READ`]s after which a direction counts as flooded.
pub const FLOOD: u32 = 16;
/// Buffer for one read in a flood, whose pages the kernel moves instead of copying them again, and capacity of the pipe
/// that is read. With the default of 64 KiB, three processes on two pipes wait for each other; a far larger buffer does
/// not stay in the cache.
pub const WIDE_READ: usize = 128 * KIB;
/// Capacity of the pipe that a flood is written to. A partly filled page uses as much of the capacity as a full one.
pub const WIDE_PIPE: usize = 2 * WIDE_READ;
/// End of the agent's stderr that is kept for the bridge's own message about a failed agent.
pub const STDERR_TAIL: usize = 2 * KIB;

// Questions.

/// A question that ends within this comes before all others in every list: the page counts its seconds from then on.
pub const ENDS_SOON: Duration = Duration::from_secs(600);

// The inbox.

/// Bytes of a file with an image that a command adds to an answer, before it is scaled down: photos have less.
pub const IMAGE_FILE: u64 = 64 * MIB as u64;

/// Length of a client's settings file. Most are some KiB long. Claude Code keeps what it knows of every project in its
/// own: some MiB.
pub const CLIENT_SETTINGS: usize = 32 * MIB;

// Times of the inbox.

/// How long the inbox in the background may take to serve, or to end.
pub const BACKGROUND: Duration = Duration::from_secs(10);
/// How long the program that starts a browser may take to fail. If it still runs by then, it counts as the browser.
pub const BROWSER: Duration = Duration::from_secs(2);

/// The most other machines that a process is connected to: those of the settings, and of a fleet.
pub const MACHINES: usize = 8256;
/// How long the inbox waits at its start for the journal, which may be busy, or be converted from an earlier format.
pub const RESUME: Duration = Duration::from_secs(5);
/// The pause between two attempts.
pub const RESUME_BACK_OFF: Duration = Duration::from_millis(200);
/// How long a list that is kept up to date waits for the machines of a fleet before it shows what there is: a broker that
/// works has replied by then, so that the list says nothing of it.
pub const FLEET_SOON: Duration = Duration::from_millis(500);
/// How long a command waits for a machine that may be one of a fleet: a little longer than for a connection to the broker, so
/// that the reason is known as well.
pub const FLEET: Duration = Duration::from_millis(5500);

/// These two belong to the fleet's, which a program may be without.
#[cfg(feature = "fleet")]
const _: () =
    assert!(MACHINES == remote::MACHINES + fleet::MACHINES && FLEET.as_millis() > fleet::CONNECT.as_millis());

// Times of the agent and the client.

/// Ended child processes that are reaped at once. An agent may leave many behind.
pub const REAPED_AT_ONCE: usize = 64;

// Settings.

/// Number of notifiers that run at once for one user, over all bridges: each is a process of some megabytes.
pub const NOTIFIERS: usize = 16;
/// Number of notifiers that one bridge starts in a minute, so that an agent that asks and withdraws cannot flood the
/// user.
pub const NOTIFIED_A_MINUTE: usize = 12;
/// A minute.
pub const MINUTE: Duration = Duration::from_secs(60);
/// Interval at which held-back notifications are tried again: the user may have left, or the quiet hours may be over.
pub const NOTIFY_LOOK: Duration = Duration::from_secs(5);
/// Back-off before a notifier that found too many others is started again.
pub const NOTIFY_RETRY: Duration = Duration::from_secs(30);
/// Shortest time between two messages that more questions wait.
pub const NOTIFY_MORE: Duration = Duration::from_secs(60);
/// Interval at which the questions without a notifier are counted, while the most notifiers run.
pub const NOTIFY_COUNT: Duration = Duration::from_secs(10);
/// Size of the text of one message. ntfy turns a text of more than 4,096 bytes into an attachment.
pub const NOTIFY_TEXT: usize = 1500;
/// Number of buttons of one message: ntfy supports no more, and desktops have no room for more.
pub const NOTIFY_BUTTONS: usize = 3;
/// How long a notification command may run: speech takes its time.
pub const NOTIFY_COMMAND: Duration = Duration::from_secs(60);
/// How long a notification request may take, or the desktop to show a notification.
pub const NOTIFY_REQUEST: Duration = Duration::from_secs(10);
/// How long a notifier may take to withdraw its notifications, once its question is settled.
pub const NOTIFY_END: Duration = Duration::from_secs(15);
/// How long taps on the phone still get a reply after their question is settled.
pub const NOTIFY_LATE: Duration = Duration::from_secs(30);
/// How long one stream of taps is read before it is requested again: a connection may be dead without a sign.
pub const NOTIFY_STREAM: Duration = Duration::from_secs(120);
/// Length of one line in the stream of taps.
pub const NOTIFY_LINE: usize = 16 * 1024;
/// Number of messages on a reply topic that are not taps, after which the notifier stops listening.
pub const NOTIFY_STRANGERS: usize = 64;

// Attached agents.

/// How long a question that nobody can answer waits, so that a rule or an earlier answer comes first.
pub const UNATTENDED: Duration = Duration::from_secs(2);

// Images in a terminal.

/// Memory that an image takes while it is decoded: four bytes for each of [`IMAGE_PIXELS`], and what its decoder needs beside
/// them.
pub const PICTURE: u64 = 256 * MIB as u64;
/// How long a terminal may take to say what images it shows: one on the other side of the world does in less. A person
/// waits for it once.
pub const TERMINAL_REPLY: Duration = Duration::from_millis(500);
/// Bytes of that reply. A few hundred are usual; what a person types meanwhile is among them.
pub const TERMINAL_REPLIES: usize = 16 * KIB;

// Other machines.

/// How long a machine may take to say that an `askbridge dial` runs there, with a person at the terminal: ssh may ask
/// for a password, or for a touch of a security key.
pub const SSH_AT_TERMINAL: Duration = Duration::from_secs(120);
/// Interval at which the process that holds the connections looks whether the settings have changed.
pub const MACHINE_SETTINGS: Duration = Duration::from_secs(10);
