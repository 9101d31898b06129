//! Outcomes, refusals, times and answers in words. Text of an agent is made printable here (I10).

use std::{
    io,
    time::{Duration, SystemTime},
};

use askbridge_control::inbox::BridgeStatus;
use askbridge_core::{
    desk::{Record, Refusal, Settlement, State, Timestamp},
    question::{Answer, Link, Purpose, Question, Risk, Value, naming::names},
};
use askbridge_markdown::line as unmarked;
use askbridge_os::terminal::{cut, printable_json, printable_line};
use serde::Serialize;

use super::{
    answer::{ending, separable},
    subject,
};

/// The most columns of a question in a sentence.
const HEADING: usize = 80;
/// Shown where nothing is known, or nothing applies.
pub const NONE: &str = "-";
/// Programs that fetch another program and run it. The name of that program is the one to show.
const LAUNCHERS: [&str; 4] = ["npx", "bunx", "pnpx", "uvx"];

/// Returns a value as JSON, over several lines.
pub fn json(value: &impl Serialize) -> io::Result<String> {
    Ok(printable_json(&serde_json::to_string_pretty(value)?).into_owned() + "\n")
}

/// Returns a value as JSON on one line.
pub fn json_line(value: &impl Serialize) -> io::Result<String> {
    Ok(printable_json(&serde_json::to_string(value)?).into_owned() + "\n")
}

/// Returns a time span in one unit.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns a time span in one unit: milliseconds below a second, else as [`span`].
pub fn precise(time: Duration) -> String {
    if time < Duration::from_secs(1) { format!("{}ms", time.as_millis()) } else { span(time) }
}

/// Returns how long ago a time is.
pub fn since(time: Timestamp) -> Duration {
    Timestamp::from(SystemTime::now()).since(time)
}

/// Returns where a question is shown, or that its answer is on its way to the agent.
pub fn place(record: &Record) -> &'static str {
    match record.state {
        State::Delivering => "delivering",
        _ if record.later.is_some() => "later",
        _ if record.turn_over => "turn over",
        _ if record.elsewhere => "elsewhere",
        _ => "client",
    }
}

/// A submission takes less than this.
const MOMENT: Duration = Duration::from_secs(1);

/// Returns until when a question is set aside, as the result of that. `is_wanted`: it was not brought back.
pub fn aside(record: &Record, now: Timestamp, is_wanted: bool) -> String {
    match record.later {
        // The moment that has passed since it was said is no part of it.
        Some(later) => format!("set aside: back in {}", span(later.since(now) + MOMENT)),
        None if is_wanted => "not set aside: it ends too soon".to_owned(),
        None => "back in the list".to_owned(),
    }
}

/// Returns what has happened to a question since it was asked, and what that means for an answer.
pub fn since_asked(record: &Record) -> Vec<String> {
    let mut said = Vec::new();
    if record.edition > 0 && record.is_open() {
        let edition = record.edition;
        said.push(format!("changed since it was asked: this is edition {edition} (--seen {edition})"));
    }
    if record.turn_over {
        said.push(match record.is_open() {
            true => "its turn is over: the agent may not read an answer".to_owned(),
            false => "its turn was over: the agent may not have read an answer".to_owned(),
        });
    }
    said
}

/// Returns a text on one line, cut to at most `most` columns.
pub fn short(text: &str, most: usize) -> String {
    cut(&printable_line(text.trim()), most).into_owned()
}

/// Returns a text of an agent as it is meant, on one line: without the signs of Markdown.
pub fn meant(text: &str) -> String {
    line(&unmarked(text.trim()))
}

/// Returns a text on one line, uncut.
pub fn line(text: &str) -> String {
    printable_line(text.trim()).into_owned()
}

/// Returns the short name of an agent. If it gave a command as its name, the short name is that of the program; any
/// other name is unchanged.
pub fn agent(name: &str) -> String {
    let first = name.split_whitespace().next().unwrap_or_default();
    if first.contains('/') || LAUNCHERS.contains(&first) { program(name) } else { name.to_owned() }
}

/// Returns the short name of a bridge's agent: the name that it gives itself, or else that of its command.
pub fn agent_of(bridge: &BridgeStatus) -> String {
    bridge.named_agent().map_or_else(|| program(&bridge.agent), agent)
}

/// Returns the name of the program that a command runs, without folder, scope and version.
pub fn program(command: &str) -> String {
    let words: Vec<_> = command.split_whitespace().collect();
    let first = words.first().map_or("", |word| last_part(word));
    // Our own subcommands ask too, such as `askbridge ask`. The name of the program alone would not tell them apart.
    if let (env!("CARGO_PKG_NAME"), [_, subcommand, ..]) = (first, &*words) {
        return format!("{first} {subcommand}");
    }
    let launched = match LAUNCHERS.contains(&first) {
        // Options of the launcher, such as `-y`, precede the program.
        true => words[1..].iter().find(|word| !word.starts_with('-')),
        false => None,
    };
    let name = launched.map_or(first, |word| last_part(word));
    // A leading `@` begins a scope, not a version.
    let version = name.char_indices().skip(1).find(|(_, c)| *c == '@');
    version.map_or(name, |(at, _)| &name[..at]).to_owned()
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Returns the last part of the folder that the question's session works in, on one line.
pub fn project(question: &Question) -> Option<String> {
    let folder = question.project.as_deref().filter(|folder| !folder.is_empty())?;
    let name = last_part(folder);
    Some(line(if name.is_empty() { folder } else { name }))
}

/// Returns the other machine that a question waits on, for the end of a sentence: ` on box`. Empty for this machine.
pub fn on_machine(record: &Record) -> String {
    record.bridge.machine().map(|machine| format!(" on {}", short(machine, 40))).unwrap_or_default()
}

/// Returns the whole text of a question: its title and message, and each field with its help and its options. The text
/// is unchanged agent text: a caller that prints it must make it printable first.
pub fn asked(question: &Question) -> String {
    let mut parts: Vec<String> = question.title.iter().cloned().collect();
    parts.push(question.message.clone());
    for field in &question.fields {
        let label = Some(field.label.clone()).filter(|label| *label != question.message);
        let options = field.kind.options().iter().zip(names(field.kind.options()));
        let options = options.map(|(option, name)| match &option.description {
            Some(description) => format!("- {name}: {description}"),
            None => format!("- {name}"),
        });
        let lines: Vec<_> = label.into_iter().chain(field.help.clone()).chain(options).collect();
        parts.push(lines.join("\n"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// Returns the question on one line, without the phrase that an agent writes over every form.
pub fn headline(record: &Record) -> String {
    headline_within(&record.question, HEADING)
}

/// Returns the same, cut to at most `most` columns.
pub fn headline_within(question: &Question, most: usize) -> String {
    title(question, &question.headline(), most)
}

/// Returns a page that the person is to open. Its host comes first: the rest of the address may look like another one.
pub fn page(link: &Link) -> String {
    format!("Open {}:\n{}", link.host, link.url)
}

/// Returns what a list shows of a question, on one line: the command of a permission, or else the headline.
pub fn summary(question: &Question, most: usize) -> String {
    title(question, &question.summary(), most)
}

/// Returns a text on one line, cut to at most `most` columns. A text of several lines is a prompt: the question's own title
/// says more in few words, and otherwise the first line does.
fn title(question: &Question, text: &str, most: usize) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    // Each character of a command counts.
    let is_command = text.starts_with("$ ") || subject::is_command(question, text);
    let first = if is_command { first.to_owned() } else { unmarked(first) };
    if lines.next().is_none() {
        return short(&first, most);
    }
    let is_prompt = question.purpose == Purpose::Question;
    let own = question.title.as_deref().map(str::trim).filter(|own| is_prompt && !own.is_empty());
    match own.filter(|own| !own.contains('\n')) {
        Some(own) => short(own, most),
        None => short(&format!("{first} …"), most),
    }
}

/// Returns how a question was settled if the question itself is not known: values stand behind the names of their
/// fields.
pub fn settlement(settlement: &Settlement) -> String {
    let (ended, detail) = ending(settlement, None, answer);
    ended.into_owned() + &detail.map(|detail| format!(": {detail}")).unwrap_or_default()
}

/// Returns an answer on one line.
pub fn answer(answer: &Answer) -> String {
    let values = answer.values.iter().map(|(name, value)| {
        let values: Vec<_> = values(value).iter().map(|text| separable(text)).collect();
        format!("{}={}", printable_line(name), values.join(", "))
    });
    let notes = answer
        .notes
        .iter()
        .map(|(name, note)| format!("note {}={}", printable_line(name), printable_line(note)));
    let all: Vec<_> = values.chain(notes).collect();
    if all.is_empty() { "nothing to show".to_owned() } else { all.join("; ") }
}

/// Returns the texts of a value.
pub fn values(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text.clone()],
        Value::Many(texts) => texts.clone(),
        Value::Flag(flag) => vec![flag.to_string()],
        Value::Number(number) => vec![number.to_string()],
        Value::Null => vec!["null".to_owned()],
    }
}

/// Returns why a submission was refused, and how the question was settled.
pub fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Conflict(record) | Refusal::Gone(record) => match &record.settlement {
            Some(settled) => {
                format!(
                    "{} ago it was {}",
                    span(since(settled.at)),
                    super::answer::settlement(&record.question, settled)
                )
            }
            None => refusal.to_string(),
        },
        Refusal::Changed(record) => {
            let (id, edition) = (&record.id, record.edition);
            format!(
                "it has changed, and asks now: {}\n`askbridge show {id}` shows all of it, and `--seen {edition}` \
                 answers what it shows",
                super::answer::brief(&record.question.summary())
            )
        }
        Refusal::NotFound => {
            "there is no such question: `askbridge list` shows those that are open".to_owned()
        }
        Refusal::NoDeadline => "it has no deadline: it waits without limit".to_owned(),
        _ => refusal.to_string(),
    }
}

/// Returns the risk of a question, and why. `None` if it has none.
pub fn risk(question: &Question) -> Option<String> {
    let why = question.risk_reason.as_deref().map(printable_line);
    match (question.risk(), question.purpose) {
        (Risk::Plain, _) => None,
        (Risk::Acts, _) => why.map(|why| why.into_owned()),
        (_, Purpose::Permission) => {
            Some(format!("dangerous: {}", why.as_deref().unwrap_or("it can do harm")))
        }
        _ => Some("dangerous: a wrong answer can do harm".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_agent_is_named_in_short() {
        for (said, short) in [
            ("Claude Agent", "Claude Agent"),
            ("@zed-industries/claude-code-acp", "claude-code-acp"),
            ("/opt/bin/agent --acp", "agent"),
            ("npx -y @zed-industries/claude-code-acp@0.9.1", "claude-code-acp"),
        ] {
            assert_eq!(agent(said), short, "{said}");
        }
        for (command, name) in [
            ("gemini --acp", "gemini"),
            ("uvx agent@latest", "agent"),
            ("npx", "npx"),
            ("/opt/askbridge ask", "askbridge ask"),
            ("", ""),
            ("/", ""),
        ] {
            assert_eq!(program(command), name, "{command}");
        }
    }

    #[test]
    fn all_that_is_asked_is_plain_text() {
        let fields = serde_json::json!([
            { "name": "a", "label": "Which?", "help": "Choose well.", "kind": "choice", "options": [
                { "value": "x", "label": "X", "description": "the first" }, { "value": "y", "label": "Y" },
            ] },
            { "name": "b", "label": "Why?", "kind": "text" },
        ]);
        let fields = serde_json::from_value(fields).expect("fields");
        let mut question = Question::new(askbridge_core::question::Origin::Kiro, "q", fields);
        question.title = Some("Setup".to_owned());
        assert_eq!(asked(&question), "Setup\n\nWhich?\nChoose well.\n- X: the first\n- Y\n\nWhy?");
        question.message = "Why?".to_owned();
        question.fields.remove(0);
        assert_eq!(asked(&question), "Setup\n\nWhy?");
    }

    #[test]
    fn a_title_is_one_short_line() {
        let script = format!("$ {}", "echo one\n".repeat(62));
        let long = format!("Which one? {}", "x".repeat(99));
        for (title, message, expected) in [
            (None, "Which one?", "Which one?"),
            (Some("Setup"), "Which one?", "Which one?"),
            (Some("Setup"), "# Plan\n\nMany lines\n", "Setup"),
            (None, "\n  # Plan\n\nMany lines", "Plan …"),
            (None, "# Which **one**? `a`", "Which one? a"),
            (None, "$ echo **/*.rs `b`", "$ echo **/*.rs `b`"),
            (Some(" "), "One\r\nTwo", "One …"),
            (Some("a\nb"), "One\nTwo", "One …"),
            (None, &script, "$ echo one …"),
            (None, &long, &format!("Which one? {}…", "x".repeat(28))),
            (None, "a\u{1b}[2J", "a␛[2J"),
        ] {
            let mut question = Question::new(askbridge_core::question::Origin::Program, "q", Vec::new());
            (question.title, question.message) = (title.map(str::to_owned), message.to_owned());
            assert_eq!(summary(&question, 40), expected, "{title:?} {message:?}");
        }
    }

    #[test]
    fn span_has_one_unit() {
        for (seconds, said) in
            [(0, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), said);
        }
    }

    #[test]
    fn time_in_the_other_direction_is_none_away() {
        let past = Timestamp::default();
        assert_eq!(since(past.after(Duration::MAX)), Duration::ZERO);
        assert!(since(past) > Duration::from_secs(1));
    }

    #[test]
    fn answer_is_one_printable_line() {
        let values = BTreeMap::from([
            ("a".to_owned(), Value::Many(vec!["x".to_owned(), "y\nz".to_owned()])),
            ("b".to_owned(), Value::Flag(true)),
        ]);
        let notes = BTreeMap::from([("a".to_owned(), "\x1b".to_owned())]);
        assert_eq!(
            answer(&Answer { values, notes, ..Answer::default() }),
            "a=x, y\u{240a}z; b=true; note a=\u{241b}"
        );
        assert_eq!(answer(&Answer::default()), "nothing to show");
    }
}
