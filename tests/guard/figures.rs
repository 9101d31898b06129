//! How well commands are judged: of the commands in the tables that people have labelled, how many are called dangerous
//! though they are harmless, and how many are not though they are dangerous. The tables keep the labels of people, also
//! where the judge differs; the bounds below say how often it may.

use askbridge_core::{guard::command, question::Risk};
use serde_json::json;

use crate::guard::asked::asked;
use crate::guard::project::{decided, problems, settings};
use crate::guard::tables::{Case, Table};

const PROJECT: &str = "/people/ada/shop";

/// What people and the judge say of the commands of a table.
#[derive(Default)]
struct Figures {
    harmless: usize,
    /// Harmless commands that are called dangerous.
    alarms: Vec<String>,
    dangerous: usize,
    /// Dangerous commands that are not called so.
    missed: Vec<String>,
    /// Dangerous commands that one key allows.
    plain: Vec<String>,
    looking: usize,
    /// Commands that only look, and that one key allows.
    one_key: usize,
    /// Commands that do more than to look, and that one key allows.
    taken: Vec<String>,
}

fn figures(name: &str) -> Figures {
    let mut figures = Figures::default();
    for Case { place, expected, line, is_arguable, .. } in Table::read(name).cases {
        if is_arguable {
            continue;
        }
        let (risk, why) = command::risk(&line, Some(PROJECT));
        let said = || format!("{place}: {line}: {why}");
        match (&*expected, risk) {
            ("dangerous", risk) => {
                figures.dangerous += 1;
                figures.missed.extend((risk != Risk::Dangerous).then(said));
                figures.plain.extend((risk == Risk::Plain).then(said));
            }
            (harmless, risk) => {
                figures.harmless += 1;
                figures.alarms.extend((risk == Risk::Dangerous).then(said));
                figures.looking += usize::from(harmless == "plain");
                figures.one_key += usize::from(harmless == "plain" && risk == Risk::Plain);
                figures.taken.extend((harmless == "acts" && risk == Risk::Plain).then(said));
            }
        }
    }
    figures
}

/// Checks that no more than so many in a thousand are wrong.
fn check(what: &str, wrong: &[String], of: usize, per_mille: usize) {
    let (count, lines) = (wrong.len(), wrong.join("\n"));
    assert!(count * 1000 <= of * per_mille, "{what}: {count} of {of}\n{lines}");
}

#[test]
fn harmless_commands_of_every_day_are_not_called_dangerous() {
    let figures = figures("everyday.txt");
    assert!(figures.harmless > 1500 && figures.dangerous > 200, "{}", figures.harmless);
    check("called dangerous", &figures.alarms, figures.harmless, 4);
    check("not called dangerous", &figures.missed, figures.dangerous, 4);
    check("one key for more than to look", &figures.taken, figures.harmless, 2);
    assert_eq!(figures.plain, [""; 0]);
}

#[test]
fn commands_that_only_look_take_one_key() {
    let figures = figures("looks.txt");
    check("called dangerous", &figures.alarms, figures.harmless, 3);
    check("one key for more than to look", &figures.taken, figures.harmless, 5);
    assert!(figures.one_key * 100 >= figures.looking * 95, "{} of {}", figures.one_key, figures.looking);
    assert_eq!(figures.missed, [""; 0]);
}

#[test]
fn dangerous_commands_are_called_dangerous_in_whatever_spelling() {
    let figures = figures("dangerous.txt");
    assert!(figures.dangerous > 2800, "{}", figures.dangerous);
    check("not called dangerous", &figures.missed, figures.dangerous, 2);
    assert_eq!(figures.plain, [""; 0]);
}

#[test]
fn each_line_of_the_tables_of_programs_decides_as_it_says() {
    let figures = figures("tables.txt");
    assert_eq!([figures.alarms, figures.missed, figures.plain, figures.taken].concat(), [""; 0]);
    assert_eq!(figures.one_key, figures.looking);
}

/// Returns whether a rule with this pattern allows a command, or why not. `None` if the rule is refused.
fn allows(pattern: &str, command: &str) -> Option<Result<(), String>> {
    let rule =
        format!("[[rule]]\nname = 'r'\ncommand = {}\ndangerous = true\nthen = 'allow'\n", json!(pattern));
    let settings = settings(&rule);
    if !problems(&settings).is_empty() {
        return None;
    }
    let asks = format!("claude Bash {}", json!({ "command": command }));
    Some(decided(&settings, asked(&asks, PROJECT).expect("a permission")))
}

#[test]
fn a_loose_rule_matches_no_hole_that_is_known() {
    let (mut open, mut refused, mut holes, mut usual) = (Vec::new(), Vec::new(), 0, 0);
    for case in Table::read("holes.txt").cases {
        let Some((pattern, command)) = case.line.split_once(" => ") else { panic!("{}: no =>", case.place) };
        let Some(decided) = allows(pattern, command) else { continue };
        match &*case.expected {
            "person" => {
                holes += 1;
                open.extend(decided.is_ok().then(|| format!("{}: {}", case.place, case.line)));
            }
            _ => {
                usual += 1;
                refused.extend(decided.err().map(|why| format!("{}: {}: {why}", case.place, case.line)));
            }
        }
    }
    assert!(holes > 300 && usual > 100, "{holes} {usual}");
    check("refused, though people mean it", &refused, usual, 17);
    check("allowed, though it is a hole", &open, holes, 29);
}
