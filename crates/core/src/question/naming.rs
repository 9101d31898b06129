//! Which option a text names, and under which names a person can tell the options of a field apart. Agents give two
//! options the same label, and blank ones.
//! How typed texts are matched more loosely is left to `src/present/typed.rs`.

use std::borrow::Cow;

use super::{Field, FieldOption};

/// The option that a text names.
#[derive(Clone, Debug, PartialEq)]
pub enum Named<'a> {
    /// It names none.
    None,
    /// It names this one.
    One(&'a FieldOption),
    /// It is the label of several: choosing one of them would be a guess.
    Several(Vec<&'a FieldOption>),
}

impl<'a> Named<'a> {
    /// Returns what these options are named by. Several that mean the same to the agent are one.
    pub fn of(options: impl Iterator<Item = &'a FieldOption>) -> Self {
        let found: Vec<_> = options.collect();
        match &found[..] {
            [] => Named::None,
            [first, rest @ ..] if rest.iter().all(|other| other.value == first.value) => Named::One(first),
            _ => Named::Several(found),
        }
    }

    /// Returns whether it names no option.
    pub fn is_none(&self) -> bool {
        matches!(self, Named::None)
    }
}

/// Returns the option with this value, or else with this label, or else with this one of the [`names`]. A value that is
/// also the label of several options names none of them: a person who sees that label does not see values.
pub fn named<'a>(text: &str, options: &'a [FieldOption]) -> Named<'a> {
    let labelled = Named::of(options.iter().filter(|option| option.label == text));
    match (labelled, options.iter().find(|option| option.value == text)) {
        (Named::Several(found), _) => Named::Several(found),
        (_, Some(option)) => Named::One(option),
        (Named::None, None) => {
            let place = names(options).iter().position(|name| name == text);
            place.and_then(|place| options.get(place)).map_or(Named::None, Named::One)
        }
        (labelled, None) => labelled,
    }
}

/// Returns the value that a text stands for: the value of the option with this label, unless the text is itself an
/// option's value, is typed, or is the label of several options.
pub fn value_of<'a>(field: &'a Field, text: &'a str) -> Cow<'a, str> {
    match named(text, field.kind.options()) {
        Named::One(option) => option.value.as_str().into(),
        Named::Several(_) | Named::None => text.into(),
    }
}

/// Returns why a text cannot be an answer, as a sentence that lacks the field as its subject; `None` unless it is the
/// label of several options.
pub fn ambiguity(field: &Field, text: &str) -> Option<String> {
    let Named::Several(found) = named(text, field.kind.options()) else { return None };
    let values: Vec<_> = found.iter().take(QUOTED).map(|option| format!("{:?}", option.value)).collect();
    Some(format!("has several options {text:?}: give the value of one, such as {}", values.join(" or ")))
}

/// How many options an error quotes.
const QUOTED: usize = 4;

/// Returns how a text looks: without characters that nobody sees, and with one space in place of any white space.
pub fn look(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !is_unseen(*c)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a character is drawn by no font.
fn is_unseen(c: char) -> bool {
    match c {
        '\n' | '\r' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{2800}' | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

/// Returns a name for each option that looks like no other: its label, and in brackets behind it what tells it apart,
/// where another one looks the same. An option without a label is named by its value.
pub fn names(options: &[FieldOption]) -> Vec<Cow<'_, str>> {
    let shown: Vec<&str> = options.iter().map(label_or_value).collect();
    let looks: Vec<String> = shown.iter().map(|text| look(text)).collect();
    let name = |place: usize| {
        let alike: Vec<usize> = (0..options.len()).filter(|other| looks[*other] == looks[place]).collect();
        let (label, number) = (shown[place].trim(), place + 1);
        if looks[place].is_empty() {
            return format!("(option {number})").into();
        }
        if alike.len() == 1 {
            return Cow::Borrowed(shown[place]);
        }
        let name = format!("{label} ({})", apart(options, &alike, place));
        // An agent may have a label that looks like this name.
        let is_taken = looks.contains(&look(&name));
        if is_taken { format!("{label} (option {number})").into() } else { name.into() }
    };
    (0..options.len()).map(name).collect()
}

/// Returns the names of the two words of a yes-or-no question.
pub fn pair<'a>(yes: &'a str, no: &'a str) -> [Cow<'a, str>; 2] {
    let option = |value: &str, label: &str| FieldOption {
        value: value.to_owned(),
        label: label.to_owned(),
        ..FieldOption::default()
    };
    let is_clear = look(yes) != look(no) && !look(yes).is_empty() && !look(no).is_empty();
    if is_clear {
        return [yes.into(), no.into()];
    }
    let options = [option("yes", yes), option("no", no)];
    let mut names = names(&options).into_iter().map(|name| Cow::Owned(name.into_owned()));
    [(); 2].map(|()| names.next().unwrap_or_default())
}

fn label_or_value(option: &FieldOption) -> &str {
    if look(&option.label).is_empty() { &option.value } else { &option.label }
}

/// Returns what tells an option from others that look like it: its description, its value, or its number. All of them are
/// told apart in the same way.
fn apart(options: &[FieldOption], alike: &[usize], place: usize) -> String {
    let details: [fn(&FieldOption) -> &str; 2] =
        [|option| option.description.as_deref().unwrap_or_default(), |option| &option.value];
    let told = details.into_iter().find(|detail| {
        let mut looks: Vec<_> = alike.iter().map(|place| look(detail(&options[*place]))).collect();
        looks.sort_unstable();
        looks.iter().all(|text| !text.is_empty()) && looks.windows(2).all(|pair| pair[0] != pair[1])
    });
    told.map_or_else(|| (place + 1).to_string(), |detail| look(detail(&options[place])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(all: &[(&str, &str, &str)]) -> Vec<FieldOption> {
        let option = |(value, label, description): &(&str, &str, &str)| FieldOption {
            value: (*value).to_owned(),
            label: (*label).to_owned(),
            description: (!description.is_empty()).then(|| (*description).to_owned()),
            ..FieldOption::default()
        };
        all.iter().map(option).collect()
    }

    #[test]
    fn each_option_has_a_name_that_looks_like_no_other() {
        for (all, expected) in [
            (&[("a", "A", ""), ("b", "B", "")][..], &["A", "B"][..]),
            (
                &[("/a/foo", "foo", ""), ("/b/foo", "foo", ""), ("c", "C", "")],
                &["foo (/a/foo)", "foo (/b/foo)", "C"],
            ),
            (&[("0", "foo", "in a"), ("1", "foo", "in b")], &["foo (in a)", "foo (in b)"]),
            (&[("0", "foo", "in a"), ("1", "foo", "")], &["foo (0)", "foo (1)"]),
            (&[("0", "foo", "same"), ("1", "foo", "same")], &["foo (0)", "foo (1)"]),
            (&[("x", "foo", ""), ("x", "foo", "")], &["foo (1)", "foo (2)"]),
            (
                &[("0", "foo", ""), ("1", "foo ", ""), ("2", "f\u{200b}oo", "")],
                &["foo (0)", "foo (1)", "f\u{200b}oo (2)"],
            ),
            (&[("0", "a  b", ""), ("1", "a\u{a0}b", "")], &["a  b (0)", "a\u{a0}b (1)"]),
            (&[("0", "Foo", ""), ("1", "foo", "")], &["Foo", "foo"]),
            (&[("go", "Go", ""), ("stop", "   ", "")], &["Go", "stop"]),
            (&[("go", "", ""), (" ", "\u{200b}", "")], &["go", "(option 2)"]),
            (&[("a", "b", ""), ("b", "", "")], &["b (a)", "b (b)"]),
            (&[("0", "A", ""), ("1", "A", ""), ("2", "A (1)", "")], &["A (0)", "A (option 2)", "A (1)"]),
        ] {
            let all = options(all);
            let names = names(&all);
            assert_eq!(names, expected, "{all:?}");
        }
    }

    #[test]
    fn a_label_of_several_options_names_none_of_them() {
        let files = options(&[("/a/foo", "foo", ""), ("/b/foo", "foo", ""), ("c", "C", "")]);
        assert_eq!(named("foo", &files), Named::Several(files[..2].iter().collect()));
        assert_eq!(named("/b/foo", &files), Named::One(&files[1]));
        assert_eq!(named("C", &files), Named::One(&files[2]));
        assert_eq!(named("D", &files), Named::None);
        assert_eq!(named("foo (/b/foo)", &files), Named::One(&files[1]));
        // The value of one of them is no way out: nobody sees values.
        let first = options(&[("foo", "foo", ""), ("/b/foo", "foo", "")]);
        assert_eq!(named("foo", &first), Named::Several(first.iter().collect()));
        // To the agent, both are the same.
        let same = options(&[("foo", "foo", "x"), ("foo", "foo", "y")]);
        assert_eq!(named("foo", &same), Named::One(&same[0]));
        let crossed = options(&[("a", "b", ""), ("b", "a", "")]);
        assert_eq!(named("a", &crossed), Named::One(&crossed[0]));
    }

    #[test]
    fn the_words_of_a_yes_or_no_question_differ() {
        for (yes, no, expected) in [
            ("Go", "Stay", ["Go", "Stay"]),
            ("OK", "OK", ["OK (yes)", "OK (no)"]),
            ("Go", " ", ["Go", "no"]),
            ("", "", ["yes", "no"]),
        ] {
            assert_eq!(pair(yes, no), expected, "{yes:?} {no:?}");
        }
    }
}
