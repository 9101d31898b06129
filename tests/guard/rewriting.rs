//! No rewriting of a permission that keeps what it does makes it less dangerous: its members in another order, members
//! that come twice or that nobody knows, a kind in other letters, a command in another shape, under another name, deeper or
//! in quotes, a path in other words.

use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde_json::Value as Json;

use crate::guard::asked::asked;
use crate::guard::project::Project;
use crate::guard::shapes::shapes;
use crate::guard::tables::Table;
use crate::guard::tree::Tree;

/// One rewriting. Its number chooses among the places where it can be made.
#[derive(Clone, Copy, Debug)]
enum Rewriting {
    /// The members of an object in another order.
    Turn,
    /// A member twice, with the same value.
    Double,
    /// A member twice, with a value that does nothing before or after it.
    Shadow { before: bool },
    /// A member that nobody knows.
    Add,
    /// A kind in other letters.
    Case,
    /// A command as the list of its words.
    List,
    /// A command under another name.
    Rename(&'static str),
    /// A part of the input within another.
    Nest { in_list: bool },
    /// The words of a command in quotes.
    Quote { double: bool },
    /// The same path in other words.
    Respell(&'static str),
}

/// The names under which agents have commands.
const COMMANDS: [&str; 6] = ["command", "cmd", "script", "fullCommandText", "shell_command", "CommandLine"];

/// The beginnings of a path that mean its folder.
const HERE: [&str; 4] = ["./", "PROJECT/", "PROJECT/./", "src/../"];

fn rewriting() -> impl Strategy<Value = Rewriting> {
    use proptest::sample::select;
    prop_oneof![
        Just(Rewriting::Turn),
        Just(Rewriting::Double),
        any::<bool>().prop_map(|before| Rewriting::Shadow { before }),
        Just(Rewriting::Add),
        Just(Rewriting::Case),
        Just(Rewriting::List),
        select(&COMMANDS[..]).prop_map(Rewriting::Rename),
        any::<bool>().prop_map(|in_list| Rewriting::Nest { in_list }),
        any::<bool>().prop_map(|double| Rewriting::Quote { double }),
        select(&HERE[..]).prop_map(Rewriting::Respell),
    ]
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The name of the member.
    name: &'a str,
    /// Whether it is in the input of a tool, whose members may have any name.
    is_input: bool,
}

impl Rewriting {
    /// Rewrites a value, where it can be at this place. Returns whether it can.
    fn apply(self, tree: &mut Tree, place: Place<'_>) -> bool {
        let rewritten = match (self, &*tree) {
            (Rewriting::Turn, Tree::Object(members)) if members.len() > 1 => {
                Some(Tree::Object(members.iter().rev().cloned().collect()))
            }
            (Rewriting::Double, Tree::Object(members)) => {
                members.first().map(|first| with(members, members.len(), first.clone()))
            }
            (Rewriting::Shadow { before }, Tree::Object(members)) => {
                members.first().and_then(|(name, value)| {
                    let other = (name.clone(), harmless(name, value)?);
                    Some(with(members, if before { 0 } else { members.len() }, other))
                })
            }
            (Rewriting::Add, Tree::Object(members)) => {
                Some(with(members, 0, ("mood".to_owned(), Tree::text("calm"))))
            }
            (Rewriting::Case, Tree::Leaf(Json::String(kind))) if place.name == "kind" => {
                Some(Tree::text(&turned(kind)))
            }
            (Rewriting::List, Tree::Leaf(Json::String(command))) if is_command(place) => {
                words(command).map(|words| Tree::List(words.iter().map(|word| Tree::text(word)).collect()))
            }
            (Rewriting::Rename(name), Tree::Object(members)) if place.is_input => {
                let place = members.iter().position(|(name, _)| COMMANDS.contains(&&**name));
                place.map(|place| {
                    let mut members = members.clone();
                    members[place].0 = name.to_owned();
                    Tree::Object(members)
                })
            }
            (Rewriting::Nest { in_list }, Tree::Object(_)) if place.is_input => {
                let inner = if in_list { Tree::List(vec![tree.clone()]) } else { tree.clone() };
                Some(Tree::Object(vec![("input".to_owned(), inner)]))
            }
            (Rewriting::Quote { double }, Tree::Leaf(Json::String(command))) if is_command(place) => {
                words(command).map(|words| Tree::text(&in_quotes(&words, double)))
            }
            (Rewriting::Respell(here), Tree::Leaf(Json::String(path))) if is_path(place) => {
                let is_relative =
                    !path.starts_with(['/', '~', '$', '%']) && !path.contains(':') && !path.is_empty();
                match path.strip_prefix("PROJECT/") {
                    Some(path) => Some(Tree::text(&format!("PROJECT/{here}{path}"))),
                    None => (is_relative && !path.starts_with("PROJECT") && !path.starts_with("OUTSIDE"))
                        .then(|| Tree::text(&format!("{here}{path}"))),
                }
            }
            _ => None,
        };
        match rewritten {
            Some(rewritten) => {
                *tree = rewritten;
                true
            }
            None => false,
        }
    }

    /// Rewrites the place with this number, of those where it can be. Returns how many there are.
    fn apply_at(self, tree: &mut Tree, place: Place<'_>, count: &mut usize, wanted: Option<usize>) {
        let before = tree.clone();
        if self.apply(tree, place) {
            if Some(*count) == wanted {
                *count += 1;
                return;
            }
            *count += 1;
            *tree = before;
        }
        match tree {
            Tree::Leaf(_) => {}
            Tree::List(items) => {
                // The words of a command are no commands.
                let place = Place { name: "", ..place };
                items.iter_mut().for_each(|item| self.apply_at(item, place, count, wanted));
            }
            Tree::Object(members) => {
                for (name, value) in members {
                    let is_input = place.is_input || matches!(&**name, "rawInput" | "metadata");
                    self.apply_at(value, Place { name, is_input }, count, wanted);
                }
            }
        }
    }
}

fn with(members: &[(String, Tree)], place: usize, member: (String, Tree)) -> Tree {
    let mut members = members.to_vec();
    members.insert(place, member);
    Tree::Object(members)
}

/// Returns a value of the same shape that does nothing.
fn harmless(name: &str, value: &Tree) -> Option<Tree> {
    match (name, value) {
        ("kind" | "type" | "permission", _) => None,
        // Beside an empty text, any other says more.
        (_, Tree::Leaf(Json::String(text))) if text.is_empty() => None,
        (_, Tree::Leaf(Json::String(text))) if text.contains('/') => Some(Tree::text("src/a.rs")),
        (_, Tree::Leaf(Json::String(_))) => Some(Tree::text("ls")),
        (_, Tree::Leaf(Json::Bool(_))) => Some(Tree::Leaf(false.into())),
        (_, Tree::Leaf(_)) => Some(Tree::Leaf(Json::Null)),
        (_, Tree::List(_)) => Some(Tree::List(Vec::new())),
        (_, Tree::Object(_)) => Some(Tree::Object(Vec::new())),
    }
}

fn is_command(place: Place<'_>) -> bool {
    COMMANDS.contains(&place.name)
}

fn is_path(place: Place<'_>) -> bool {
    matches!(place.name, "path" | "file_path" | "filepath" | "target_file" | "fileName")
}

/// Returns a text with its letters in the other case, one by one.
fn turned(text: &str) -> String {
    let mut is_upper = true;
    let turn = |char: char| {
        is_upper = !is_upper;
        if is_upper { char.to_ascii_lowercase() } else { char.to_ascii_uppercase() }
    };
    text.chars().map(turn).collect()
}

/// Returns the words of a command that is nothing but words.
fn words(command: &str) -> Option<Vec<String>> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || " -_./,:+@%^".contains(char);
    let is_simple = command.chars().all(is_plain) && !command.trim().is_empty();
    is_simple.then(|| command.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// Returns words, each of which has quotes around all or a part of it.
fn in_quotes(words: &[String], double: bool) -> String {
    let mark = if double { "\"" } else { "'" };
    let mut command = String::new();
    for (place, word) in words.iter().enumerate() {
        let middle = if place % 2 == 0 { 0 } else { word.len() / 2 };
        let (begin, end) = word.split_at_checked(middle).unwrap_or((word, ""));
        command.push_str(if place > 0 { "  " } else { "" });
        command.extend([begin, mark, end, mark]);
    }
    command
}

/// The permissions of the tables.
pub(crate) fn permissions() -> Vec<String> {
    let of = |name: &str| Table::read(name).cases.into_iter().map(|case| case.line);
    let commands = ["commands.txt", "everyday.txt"].into_iter().flat_map(of).collect::<Vec<_>>();
    let requests = ["kinds.txt", "files.txt", "inputs.txt"].into_iter().flat_map(of);
    commands.iter().flat_map(|command| shapes(command)).chain(requests).collect()
}

/// Returns the line with its request rewritten. `None` where it cannot be.
fn rewritten(line: &str, rewriting: Rewriting, number: usize) -> Option<String> {
    let (request, earlier) =
        line.split_once(" <- ").map_or((line, None), |(line, earlier)| (line, Some(earlier)));
    let (name, json) = request.split_at(request.find('{')?);
    let mut tree = Tree::read(json);
    let is_input = name.starts_with("claude") || name.starts_with("hook");
    let place = Place { name: "", is_input };
    let mut count = 0;
    rewriting.apply_at(&mut tree.clone(), place, &mut count, None);
    let wanted = number.checked_rem(count)?;
    rewriting.apply_at(&mut tree, place, &mut 0, Some(wanted));
    let earlier = earlier.map(|earlier| format!(" <- {earlier}")).unwrap_or_default();
    Some(format!("{name}{}{earlier}", tree.write()))
}

/// Returns the degree of the risk of a line. One that is no permission is left to the agent's own dialog: it is the highest.
fn degree(project: &Project, line: &str) -> (u8, String) {
    match asked(&project.path(line), &project.folder()) {
        Some(question) => (question.risk().degree(), question.risk_reason.unwrap_or_default()),
        None => (u8::MAX, String::new()),
    }
}

/// Members that come twice, or that nobody knows, count as they do for one reader of JSON or another; the rest keeps its
/// meaning for all.
fn check(project: &Project, line: &str, rewritings: &[(Rewriting, usize)]) -> Result<bool, TestCaseError> {
    let before = degree(project, line);
    let mut line = line.to_owned();
    let mut is_rewritten = false;
    for (rewriting, number) in rewritings {
        if let Some(other) = rewritten(&line, *rewriting, *number) {
            line = other;
            is_rewritten = true;
        }
    }
    let after = degree(project, &line);
    prop_assert!(after.0 >= before.0, "{before:?} -> {after:?}: {line}");
    Ok(is_rewritten)
}

#[test]
fn a_rewriting_that_keeps_what_a_permission_does_never_makes_it_less_dangerous() {
    let seeds = FileFailurePersistence::WithSource("seeds");
    let config = ProptestConfig { cases: 1500, ..ProptestConfig::with_failure_persistence(seeds) };
    let project = Project::new(&Table::read("kinds.txt").preamble);
    let permissions = permissions();
    let rewritings = proptest::collection::vec((rewriting(), any::<usize>()), 1..6);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let ran = runner.run(&(0..permissions.len(), rewritings), |(permission, rewritings)| {
        check(&project, &permissions[permission], &rewritings).map(drop)
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn each_rewriting_can_be_made_to_some_permission() {
    let project = Project::new(&Table::read("kinds.txt").preamble);
    let permissions = permissions();
    for rewriting in [
        Rewriting::Turn,
        Rewriting::Double,
        Rewriting::Shadow { before: true },
        Rewriting::Shadow { before: false },
        Rewriting::Add,
        Rewriting::Case,
        Rewriting::List,
        Rewriting::Rename("script"),
        Rewriting::Nest { in_list: true },
        Rewriting::Quote { double: false },
        Rewriting::Respell("./"),
    ] {
        let made = permissions.iter().step_by(97).filter(|line| {
            check(&project, line, &[(rewriting, 0)]).unwrap_or_else(|error| panic!("{rewriting:?}: {error}"))
        });
        assert!(made.count() > 0, "{rewriting:?}");
    }
}
