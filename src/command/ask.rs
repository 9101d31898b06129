//! `askbridge ask`: a program on this machine asks, and waits. For that time it is like a bridge: the other commands
//! find its question as they find those of agents.

use std::{
    fs,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value as Json, json};

use super::{
    CommandError,
    own::Own,
    run::{done, say},
};
use crate::{
    control::{BridgeInbox, Inbox},
    desk::Settlement,
    dialect, exit,
    present::text,
    question::{Origin, Outcome, Question, Reason},
    signals::Signals,
    terminal::printable,
    wire::method::REQUEST_QUESTION,
};

/// The name of the asker, as the other commands show it.
const ASKER: &str = "askbridge ask";

/// What `ask` asks, and what it prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskOptions {
    /// The text of the question.
    pub question: Option<String>,
    /// The options, as `VALUE` or `VALUE=LABEL`. Without any, the answer is a text.
    pub options: Vec<String>,
    /// Lets several options be chosen.
    pub many: bool,
    /// Takes a text that is no option as well.
    pub other: bool,
    /// The file that has the whole question as JSON; `-` is stdin.
    pub form: Option<PathBuf>,
    /// How long to wait. `None` waits for as long as it takes.
    pub timeout: Option<Duration>,
    /// Prints JSON, whatever became of the question.
    pub json: bool,
}

/// Asks, waits, and prints the answer.
pub async fn ask(options: &AskOptions) -> Result<u8, CommandError> {
    let question = question(options)?;
    let names: Vec<_> = question.fields.iter().map(|field| field.name.clone()).collect();
    let mut signals = Signals::catch()?;
    let mut own = Own::bind(ASKER).map_err(|error| CommandError::Ask(error.to_string()))?;
    own.start()?;
    let settled = tokio::select! {
        settled = settled(&own.inbox, question) => settled?,
        code = signals.next() => return Ok(code),
    };
    let code = code(&settled);
    if options.json {
        return Ok(done(code, &text::json(&settled)?));
    }
    let Outcome::Answered(answer) = &settled.outcome else { return Ok(code) };
    let values = names.iter().filter_map(|name| answer.values.get(name));
    Ok(done(code, &lines(values.flat_map(text::values))))
}

/// Returns the exit code that says how the question was settled, and says it on stderr unless it was answered.
fn code(settled: &Settlement) -> u8 {
    match settled.outcome {
        Outcome::Answered(_) => exit::OK,
        Outcome::Rejected(Reason::Timeout) => {
            say("no answer came in time");
            exit::TIMED_OUT
        }
        Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_) => {
            say(&format!("the question was {}", text::settlement(settled)));
            exit::REJECTED
        }
    }
}

/// Asks, and says on stderr how the question can be answered.
async fn settled(inbox: &BridgeInbox, question: Question) -> Result<Settlement, CommandError> {
    let mut follower = inbox.store().follow();
    let asked = inbox.ask(question);
    tokio::pin!(asked);
    let mut said = false;
    let settled = loop {
        tokio::select! {
            settled = &mut asked => break settled,
            // Later changes, such as of the deadline, are no news to the program that asked.
            Some(_) = follower.next(), if !said => {
                if let Some(record) = inbox.store().read(|_, snapshot| snapshot.open()).first() {
                    let id = &record.id;
                    say(&format!("question {id} waits: askbridge show {id}, askbridge answer {id} VALUE"));
                    said = true;
                }
            }
        }
    };
    settled.map_err(|refusal| CommandError::Ask(refusal.to_string()))
}

/// Prints each value on a line of its own: as it is for a program, and made printable for a terminal.
fn lines(values: impl Iterator<Item = String>) -> String {
    let text: String = values.map(|value| value + "\n").collect();
    if io::stdout().is_terminal() { printable(&text).into_owned() } else { text }
}

/// Reads the question to ask.
fn question(options: &AskOptions) -> Result<Question, CommandError> {
    let params = match &options.form {
        Some(path) => form(path).map_err(|source| CommandError::Read { path: path.clone(), source })?,
        None => simple(options).to_string().into_bytes(),
    };
    let asked = dialect::read(REQUEST_QUESTION, &params, "ask");
    let asked = asked.map_err(CommandError::Ask)?;
    let mut question = asked.ok_or_else(|| CommandError::Ask("that is no question".to_owned()))?.question;
    question.origin = Origin::Program;
    question.session = question.session.filter(|session| !session.is_empty());
    question.timeout = options.timeout.or(question.timeout);
    Ok(question)
}

fn form(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn simple(asked: &AskOptions) -> Json {
    let options = asked.options.iter().map(|option| match option.split_once('=') {
        Some((value, label)) => json!({ "value": value, "label": label }),
        None => json!({ "value": option, "label": option }),
    });
    let options: Vec<_> = options.collect();
    let (question, many, other) = (&asked.question, asked.many, asked.other);
    json!({ "questions": [{ "question": question, "options": options, "multiple": many, "custom": other }] })
}
