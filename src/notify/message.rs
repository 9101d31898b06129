//! The text of a notification about a question, and the buttons that answer the question with one tap.
//!
//! Text of an agent is made printable here (I10), and a message discloses no more of it than the settings allow. An
//! answer that needs a second thought has no button (I12).

use std::borrow::Cow;

use askbridge_core::{
    desk::{Record, Submission},
    question::{
        Answer, FieldOption, Kind, Purpose, Question, Risk, Role, Value,
        naming::{names, pair},
        subject,
    },
};
use askbridge_os::terminal::printable;
use askbridge_settings::words::Disclosure;

use crate::{
    limits,
    present::{
        caution::{caution, role},
        images,
        text::{asked, headline, line, on_machine, page, project, short},
    },
};

/// The most columns of a button.
const BUTTON: usize = 40;
/// The most columns of the name of a project.
const PROJECT: usize = 40;

/// The content of one notification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// What waits, in one line.
    pub title: String,
    /// What is asked, as plain text over several lines. It may be empty.
    pub body: String,
    /// The answers that need no more than a tap.
    pub buttons: Vec<Button>,
    /// Whether a wrong answer can do harm.
    pub is_urgent: bool,
}

/// An answer that is one tap away.
#[derive(Clone, Debug, PartialEq)]
pub struct Button {
    /// What the person reads.
    pub label: String,
    /// What is submitted.
    pub submission: Submission,
}

impl Message {
    /// Builds the message about a question. `folder` is the folder of its bridge, which names the place if the question
    /// has no project. `one_tap` is the highest risk of a permission that a button may allow; it only counts if the
    /// message has the whole text of the permission.
    pub fn new(record: &Record, folder: &str, text: Disclosure, one_tap: Risk) -> Self {
        let question = &record.question;
        let what = match question.purpose {
            Purpose::Permission => "A permission",
            _ => "A question",
        };
        let place = place(question, folder).map(|project| format!(" in {project}")).unwrap_or_default();
        let title = format!("{what} waits{place}{}", on_machine(record));
        let (body, buttons) = match text {
            Disclosure::None => (String::new(), Vec::new()),
            // The labels of buttons would disclose more than the title.
            Disclosure::Title => (headline(record), Vec::new()),
            Disclosure::All => {
                let (body, is_whole) = whole(question);
                let one_tap = if is_whole { one_tap } else { Risk::Plain };
                (body, buttons(record, one_tap))
            }
        };
        Message {
            title,
            body,
            buttons,
            // An urgent message would disclose that the question is dangerous.
            is_urgent: question.risk().is_dangerous() && text != Disclosure::None,
        }
    }

    /// Builds the message that `count` more questions wait, for questions without a notifier of their own.
    pub fn more(count: usize) -> Self {
        let title = match count {
            1 => "1 more question waits".to_owned(),
            count => format!("{count} more questions wait"),
        };
        Message { title, body: "askbridge open shows them".to_owned(), ..Message::default() }
    }

    /// Builds a message that only tests whether messages arrive.
    pub fn trial() -> Self {
        Message {
            title: "askbridge: a test".to_owned(),
            body: "Notifications about your agents' questions will look like this.".to_owned(),
            ..Message::default()
        }
    }

    /// Returns title and body as one text.
    pub fn text(&self) -> String {
        if self.body.is_empty() { self.title.clone() } else { format!("{}\n{}", self.title, self.body) }
    }
}

/// Returns the name of the project, or else that of the folder that the bridge was started in.
fn place(question: &Question, folder: &str) -> Option<String> {
    let started_in = || {
        let folder = question.place(Some(folder))?;
        let name = folder.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty())?;
        Some(line(name))
    };
    project(question).or_else(started_in).map(|name| short(&name, PROJECT))
}

/// Returns the text of the question, cut to a limit, and whether it shows everything that an answer would permit.
fn whole(question: &Question) -> (String, bool) {
    let mut parts = vec![asked(question)];
    let mut is_whole = true;
    if let Some(about) = question.subject.as_deref() {
        parts.extend(about.folder.iter().map(|folder| format!("in {folder}")));
        parts.extend(about.environment.iter().map(|place| format!("on {place}")));
        parts.extend(about.grants.iter().map(|grant| format!("It also allows: {grant}")));
        parts.extend(about.further.iter().map(|line| format!("The request also says: {line}")));
        parts.extend([&about.command, &about.description, &about.plan].into_iter().flatten().cloned());
        parts.push(about.locations.join("\n"));
        parts.extend(about.diffs.iter().map(|diff| format!("changes {}:{}", diff.path, diff.line)));
        // A button must not allow what the message does not show: a diff, a patch, or more input than the command.
        is_whole = about.command.is_some()
            && !about.input_says_more
            && about.diffs.is_empty()
            && about.patch.is_none();
    }
    parts.extend(question.links.iter().map(page));
    parts.extend(question.unshown.iter().cloned());
    parts.extend(images::in_short(question));
    is_whole &= question.unshown.is_empty() && question.images.is_empty();
    parts.retain(|part| !part.trim().is_empty());
    let text = parts.join("\n\n");
    let text = printable(&text);
    // Measured after escaping, which can make the text longer.
    is_whole &= text.len() <= limits::NOTIFY_TEXT;
    (subject::cut(&text, limits::NOTIFY_TEXT), is_whole)
}

/// Returns the answers that one tap can give. A question with more than three of them gets no buttons at all, so that
/// nobody overlooks an option. Options of a permission that allow too much are left out first.
fn buttons(record: &Record, one_tap: Risk) -> Vec<Button> {
    let question = &record.question;
    // A tap gives one value, so the question must have a single field.
    let [field] = &*question.fields else { return Vec::new() };
    let choices: Vec<(String, Value)> = match &field.kind {
        _ if field.secret => return Vec::new(),
        Kind::Choice { options, .. } => options.iter().zip(names(options)).map(chosen).collect(),
        Kind::Confirm { yes, no } => {
            let [yes, no] = pair(yes, no).map(Cow::into_owned);
            vec![(yes, Value::Flag(true)), (no, Value::Flag(false))]
        }
        Kind::Boolean { .. } => {
            vec![("Yes".to_owned(), Value::Flag(true)), ("No".to_owned(), Value::Flag(false))]
        }
        _ => return Vec::new(),
    };
    let answer = |value| Answer { values: [(field.name.clone(), value)].into(), ..Answer::default() };
    let choices = choices.into_iter().map(|(label, value)| (label, answer(value)));
    let all: Vec<_> = choices.filter(|(_, answer)| is_one_tap(question, answer, one_tap)).collect();
    if all.len() > limits::NOTIFY_BUTTONS {
        return Vec::new();
    }
    let button = |(label, answer): (String, Answer)| Button {
        label: short(&label, BUTTON),
        submission: Submission::answer(answer, record.edition),
    };
    let buttons: Vec<_> = all.into_iter().map(button).collect();
    // A tap must not be a guess: labels that are cut may look the same.
    let is_twice =
        |(place, button): (usize, &Button)| buttons[..place].iter().any(|other| other.label == button.label);
    if buttons.iter().enumerate().any(is_twice) { Vec::new() } else { buttons }
}

/// Returns whether an answer may have a button. A permission that acts can only be allowed by a tap if the user has set
/// that (I12).
fn is_one_tap(question: &Question, answer: &Answer, one_tap: Risk) -> bool {
    // A refusal does no harm, so it may have a button whatever the risk.
    let refuses = matches!(role(question, answer), Some(Role::RejectOnce | Role::RejectAlways));
    caution(question, answer).is_none() && (refuses || question.risk().degree() <= one_tap.degree())
}

fn chosen((option, name): (&FieldOption, Cow<'_, str>)) -> (String, Value) {
    (name.into_owned(), Value::Text(option.value.clone()))
}

#[cfg(test)]
pub(super) mod samples {
    use askbridge_settings::{NotifySettings, Settings, SettingsFile, Sources};

    use super::*;

    /// Returns the settings that this file has.
    pub(crate) fn settings(text: &str) -> NotifySettings {
        let user = SettingsFile { path: "c".into(), text: text.to_owned(), is_readable_by_others: false };
        let settings = Settings::of(Sources { user: Some(user), ..Sources::default() });
        assert_eq!(settings.problems(), [], "{text}");
        NotifySettings::of(&settings, None).expect("it is told")
    }

    /// Returns a question that waits.
    pub(crate) fn record(json: serde_json::Value) -> Record {
        let question = serde_json::from_value(json).expect("a question");
        Record::new(
            "b-1".parse().expect("an ID"),
            std::sync::Arc::new(question),
            askbridge_core::desk::Timestamp::default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{samples::record, *};
    use crate::limits;

    fn choice(options: &Json) -> Json {
        json!({
            "questionId": "q", "message": "Which \u{1b}[31mone?", "origin": "sandbox_agent", "dangerous": false, "blocking": true,
            "project": "/src/sh\u{1b}op",
            "fields": [{ "name": "f", "label": "Which \u{1b}[31mone?", "kind": "choice", "options": options }],
        })
    }

    fn permission(risk: &str) -> Json {
        let roles = ["allow_once", "allow_always", "reject_once"];
        let mut json =
            choice(&roles.map(|role| json!({ "value": role, "label": role, "role": role })).to_vec().into());
        json["purpose"] = "permission".into();
        json["dangerous"] = (risk != "plain").into();
        json["risk"] = risk.into();
        json["subject"] = json!({ "command": "rm -rf build" });
        json
    }

    fn labels(message: &Message) -> Vec<&str> {
        message.buttons.iter().map(|button| &*button.label).collect()
    }

    #[test]
    fn no_more_leaves_the_machine_than_is_set() {
        let record = record(permission("dangerous"));
        let none = Message::new(&record, "/x", Disclosure::None, Risk::Plain);
        assert_eq!(none.text(), "A permission waits in sh␛op");
        assert!(none.buttons.is_empty() && !none.is_urgent);
        let title = Message::new(&record, "/x", Disclosure::Title, Risk::Plain);
        assert_eq!(title.text(), "A permission waits in sh␛op\nWhich ␛[31mone?");
        assert!(title.buttons.is_empty());
        let all = Message::new(&record, "/x", Disclosure::All, Risk::Plain);
        assert!(all.body.contains("rm -rf build") && !all.body.contains('\u{1b}'), "{}", all.body);
    }

    #[test]
    fn the_title_names_another_machine() {
        let mut record = record(choice(&json!([])));
        record.id = "dev-box/b-1".parse().expect("an ID");
        record.bridge = record.id.bridge.clone();
        let title = |record: &Record| Message::new(record, "", Disclosure::None, Risk::Plain).title;
        assert_eq!(title(&record), "A question waits in sh␛op on dev-box");
        std::sync::Arc::make_mut(&mut record.question).project = None;
        assert_eq!(title(&record), "A question waits on dev-box");
    }

    #[test]
    fn what_allows_too_much_has_no_button() {
        let of = |json| Message::new(&record(json), "", Disclosure::All, Risk::Plain);
        assert_eq!(labels(&of(permission("plain"))), ["allow_once", "reject_once"]);
        for risk in ["acts", "dangerous", "of_next_year"] {
            assert_eq!(labels(&of(permission(risk))), ["reject_once"], "{risk}");
        }
        let mut dangerous = choice(&json!([{ "value": "a", "label": "A" }]));
        dangerous["dangerous"] = true.into();
        assert!(of(dangerous).buttons.is_empty());
    }

    #[test]
    fn what_acts_has_a_button_where_the_person_wants_that_and_all_of_it_is_told() {
        let of = |json: &Json| Message::new(&record(json.clone()), "", Disclosure::All, Risk::Acts);
        let whole = permission("acts");
        assert_eq!(labels(&of(&whole)), ["allow_once", "reject_once"]);
        let mut long = whole.clone();
        long["subject"]["command"] = "x".repeat(limits::NOTIFY_TEXT).into();
        let mut more = whole.clone();
        more["subject"]["inputSaysMore"] = true.into();
        let mut change = whole.clone();
        change["subject"] = json!({ "patch": "+a" });
        let mut confirmed = whole.clone();
        confirmed["confirm"] = true.into();
        for json in [long, more, change, confirmed, permission("dangerous")] {
            assert_eq!(labels(&of(&json)), ["reject_once"], "{json}");
        }
        let told = Message::new(&record(whole), "", Disclosure::Title, Risk::Acts);
        assert!(told.buttons.is_empty());
    }

    #[test]
    fn a_question_has_a_button_for_each_of_up_to_three_options() {
        let options = |count: usize| {
            let options: Vec<_> = (0..count)
                .map(|place| json!({ "value": place.to_string(), "label": format!("{place}{}", "x".repeat(99)) }))
                .collect();
            Message::new(&record(choice(&options.into())), "", Disclosure::All, Risk::Plain).buttons
        };
        assert_eq!((options(3).len(), options(4).len()), (3, 0));
        assert!(options(1)[0].label.chars().count() <= BUTTON);
        // A tap is no guess between two labels that look the same.
        let named = |names: [(&str, &str); 2]| {
            let options = names.map(|(value, label)| json!({ "value": value, "label": label }));
            Message::new(&record(choice(&options.to_vec().into())), "", Disclosure::All, Risk::Plain)
        };
        let long = "x".repeat(BUTTON);
        for (names, expected) in [
            ([("/a/x", "x"), ("/b/x", "x")], &["x (/a/x)", "x (/b/x)"][..]),
            ([("go", "Go"), ("stop", "  ")], &["Go", "stop"]),
            ([("0", &format!("{long}a")), ("1", &format!("{long}b"))], &[]),
        ] {
            assert_eq!(labels(&named(names)), expected, "{names:?}");
        }
        let mut confirm = choice(&json!([]));
        confirm["fields"][0] =
            json!({ "name": "f", "label": "?", "kind": "confirm", "yes": "Go", "no": "Stop" });
        let message = Message::new(&record(confirm.clone()), "", Disclosure::All, Risk::Plain);
        assert_eq!(labels(&message), ["Go", "Stop"]);
        let Submission::Answer { answer, .. } = &message.buttons[1].submission else { panic!("no answer") };
        assert_eq!(answer.values["f"], Value::Flag(false));
        confirm["fields"][0]["secret"] = true.into();
        assert!(Message::new(&record(confirm.clone()), "", Disclosure::All, Risk::Plain).buttons.is_empty());
        let second = json!({ "name": "g", "label": "?", "kind": "boolean" });
        confirm["fields"] = json!([second, { "name": "h", "label": "?", "kind": "boolean" }]);
        assert!(Message::new(&record(confirm), "", Disclosure::All, Risk::Plain).buttons.is_empty());
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        let mut json = choice(&json!([]));
        json["message"] = "é".repeat(10_000).into();
        let body = Message::new(&record(json), "", Disclosure::All, Risk::Plain).body;
        assert!(body.len() <= limits::NOTIFY_TEXT && body.ends_with("more bytes are not shown"), "{body}");
    }

    #[test]
    fn the_folder_of_the_bridge_stands_for_a_project_that_is_not_named() {
        let mut json = choice(&json!([]));
        json["project"] = Json::Null;
        let title = |folder| Message::new(&record(json.clone()), folder, Disclosure::None, Risk::Plain).title;
        assert_eq!(
            (&*title("/home-of/site/"), &*title("")),
            ("A question waits in site", "A question waits")
        );
        json["origin"] = "program".into();
        let title = Message::new(&record(json), "/home-of/site/", Disclosure::None, Risk::Plain).title;
        assert_eq!(title, "A question waits", "a program does not work in the folder of its inbox");
    }
}
