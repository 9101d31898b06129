//! A question: a form of one or more fields, in a session, with its heading and the options of a permission by their
//! role. Holds everything that the known dialects can express, so that nothing is lost in translation. The fields are
//! left to `field.rs`.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    Action, FieldOption, Image, Link, Role,
    classification::{Origin, Purpose, Risk},
    field::{Field, check_text},
    formats::Patterns,
    subject::Subject,
};
use crate::limits;

/// A question: a form with one or more fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The session that the question belongs to, if the dialect or the running turn says so.
    #[serde(rename = "sessionId", default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent or program that asks, by the name that it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The folder that the session works in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    /// The ID of the client's request that the question belongs to, as JSON text, if it names no session.
    #[serde(rename = "requestId", default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The agent's own ID of the question, or one that the bridge made up.
    #[serde(rename = "questionId")]
    pub id: String,
    /// The subject of the question, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The question that the form as a whole asks. Empty if the labels of the fields say it all.
    pub message: String,
    /// The fields to fill in; at least one.
    #[serde(deserialize_with = "super::size::exact")]
    pub fields: Vec<Field>,
    /// The label of the button that sends the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
    /// The tool call that the question came from.
    #[serde(rename = "toolCallId", default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
    /// The purpose of the question: an answer, or a permission.
    #[serde(default)]
    pub purpose: Purpose,
    /// The subject of a permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Box<Subject>>,
    /// What a program asks to be allowed, with the digest that binds a decision to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Box<Action>>,
    /// The JSON Schema that a program sent in place of fields. The settlement has the `value` that fits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Box<serde_json::Value>>,
    /// The pages that the asker wants the person to open before the answer. Only the person opens them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The images that the asker sent. Their data is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether the asker takes images in an answer. Most askers take none: then there is no way to add any.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_images: bool,
    /// What the agent sent and no responder can show, each as a sentence: `1 image is not shown`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unshown: Vec<String>,
    /// The protocol that the question came in.
    pub origin: Origin,
    /// Whether a wrong answer can do harm, of either degree.
    pub dangerous: bool,
    /// The harm that a wrong answer may do. Absent if a bridge of another version has not assessed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// The reason for a risk above `plain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_reason: Option<String>,
    /// Whether that reason says no more than what its kind of tool does, such as that it runs a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub risk_of_kind: bool,
    /// Whether the user's settings require a second step before it is allowed, although it is not dangerous.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    /// Whether the agent waits for the answer. If not, it continues meanwhile.
    pub blocking: bool,
    /// How long the agent is willing to wait, in milliseconds.
    #[serde(
        rename = "timeoutMs",
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::encoding::serialize_milliseconds",
        deserialize_with = "super::encoding::deserialize_milliseconds"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub timeout: Option<Duration>,
    /// Whether the asker accepts notes beside the answer, as it does if this is absent. Otherwise notes are dropped.
    #[serde(default = "has_notes", skip_serializing_if = "Clone::clone")]
    pub notes: bool,
    /// The patterns of its fields, compiled when they are first needed.
    #[serde(skip)]
    pub patterns: Patterns,
}

/// The default of `notes`: most dialects have a place for notes.
fn has_notes() -> bool {
    true
}

impl Question {
    /// Returns a question of this origin with these fields, and with defaults for everything else.
    pub fn new(origin: Origin, id: &str, fields: Vec<Field>) -> Self {
        Question {
            session: None,
            agent: None,
            project: None,
            request: None,
            id: id.to_owned(),
            title: None,
            message: String::new(),
            fields,
            submit: None,
            tool_call: None,
            purpose: Purpose::default(),
            subject: None,
            action: None,
            schema: None,
            links: Vec::new(),
            images: Vec::new(),
            takes_images: false,
            unshown: Vec::new(),
            origin,
            dangerous: false,
            risk: None,
            risk_reason: None,
            risk_of_kind: false,
            confirm: false,
            blocking: true,
            timeout: None,
            notes: true,
            patterns: Patterns::default(),
        }
    }

    /// Returns its risk. A permission that was not assessed is dangerous.
    pub fn risk(&self) -> Risk {
        match (self.risk, self.purpose) {
            (Some(risk), _) => risk,
            (None, Purpose::Question) if !self.dangerous => Risk::Plain,
            (None, _) => Risk::Dangerous,
        }
    }

    /// Returns whether it takes a second step, beside the choice, before it is allowed or answered.
    pub fn takes_second_step(&self) -> bool {
        self.risk().is_dangerous() || self.confirm
    }

    /// Returns the folder in which the asker works: the one that the question names, or else `started_in`, the folder of its
    /// bridge. A program does not work in the folder of the inbox that it asks.
    pub fn place<'a>(&'a self, started_in: Option<&'a str>) -> Option<&'a str> {
        self.project.as_deref().or(started_in.filter(|_| self.origin != Origin::Program))
    }

    /// Checks the question against the limits, and that its fields can be told apart.
    ///
    /// # Errors
    /// A sentence that names the mistake and its place.
    pub fn check_limits(&self) -> Result<(), String> {
        let fields = self.fields.len();
        if fields == 0 || fields > limits::FIELDS {
            return Err(format!("a question must have 1 to {} fields, has {fields}", limits::FIELDS));
        }
        check_text("the question's text", &self.message)?;
        check_text("the question's title", self.title.as_deref().unwrap_or_default())?;
        check_text("the submit label", self.submit.as_deref().unwrap_or_default())?;
        check_text("questionId", &self.id)?;
        check_text("sessionId", self.session.as_deref().unwrap_or_default())?;
        check_text("toolCallId", self.tool_call.as_deref().unwrap_or_default())?;
        if self.images.len() > limits::IMAGES {
            return Err(format!("a question must have at most {} images", limits::IMAGES));
        }
        for (index, field) in self.fields.iter().enumerate() {
            field.check_limits()?;
            // An answer refers to its fields by name.
            if self.fields[..index].iter().any(|other| other.name == field.name) {
                return Err(format!("two fields are named {:?}", field.name));
            }
        }
        Ok(())
    }
}

/// Headings without content: those that agents write over every form, and our own. Which agent writes which is in
/// `fixtures/live` and `crates/mock/src/requests`.
const FORMULAS: [&str; 5] = [
    "Please answer the following questions.",
    "Codex needs your input to continue.",
    "Codex keeps working while you answer. An answer sent after it finishes is not delivered.",
    "User input required",
    UNTITLED,
];

/// The heading of a form of several fields that has none.
const UNTITLED: &str = "Please answer these questions.";

impl Question {
    /// Returns the text of the form as a whole; never empty.
    pub fn heading(&self) -> &str {
        let is_blank = |text: &str| text.trim().is_empty();
        match (&*self.message, &self.title, &*self.fields) {
            (message, _, _) if !is_blank(message) => message,
            (_, Some(title), _) if !is_blank(title) => title,
            (_, _, [field]) if !is_blank(&field.label) => &field.label,
            _ => UNTITLED,
        }
    }

    /// Returns whether the heading is one that an agent writes over every form.
    pub fn has_formula(&self) -> bool {
        FORMULAS.contains(&self.heading())
    }

    /// Returns the question itself on one line: the heading, or the label of the first field if the heading is one that
    /// the agent writes over every form. If only the label asks, it stands behind the heading. If there are more fields
    /// than the label's, their number is added.
    pub fn headline(&self) -> Cow<'_, str> {
        let heading = self.heading();
        let only_label_asks = |label: &str| asks(label) && !asks(heading) && !heading.contains(label);
        let (asked, fields) = match self.fields.first() {
            Some(first) if self.has_formula() => (Cow::from(&*first.label), self.fields.len()),
            Some(first) if self.purpose == Purpose::Question && only_label_asks(&first.label) => {
                (behind(heading, &first.label).into(), self.fields.len())
            }
            _ => return heading.into(),
        };
        match fields - 1 {
            0 => asked,
            more => format!("{asked} (and {more} more)").into(),
        }
    }

    /// Returns what a list shows of the question: the command that a permission would run, as `$ COMMAND`, since the agent
    /// chooses all other words, or else the headline. Behind it is where the command would run, and what else would be
    /// allowed.
    pub fn summary(&self) -> Cow<'_, str> {
        let Some(subject) = self.subject.as_deref().filter(|_| self.purpose == Purpose::Permission) else {
            return self.headline();
        };
        let beside = subject.beside();
        match &subject.command {
            Some(command) => format!("$ {command}{beside}").into(),
            None if beside.is_empty() => self.headline(),
            None => format!("{}{beside}", self.headline()).into(),
        }
    }
}

impl Subject {
    /// Returns where it would happen and what else would be allowed, in parentheses behind a space; empty if that is
    /// nothing.
    fn beside(&self) -> String {
        let place = self.environment.as_ref().map(|place| format!("on {place}"));
        let grants = self.grants.first().map(|first| match self.grants.len() - 1 {
            0 => format!("also allows: {first}"),
            more => format!("also allows: {first}, and {more} more"),
        });
        let parts: Vec<_> = place.into_iter().chain(grants).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
    }
}

/// The marks that end a question, of several scripts.
const QUESTION_MARKS: [char; 5] = ['?', '？', '؟', '⁇', '‽'];

/// Returns whether a line of the text ends as a question does.
pub(crate) fn asks(text: &str) -> bool {
    let is_blank = |char: char| char.is_whitespace() || char.is_control();
    text.lines().any(|line| line.trim_end_matches(is_blank).ends_with(QUESTION_MARKS))
}

/// Returns a label behind the heading of its form.
pub(crate) fn behind(heading: &str, label: &str) -> String {
    format!("{}: {label}", heading.trim_end().trim_end_matches([':', '.']))
}

/// Returns the options of a permission that have this role.
pub fn options_with_role(question: &Question, role: Role) -> impl Iterator<Item = &FieldOption> {
    let options = question.fields.iter().flat_map(|field| field.kind.options());
    options.filter(move |option| option.role.as_deref() == Some(&role))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::question::Origin;

    fn headline(message: &str, labels: &[&str]) -> String {
        let field = |(name, label): (usize, &&str)| json!({ "name": name.to_string(), "label": label, "kind": "boolean" });
        let fields: Value = labels.iter().enumerate().map(field).collect();
        let fields = serde_json::from_value(fields).expect("fields");
        let question =
            Question { message: message.to_owned(), ..Question::new(Origin::Elicitation, "q", fields) };
        question.headline().into_owned()
    }

    #[test]
    fn the_summary_of_a_permission_is_its_command() {
        let subject = serde_json::from_value(json!({ "kind": "execute", "command": "rm -rf build" }))
            .expect("a subject");
        let mut question = Question {
            message: "Tidy up".to_owned(),
            subject: Some(subject),
            ..Question::new(Origin::Permission, "q", Vec::new())
        };
        question.purpose = Purpose::Permission;
        assert_eq!(question.summary(), "$ rm -rf build");
        let subject = question.subject.as_deref_mut().expect("a subject");
        subject.environment = Some("prod-7".to_owned());
        subject.grants = vec!["Network access to a.example".to_owned(), "Write: /etc".to_owned()];
        let beside = "(on prod-7; also allows: Network access to a.example, and 1 more)";
        assert_eq!(question.summary(), format!("$ rm -rf build {beside}"));
        question.subject.as_deref_mut().expect("a subject").command = None;
        assert_eq!(question.summary(), format!("Tidy up {beside}"));
        question.subject = None;
        assert_eq!(question.summary(), "Tidy up");
    }

    #[test]
    fn the_headline_is_the_first_label_where_the_heading_is_a_formula() {
        assert_eq!(headline("Which one?", &["Database"]), "Which one?");
        assert_eq!(headline("", &["Which one?"]), "Which one?");
        assert_eq!(headline("Codex needs your input to continue.", &["Which one?"]), "Which one?");
        assert_eq!(
            headline("Please answer the following questions.", &["A?", "B?", "C?"]),
            "A? (and 2 more)"
        );
        assert_eq!(headline("", &["A?", "B?"]), "A? (and 1 more)");
        assert_eq!(headline("User input required", &["Which one?"]), "Which one?");
    }

    #[test]
    fn a_label_that_alone_asks_stands_behind_the_heading() {
        for (message, labels, expected) in [
            ("Input needed", &["Which one?"][..], "Input needed: Which one?"),
            ("Input needed:", &["Which one?", "Why?"], "Input needed: Which one? (and 1 more)"),
            ("Create a release", &["Name", "Notes?"], "Create a release"),
            ("Which one?", &["Are you sure?"], "Which one?"),
            ("Answer Which one? first", &["Which one?"], "Answer Which one? first"),
            ("入力", &["どれですか？"], "入力: どれですか？"),
        ] {
            assert_eq!(headline(message, labels), expected, "{message} {labels:?}");
        }
    }

    #[test]
    fn a_program_works_in_no_folder_of_another() {
        for (origin, project, place) in [
            (Origin::Elicitation, Some("/p"), Some("/p")),
            (Origin::Elicitation, None, Some("/inbox")),
            (Origin::Program, Some("/p"), Some("/p")),
            (Origin::Program, None, None),
        ] {
            let question =
                Question { project: project.map(Into::into), ..Question::new(origin, "q", Vec::new()) };
            assert_eq!(question.place(Some("/inbox")), place);
        }
    }

    /// White space alone is no text.
    #[test]
    fn the_heading_is_the_first_text_that_says_something() {
        for (message, title, labels, heading) in [
            ("Which one?", Some("Title"), &["Label"][..], "Which one?"),
            ("", Some("Title"), &["Label"], "Title"),
            (" \n", Some("Title"), &["Label"], "Title"),
            ("\t", Some(" "), &["Label"], "Label"),
            ("\u{a0}", Some("\u{2003}"), &[" "], UNTITLED),
            (" ", None, &["A", "B"], UNTITLED),
            ("", None, &[], UNTITLED),
        ] {
            let field = |(name, label): (usize, &&str)| json!({ "name": name.to_string(), "label": label, "kind": "boolean" });
            let fields: Value = labels.iter().enumerate().map(field).collect();
            let question = Question {
                message: message.to_owned(),
                title: title.map(str::to_owned),
                ..Question::new(Origin::Elicitation, "q", serde_json::from_value(fields).expect("fields"))
            };
            assert_eq!(question.heading(), heading, "{message:?} {title:?} {labels:?}");
        }
    }
}
