//! `askbridge completions`, `man` and the hidden `complete`: scripts for shells, man pages, and the candidates for the
//! word that is being typed, open questions and their options among them.
//! Commands, options and paths are completed from clap's own description of the command line.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use askbridge_control::{
    inbox::Inbox,
    join::{JoinedInbox, Places, Reach},
    rpc::client::Depth,
};
use askbridge_core::{
    desk::{IdPrefix, Record},
    question::{
        Field, FieldOption, Kind, Purpose, Question,
        naming::{self, Named},
    },
};
use askbridge_os::{signals, terminal::printable_line};
use clap::{Args, ValueEnum};

use crate::present::text;

/// Where the scripts of `askbridge completions` belong.
const COMPLETIONS_HELP: &str = "\
Completes commands and options, the IDs of open questions, their options, and the agent's command \
behind `--`.

Where a script belongs, for one user:
  bash  ~/.local/share/bash-completion/completions/askbridge
  zsh   _askbridge in a directory of $fpath
  fish  ~/.config/fish/completions/askbridge.fish
such as
  askbridge completions fish > ~/.config/fish/completions/askbridge.fish
For all users, packages put it into bash-completion/completions, zsh/site-functions and \
fish/vendor_completions.d below /usr/share.";

/// Options of `askbridge completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// A shell that completes command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// With open questions and their options
    Bash,
    /// With open questions and their options
    Zsh,
    /// With open questions and their options
    Fish,
    /// Commands and options only
    Elvish,
    /// Commands and options only
    Powershell,
}

/// Where the pages of `askbridge man` belong.
const MAN_HELP: &str = "\
Writes askbridge.1, and one page for each command, such as askbridge-run.1. `man` finds them in \
~/.local/share/man/man1 or /usr/local/share/man/man1.";

/// Options of `askbridge man`.
#[derive(Debug, Args)]
#[command(after_help = MAN_HELP)]
pub struct ManArgs {
    /// The directory, which is created if it does not exist
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Options of `askbridge complete`.
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words after the name of the program; the last one is to be completed
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

impl CompletionsArgs {
    /// Prints the script for the shell.
    ///
    /// # Errors
    /// Stdout cannot be written to.
    pub fn print(&self, command: clap::Command) -> io::Result<()> {
        io::stdout().write_all(&self.script(command))
    }

    fn script(&self, mut command: clap::Command) -> Vec<u8> {
        let mut generated = |shell| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "askbridge", &mut script);
            script
        };
        match self.shell {
            // These scripts call `askbridge complete`, which knows the open questions. Those of clap know nothing of
            // them.
            Shell::Bash => include_bytes!("shell/askbridge.bash").to_vec(),
            Shell::Zsh => include_bytes!("shell/askbridge.zsh").to_vec(),
            Shell::Fish => include_bytes!("shell/askbridge.fish").to_vec(),
            Shell::Elvish => generated(clap_complete::Shell::Elvish),
            Shell::Powershell => generated(clap_complete::Shell::PowerShell),
        }
    }
}

impl ManArgs {
    /// Writes the man pages.
    ///
    /// # Errors
    /// The directory cannot be made or written to.
    pub fn write(&self, command: clap::Command) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        clap_mangen::generate_to(command, Path::new(&self.directory))
    }
}

impl CompleteArgs {
    /// Prints the candidates for the last word, a line for each: the word, a tab, and what it means.
    ///
    /// # Errors
    /// Stdout cannot be written to.
    pub fn print(&self, command: clap::Command) -> io::Result<()> {
        io::stdout().write_all(self.candidates(command).as_bytes())
    }

    fn candidates(&self, mut command: clap::Command) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        command.build();
        let offers = offers(&words, &command).unwrap_or_else(|| self.of_clap(command));
        let lines = offers.iter().map(|Offer { word, meaning }| {
            let first = meaning.lines().next().unwrap_or_default();
            format!("{word}\t{}\n", printable_line(first))
        });
        lines.collect()
    }

    /// Returns the candidates that clap finds: commands, options, and their values.
    fn of_clap(&self, mut command: clap::Command) -> Vec<Offer> {
        let args: Vec<_> =
            [OsString::from("askbridge")].into_iter().chain(self.words.iter().cloned()).collect();
        let (last, folder) = (args.len() - 1, std::env::current_dir().ok());
        let found = clap_complete::engine::complete(&mut command, args, last, folder.as_deref());
        let offers = found.unwrap_or_default().into_iter().map(|candidate| Offer {
            word: candidate.get_value().to_string_lossy().into_owned(),
            meaning: candidate.get_help().map(ToString::to_string).unwrap_or_default(),
        });
        // A word that has characters which cannot be printed cannot be typed either.
        offers.filter(|offer| printable_line(&offer.word) == offer.word).collect()
    }
}

/// How long a completion waits for bridges that do not reply: the person has pressed a key, and waits as well.
const PATIENCE: Duration = Duration::from_millis(500);
/// The commands that take an ID.
const TAKE_ID: [&str; 5] = ["show", "answer", "allow", "reject", "extend"];
/// The commands of `rules` that take an ID.
const RULES_TAKE_ID: [&str; 2] = ["try", "apply"];
/// The options of `answer` whose value begins with the name of a field.
const TAKE_NAME: [&str; 3] = ["--field", "--text", "--note"];

/// A completion: the word to insert, and its description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The word, without the quotation marks that a shell may need.
    pub word: String,
    /// Its meaning, for the user.
    pub meaning: String,
}

/// Returns the completions of a command line; `None` if its last word is neither an ID nor a part of an answer. `command`
/// is clap's description of the whole command line, which is built.
pub fn offers(words: &[String], command: &clap::Command) -> Option<Vec<Offer>> {
    let wanted = CompletionTarget::read(words, command)?;
    // An error has no place in the line that is being typed, so there are no offers then.
    let open = open().unwrap_or_default();
    let current = words.last().map(String::as_str).unwrap_or_default();
    Some(wanted.offers(&open, current))
}

/// Returns the questions of this machine that are open now.
fn open() -> Option<Vec<Arc<Record>>> {
    let runtime = signals::runtime().ok()?;
    let places = Places::here().ok()?;
    // The options of a question are only in its whole record.
    // Machines that no process is connected to are left out: that would take too long.
    let reach = Reach { machines: places.all(), ..Reach::from(&places) };
    let joined = runtime.block_on(JoinedInbox::glance(reach, Depth::Whole, PATIENCE)).ok()?;
    Some(joined.store().read(|_, snapshot| snapshot.open()))
}

/// The meaning of the last word of a command line.
#[derive(Debug, PartialEq, Eq)]
enum CompletionTarget<'a> {
    /// An ID.
    Id,
    /// The ID of a permission.
    Permission,
    /// The answer to the field at this place of the question with this ID.
    Value(&'a str, usize),
    /// The name of a field of the question with this ID, and `=`.
    Name(&'a str),
    /// The name of a field of the question with this ID, `=`, and the answer to that field.
    Named(&'a str),
}

impl<'a> CompletionTarget<'a> {
    fn read(words: &'a [String], command: &clap::Command) -> Option<Self> {
        let (current, before) = words.split_last()?;
        let takes_id = |at: usize| match &before[..=at] {
            [.., rules, word] if rules == "rules" && RULES_TAKE_ID.contains(&word.as_str()) => {
                Some((at, command.find_subcommand(rules)?.find_subcommand(word)?))
            }
            [.., word] if TAKE_ID.contains(&word.as_str()) => Some((at, command.find_subcommand(word)?)),
            _ => None,
        };
        let (at, command) = (0..before.len()).find_map(takes_id)?;
        let (mut places, mut pending): (Vec<&str>, Option<&str>) = (Vec::new(), None);
        let mut given = Vec::new();
        for word in &before[at + 1..] {
            let Some(option) = word.strip_prefix("--").filter(|_| pending.is_none()) else {
                if pending.take().is_none() {
                    places.push(word);
                }
                continue;
            };
            let name = option.split('=').next();
            let known = command.get_arguments().find(|known| known.get_long() == name);
            if !option.contains('=') && known.is_none_or(|known| known.get_action().takes_values()) {
                pending = Some(word);
            }
            given.extend(known);
        }
        // An ID or an answer that clap would refuse beside one of these options is not offered.
        let next = command.get_positionals().nth(places.len().min(1))?;
        let conflicts = |known: &&clap::Arg| command.get_arg_conflicts_with(known).contains(&next);
        if pending.is_none() && given.iter().any(conflicts) {
            return None;
        }
        match (pending, &*places) {
            (Some("--field"), [id, ..]) => Some(CompletionTarget::Named(id)),
            (Some(option), [id, ..]) if TAKE_NAME.contains(&option) => Some(CompletionTarget::Name(id)),
            (Some(_), _) => None,
            (None, _) if current.starts_with('-') => None,
            (None, []) if matches!(before[at].as_str(), "allow") => Some(CompletionTarget::Permission),
            (None, []) => Some(CompletionTarget::Id),
            (None, [id, values @ ..]) if before[at] == "answer" => {
                Some(CompletionTarget::Value(id, values.len()))
            }
            (None, _) => None,
        }
    }

    fn offers(&self, open: &[Arc<Record>], current: &str) -> Vec<Offer> {
        let question = |id: &str| {
            let typed: IdPrefix = id.parse().ok()?;
            // A short ID that fits several questions means none of them: the options of a wrong one would mislead.
            let mut fitting = open.iter().filter(|record| typed.matches(&record.id));
            fitting.next().filter(|_| fitting.next().is_none()).map(|record| &*record.question)
        };
        match self {
            CompletionTarget::Id => ids(open, current),
            CompletionTarget::Permission => {
                let permissions = open.iter().filter(|record| record.question.purpose == Purpose::Permission);
                ids(permissions, current)
            }
            CompletionTarget::Name(id) => {
                question(id).map(|question| names(question, current)).unwrap_or_default()
            }
            CompletionTarget::Named(id) => {
                question(id).map(|question| named(question, current)).unwrap_or_default()
            }
            CompletionTarget::Value(id, place) => {
                let field = question(id).and_then(|question| match &*question.fields {
                    // If there is only one field, each typed value is another one of its options.
                    [field @ Field { kind: Kind::Choices { .. }, .. }] => Some(field),
                    fields => fields.get(*place),
                });
                field.map(|field| values(field, current)).unwrap_or_default()
            }
        }
    }
}

fn ids<'a>(open: impl IntoIterator<Item = &'a Arc<Record>>, current: &str) -> Vec<Offer> {
    let offers =
        open.into_iter().map(|record| Offer { word: record.id.to_string(), meaning: text::headline(record) });
    offers.filter(|offer| offer.word.starts_with(current)).collect()
}

fn names(question: &Question, current: &str) -> Vec<Offer> {
    let offers = question.fields.iter().map(|field| Offer {
        word: format!("{}=", field.name),
        meaning: printable_line(&field.label).into_owned(),
    });
    let goes_on = |word: &str| word.starts_with(current) && word != current;
    offers.filter(|offer| can_be_typed(&offer.word) && goes_on(&offer.word)).collect()
}

/// Returns the names of the fields or, behind a typed name and `=`, the values of that field.
fn named(question: &Question, current: &str) -> Vec<Offer> {
    let typed = question.fields.iter().find_map(|field| {
        let rest = current.strip_prefix(&*field.name)?.strip_prefix('=')?;
        Some((field, rest))
    });
    let Some((field, rest)) = typed else { return names(question, current) };
    let behind = |offer: Offer| Offer { word: format!("{}={}", field.name, offer.word), ..offer };
    values(field, rest).into_iter().map(behind).collect()
}

/// Returns the values of a field, as far as they can be listed.
fn values(field: &Field, current: &str) -> Vec<Offer> {
    // Of several options, those before the last comma are chosen already.
    let chosen = match &field.kind {
        Kind::Choices { .. } => current.rfind(',').map_or("", |comma| &current[..=comma]),
        _ => "",
    };
    let rest = current[chosen.len()..].trim_start();
    let options = match &field.kind {
        Kind::Boolean { .. } => vec![plain("yes"), plain("no")],
        Kind::Confirm { yes, no } => vec![plain(yes), plain(no)],
        kind => kind.options().to_vec(),
    };
    let offers = (1..).zip(&options).filter_map(|(place, option)| {
        let word = word(place, &options, rest)?;
        let is_chosen =
            chosen.split(',').any(|part| [&option.value, &option.label].contains(&&part.trim().to_owned()));
        let description = option.description.as_deref().unwrap_or_default();
        let meaning = if word == option.label { description } else { &option.label };
        (!is_chosen)
            .then(|| Offer { word: format!("{chosen}{word}"), meaning: printable_line(meaning).into_owned() })
    });
    offers.collect()
}

fn plain(word: &str) -> FieldOption {
    FieldOption { value: word.to_owned(), label: word.to_owned(), ..FieldOption::default() }
}

/// Returns the word for an option, if it begins with what is typed: the label, the value, or the number if neither of
/// them can be typed.
fn word(place: usize, options: &[FieldOption], typed: &str) -> Option<String> {
    let option = options.get(place.checked_sub(1)?)?;
    // Not a label that is refused because another option has it as well.
    let label = matches!(naming::named(&option.label, options), Named::One(_)).then_some(&*option.label);
    let words = label.into_iter().chain([&*option.value]);
    // A word with a comma in it may be read as several options.
    let mut can_be_typed = words.filter(|word| can_be_typed(word) && !word.contains(',')).peekable();
    if can_be_typed.peek().is_none() {
        let number = place.to_string();
        return number.starts_with(typed).then_some(number);
    }
    can_be_typed.find(|word| word.starts_with(typed)).map(str::to_owned)
}

/// Returns whether an agent's text can be typed on a command line: all its characters are printable, and it does not
/// look like an option of the command.
fn can_be_typed(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && printable_line(word) == word
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::json;

    use super::*;
    use crate::command::cli::Cli;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_last_word_is_an_id_a_value_or_a_name() {
        let mut command = Cli::command();
        command.build();
        for (words, wanted) in [
            (&["answer", ""][..], Some(CompletionTarget::Id)),
            (&["--log", "debug", "show", "--json", "k"], Some(CompletionTarget::Id)),
            (&["answer", "k-1", ""], Some(CompletionTarget::Value("k-1", 0))),
            (&["answer", "k-1", "a", "--note", "n", "b"], Some(CompletionTarget::Value("k-1", 1))),
            (&["answer", "--field=q0=x", "k-1", ""], Some(CompletionTarget::Value("k-1", 0))),
            (&["answer", "k-1", "--field", ""], Some(CompletionTarget::Named("k-1"))),
            (&["answer", "k-1", "--note", ""], Some(CompletionTarget::Name("k-1"))),
            (&["answer", "k-1", "--"], None),
            (&["reject", "k-1", ""], None),
            (&["reject", "k-1", "--reason", ""], None),
            (&["list", ""], None),
            (&["rules", "try", ""], Some(CompletionTarget::Id)),
            (&["rules", "apply", "--yes", ""], Some(CompletionTarget::Id)),
            (&["rules", "apply", "k-1", ""], None),
            (&["rules", "try", "--history", ""], None),
            (&["rules", "try", "--since", "1h", ""], Some(CompletionTarget::Id)),
            (&["rules", "try", "--"], None),
            (&["answer", "--again", ""], Some(CompletionTarget::Id)),
            (&["answer", "--again", "k-1", "--log", ""], None),
            (&["answer", "k-1", "--again", ""], None),
            (&["show", "--json", "--log", "debug", "--log-format=json", ""], Some(CompletionTarget::Id)),
            (&["apply", ""], None),
            (&[], None),
        ] {
            assert_eq!(CompletionTarget::read(&strings(words), &command), wanted, "{words:?}");
        }
    }

    fn open(fields: &serde_json::Value) -> Vec<Arc<Record>> {
        let question = json!({
            "questionId": "q", "message": "Which?", "fields": fields, "origin": "kiro", "dangerous": false, "blocking": true,
        });
        let records = ["k3-1", "k3-2"].map(|id| {
            let record =
                json!({ "id": id, "bridge": "k3", "question": question, "openedAt": "2026-11-21T12:00:00Z" });
            Arc::new(serde_json::from_value(record).expect("a record"))
        });
        records.into()
    }

    fn offered(wanted: &CompletionTarget<'_>, open: &[Arc<Record>], current: &str) -> Vec<(String, String)> {
        wanted.offers(open, current).into_iter().map(|offer| (offer.word, offer.meaning)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(word, meaning)| ((*word).to_owned(), (*meaning).to_owned())).collect()
    }

    #[test]
    fn ids_are_offered_with_their_question_and_names_with_their_label() {
        let open = open(&json!([{ "name": "q0", "label": "Why\n?", "kind": "text" }]));
        assert_eq!(offered(&CompletionTarget::Id, &open, "k3-2"), pairs(&[("k3-2", "Which?")]));
        assert_eq!(offered(&CompletionTarget::Id, &open, "").len(), 2);
        assert_eq!(offered(&CompletionTarget::Name("k3-1"), &open, ""), pairs(&[("q0=", "Why\u{240a}?")]));
        assert_eq!(offered(&CompletionTarget::Name("k3"), &open, ""), [], "it is ambiguous");
        assert_eq!(offered(&CompletionTarget::Name("k3-1"), &open, "q0="), [], "nothing is left to type");
    }

    #[test]
    fn the_only_field_is_offered_one_option_or_several() {
        let options = json!([{ "value": "a", "label": "Auth" }, { "value": "b", "label": "Billing" }]);
        let field =
            |kind: &str| open(&json!([{ "name": "q0", "label": "?", "kind": kind, "options": options }]));
        let second = CompletionTarget::Value("k3-1", 1);
        assert_eq!(offered(&second, &field("choices"), "B"), pairs(&[("Billing", "")]));
        assert_eq!(offered(&second, &field("choice"), "B"), []);
    }

    #[test]
    fn options_are_offered_by_label_unless_that_cannot_be_typed() {
        let options = json!([
            { "value": "a", "label": "Auth", "description": "Who\nis it" },
            { "value": "b", "label": "Bi\u{1b}lling" },
            { "value": "x\n", "label": "-rf" },
            { "value": "s, t", "label": "Search" },
        ]);
        let open = open(&json!([
            { "name": "q0", "label": "?", "kind": "choices", "options": options },
            { "name": "q1", "label": "?", "kind": "confirm", "yes": "Do it", "no": "Leave it" },
        ]));
        let first = CompletionTarget::Value("k3-1", 0);
        assert_eq!(
            offered(&first, &open, ""),
            pairs(&[("Auth", "Who\u{240a}is it"), ("b", "Bi\u{241b}lling"), ("3", "-rf"), ("Search", "")])
        );
        assert_eq!(offered(&first, &open, "Auth,S"), pairs(&[("Auth,Search", "")]));
        assert_eq!(offered(&first, &open, "Auth, A"), []);
        assert_eq!(
            offered(&CompletionTarget::Named("k3-1"), &open, "q"),
            pairs(&[("q0=", "?"), ("q1=", "?")])
        );
        assert_eq!(
            offered(&CompletionTarget::Named("k3-1"), &open, "q0=Auth,S"),
            pairs(&[("q0=Auth,Search", "")])
        );
        assert_eq!(offered(&CompletionTarget::Value("k3-1", 1), &open, "D"), pairs(&[("Do it", "")]));
        assert_eq!(offered(&CompletionTarget::Value("k3-1", 2), &open, ""), []);
    }
}
