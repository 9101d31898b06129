//! The bounds of the settings, and the times that are the defaults of some. Sizes are in bytes unless their name says otherwise.

use std::time::Duration;

pub(crate) use askbridge_core::limits::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Size of what was decided, and of the project, in the name of a rule that is made from a permission: both fit into
/// [`NAME`] with the words around them.
pub const RULE_NAME: usize = 80;
/// Number of permissions that are decided together: more than a person reads in one go.
pub const LIKE: usize = 200;
/// Number of past permissions on which a rule is tried before it is written: some days of work.
pub const RULE_TRIAL: usize = 100;
/// Default time for which a hook holds back an answer from elsewhere: the user may be typing at the dialog.
pub const HOOK_GRACE: Duration = Duration::from_secs(3);
/// Default time after which a hook leaves a question to the agent's dialog, which cannot be used before.
pub const HOOK_PASS: Duration = Duration::from_secs(30);
/// Default time for which a person can take back what they have sent: long enough to see the mistake.
pub const UNDO: Duration = Duration::from_secs(3);
/// The longest such time: the agent waits meanwhile.
pub const UNDO_MOST: Duration = Duration::from_secs(10);
/// Size of a settings file. A larger file is not read.
pub const SETTINGS_FILE: usize = 64 * KIB;
/// Number of values in a settings file. Further values are ignored.
pub const SETTINGS_KEYS: usize = 1024;
/// Number of problems of a settings file that are reported.
pub const SETTINGS_PROBLEMS: usize = 20;
/// Number of folders that are searched for a project's settings file, from the project's folder upwards.
pub const SETTINGS_FOLDERS: usize = 64;
/// Default age of a question at which the user is notified.
pub const NOTIFY_DELAY: Duration = Duration::from_secs(10);
/// Default interval of the notifiers' heartbeat command.
pub const NOTIFY_HEARTBEAT: Duration = Duration::from_secs(5 * 60);
/// How long settled questions are kept, by default.
pub const JOURNAL_KEEP: Duration = Duration::from_secs(90 * 24 * 3600);
/// Size of the journal beyond which the oldest settled questions are removed, by default.
pub const JOURNAL_SIZE: u64 = 64 * MIB as u64;
