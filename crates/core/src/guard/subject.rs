//! The files and the command in the subject of a permission, for rules that decide without a person. A function fails
//! if the subject names more than the function returns. The risk of the permission is left to `assess.rs`.

use super::{beyond::nothing_beyond, files::changed_by, input::Input, members::is_harmless_beside_a_command};
use crate::question::Subject;

/// Checks that the command of a permission is all that would run, as written.
///
/// # Errors
/// The part of its input that may do more.
pub fn only_its_command(subject: &Subject, command: &str) -> Result<(), String> {
    check_clear(subject)?;
    let Some(input) = input(subject)? else { return nothing_beyond(subject) };
    if let Some(other) = input.commands.iter().find(|other| other.text != command) {
        return Err(format!(
            "its input has another command: {}",
            other.text.lines().next().unwrap_or_default()
        ));
    }
    match input.members.iter().find(|member| !is_harmless_beside_a_command(member)) {
        Some(member) if member.name.is_empty() => Err(member.why_unknown()),
        Some(member) => {
            Err(format!("its input has `{}`, which may change what its command does", member.name))
        }
        None => nothing_beyond(subject),
    }
}

/// Returns whether the tool's input shows an action that the rest of the subject does not show.
pub(super) fn input_says_more(subject: &Subject) -> bool {
    let Some(raw) = subject.raw_input.as_deref() else { return false };
    match (Input::read(raw), &subject.command) {
        // A person has to see what could not be read.
        (Some(input), _) if input.unclear.is_some() => true,
        (Some(input), Some(command)) => {
            input.commands.iter().any(|other| other.text != *command)
                || input.members.iter().any(|member| !is_harmless_beside_a_command(member))
        }
        (Some(input), None) => {
            !input.commands.is_empty()
                || !input.addresses.is_empty()
                || input.escalates
                || input.unknown(&kind(subject)).is_some()
        }
        // The input was cut.
        (None, command) => command.is_some(),
    }
}

/// Returns all folders that a command is said to run in.
pub fn folders(subject: &Subject) -> Vec<String> {
    let of_input = input(subject).ok().flatten().map(|input| input.paths).unwrap_or_default();
    subject.folder.iter().cloned().chain(of_input).collect()
}

/// Checks that a permission is about no command and no file, in none of its parts.
///
/// # Errors
/// The command or the file that it is about.
pub fn no_command_and_no_file(subject: &Subject) -> Result<(), String> {
    check_clear(subject)?;
    nothing_beyond(subject)?;
    let input = input(subject)?.unwrap_or_default();
    // A rule for thoughts or addresses must not allow a command that only the input has.
    check_no_command(&input)?;
    let changed = subject.diffs.iter().map(|diff| &diff.path);
    match subject.locations.iter().chain(changed).chain(&input.paths).next() {
        Some(file) => Err(format!("it is about the file {file}")),
        None if subject.patch.is_some() => Err("it would change files".to_owned()),
        None => Ok(()),
    }
}

/// Checks that a permission is about no act: no command, no file, no address and no environment, in none of its parts.
///
/// # Errors
/// The part that it is about.
pub fn is_about_no_act(subject: &Subject) -> Result<(), String> {
    no_command_and_no_file(subject)?;
    let input = input(subject)?.unwrap_or_default();
    match (subject.command.is_some(), input.addresses.is_empty()) {
        (true, _) => Err("it has a command".to_owned()),
        (false, false) => Err("its input has an address".to_owned()),
        (false, true) => Ok(()),
    }
}

fn check_no_command(input: &Input) -> Result<(), String> {
    match (input.escalates, input.commands.is_empty()) {
        (true, _) => Err("it asks for more rights, or to leave the sandbox".to_owned()),
        (false, false) => Err("its input has a command".to_owned()),
        (false, true) => Ok(()),
    }
}

/// Returns all files that a permission is about.
///
/// # Errors
/// The permission may be about further files.
pub fn files(subject: &Subject) -> Result<Vec<String>, String> {
    check_clear(subject)?;
    nothing_beyond(subject)?;
    let input = input(subject)?.unwrap_or_default();
    if !input.addresses.is_empty() {
        return Err("its input has an address".to_owned());
    }
    check_no_command(&input)?;
    // A patch in another format may name files that `changed_by` does not find.
    if subject.patch.is_some() && subject.locations.is_empty() && subject.diffs.is_empty() {
        return Err("it is unknown which files it would change".to_owned());
    }
    let places = subject.locations.iter().cloned();
    let changed = subject.diffs.iter().map(|diff| diff.path.clone());
    let patched = subject.patch.iter().flat_map(|patch| changed_by(patch)).map(str::to_owned);
    let mut files: Vec<_> = places.chain(changed).chain(patched).chain(input.paths).collect();
    files.sort_unstable();
    files.dedup();
    match files.is_empty() {
        true => Err("it does not say which files it is about".to_owned()),
        false => Ok(files),
    }
}

/// Checks that the effect of each member of a permission's input is known, where a rule names no command.
///
/// # Errors
/// The member that may do more.
pub fn only_known_members(subject: &Subject) -> Result<(), String> {
    let input = input(subject)?.unwrap_or_default();
    input.unknown(&kind(subject)).map_or(Ok(()), |member| Err(member.why_unknown()))
}

/// Returns whether a permission may change files.
pub fn changes_files(subject: &Subject) -> bool {
    let only_looks = matches!(&*kind(subject), "read" | "search" | "fetch" | "think");
    !only_looks || !subject.diffs.is_empty() || subject.patch.is_some()
}

fn kind(subject: &Subject) -> String {
    subject.kind.as_deref().unwrap_or_default().to_lowercase()
}

fn check_clear(subject: &Subject) -> Result<(), String> {
    match &subject.unclear {
        Some(why) => Err(why.clone()),
        None => Ok(()),
    }
}

/// Reads the input of the tool.
fn input(subject: &Subject) -> Result<Option<Input>, String> {
    let Some(raw) = subject.raw_input.as_deref() else { return Ok(None) };
    let input = Input::read(raw).ok_or("its input is not shown whole")?;
    match input.unclear {
        Some(why) => Err(why.to_owned()),
        None => Ok(Some(input)),
    }
}
