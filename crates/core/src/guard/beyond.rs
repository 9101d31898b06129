//! What a permission, or one of its options, allows beyond the act that is shown; and what of it is not shown. The risk of
//! the act itself is left to `assess.rs`.

use super::{
    json::{Json, letters},
    members::asks_for_rights,
};
use crate::question::{FieldOption, Kind, Purpose, Question, Risk, Role, Subject, subject::is_cut};

/// Parts of lines that say that the agent asks less, or leaves its sandbox.
const RIGHTS: [&str; 10] = [
    "accept edits",
    "all of",
    "bypass",
    "elevat",
    "escalat",
    "network: yes",
    "outside of the sandbox",
    "privileg",
    "sandbox",
    "without asking",
];

/// How a line begins that names a mode. In the modes behind it, the agent asks for everything.
const MODE: &str = "switches to the mode ";
const ASKING: [&str; 4] = ["default", "manual", "plan", "read-only"];

/// Returns the risk of what a permission allows beyond its act, and of what of it is not shown.
pub(super) fn risk(question: &Question, subject: Option<&Subject>) -> Option<(Risk, String)> {
    let grants = subject.map(|subject| &*subject.grants).unwrap_or_default();
    if let Some(grant) = grants.iter().find(|grant| widens(grant)) {
        return Some((Risk::Dangerous, format!("it also allows: {grant}")));
    }
    if let Some(grant) = grants.first() {
        return Some((Risk::Acts, format!("it also allows: {grant}")));
    }
    if let Some(further) = subject.and_then(|subject| subject.further.first()) {
        return Some((Risk::Acts, format!("it says more than this version understands: {further}")));
    }
    if let Some(sentence) = question.unshown.first() {
        return Some((Risk::Acts, sentence.clone()));
    }
    let is_cut = is_cut(&question.message) || subject.is_some_and(has_cut_text);
    is_cut.then(|| (Risk::Acts, CUT.to_owned()))
}

/// Why a permission is not plain of which a text is too long.
const CUT: &str = "its text is not shown whole";

/// Returns whether a text of a permission was cut that is no part of a change or of the input.
fn has_cut_text(subject: &Subject) -> bool {
    let Subject { title, content, description, plan, folder, .. } = subject;
    [title, content, description, plan, folder].into_iter().flatten().any(|text| is_cut(text))
}

/// Returns whether this allows the agent to act without asking, or with further rights.
fn widens(grant: &str) -> bool {
    let grant = grant.to_lowercase();
    let mode = grant.strip_prefix(MODE).map(|mode| mode.split_whitespace().next().unwrap_or_default());
    // What is left out may be anything.
    let is_cut = grant.starts_with('…');
    let named = grant.split_once(": ").filter(|(name, _)| !name.contains(' '));
    mode.is_some_and(|mode| !ASKING.contains(&mode))
        || is_cut
        || RIGHTS.iter().any(|part| grant.contains(part))
        || named.is_some_and(|(name, value)| asks_for_rights(&letters(name), &Json::Text(value.to_owned())))
}

/// Marks the options of a permission that allow more than what is shown: choosing one takes a second step.
pub(super) fn mark_options(question: &mut Question) {
    if question.purpose != Purpose::Permission {
        return;
    }
    for field in &mut question.fields {
        if let Kind::Choice { options, .. } | Kind::Choices { options, .. } = &mut field.kind {
            options.iter_mut().for_each(|option| option.dangerous = allows_more(option));
        }
    }
}

fn allows_more(option: &FieldOption) -> bool {
    let refuses = matches!(option.role.as_deref(), Some(Role::RejectOnce | Role::RejectAlways));
    !refuses && (option.dangerous || !option.grants.is_empty())
}

/// Checks that a permission allows no more than its act, for rules that decide without a person.
///
/// # Errors
/// What it allows beyond that, or says beyond what is understood.
pub fn nothing_beyond(subject: &Subject) -> Result<(), String> {
    match (subject.grants.first(), subject.further.first()) {
        (Some(grant), _) => Err(format!("it also allows: {grant}")),
        (None, Some(further)) => Err(format!("it says more than this version understands: {further}")),
        (None, None) if has_cut_text(subject) => Err(CUT.to_owned()),
        (None, None) => Ok(()),
    }
}
