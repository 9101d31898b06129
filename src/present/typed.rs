//! Parses the text that a user typed for one field, and finds the option that it means. A probable typo is never taken
//! as the user's own text, because an answer cannot be taken back.
//! Whether the value fits the field is checked by `question` and by the bridge.

use std::collections::BTreeSet;

use askbridge_core::question::{
    Field, FieldOption, Kind, Value, json,
    naming::{Named, look, names},
};

use super::{answer::brief, text::short};

/// Characters of the longest text that is searched for typos: the time of the comparison is the product of two lengths.
const LONGEST_COMPARED: usize = 200;
/// Words for yes. Each of them also selects an option that is named by another of them. [`NO`] has the words for no.
const YES: [&str; 3] = ["yes", "true", "y"];
const NO: [&str; 3] = ["no", "false", "n"];

/// Returns the option that a text means. In this order, it may be the label or the value, either in another case, the
/// number in the list (from 1), or a word for yes or no if an option has one. A text that is the label of one option and
/// the value of another means neither of them, nor does one that is a value and the number of another option: people see
/// labels and numbers, and programs know values. A label that looks like that of another option means neither as well.
pub fn meant<'a>(text: &str, options: &'a [FieldOption]) -> Named<'a> {
    let lower = folded(text);
    let by = |fits: &dyn Fn(&FieldOption) -> bool| Named::of(options.iter().filter(|option| fits(option)));
    let ways: [&dyn Fn() -> Named<'a>; 4] = [
        &|| exactly(text, options),
        &|| by(&|option| is_named(option, &lower)),
        &|| numbered(text, options),
        &|| affirmed(&lower, options),
    ];
    ways.iter().map(|way| way()).find(|found| !found.is_none()).unwrap_or(Named::None)
}

/// Returns the option whose label or value a text is. A label “2” means its option rather than the second one.
fn exactly<'a>(text: &str, options: &'a [FieldOption]) -> Named<'a> {
    let valued = options.iter().find(|option| option.value == text);
    match (labelled(text, options), valued) {
        (Named::Several(found), _) => Named::Several(found),
        (Named::One(option), valued) => Named::of([option].into_iter().chain(valued)),
        (Named::None, Some(option)) => match numbered(text, options) {
            Named::One(other) => Named::of([option, other].into_iter()),
            _ => Named::One(option),
        },
        (Named::None, None) => Named::None,
    }
}

/// Returns the option with this label. Nobody sees by which white space two labels differ.
fn labelled<'a>(text: &str, options: &'a [FieldOption]) -> Named<'a> {
    let seen = look(text);
    Named::of(options.iter().filter(|option| option.label == text || look(&option.label) == seen))
}

/// Returns the value that numbers in the list stand for, where a person has just read that list. Only a label comes
/// before a number: the person does not see values.
pub fn listed(field: &Field, text: &str) -> Option<Value> {
    let options = field.kind.options();
    let value = |part: &str| match (labelled(part, options), numbered(part, options)) {
        (Named::None, Named::One(option)) => Some(option.value.clone()),
        _ => None,
    };
    match field.kind {
        Kind::Choice { .. } => value(text).map(Value::Text),
        Kind::Choices { .. } => {
            let mut values: Vec<_> = text.split(',').map(|part| value(part.trim())).collect::<Option<_>>()?;
            let mut seen = BTreeSet::new();
            values.retain(|value| seen.insert(value.clone()));
            Some(Value::Many(values))
        }
        _ => None,
    }
}

fn folded(text: &str) -> String {
    look(text).to_lowercase()
}

fn is_named(option: &FieldOption, lower: &str) -> bool {
    !lower.is_empty() && (folded(&option.value) == lower || folded(&option.label) == lower)
}

/// Returns whether a text consists of digits, like the number of an option. The option need not exist.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn numbered<'a>(text: &str, options: &'a [FieldOption]) -> Named<'a> {
    let number = text.parse::<usize>().ok().filter(|_| is_number(text));
    let option = number.and_then(|number| options.get(number.checked_sub(1)?));
    option.map_or(Named::None, Named::One)
}

/// Returns the option that means yes if the text does, or no if the text does.
fn affirmed<'a>(lower: &str, options: &'a [FieldOption]) -> Named<'a> {
    let words = [YES, NO].into_iter().find(|words| words.contains(&lower)).unwrap_or_default();
    let by = |word: &&str| Named::of(options.iter().filter(|option| is_named(option, word)));
    words.iter().map(by).find(|found| !found.is_none()).unwrap_or(Named::None)
}

/// Parses a text as yes or no, in any case.
pub fn flag(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(YES) {
        Some(true)
    } else if is_one_of(NO) {
        Some(false)
    } else {
        None
    }
}

/// Returns the option that a text nearly names: it differs in punctuation, is the beginning of a name, or has a typo.
pub fn nearest<'a>(text: &str, options: &'a [FieldOption]) -> Option<&'a FieldOption> {
    let typed = plain(text);
    match meant(&typed, options) {
        Named::One(option) => return Some(option),
        Named::Several(found) => return found.first().copied(),
        Named::None => {}
    }
    let names =
        || options.iter().flat_map(|option| [&option.value, &option.label].map(|name| (option, plain(name))));
    let begun = names().find(|(_, name)| begins(name, &typed));
    let slipped = || {
        let distances = names().filter_map(|(option, name)| Some((distance(&typed, &name)?, option)));
        distances.min_by_key(|(distance, _)| *distance)
    };
    begun.map(|(option, _)| option).or_else(|| slipped().map(|(_, option)| option))
}

/// Returns the words of a text in lower case, with one space between them.
pub fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether a text is the beginning of a name. It must consist of whole words or have at least three letters.
fn begins(name: &str, typed: &str) -> bool {
    let rest = name.strip_prefix(typed).filter(|_| !typed.is_empty());
    rest.is_some_and(|rest| rest.starts_with(' ') || typed.chars().count() >= 3)
}

/// Returns the edit distance of two texts: the number of letters to insert, delete, replace, or swap with their
/// neighbour. `None` if it is too large for a typo.
fn distance(one: &str, other: &str) -> Option<usize> {
    let (length, against) = (one.chars().count(), other.chars().count());
    let slips = match length.max(against) {
        // One edit turns most short words into each other.
        0..=2 => return None,
        3..=5 => 1,
        6..=10 => 2,
        11..=LONGEST_COMPARED => 3,
        _ => return None,
    };
    // The distance is at least the difference in length, so the comparison can be skipped.
    if length.abs_diff(against) > slips {
        return None;
    }
    Some(strsim::osa_distance(one, other)).filter(|distance| *distance <= slips)
}

/// One text that is given for a field.
#[derive(Clone, Copy, Debug)]
pub enum TypedText<'a> {
    /// To be interpreted: an option, several of them, or a value of the field's kind.
    Value(&'a str),
    /// The user's own text, unchanged.
    Text(&'a str),
}

/// Reads the typed value of a field. `hint` says how a text is sent unchanged.
///
/// # Errors
/// Returns the mistake, as a sentence whose subject is the field.
pub fn value(field: &Field, given: &[TypedText<'_>], hint: &str) -> Result<Value, String> {
    if is_null(field, given) {
        return Ok(Value::Null);
    }
    match &field.kind {
        Kind::Choices { options, other, .. } => {
            return Ok(Value::Many(several(given, options, *other, hint)?));
        }
        Kind::Texts { .. } => return Ok(Value::Many(texts(given)?)),
        _ => {}
    }
    let [given] = given[..] else {
        return Err(format!("takes one value, but {} are given", given.len()));
    };
    match (&field.kind, given) {
        (Kind::Choice { other: true, .. } | Kind::Text { .. }, TypedText::Text(text))
        | (Kind::Text { .. }, TypedText::Value(text)) => Ok(Value::Text(text.to_owned())),
        (Kind::Choice { options, other, .. }, TypedText::Value(text)) => {
            Ok(Value::Text(chosen(text, options, *other, hint)?))
        }
        (Kind::Json { .. }, TypedText::Value(text) | TypedText::Text(text)) => {
            json::parse(text).map(|_| Value::Text(text.to_owned()))
        }
        (Kind::Unknown(_), _) => Err("needs a newer askbridge".to_owned()),
        (_, TypedText::Text(_)) => Err("accepts no free text".to_owned()),
        (Kind::Number { .. }, TypedText::Value(text)) => match serde_json::from_str(text.trim()) {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => Err(format!("must be a number, is “{}”", brief(text))),
        },
        (Kind::Boolean { .. }, TypedText::Value(text)) => flagged(text, "yes", "no"),
        (Kind::Confirm { yes, no }, TypedText::Value(text)) => flagged(text, yes, no),
        (Kind::Choices { .. } | Kind::Texts { .. }, TypedText::Value(_)) => {
            Err("takes several values".to_owned())
        }
    }
}

/// What stands for null, where a field takes it. A text may be this word.
pub const NULL: &str = "null";

/// Returns whether null is given for a field that takes it, and in which the word means nothing else.
fn is_null(field: &Field, given: &[TypedText<'_>]) -> bool {
    let is_free = matches!(field.kind, Kind::Text { .. } | Kind::Texts { .. } | Kind::Json { .. });
    let [TypedText::Value(text)] = given else { return false };
    field.nullable && !is_free && text.trim() == NULL && meant(text.trim(), field.kind.options()).is_none()
}

/// Returns the texts of a list: a line each, or separated by commas, or the entries of a list in JSON.
fn texts(given: &[TypedText<'_>]) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for given in given {
        let text = match given {
            TypedText::Text(text) => {
                all.push((*text).to_owned());
                continue;
            }
            TypedText::Value(text) => text.trim(),
        };
        if text.starts_with('[') {
            let entries: Vec<String> = serde_json::from_str(text)
                .map_err(|_| "must be texts, or a list of texts such as [\"a, b\", \"c\"]".to_owned())?;
            all.extend(entries);
            continue;
        }
        let separator = if text.contains('\n') { '\n' } else { ',' };
        all.extend(text.split(separator).map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned));
    }
    Ok(all)
}

/// Returns texts as they are typed, so that they are read again as the same.
pub fn as_lines(texts: &[String]) -> String {
    let is_plain = |text: &String| {
        let is_trimmed = text.trim() == text && !text.is_empty();
        is_trimmed
            && !text.contains('\n')
            && !text.starts_with('[')
            && (texts.len() > 1 || !text.contains(','))
    };
    match texts.iter().all(is_plain) {
        true => texts.join("\n"),
        false => serde_json::to_string(texts).unwrap_or_default(),
    }
}

fn flagged(text: &str, yes: &str, no: &str) -> Result<Value, String> {
    // The labels of the question take precedence: a label such as “No” may stand for yes. One label for both says nothing.
    let own = |word: &str| folded(word) == folded(text) && folded(yes) != folded(no);
    match () {
        () if own(yes) => Ok(Value::Flag(true)),
        () if own(no) => Ok(Value::Flag(false)),
        () => flag(text)
            .map(Value::Flag)
            .ok_or_else(|| format!("must be “{yes}” or “{no}”, is “{}”", brief(text))),
    }
}

/// Returns the values of several options, or the user's own text.
fn several(
    given: &[TypedText<'_>],
    options: &[FieldOption],
    other: bool,
    hint: &str,
) -> Result<Vec<String>, String> {
    let (mut values, mut own) = (Vec::new(), None);
    for given in given {
        let text = match given {
            TypedText::Text(_) if !other => return Err("accepts no free text".to_owned()),
            TypedText::Text(text) => {
                values.push((*text).to_owned());
                continue;
            }
            TypedText::Value(text) => text,
        };
        for part in parts(text, options) {
            match meant(part, options) {
                Named::One(option) if values.contains(&option.value) => {}
                Named::One(option) => values.push(option.value.clone()),
                Named::Several(found) => return Err(several_options(part, &found, options)),
                Named::None if !other => return Err(no_option(part, options)),
                Named::None => own = own.or(Some(part)),
            }
        }
    }
    let Some(own) = own else { return Ok(values) };
    // An own text beside options is most likely a misspelt option; `hint` says how to send it all the same.
    let is_alone = values.is_empty() && given.len() == 1;
    if !is_alone {
        return Err(format!("{} ({hint})", no_option(own, options)));
    }
    let [TypedText::Value(text)] = given[..] else { return Ok(values) };
    for part in parts(text, options).into_iter().chain([text]) {
        check_own(part, options, hint)?;
    }
    Ok(vec![text.to_owned()])
}

/// Splits a text at its commas and line breaks, unless the whole text is one option.
fn parts<'a>(text: &'a str, options: &[FieldOption]) -> Vec<&'a str> {
    if !meant(text, options).is_none() {
        return vec![text];
    }
    text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the value of the option that a text means, or else the text as the user's own.
fn chosen(text: &str, options: &[FieldOption], other: bool, hint: &str) -> Result<String, String> {
    match meant(text, options) {
        Named::One(option) => Ok(option.value.clone()),
        Named::Several(found) => Err(several_options(text, &found, options)),
        Named::None if !other => Err(no_option(text, options)),
        // A text such as `1, 3` names options. It is more likely a mistake than the user's own answer.
        Named::None if parts(text, options).iter().any(|part| !meant(part, options).is_none()) => {
            Err(format!("takes one option, or a text of your own, not “{}” ({hint})", brief(text)))
        }
        Named::None => check_own(text, options, hint).map(|()| text.to_owned()),
    }
}

/// Refuses an own text that the user may have meant as an option.
fn check_own(text: &str, options: &[FieldOption], hint: &str) -> Result<(), String> {
    // A number or a single letter is most likely an option of a list that the user remembers.
    let is_slip = is_number(text) || plain(text).chars().count() <= 1 || nearest(text, options).is_some();
    if is_slip { Err(format!("{} ({hint})", no_option(text, options))) } else { Ok(()) }
}

/// The most options that an error lists.
const LISTED: usize = 8;
/// The most columns of an option among several of the same label.
const NAMED: usize = 160;

/// Says which options a text names, with what tells them apart.
fn several_options(text: &str, found: &[&FieldOption], options: &[FieldOption]) -> String {
    let places = (1..).zip(options).zip(names(options));
    let alike = places.filter(|((_, option), _)| found.contains(option));
    // What tells them apart stands at the end of a name.
    let listed: Vec<_> =
        alike.take(LISTED).map(|((number, _), name)| format!("{number} {}", short(&name, NAMED))).collect();
    let (typed, is_value) = (brief(text), found.iter().any(|option| option.value == text));
    let how = match is_value {
        true if is_number(text) => "label",
        true => "number",
        false => "number or its value",
    };
    format!("has several options “{typed}”: choose one by its {how}: {}", listed.join(", "))
}

/// Returns the name of an option, under which it differs from the others.
fn name_of(option: &FieldOption, options: &[FieldOption]) -> String {
    let place = options.iter().position(|other| std::ptr::eq(other, option));
    brief(place.and_then(|place| names(options).into_iter().nth(place)).as_deref().unwrap_or(&option.label))
}

fn no_option(text: &str, options: &[FieldOption]) -> String {
    let (typed, count) = (brief(text), options.len());
    match nearest(text, options) {
        Some(option) => format!("has no option “{typed}”: did you mean {}?", name_of(option, options)),
        None if count > LISTED => {
            format!(
                "has no option “{typed}”: choose a number from 1 to {count}, as `askbridge show` lists them"
            )
        }
        None => {
            let labels: Vec<_> = names(options).iter().map(|name| brief(name)).collect();
            format!("has no option “{typed}”: choose {}, or a number from 1 to {count}", labels.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(names: &[(&str, &str)]) -> Vec<FieldOption> {
        let option = |(value, label): &(&str, &str)| FieldOption {
            value: (*value).to_owned(),
            label: (*label).to_owned(),
            ..FieldOption::default()
        };
        names.iter().map(option).collect()
    }

    #[test]
    fn values_and_labels_come_before_numbers_and_numbers_before_yes_and_no() {
        let numbers = options(&[("1", "Ten"), ("2", "One"), ("a, b", "Both")]);
        let answers = options(&[("n", "Later"), ("a", "No"), ("b", "yes")]);
        for (options, text, expected) in [
            (&numbers, "1", Some("1")),
            (&numbers, "one", Some("2")),
            (&numbers, "3", Some("a, b")),
            (&numbers, "03", Some("a, b")),
            (&numbers, "0", None),
            (&numbers, "4", None),
            (&numbers, "99999999999999999999999", None),
            (&numbers, "+1", None),
            (&numbers, "y", None),
            (&answers, "n", Some("n")),
            (&answers, "NO", Some("a")),
            (&answers, "Y", Some("b")),
            (&answers, "false", Some("a")),
            (&answers, "2", Some("a")),
        ] {
            let found = match meant(text, options) {
                Named::One(option) => Some(&*option.value),
                _ => None,
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_name_of_two_options_means_neither() {
        let files = options(&[("/a/foo", "foo.txt"), ("/b/foo", "foo.txt"), ("c", "Other")]);
        let spaces = options(&[("0", "foo.txt"), ("1", "foo.txt "), ("2", "foo\u{200b}.txt")]);
        let cases = options(&[("0", "Foo"), ("1", "foo")]);
        let same = options(&[("foo", "foo"), ("/b/foo", "foo")]);
        let yes = options(&[("0", "Yes"), ("1", "Yes")]);
        let turned = options(&[("2", "Reject"), ("1", "Allow")]);
        let from_zero = options(&[("0", "Keep"), ("1", "Delete")]);
        let crossed = options(&[("b", "a"), ("a", "b")]);
        let counts = options(&[("0", "0"), ("1", "1"), ("2", "2")]);
        let long = "x".repeat(60);
        let cut = [format!("{long}a"), format!("{long}b")];
        let long_ones = options(&[("0", &cut[0]), ("1", &cut[1])]);
        for (all, text, told) in [
            (&files, "foo.txt", Err("1 foo.txt (/a/foo), 2 foo.txt (/b/foo)")),
            (&files, "FOO.txt", Err("1 foo.txt (/a/foo), 2 foo.txt (/b/foo)")),
            (&files, "/b/foo", Ok("/b/foo")),
            (&files, "2", Ok("/b/foo")),
            (&files, "other", Ok("c")),
            (&spaces, "foo.txt", Err("1 foo.txt (0), 2 foo.txt (1), 3 foo\\u{200b}.txt (2)")),
            (&spaces, "foo.txt ", Err("1 foo.txt (0), 2 foo.txt (1)")),
            (&cases, "foo", Ok("1")),
            (&cases, "FOO", Err("1 Foo, 2 foo")),
            (&same, "foo", Err("1 foo (foo), 2 foo (/b/foo)")),
            (&yes, "y", Err("1 Yes (0), 2 Yes (1)")),
            (&long_ones, &cut[1], Ok("1")),
            (&turned, "1", Err("by its label: 1 Reject, 2 Allow")),
            (&turned, "2", Err("by its label: 1 Reject, 2 Allow")),
            (&turned, "reject", Ok("2")),
            (&from_zero, "1", Err("by its label: 1 Keep, 2 Delete")),
            (&from_zero, "0", Ok("0")),
            (&from_zero, "2", Ok("1")),
            (&crossed, "a", Err("by its number: 1 a, 2 b")),
            (&crossed, "1", Ok("b")),
            (&counts, "1", Ok("1")),
        ] {
            for other in [false, true] {
                let said = chosen(text, all, other, "hint");
                match told {
                    Ok(value) => assert_eq!(said.as_deref(), Ok(value), "{text}"),
                    Err(told) => {
                        assert!(said.as_ref().is_err_and(|why| why.contains(told)), "{text}: {said:?}")
                    }
                }
                let said = several(&[TypedText::Value(text)], all, other, "hint");
                assert_eq!(said.is_ok(), told.is_ok(), "{text}: {said:?}");
            }
        }
    }

    #[test]
    fn a_slip_is_near_an_option_and_another_text_is_not() {
        let databases = options(&[("pg", "Postgres"), ("sqlite", "SQLite"), ("none", "No, keep the files")]);
        for (text, expected) in [
            ("Postgrse", Some("pg")),
            ("postgress", Some("pg")),
            ("Post", Some("pg")),
            ("SQL", Some("sqlite")),
            ("sq lite", Some("sqlite")),
            ("“SQLite”.", Some("sqlite")),
            ("#2", Some("sqlite")),
            ("2.", Some("sqlite")),
            ("no", Some("none")),
            ("No, keep teh files!", Some("none")),
            ("none", Some("none")),
            ("MySQL", None),
            ("po", None),
            ("a file for each day", None),
            ("", None),
            ("7", None),
        ] {
            assert_eq!(nearest(text, &databases).map(|option| &*option.value), expected, "{text}");
        }
        let long = "x".repeat(LONGEST_COMPARED + 1);
        assert!(nearest(&long.replacen('x', "y", 1), &options(&[(&long, &long)])).is_none());
    }

    #[test]
    fn the_distance_counts_letters_and_swaps() {
        for (one, other, expected) in [
            ("search", "serach", Some(1)),
            ("abcdef", "badcef", Some(2)),
            ("abcdef", "abcdefgh", Some(2)),
            ("abcdef", "abcdefghi", None),
            ("abc", "abd", Some(1)),
            ("abc", "acd", None),
            ("ab", "ac", None),
            ("", "a", None),
        ] {
            assert_eq!(distance(one, other), expected, "{one} and {other}");
            assert_eq!(distance(other, one), expected, "{other} and {one}");
        }
    }
}
