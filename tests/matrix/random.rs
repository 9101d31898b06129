//! Random questions that an agent of each dialect can ask, with random answers that fit.

use askbridge_core::question::naming::look;
use proptest::{collection::vec, option, prelude::*, sample::Index};

use crate::matrix::agents::Agent;
use crate::matrix::field::{Field, Given, Kind};

/// Texts with a meaning of their own in a prompt or to an agent.
const RESERVED: [&str; 7] = ["Answer elsewhere", "Done", "Skip", "Yes", "No", "None of the above", ""];

/// A question and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) agent: Agent,
    pub(crate) fields: Vec<Field>,
    pub(crate) given: Vec<Given>,
    /// The field that gets a wrong answer, and the kind of mistake.
    pub(crate) breaks: (Index, Index),
}

/// The random numbers that decide about one answer, whatever the field takes.
#[derive(Clone, Debug)]
struct Dice {
    picks: Vec<Index>,
    typed: Option<String>,
    note: Option<String>,
    leaves_out: bool,
    number: f64,
}

fn text() -> impl Strategy<Value = String> {
    // Includes texts that look like JSON, lists and check marks.
    prop_oneof![
        3 => "[ -~]{1,10}",
        2 => "[☐☑é\u{1f600}\u{2028}\u{7f}\"\\\\ ,:{}\\[\\]_a-f0-9]{1,10}",
        1 => prop::sample::select(&["a, b", "a", "b", "\"a", "☐ a", "null", "true", "7", "\\", "é\u{1f600}", "q0"][..])
            .prop_map(str::to_owned),
    ]
}

fn options() -> impl Strategy<Value = Vec<(String, String)>> {
    vec((text(), text()), 1..6).prop_map(|options| {
        let mut kept: Vec<(String, String)> = Vec::new();
        for (value, label) in options {
            let taken = |text: &String| kept.iter().any(|(value, label)| text == value || text == label);
            // How labels are shown that look the same, or like nothing, is left to the unit tests of `question::naming`.
            let seen = look(&label);
            let is_seen = !seen.is_empty() && kept.iter().all(|(_, label)| look(label) != seen);
            if is_seen
                && !taken(&value)
                && !taken(&label)
                && !RESERVED.contains(&&*label)
                && !RESERVED.contains(&&*value)
            {
                kept.push((value, label));
            }
        }
        if kept.is_empty() { vec![("only".to_owned(), "Only".to_owned())] } else { kept }
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => (0..4u32, prop_oneof![Just(u32::MAX), 6..20u32]).prop_map(|(least, most)| Kind::Text { least, most }),
        4 => Just(Kind::One),
        4 => (0..3u32, prop_oneof![Just(u32::MAX), 3..5u32]).prop_map(|(least, most)| Kind::Many { least, most }),
        1 => Just(Kind::Flag),
        1 => (any::<bool>(), -100..100i32, 0..100i32).prop_map(|(integer, least, span)| Kind::Number {
            integer,
            least: least.into(),
            most: (least + span).into(),
        }),
    ]
}

fn field() -> impl Strategy<Value = Field> {
    (text(), kind(), options(), any::<[bool; 2]>()).prop_map(|(text, kind, options, [required, typed])| {
        let has_options = matches!(kind, Kind::One | Kind::Many { .. });
        let kind = match kind {
            // A minimum above the number of options could not be met.
            Kind::Many { least, most } => {
                Kind::Many { least: least.min(u32::try_from(options.len()).expect("a few")), most }
            }
            kind => kind,
        };
        let options = if has_options { options } else { Vec::new() };
        Field { key: "key".to_owned(), text, kind, options, required, typed, noted: true }
    })
}

fn dice() -> impl Strategy<Value = Dice> {
    let picks = vec(any::<Index>(), 1..5);
    let number = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0];
    (picks, option::weighted(0.3, text()), option::weighted(0.2, text()), any::<bool>(), number)
        .prop_map(|(picks, typed, note, leaves_out, number)| Dice { picks, typed, note, leaves_out, number })
}

/// Generates a question of any dialect with an answer that fits it.
pub(crate) fn asked() -> impl Strategy<Value = Asked> {
    let fields = vec((field(), dice()), 1..4);
    (prop::sample::select(&Agent::ALL[..]), fields, any::<(Index, Index)>()).prop_map(
        |(agent, fields, breaks)| {
            let most = if agent.asks_several() { fields.len() } else { 1 };
            let (fields, given) = fields
                .into_iter()
                .take(most)
                .enumerate()
                .map(|(place, (mut field, dice))| {
                    if !agent.can_ask(field.kind) {
                        field.kind = Kind::One;
                    }
                    if matches!(field.kind, Kind::One | Kind::Many { .. }) && field.options.is_empty() {
                        field.options =
                            vec![("v".to_owned(), "L".to_owned()), ("w".to_owned(), "M".to_owned())];
                    }
                    if !matches!(field.kind, Kind::One | Kind::Many { .. }) {
                        field.options.clear();
                    }
                    field.text = format!("{} ({place})?", field.text);
                    let field = agent.fitted(field, place);
                    let given = give(&field, dice);
                    (field, given)
                })
                .unzip();
            Asked { agent, fields, given, breaks }
        },
    )
}

/// Generates an answer to a field.
fn give(field: &Field, dice: Dice) -> Given {
    let note = dice.note.filter(|_| field.noted);
    if dice.leaves_out && !field.required {
        return Given { said: Vec::new(), note };
    }
    let names = |text: &String| {
        RESERVED.contains(&text.as_str())
            || field.options.iter().any(|(value, label)| text == value || text == label)
    };
    let typed = dice.typed.filter(|text| field.typed && !names(text));
    let said = match field.kind {
        Kind::Text { least, most } => {
            let length = 1.max(least as usize + dice.picks.len()).min(most as usize);
            vec!["ä, \"\u{1f600}".chars().cycle().take(length).collect()]
        }
        Kind::One => vec![typed.unwrap_or_else(|| dice.picks[0].get(&field.options).0.clone())],
        Kind::Many { least, most } => several(field, &dice.picks, typed, (least.max(1), most)),
        Kind::Flag => vec![(dice.number < 0.5).to_string()],
        Kind::Number { integer, least, most } => {
            let number = least + (most - least) * dice.number;
            #[expect(clippy::cast_possible_truncation, reason = "the bounds are small")]
            let whole = number.round() as i64;
            vec![if integer { whole.to_string() } else { serde_json::Value::from(number).to_string() }]
        }
    };
    Given { said, note }
}

fn several(field: &Field, picks: &[Index], typed: Option<String>, (least, most): (u32, u32)) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let picked = picks.iter().map(|pick| &pick.get(&field.options).0);
    for value in picked.chain(field.options.iter().map(|(value, _)| value)) {
        let enough = said.len() >= picks.len().max(least as usize) || said.len() >= most as usize;
        if !enough && !said.contains(value) {
            said.push(value.clone());
        }
    }
    if said.len() < most as usize {
        said.extend(typed);
    }
    said
}

/// Returns an answer that does not fit this field, if there is one.
pub(crate) fn broken(field: &Field, way: Index) -> Option<Vec<String>> {
    let mut ways: Vec<Vec<String>> = Vec::new();
    if field.required {
        ways.push(Vec::new());
    }
    let first = field.options.first().map(|(value, _)| value.clone());
    match (field.kind, first) {
        (Kind::One, _) if !field.typed => ways.push(vec!["no such option".to_owned()]),
        (Kind::Many { most, .. }, Some(first)) => {
            ways.push(vec![first.clone(), first.clone()]);
            if !field.typed {
                ways.push(vec![first, "no such option".to_owned()]);
            }
            if (most as usize) < field.options.len() {
                ways.push(field.options.iter().map(|(value, _)| value.clone()).collect());
            }
        }
        (Kind::Text { least, most }, _) => {
            if least > 1 {
                ways.push(vec!["ä".to_owned()]);
            }
            if most < u32::MAX {
                ways.push(vec!["ä".repeat(most as usize + 1)]);
            }
        }
        (Kind::Flag, _) => ways.push(vec!["maybe".to_owned()]),
        (Kind::Number { integer, least, most }, _) => {
            ways.extend([
                vec![(most + 1.0).to_string()],
                vec![(least - 1.0).to_string()],
                vec!["many".to_owned()],
            ]);
            if integer && most > least {
                ways.push(vec![(least + 0.5).to_string()]);
            }
        }
        _ => {}
    }
    if ways.is_empty() { None } else { Some(way.get(&ways).clone()) }
}
