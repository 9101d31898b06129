//! The second field in which an agent takes a free text beside a choice.
//! How its text goes into an answer and out of it is left to `content.rs`.

use serde_json::{Map, Value as Json};

use super::schema::{Property, Schema};

/// What it takes to say an answer as the content of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Whether it was asked under a former name, which clients may not know.
    pub former: bool,
    /// Whether the result is one level deeper, as under some of those.
    pub nested: bool,
    /// Where each field's free text goes, in the order of the fields.
    pub companions: Vec<Companion>,
}

/// Where the free text of a field goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Companion {
    /// It has none, or is the field itself.
    #[default]
    None,
    /// To a field beside it: alone, it is the answer; beside many choices, one more.
    Custom {
        /// The key of that field.
        key: String,
        /// Whether it is a remark beside a single choice. Otherwise it takes the place of that.
        remarks: bool,
    },
    /// To a field beside it, as a remark: the answer itself must be an option.
    Note {
        /// The key of that field.
        key: String,
        /// The option that says that the answer is in the remark.
        none: Option<String>,
    },
}

/// Codex's option for an answer that is in the note.
const NONE_OF_THE_ABOVE: &str = "None of the above";

/// What the text of a companion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// An answer.
    Answer,
    /// An answer, or a remark beside a choice.
    AnswerOrRemark,
    /// A remark.
    Remark,
}

/// The suffixes of companions that nothing else marks: Claude's and opencode's, oh-my-pi's, Codex's.
const SUFFIXES: [(&str, Role); 3] =
    [("_custom", Role::Answer), ("__other", Role::Answer), ("_note", Role::Remark)];
/// What the keys of Claude's fields begin with.
const CLAUDE: &str = "question_";

/// Returns where the free text of the field with this key goes.
pub(super) fn of(key: &str, schema: &Schema) -> Companion {
    let found = schema.properties.0.iter().find_map(|(other, property)| {
        let (owner, role) = owner(other, property, schema)?;
        (owner == key).then_some((other, role))
    });
    match found {
        None => Companion::None,
        Some((key, Role::Answer)) => Companion::Custom { key: key.clone(), remarks: false },
        Some((key, Role::AnswerOrRemark)) => Companion::Custom { key: key.clone(), remarks: true },
        Some((note, Role::Remark)) => {
            let options = schema.properties.get(key).and_then(|property| property.one_of.as_deref());
            let none = options.into_iter().flatten().find(|option| option.value == NONE_OF_THE_ABOVE);
            Companion::Note { key: note.clone(), none: none.map(|option| option.value.clone()) }
        }
    }
}

/// Says whether the field with this key is the companion of another one.
pub(super) fn is_companion(key: &str, property: &Property, schema: &Schema) -> bool {
    owner(key, property, schema).is_some()
}

/// Returns the key of the field that this one is the companion of, and what its text is.
fn owner<'a>(key: &'a str, property: &'a Property, schema: &Schema) -> Option<(&'a str, Role)> {
    let is_text =
        property.kind.as_deref() == Some("string") && property.values.is_none() && property.one_of.is_none();
    let required = schema.required.iter().flatten().any(|name| name == key);
    if !is_text || required {
        return None;
    }
    let by_suffix = || {
        let mut suffixes = SUFFIXES.iter();
        suffixes.find_map(|(suffix, role)| {
            let owner = key.strip_suffix(suffix)?;
            let is_claude = *suffix == "_custom" && owner.starts_with(CLAUDE);
            Some((owner, if is_claude { Role::AnswerOrRemark } else { *role }))
        })
    };
    let marked = property.meta.as_ref().and_then(marked);
    let (owner, role) = marked.or_else(by_suffix)?;
    // The marks of a field that is not there, or that has no options, mean something else.
    let owned = schema.properties.get(owner)?;
    let is_choice = owned.values.is_some() || owned.one_of.is_some() || owned.items.is_some();
    (is_choice && owner != key).then_some((owner, role))
}

/// Reads the marks of Codex, of Claude, and of Claude for JetBrains' client.
fn marked(meta: &Map<String, Json>) -> Option<(&str, Role)> {
    if let Some(codex) = meta.get("codex") {
        let is_note = codex.get("role").and_then(Json::as_str) == Some("user_note");
        let is_other = codex.get("isOtherAnswer") == Some(&Json::Bool(true));
        let owner = codex.get("questionId").and_then(Json::as_str).filter(|_| is_note || is_other);
        return owner.map(|owner| (owner, if is_note { Role::Remark } else { Role::Answer }));
    }
    let air = meta.get("jetbrains").and_then(|jetbrains| jetbrains.get("air")?.get("customAnswer"));
    let mark = meta.get(CUSTOM_ANSWER).or(air)?;
    let is_custom = mark.get("isCustomAnswer") == Some(&Json::Bool(true));
    mark.get("questionId")
        .and_then(Json::as_str)
        .filter(|_| is_custom)
        .map(|owner| (owner, Role::AnswerOrRemark))
}

/// The mark that Claude's adapter puts on a companion.
pub(super) const CUSTOM_ANSWER: &str = "_askUserQuestionCustomAnswer";
