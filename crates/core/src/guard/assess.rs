//! The risk of a question: the worst of what its parts say.

use std::path::Path;

use super::{
    active::active,
    beyond, command,
    files::{self, Files, changed_by, removed_by},
    hidden::is_hidden,
    input::{Command, Input},
    quoted,
    subject::{folders, input_says_more, only_its_command},
};
use crate::{
    limits,
    question::{Purpose, Question, Risk, Subject, subject::cut},
};

/// Kinds of tools, by their names in ACP.
const READING: [&str; 2] = ["read", "search"];
const CHANGING: [&str; 1] = ["edit"];
const THINKING: &str = "think";

/// Decides the risk of a question, and says why. The decision replaces the agent's own claim, which can only raise the
/// risk.
///
/// It is called once for each question: after all that the agent said is known, its folder included, and before the
/// question opens.
pub fn assess(question: &mut Question) {
    let (risk, why) = risk(question);
    set(question, risk, &why);
    beyond::mark_options(question);
    if let Some(subject) = question.subject.as_deref_mut() {
        subject.input_says_more = input_says_more(subject);
    }
}

/// Resolves the files that a change names. If one of them turns out to be a file of which the change risks more, returns
/// the question with the higher risk: a link leads to it, or it has further names. `None` if the risk stays the same.
///
/// It is called where the file system may be accessed, before the question is shown.
pub fn assess_links(question: &Question, files: &dyn Files) -> Option<Question> {
    if question.risk().is_dangerous() || question.purpose != Purpose::Permission {
        return None;
    }
    let (subject, project) = (question.subject.as_deref()?, question.project.as_deref()?);
    let kind = subject.kind.as_deref().unwrap_or_default().to_lowercase();
    if !is_change(&kind, subject) {
        return None;
    }
    let input = subject.raw_input.as_deref().and_then(Input::read);
    let folder = files.resolve(Path::new(project));
    let found = changed_files(subject, input.as_ref()).into_iter();
    let found = found.filter_map(|file| of_place(file, project, folder.as_deref(), files));
    let (risk, why) = found.fold((question.risk(), String::new()), worst);
    if why.is_empty() {
        return None;
    }
    let mut question = question.clone();
    set(&mut question, risk, &why);
    Some(question)
}

/// Returns what the place that a changed file leads to adds to the risk.
fn of_place(file: &str, project: &str, folder: Option<&Path>, files: &dyn Files) -> Option<(Risk, String)> {
    let path = files::joined(project, file)?;
    let Some((folder, place)) = folder.zip(files.resolve(Path::new(&path))) else {
        return Some(acts(format!("it changes {file}, which leads out of the agent's folder")));
    };
    if let Some(row) = active(&folder.to_string_lossy(), &place.to_string_lossy()) {
        Some((row.risk(), format!("it changes {file}: {}", row.does)))
    } else if !place.starts_with(folder) {
        Some(acts(format!("it changes {file}, which leads out of the agent's folder")))
    } else if files.has_other_names(&place) {
        Some(acts(format!("it changes {file}, which has further names elsewhere")))
    } else {
        None
    }
}

/// Raises the risk of a question, unless it is as high already.
pub(super) fn raise(question: &mut Question, risk: Risk, why: &str) {
    if risk.degree() > question.risk().degree() {
        set(question, risk, why);
    }
}

fn set(question: &mut Question, risk: Risk, why: &str) {
    question.risk = Some(risk);
    question.dangerous = risk.is_guarded();
    let subject = question.subject.as_deref();
    question.risk_of_kind =
        subject.and_then(of_shown_kind).is_some_and(|known| (known.0, &*known.1) == (risk, why));
    // The reason may quote a path of the agent's, of any length (I6).
    question.risk_reason = Some(cut(why, limits::SUBJECT_LINE)).filter(|why| !why.is_empty());
}

fn risk(question: &Question) -> (Risk, String) {
    if question.dangerous {
        return dangerous("the agent marked it as dangerous");
    }
    match (&question.purpose, question.subject.as_deref()) {
        // An answer does nothing by itself. What the agent then does may need a permission, which has a risk of its
        // own.
        (Purpose::Question, _) => (Risk::Plain, String::new()),
        (Purpose::Permission, Some(subject)) => {
            let (risk, why) = of_subject(subject, question.project.as_deref());
            let beyond = beyond::risk(question, Some(subject));
            // What the act itself risks is the better reason where both are equally bad.
            beyond.filter(|(other, _)| other.degree() > risk.degree()).unwrap_or((risk, why))
        }
        (Purpose::Permission, None) => dangerous("the request does not say what it would do"),
        (Purpose::Other(_), _) => dangerous("its purpose is unknown"),
    }
}

fn nothing() -> (Risk, String) {
    (Risk::Plain, String::new())
}

fn dangerous(why: impl Into<String>) -> (Risk, String) {
    (Risk::Dangerous, why.into())
}

fn acts(why: impl Into<String>) -> (Risk, String) {
    (Risk::Acts, why.into())
}

fn of_subject(subject: &Subject, project: Option<&str>) -> (Risk, String) {
    let kind = subject.kind.as_deref().unwrap_or_default().to_lowercase();
    let raw = subject.raw_input.as_deref();
    let input = raw.map(Input::read);
    let read = input.as_ref().and_then(Option::as_ref);
    let command = subject.command.as_deref().map(|text| of_command(text, None, project));
    let others = read.and_then(|input| of_others(subject, input, project));
    // A command that only looks is plain where nothing else stands beside it.
    let said = kind;
    let kind = inferred_kind(subject, &said).unwrap_or(&said);
    let looks = is_lone_command(&said, subject, input.as_ref(), project)
        && [&command, &others].into_iter().flatten().all(|(risk, _)| *risk == Risk::Plain);
    let beside = |found: (Risk, String)| match found {
        (Risk::Plain, _) if !looks => acts("it runs a command"),
        found => found,
    };
    let parts = [
        of_kind(kind).filter(|_| !looks),
        subject.unclear.as_deref().map(dangerous),
        read.and_then(|input| input.unclear).map(dangerous),
        read.filter(|input| input.escalates)
            .map(|_| dangerous("it asks for more rights, or to leave the sandbox")),
        command.map(beside),
        others.map(beside),
        uses_network(subject, read).then(|| acts("it uses the network")),
        read.and_then(|input| input.unknown(kind)).map(|member| acts(member.why_unknown())),
        of_active_files(kind, subject, read, project),
        of_hidden_characters(subject, read),
        matches!(input, Some(None)).then(|| acts("its input is not shown whole")),
        of_change(kind, subject, read, project),
        (kind != said).then(|| acts("the agent does not say what kind of tool it is")),
        is_unknown(kind).then(|| dangerous("the effect of its tool is unknown")),
        of_what_is_missing(kind, subject, read),
        read.filter(|input| input.has_words_beside)
            .map(|_| dangerous("its input has words beside its command that may belong to it")),
    ];
    parts.into_iter().flatten().fold(nothing(), worst)
}

/// Returns the worse of two parts. Of parts that are equally bad, the first one gives the reason.
fn worst(worst: (Risk, String), part: (Risk, String)) -> (Risk, String) {
    if part.0.degree() > worst.0.degree() { part } else { worst }
}

/// Returns what the commands of an input risk that are not the one which is shown: the reason names their member. `None` if
/// there are none.
fn of_others(subject: &Subject, input: &Input, project: Option<&str>) -> Option<(Risk, String)> {
    let shown = subject.command.as_deref();
    let others = input.commands.iter().filter(|command| shown != Some(&*command.text));
    others.map(|Command { text, member }| of_command(text, Some(member), project)).reduce(worst)
}

/// Returns what a command risks. The reason quotes the part that it is about, unless that is plain to see.
fn of_command(text: &str, member: Option<&str>, project: Option<&str>) -> (Risk, String) {
    let (risk, why) = command::risk(text, project);
    match risk.is_dangerous() {
        true => (risk, quoted::with_place(text, member, &why, |part| command::risk(part, project))),
        false => (risk, why),
    }
}

/// Returns whether a permission is about nothing but one command that runs in its project.
fn is_lone_command(
    kind: &str,
    subject: &Subject,
    input: Option<&Option<Input>>,
    project: Option<&str>,
) -> bool {
    let (Some(_), Some(project)) = (&subject.command, project) else { return false };
    let is_whole = input.is_none_or(|input| input.as_ref().is_some_and(|input| input.commands.len() <= 1));
    let is_elsewhere = subject.environment.is_some() || subject.patch.is_some() || !subject.diffs.is_empty();
    matches!(kind, "execute" | "command")
        && is_whole
        && !is_elsewhere
        && folders(subject).iter().all(|folder| files::inside(project, folder).is_some())
}

/// Returns what a kind of tool does, if that is known.
fn of_kind(kind: &str) -> Option<(Risk, String)> {
    Some(match kind {
        "execute" | "command" => acts("it runs a command"),
        "fetch" => acts("it uses the network"),
        "delete" => dangerous("it deletes"),
        "move" => dangerous("it moves or renames"),
        "switch_mode" => dangerous("it changes what the agent may do without asking"),
        _ => return None,
    })
}

/// Returns what the kind of a tool does that its permission says, or shows by its command.
fn of_shown_kind(subject: &Subject) -> Option<(Risk, String)> {
    let said = subject.kind.as_deref().unwrap_or_default().to_lowercase();
    of_kind(inferred_kind(subject, &said).unwrap_or(&said))
}

/// Returns whether the kind does not tell what the tool does. All else that the permission says is the better reason.
fn is_unknown(kind: &str) -> bool {
    let is_harmless = READING.contains(&kind) || CHANGING.contains(&kind) || kind == THINKING;
    !is_harmless && of_kind(kind).is_none()
}

/// Returns the kind of a tool of which the agent does not say it, by what the permission shows: one command with nothing
/// beside it, or a change of files. ACP allows a tool call without a kind, and `other` says as little.
fn inferred_kind(subject: &Subject, said: &str) -> Option<&'static str> {
    if !["", "other"].contains(&said) {
        return None;
    }
    match &subject.command {
        Some(command) => only_its_command(subject, command).is_ok().then_some("execute"),
        None => is_change("", subject).then_some("edit"),
    }
}

fn uses_network(subject: &Subject, input: Option<&Input>) -> bool {
    input.is_some_and(|input| !input.addresses.is_empty())
        || subject.locations.iter().any(|place| files::is_address(place))
}

/// Returns the risk of names that a person cannot read: they may be those of other files.
fn of_hidden_characters(subject: &Subject, input: Option<&Input>) -> Option<(Risk, String)> {
    let addresses = input.into_iter().flat_map(|input| input.addresses.iter().map(String::as_str));
    let mut names =
        changed_files(subject, input).into_iter().chain(addresses).chain(subject.folder.as_deref());
    let hidden = names.find_map(|name| name.chars().find(|char| is_hidden(*char)))?;
    Some(acts(format!("a name in it has a character that cannot be seen: {}", hidden.escape_unicode())))
}

/// Returns the risk of a change of files that do more than to be read.
fn of_active_files(
    kind: &str,
    subject: &Subject,
    input: Option<&Input>,
    project: Option<&str>,
) -> Option<(Risk, String)> {
    if !is_change(kind, subject) {
        return None;
    }
    let found = |file: &str| Some((file.to_owned(), active(project.unwrap_or_default(), file)?));
    let found = changed_files(subject, input).into_iter().filter_map(found);
    let parts = found.map(|(file, row)| (row.risk(), format!("it changes {file}: {}", row.does)));
    Some(parts.fold(nothing(), worst))
}

/// Returns the risk of a change of files.
fn of_change(
    kind: &str,
    subject: &Subject,
    input: Option<&Input>,
    project: Option<&str>,
) -> Option<(Risk, String)> {
    let Subject { diffs, patch, .. } = subject;
    if !is_change(kind, subject) {
        return None;
    }
    let patch = patch.as_deref().unwrap_or_default();
    // A removal is dangerous even if the rest of the change is not shown, so it is looked for first.
    if let Some(why) = removed_by(patch) {
        return Some(dangerous(why));
    }
    let texts = diffs.iter().flat_map(|diff| [diff.old.as_deref(), Some(&*diff.new)]).flatten();
    if (diffs.is_empty() && patch.is_empty()) || texts.chain([patch]).any(is_cut) {
        return Some(acts("its change is not shown whole"));
    }
    let files = changed_files(subject, input);
    let Some(project) = project else { return Some(acts("the agent's folder is unknown")) };
    match files.iter().find(|file| files::inside(project, file).is_none()) {
        Some(file) => Some(acts(format!("it changes {file}, which is not plainly in the agent's folder"))),
        None if files.is_empty() => Some(acts("the file that it changes is unknown")),
        None => unshown(subject).map(|file| dangerous(format!("it does not show the change of {file}"))),
    }
}

/// Returns a file that the permission names but shows no change of: the file may be moved, or removed.
fn unshown(subject: &Subject) -> Option<&str> {
    let patched = changed_by(subject.patch.as_deref().unwrap_or_default());
    let shown: Vec<_> = subject.diffs.iter().map(|diff| &*diff.path).chain(patched).collect();
    // One of the two may be relative to the folder of the other.
    let is_same = |one: &str, other: &str| Path::new(one).ends_with(other) || Path::new(other).ends_with(one);
    let mut named = subject.locations.iter().map(|place| files::without_line(place));
    named.find(|file| !shown.iter().any(|other| is_same(other, file)))
}

fn is_change(kind: &str, subject: &Subject) -> bool {
    CHANGING.contains(&kind) || !subject.diffs.is_empty() || subject.patch.is_some()
}

/// Returns the files that a permission names, in all its parts.
fn changed_files<'a>(subject: &'a Subject, input: Option<&'a Input>) -> Vec<&'a str> {
    let Subject { diffs, patch, locations, .. } = subject;
    // A number at the end of a place may be a line, or a part of the file's name: both readings count.
    let places = locations.iter().flat_map(|place| [place.as_str(), files::without_line(place)]);
    let changed = diffs.iter().map(|diff| &*diff.path);
    let patched = changed_by(patch.as_deref().unwrap_or_default());
    let named = input.into_iter().flat_map(|input| input.paths.iter().map(String::as_str));
    places.chain(changed).chain(patched).chain(named).collect()
}

/// Returns whether a text was cut.
fn is_cut(text: &str) -> bool {
    // The mark is that of `subject::cut`.
    text.ends_with(" more bytes are not shown")
}

/// Returns the risk of a permission of which a part is missing.
fn of_what_is_missing(kind: &str, subject: &Subject, input: Option<&Input>) -> Option<(Risk, String)> {
    if kind == "execute" || kind == "command" {
        let has_command = subject.command.is_some() || input.is_some_and(|input| !input.commands.is_empty());
        return (!has_command).then(|| dangerous("it does not say which command it runs"));
    }
    let Subject { locations, diffs, patch, content, command, .. } = subject;
    // An MCP server itself declares that its tools only read, so the kind alone proves nothing.
    let names_nothing = |input: &Input| input.paths.is_empty() && input.commands.is_empty();
    if kind == "read" && locations.is_empty() && input.is_some_and(names_nothing) {
        return Some(dangerous("it does not say what it is about"));
    }
    // An unknown member of the input does not count as a subject.
    let says_nothing = locations.is_empty()
        && diffs.is_empty()
        && [patch, content, command].into_iter().all(Option::is_none)
        && !input.is_some_and(Input::says_something);
    (says_nothing && kind != THINKING).then(|| dangerous("it does not say what it is about"))
}
