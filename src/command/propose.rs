//! `askbridge rules from`: makes a rule from one permission, shows what the rule would have decided before, and writes it.
//! Which rule that is, is left to `askbridge_settings::rule`.

use std::{
    fmt::Write,
    io::{self, IsTerminal},
    path::Path,
};

use askbridge_control::inbox::real_files::RealFiles;
use askbridge_core::desk::Record;
use askbridge_os::{
    exit,
    terminal::{printable, printable_line},
    xdg,
};
use askbridge_settings::{
    files,
    rule::{Proposal, Rule, Trial, was_allowed},
};

use super::{
    CommandError, Context,
    config::{own_file, own_text},
    confirm::confirm,
    reach::MachineArgs,
    runner::{done, look_up, print, say},
};
use crate::present::{answer, text};

/// The decisions that are shown: more would push the rule out of sight.
const SHOWN: usize = 10;
/// The most columns of what was asked.
const TITLE: usize = 100;

/// Proposes a rule, and writes it if that is asked for, or if the person at the terminal wants it.
pub(super) async fn propose(context: &Context, id: &str, write: bool) -> Result<u8, CommandError> {
    let (_, _, record) = look_up(context, id, &MachineArgs::default()).await?;
    let proposal = match proposed(&record, context.settings.rules()) {
        Ok(proposal) => proposal,
        Err(why) => {
            say(&format!("{id}: no rule can be made from it: {why}"));
            return Ok(exit::NOT_DONE);
        }
    };
    print(&printable(&proposal.toml()))?;
    print(&tried(&proposal)?)?;
    let path = own_file()?;
    if !write {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(done(exit::OK, &format!("`askbridge rules from {id} --write` writes it\n")));
        }
        if !confirm(&format!("Write it to {}?", path.display()), "nothing was written", "write it")? {
            return Ok(exit::NOT_DONE);
        }
    }
    write_to(&path, &proposal, &record)
}

/// Makes a rule of the decision about a permission.
///
/// # Errors
/// Why there is none, in words.
pub(super) fn proposed(record: &Record, rules: &[Rule]) -> Result<Proposal, String> {
    if let Some(machine) = record.id.bridge.machine() {
        let own = record.id.own();
        return Err(format!(
            "rules decide on the machine of the agent: `askbridge rules from {own}` on {machine}"
        ));
    }
    let taken: Vec<_> = rules.iter().map(|rule| &**rule.name()).collect();
    Proposal::of(record, &taken, &RealFiles).map_err(|why| why.to_string())
}

/// Writes a rule below the others.
pub(super) fn append(path: &Path, proposal: &Proposal, record: &Record) -> Result<(), CommandError> {
    // The file may have changed while the person read.
    let file = (path.to_owned(), &*own_text(path)?, xdg::home());
    let text = proposal
        .appended(file, record, &RealFiles)
        .map_err(|why| CommandError::Config(format!("{} is unchanged: {why}", path.display())))?;
    files::write(path, &text).map_err(|source| CommandError::Write { path: path.to_owned(), source })
}

fn write_to(path: &Path, proposal: &Proposal, record: &Record) -> Result<u8, CommandError> {
    append(path, proposal, record)?;
    let open = if record.is_open() { "; `askbridge rules apply` applies it to what is open" } else { "" };
    Ok(done(exit::OK, &format!("written to {}{open}\n", path.display())))
}

/// Returns what the rule would have decided of the last permissions in the journal, in words.
pub(super) fn tried(proposal: &Proposal) -> Result<String, CommandError> {
    let records = past()?;
    let mut tried = Trial::new(std::slice::from_ref(proposal.rule()));
    let decided: Vec<_> = records.iter().filter(|record| tried.add(record, &RealFiles).is_some()).collect();
    Ok(trial(tried.tried, proposal.allows(), &decided))
}

#[cfg(feature = "journal")]
fn past() -> Result<Vec<Record>, CommandError> {
    super::ledger::permissions(askbridge_settings::limits::RULE_TRIAL)
}

#[cfg(not(feature = "journal"))]
#[expect(clippy::unnecessary_wraps, reason = "with a journal, it may not be readable")]
fn past() -> Result<Vec<Record>, CommandError> {
    Ok(Vec::new())
}

/// Returns how many of the permissions that were tried a rule would have decided, and which ones: first those about
/// which the user decided otherwise.
fn trial(tried: usize, allows: bool, decided: &[&Record]) -> String {
    let verb = if allows { "allowed" } else { "rejected" };
    let mut lines = match (tried, decided.len()) {
        (0, _) => "No permission is in the journal, on which it could be tried.\n".to_owned(),
        (1, count) => format!("Of the last permission, it would have {verb} {count}"),
        (tried, count) => format!("Of the last {tried} permissions, it would have {verb} {count}"),
    };
    if tried == 0 {
        return lines;
    }
    lines.push_str(if decided.is_empty() { ".\n" } else { ":\n" });
    let (others, same): (Vec<&Record>, Vec<&Record>) =
        decided.iter().partition(|record| was_allowed(record).is_some_and(|allowed| allowed != allows));
    for record in others.iter().chain(&same).take(SHOWN) {
        let ended = record.settlement.as_deref().map_or_else(
            || "not settled".to_owned(),
            |settlement| answer::settlement(&record.question, settlement),
        );
        let line = format!("{}  {}  ({ended})", record.id, text::summary(&record.question, TITLE));
        // Writing to a `String` never fails.
        writeln!(lines, "  {}", printable_line(&line)).unwrap_or_default();
    }
    if let Some(more) = decided.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        writeln!(lines, "  … and {more} more").unwrap_or_default();
    }
    if !others.is_empty() {
        let was = if allows { "rejected" } else { "allowed" };
        writeln!(lines, "{} of them: {was} then.", others.len()).unwrap_or_default();
    }
    lines
}
