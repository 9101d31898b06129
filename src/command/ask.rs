//! `askbridge ask`: a program on this machine asks, and waits. While it waits, it acts like a bridge: the other
//! commands find its question as they find an agent's.

use std::{
    env, fs,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use askbridge_control::inbox::{BridgeInbox, Inbox};
use askbridge_core::{
    desk::{Record, Settlement, Timestamp},
    dialect,
    question::{Origin, Question},
    wire::method::REQUEST_QUESTION,
};
use askbridge_os::{exit, signals::Signals};
use askbridge_web::new_question::NewQuestion;
use clap::{ArgGroup, Args};
use serde_json::{Map, Value as Json, json};

use super::{
    CommandError, Context, arguments, keeper,
    outcome::{AskedForm, tell, waits},
    runner::{done, say},
};
use crate::{limits, present::text, service::OwnInbox};

/// The name of this command as the agent of its questions.
pub(super) const ASKER: &str = "askbridge ask";
/// The maximum size of a form in bytes. The limits of a question are stricter, but apply only to a form that was
/// parsed.
const LONGEST_FORM: usize = 2 * limits::QUESTION;

/// The output of `askbridge ask`, and its exit codes.
const HELP: &str = "\
Prints the answer, one value a line; with --confirm, yes or no. The other commands find the \
question like an agent's. It is withdrawn when this command is interrupted; with --key or --detach, it \
stays open until its timeout.

  askbridge ask --confirm 'Deploy?' && ./deploy
  where=$(askbridge ask 'Where?' --option eu=Europe --option us=America) &&
    ./deploy --region \"$where\"
  askbridge ask --key deploy-42 --confirm 'Deploy 42?' && ./deploy 42

Exit codes:
  0        the question was answered; with --confirm, with yes
  1        the question was rejected; with --confirm, it was answered with no
  2        the command line was not understood
  7        with --confirm, the question was rejected: neither yes nor no
  124      no answer came in time
  125      the question could not be asked
  128 + N  signal N interrupted the command";

/// Options of `askbridge ask`.
#[derive(Debug, Default, Args)]
#[command(after_help = HELP, group = ArgGroup::new("asked").required(true))]
pub struct AskArgs {
    /// The question
    #[arg(value_name = "QUESTION", group = "asked", value_parser = arguments::text)]
    pub text: Option<String>,

    /// The question, if it begins with a dash
    #[arg(long, value_name = "TEXT", group = "asked", value_parser = arguments::text, allow_hyphen_values = true)]
    pub question: Option<String>,

    /// Ask a yes-or-no question, and exit with 0 for yes, with 1 for no
    #[arg(long, value_name = "TEXT", group = "asked", value_parser = arguments::text, conflicts_with = "option")]
    pub confirm: Option<String>,

    /// An option: its value, and the label to show in place of it; `\=` is a `=` in the value (can be repeated)
    /// [default: free text]
    #[arg(long, value_name = "VALUE[=LABEL]", value_parser = arguments::text, allow_negative_numbers = true)]
    pub option: Vec<String>,

    /// Allow several options to be chosen
    #[arg(long, requires = "option")]
    pub many: bool,

    /// Accept free text as well as the options
    #[arg(long, visible_alias = "free", requires = "option")]
    pub other: bool,

    /// Read the whole question from a file, or from stdin if it is `-`, as JSON: the body of `POST /v1/questions`, such
    /// as {"message": "Deploy?", "fields": [{"name": "go", "label": "Where to?", "kind": "text"}]}. The parameters of
    /// `_sandboxagent/session/request_question` work as well: {"prompt": "Deploy?", "options": ["yes", "no"]}
    #[arg(long, value_name = "FILE", group = "asked", conflicts_with_all = ["option", "many", "other"])]
    pub form: Option<PathBuf>,

    /// Ask a question that outlives this command, this inbox and a restart: the same question under the same key is the
    /// same one, whose answer is printed again. `askbridge inbox` keeps it, and is started if none runs
    #[arg(long, value_name = "KEY", value_parser = arguments::key)]
    pub key: Option<String>,

    /// Print the ID of the question and end: `askbridge wait ID` prints the answer
    #[arg(long, conflicts_with = "json")]
    pub detach: bool,

    /// How long to wait, such as 90s, 10m or 500ms [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = arguments::timeout)]
    pub timeout: Option<humantime::Duration>,

    /// The name that `list` shows as the agent of this question
    #[arg(long, value_name = "NAME", default_value = ASKER, value_parser = arguments::text)]
    pub agent: String,

    /// Print the result as JSON: the `outcome` of the question, and `by` whom it was settled
    #[arg(long)]
    pub json: bool,
}

/// Asks, waits, and prints the answer.
pub async fn ask(context: &Context, args: &AskArgs) -> Result<u8, CommandError> {
    let question = question(args)?;
    // Signals are caught before a socket is bound, so that no signal leaves one behind.
    let mut signals = Signals::catch()?;
    if args.key.is_some() || args.detach {
        return ask_kept(context, args, &question, signals).await;
    }
    let form = AskedForm::of(&question);
    let mut own = OwnInbox::bind(&args.agent, &context.settings)
        .map_err(|error| CommandError::Ask(error.to_string()))?;
    own.start()?;
    let settled = tokio::select! {
        settled = settled(&own.inbox, question) => settled?,
        code = signals.next() => return Ok(code),
    };
    form.tell(&settled, args.json)
}

/// Asks a question that this command does not hold. An interruption leaves it open.
async fn ask_kept(
    context: &Context,
    args: &AskArgs,
    question: &Question,
    mut signals: Signals,
) -> Result<u8, CommandError> {
    let record = tokio::select! {
        record = keeper::ask(context, question, args.key.as_deref()) => record?,
        code = signals.next() => return Ok(code),
    };
    let id = &record.id;
    if args.detach {
        return Ok(done(exit::OK, &format!("{id}\n")));
    }
    if record.is_open() {
        say(&waits(id));
    }
    tokio::select! {
        over = keeper::over(context, id) => tell(&over?, args.json),
        code = signals.next() => {
            say(&format!("{id} stays open: `askbridge wait {id}` waits for its answer"));
            Ok(code)
        }
    }
}

/// Asks, and says on stderr how the question can be answered. A person at a terminal is also warned before the time is
/// over.
async fn settled(inbox: &BridgeInbox, question: Question) -> Result<Settlement, CommandError> {
    // The store is followed before the question opens, so that its first change is not missed.
    let mut follower = inbox.store().follow();
    let asked = inbox.ask(question);
    tokio::pin!(asked);
    let mut hints = Hints { warns: io::stderr().is_terminal(), ..Hints::default() };
    let settled = loop {
        tokio::select! {
            settled = &mut asked => break settled,
            Some(_) = follower.next() => {
                if let Some(record) = inbox.store().read(|_, snapshot| snapshot.open()).first() {
                    hints.next(record, SystemTime::now().into()).iter().for_each(|hint| say(hint));
                }
            }
        }
    };
    settled.map_err(|refusal| CommandError::Ask(refusal.to_string()))
}

/// The lines on stderr about a question that waits, each of them once.
#[derive(Debug, Default)]
struct Hints {
    /// Whether to warn before the timeout. Only a terminal is warned: a program knows its own timeout.
    warns: bool,
    has_said: bool,
    has_warned: bool,
}

impl Hints {
    /// Returns the lines that are due now.
    fn next(&mut self, record: &Record, now: Timestamp) -> Vec<String> {
        let (id, mut said) = (&record.id, Vec::new());
        if !std::mem::replace(&mut self.has_said, true) {
            said.push(waits(id));
        }
        // An extension clears `expiring`, so the new deadline gets its own warning.
        let is_new = record.expiring && !self.has_warned;
        self.has_warned = record.expiring;
        if let Some(deadline) = record.deadline.filter(|_| self.warns && is_new) {
            let left = text::precise(deadline.since(now));
            said.push(format!("{left} are left: askbridge answer {id} VALUE, or askbridge extend {id} 10m"));
        }
        said
    }
}

/// Reads the question to ask.
fn question(args: &AskArgs) -> Result<Question, CommandError> {
    let mut question = match &args.form {
        Some(path) => {
            let form = form(path).map_err(|source| CommandError::Read { path: path.clone(), source })?;
            of_rest(&form).unwrap_or_else(|| of_request(&form))?
        }
        None => of_request(simple(args)?.to_string().as_bytes())?,
    };
    // What a program asks is not listed as lost: it has no session that could be resumed.
    question.origin = Origin::Program;
    question.session = question.session.filter(|session| !session.is_empty());
    // The plain output has no place for notes.
    question.notes &= args.json;
    question.timeout = args.timeout.map(Into::into).or(question.timeout);
    question.agent = Some(args.agent.as_str().into());
    // The current directory may be gone. A question can do without it.
    question.project = env::current_dir().ok().map(|folder| folder.display().to_string().into());
    Ok(question)
}

/// Reads the parameters of an agent's request.
fn of_request(params: &[u8]) -> Result<Question, CommandError> {
    let asked = dialect::read(REQUEST_QUESTION, params, "ask").map_err(CommandError::Ask)?;
    Ok(asked.ok_or_else(|| CommandError::Ask("the form is not a question".to_owned()))?.question)
}

/// Reads a form that has the members of `POST /v1/questions`. `None` if it has not.
fn of_rest(form: &[u8]) -> Option<Result<Question, CommandError>> {
    let members: Map<String, Json> = serde_json::from_slice(form).ok()?;
    let has = |name: &str| members.contains_key(name);
    if has("prompt") || has("questions") || !(has("fields") || has("schema") || has("subject")) {
        return None;
    }
    let read = || {
        let asked: NewQuestion = serde_json::from_slice(form).map_err(|error| error.to_string())?;
        if asked.subject.is_some() || asked.callback.is_some() {
            return Err(
                "subject, callback: a permission, and a question with a callback, are asked over HTTP: \
                        POST /v1/questions"
                    .to_owned(),
            );
        }
        asked.read().map_err(|refusal| refusal.to_string())
    };
    Some(read().map_err(CommandError::Ask))
}

fn form(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit, so that a form that is too long is noticed and not cut.
    let most = u64::try_from(LONGEST_FORM).unwrap_or(u64::MAX).saturating_add(1);
    match path == Path::new("-") {
        true => io::stdin().lock().take(most).read_to_end(&mut bytes)?,
        false => fs::File::open(path)?.take(most).read_to_end(&mut bytes)?,
    };
    if bytes.len() > LONGEST_FORM {
        let error = format!("it is longer than {LONGEST_FORM} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    Ok(bytes)
}

/// Returns the parameters of a question with one field.
fn simple(asked: &AskArgs) -> Result<Json, CommandError> {
    if let Some(text) = &asked.confirm {
        // The request itself has no field for a yes or a no, so the form is in `_meta`.
        let field = json!({ "name": "q0", "label": text, "kind": "confirm", "yes": "Yes", "no": "No", "required": true });
        return Ok(json!({ "_meta": { "askbridge": { "fields": [field] } } }));
    }
    let options: Vec<_> = asked.option.iter().map(|option| split(option)).collect();
    for (place, (value, label)) in options.iter().enumerate() {
        if [value, label].iter().any(|text| text.trim().is_empty()) {
            return Err(CommandError::Usage("an option is empty: it is VALUE or VALUE=LABEL".to_owned()));
        }
        // An answer could not distinguish two options with the same value or label.
        if options[..place].iter().any(|(before, said)| before == value || said == label) {
            return Err(CommandError::Usage(format!("the option “{label}” is given twice")));
        }
    }
    let options = options.iter().map(|(value, label)| json!({ "value": value, "label": label }));
    let options: Vec<_> = options.collect();
    let question = asked.text.as_ref().or(asked.question.as_ref());
    let (many, other) = (asked.many, asked.other);
    Ok(
        json!({ "questions": [{ "question": question, "options": options, "multiple": many, "custom": other }] }),
    )
}

/// Splits `VALUE=LABEL` at the first `=` that has no backslash before it. Without one, the value is the label.
fn split(option: &str) -> (String, String) {
    let separator = option.match_indices('=').find(|(at, _)| !option[..*at].ends_with('\\'));
    let value = separator.map_or(option, |(at, _)| &option[..at]).replace("\\=", "=");
    let label = separator.map_or_else(|| value.clone(), |(at, _)| option[at + 1..].to_owned());
    (value, label)
}

#[cfg(test)]
mod tests {
    use askbridge_os::exit;

    use super::*;

    #[test]
    fn an_option_is_split_at_the_first_plain_equals_sign() {
        for (option, value, label) in [
            ("a", "a", "a"),
            ("a=A", "a", "A"),
            ("a=b=c", "a", "b=c"),
            (r"http://x?y\=1=A page", "http://x?y=1", "A page"),
            (r"x\=1", "x=1", "x=1"),
            (r"a=b\=c", "a", r"b\=c"),
            ("=A", "", "A"),
            ("a=", "a", ""),
        ] {
            assert_eq!(split(option), (value.to_owned(), label.to_owned()), "{option}");
        }
    }

    #[test]
    fn a_person_is_warned_once_and_again_after_more_time() {
        let mut record: Record = serde_json::from_value(json!({
            "id": "k3f9q2-1", "bridge": "k3f9q2", "openedAt": "2026-11-21T12:00:00Z",
            "deadline": "2026-11-21T12:01:00Z", "question": {
                "questionId": "q", "message": "?", "fields": [], "origin": "program", "dangerous": false, "blocking": true,
            },
        }))
        .expect("a record");
        let now = record.opened_at.after(std::time::Duration::from_secs(48));
        let waits = "question k3f9q2-1 waits: askbridge answer k3f9q2-1 shows it and asks you";
        let left = "12s are left: askbridge answer k3f9q2-1 VALUE, or askbridge extend k3f9q2-1 10m";
        let (mut person, mut program) = (Hints { warns: true, ..Hints::default() }, Hints::default());
        for (expiring, said) in
            [(false, &[waits][..]), (false, &[]), (true, &[left]), (true, &[]), (false, &[]), (true, &[left])]
        {
            record.expiring = expiring;
            assert_eq!(person.next(&record, now), said);
            assert_eq!(program.next(&record, now), &said[..usize::from(said == [waits])]);
        }
        // A change right after the warning is reported together with it.
        let mut late = Hints { warns: true, ..Hints::default() };
        assert_eq!(late.next(&record, now), [waits, left]);
        record.deadline = None;
        assert_eq!(Hints { warns: true, ..Hints::default() }.next(&record, now), [waits]);
    }

    #[test]
    fn empty_and_repeated_options_are_refused() {
        for (options, told) in [
            (&["=A"][..], "an option is empty"),
            (&["a="], "an option is empty"),
            (&["a", "a"], "the option “a” is given twice"),
            (&["a=X", "b=X"], "the option “X” is given twice"),
        ] {
            let options = options.iter().map(|option| (*option).to_owned()).collect();
            let asked = AskArgs { option: options, ..AskArgs::default() };
            let error = simple(&asked).map(|json| json.to_string()).expect_err(told);
            assert!(error.to_string().contains(told), "{error}");
            assert_eq!(error.exit_code(), exit::USAGE);
        }
    }
}
