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
    run::{done, say},
};
use crate::{
    control::{
        self,
        old::{Inbox, Owner, Settlement, Source, host::Host},
    },
    dialect, exit,
    present::text,
    question::{Outcome, Question, Reason},
    signals::Signals,
    terminal::printable,
    wire::method::REQUEST_QUESTION,
};

/// Who asks, as the other commands show it.
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
    // As long as the feed is there, the inbox is open.
    let (inbox, _feed) = control::old::new(Owner::here(ASKER.to_owned()));
    let mut host = Host::bind(inbox.clone()).map_err(|error| CommandError::Ask(error.to_string()))?;
    let settled = tokio::select! {
        settled = settled(&inbox, question) => settled?,
        served = host.serve_visitors() => match served? {},
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

/// Returns the exit code that says what became of the question, and says it on stderr where it was not answered.
fn code(settled: &Settlement) -> u8 {
    match settled.outcome {
        Outcome::Answered(_) => exit::OK,
        Outcome::Rejected(Reason::Timeout) => {
            say("nobody answered in time");
            exit::TIMED_OUT
        }
        Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_) => {
            say(&format!("the question was {}", text::settlement(settled)));
            exit::REJECTED
        }
    }
}

/// Asks, and says how it can be answered.
async fn settled(inbox: &Inbox, question: Question) -> Result<Settlement, CommandError> {
    let mut book = inbox.book();
    let asked = inbox.ask(question);
    tokio::pin!(asked);
    let mut said = false;
    let settled = loop {
        tokio::select! {
            settled = &mut asked => break settled,
            // Whatever else changes in it, such as a deadline, is no news to who asked.
            Ok(()) = book.changed(), if !said => {
                if let Some(view) = book.borrow_and_update().open().first() {
                    let name = &view.id;
                    say(&format!("question {name} waits: askbridge show {name}, askbridge answer {name} VALUE"));
                    said = true;
                }
            }
        }
    };
    settled.map_err(|refusal| CommandError::Ask(refusal.to_string()))
}

/// Says each value on a line of its own: as it is for a program, and so that it does nothing to a terminal.
fn lines(values: impl Iterator<Item = String>) -> String {
    let text: String = values.map(|value| value + "\n").collect();
    if io::stdout().is_terminal() { printable(&text).into_owned() } else { text }
}

/// Reads what is to be asked.
fn question(options: &AskOptions) -> Result<Question, CommandError> {
    let params = match &options.form {
        Some(path) => form(path).map_err(|source| CommandError::Read { path: path.clone(), source })?,
        None => simple(options).to_string().into_bytes(),
    };
    let asked = dialect::read(REQUEST_QUESTION, &params, "ask");
    let asked = asked.map_err(CommandError::Ask)?;
    let mut question = asked.ok_or_else(|| CommandError::Ask("that is no question".to_owned()))?.question;
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
