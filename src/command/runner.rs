//! Runs a command to its end on one thread, and reports its error in one place, with the exit code for it. What
//! several commands do at their beginning or end is here as well: looking a question up, printing, warning.
//! The words of an error are left to `present`.

use std::{
    future::Future,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use askbridge_control::{
    inbox::Inbox,
    join::{Gaps, JoinedInbox, Missing},
    rpc::client::Depth,
};
use askbridge_core::desk::{IdPrefix, Record, Refusal};
use askbridge_os::{exit, signals, terminal::printable_line};

use super::{CommandError, Context, reach::MachineArgs};
use crate::{limits, present::listing};

/// Runs a command, and returns its exit code.
pub fn run(command: impl Future<Output = Result<u8, CommandError>>) -> ExitCode {
    let runtime = signals::runtime();
    let done = runtime.map_err(CommandError::Io).and_then(|runtime| {
        let done = runtime.block_on(command);
        // A read of stdin cannot be cancelled: the process must not wait for it.
        runtime.shutdown_background();
        done
    });
    ExitCode::from(match done {
        Ok(code) => code,
        Err(error) => {
            say(&error.to_string());
            error.exit_code()
        }
    })
}

/// Finds a question, open or settled. It connects only to the bridges that the ID may name. If none of them has the
/// question, it asks all bridges, since the ID may be one that an agent gave. If no bridge has it, it asks the journal:
/// the bridge of a hook ends with the question of the hook.
pub(super) async fn look_up(
    context: &Context,
    id: &str,
    at: &MachineArgs,
) -> Result<(JoinedInbox, IdPrefix, Arc<Record>), CommandError> {
    if let Ok(typed) = id.parse::<IdPrefix>() {
        let joined = JoinedInbox::open_for(at.reach_for(context, Some(&typed)).await?, &typed).await?;
        match joined.seek(&typed).await {
            Ok(record) => {
                // A follower of the store gets later changes only.
                joined.store().edit(|editor| editor.put(Arc::clone(&record)));
                return Ok((joined, typed, record));
            }
            Err(Missing::Refused(Refusal::NotFound)) => {}
            Err(missing) => return Err(unfound(id, missing)),
        }
    }
    // Agents may give the same ID twice: whether this one is unique is known once all bridges have replied.
    let joined =
        JoinedInbox::glance(at.reach(context).await?, Depth::Outline, limits::HANDSHAKE_TIMEOUT).await?;
    let record = match joined.seek_own(id) {
        Ok(record) => record,
        Err(missing) => {
            let recalled = if missing == Missing::Refused(Refusal::NotFound) { recall(id) } else { None };
            let (typed, record) = recalled.ok_or_else(|| unfound(id, missing))?;
            // A submission to a settled question is compared with its settlement, so the store must have the record.
            joined.store().edit(|editor| editor.put(Arc::clone(&record)));
            return Ok((joined, typed, record));
        }
    };
    let typed = IdPrefix::from(&record.id);
    let joined = JoinedInbox::open_for(at.reach_for(context, Some(&typed)).await?, &typed).await?;
    let record = joined.seek(&typed).await.map_err(|missing| unfound(id, missing))?;
    Ok((joined, typed, record))
}

/// Finds a settled question in the journal. `None` if the ID has no number, since it may mean an earlier question of
/// the bridge.
#[cfg(feature = "journal")]
fn recall(id: &str) -> Option<(IdPrefix, Arc<Record>)> {
    let typed = id.parse::<IdPrefix>().ok().filter(IdPrefix::has_number)?;
    let found = super::ledger::open().and_then(|history| match history {
        Some(history) => Ok(history.find(&typed)?),
        None => Ok(Vec::new()),
    });
    let found = found.inspect_err(|error| tracing::debug!(%error, "the journal cannot be read")).ok()?;
    match <[_; 1]>::try_from(found) {
        // A question without a settlement was lost with its bridge: how it ended is not known.
        Ok([past]) if past.seq.is_some() => Some((typed, Arc::new(past.record))),
        _ => None,
    }
}

#[cfg(not(feature = "journal"))]
fn recall(_: &str) -> Option<(IdPrefix, Arc<Record>)> {
    None
}

fn unfound(id: &str, missing: Missing) -> CommandError {
    let id = id.to_owned();
    match missing {
        Missing::Refused(refusal) => CommandError::Refused(id, refusal),
        Missing::Unreadable => CommandError::Unreadable(id),
        Missing::Unasked(gaps) => CommandError::Unsure(id, gaps),
    }
}

/// Says something on stderr, in one line.
pub(super) fn say(text: &str) {
    // If stderr is closed, the exit code still reports the result.
    drop(writeln!(io::stderr(), "askbridge: {}", printable_line(text)));
}

/// Reports on stderr which bridges are left out, a line for each reason.
pub(super) fn warn(gaps: &Gaps) {
    listing::gap_lines(gaps).iter().for_each(|line| say(line));
}

/// Prints the output of a command.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints the lines of a command's output.
pub(super) fn print_lines(lines: &[String]) -> io::Result<()> {
    print(&(lines.join("\n") + "\n"))
}

/// Returns the exit code of a command that only shows something.
pub(super) fn shown(printed: io::Result<()>) -> Result<u8, CommandError> {
    match printed {
        // A reader that closes the pipe, such as `head`, has read what it wants.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}

/// Returns the exit code of a command that lists what it found, by whether the list is complete.
pub(super) fn listed(printed: io::Result<()>, is_complete: bool) -> Result<u8, CommandError> {
    let code = shown(printed)?;
    Ok(if is_complete { code } else { exit::BRIDGE_GONE })
}

/// Prints the result of a command. The exit code reports the result even if the text cannot be printed.
pub(super) fn done(code: u8, text: &str) -> u8 {
    if let Err(error) = print(text) {
        say(&format!("cannot print what was done: {error}"));
    }
    code
}
