//! Companions: the second field in which an agent takes a free text beside a choice. Writing the text of a companion as
//! part of an answer is left to `reply.rs`.

use serde_json::{Map, Value as Json};

use crate::{dialect::schema::Property, question::Kind};

/// The companion of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Companion {
    /// The field has no companion: it takes no free text, or takes one itself.
    #[default]
    None,
    /// The companion's text is the answer, or one more choice beside multiple choices.
    Custom {
        /// The key of the companion.
        key: String,
        /// Whether the text is a note if a single choice was made as well. Otherwise it replaces that choice.
        notes: bool,
    },
    /// The companion's text is a note: the answer itself must be an option.
    Note {
        /// The key of the companion.
        key: String,
        /// The option which means that the answer is in the note.
        none: Option<String>,
    },
}

impl Companion {
    /// Returns how many bytes its texts have.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Companion::None => 0,
            Companion::Custom { key, .. } => key.len(),
            Companion::Note { key, none } => key.len() + none.as_ref().map_or(0, String::len),
        }
    }

    /// Returns whether it has a place for a note beside an answer.
    pub fn takes_notes(&self) -> bool {
        matches!(self, Companion::Custom { notes: true, .. } | Companion::Note { .. })
    }
}

/// Codex's option which means that the answer is in the note.
const NONE_OF_THE_ABOVE: &str = "None of the above";

/// The meaning of a companion's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompanionRole {
    /// An answer.
    Answer,
    /// An answer, or a note beside a choice.
    AnswerOrNote,
    /// A note.
    Note,
}

/// The key suffixes of companions without a mark: those of Claude and opencode, oh-my-pi, and Codex.
const SUFFIXES: [(&str, CompanionRole); 3] =
    [("_custom", CompanionRole::Answer), ("__other", CompanionRole::Answer), ("_note", CompanionRole::Note)];
/// The prefix of the keys of Claude's fields.
const CLAUDE: &str = "question_";

/// Returns the companion of the field with this key.
pub(super) fn of(key: &str, properties: &[Property]) -> Companion {
    let found = properties.iter().find_map(|property| {
        let (owner, role) = owner(property, properties)?;
        (owner == key).then_some((&property.key, role))
    });
    match found {
        None => Companion::None,
        Some((key, CompanionRole::Answer)) => Companion::Custom { key: key.clone(), notes: false },
        Some((key, CompanionRole::AnswerOrNote)) => Companion::Custom { key: key.clone(), notes: true },
        Some((note, CompanionRole::Note)) => {
            let options = by_key(key, properties).map(|owned| owned.field.kind.options());
            let none = options.into_iter().flatten().find(|option| option.value == NONE_OF_THE_ABOVE);
            Companion::Note { key: note.clone(), none: none.map(|option| option.value.clone()) }
        }
    }
}

/// Returns whether a property is the companion of another field.
pub(super) fn is_companion(property: &Property, properties: &[Property]) -> bool {
    owner(property, properties).is_some()
}

/// Returns the property of the form itself with this key.
fn by_key<'a>(key: &str, properties: &'a [Property]) -> Option<&'a Property> {
    properties.iter().find(|property| property.key == key && property.group.is_empty())
}

/// Returns the key of the field that this companion belongs to, and the meaning of the companion's text.
fn owner<'a>(property: &'a Property, properties: &[Property]) -> Option<(&'a str, CompanionRole)> {
    let Property { field, key, .. } = property;
    // A required text is a separate question, not a companion.
    if !matches!(field.kind, Kind::Text { .. }) || field.required || !property.group.is_empty() {
        return None;
    }
    let by_suffix = || {
        let mut suffixes = SUFFIXES.iter();
        suffixes.find_map(|(suffix, role)| {
            let owner = key.strip_suffix(suffix)?;
            // Claude and opencode have the same suffix, but only Claude takes the text as a note beside a choice.
            let is_claude = *suffix == "_custom" && owner.starts_with(CLAUDE);
            Some((owner, if is_claude { CompanionRole::AnswerOrNote } else { *role }))
        })
    };
    let (owner, role) = marked(&property.meta).or_else(by_suffix)?;
    // A mark that names a missing field, or one without options, has another meaning.
    let is_choice = !by_key(owner, properties)?.field.kind.options().is_empty();
    (is_choice && owner != key).then_some((owner, role))
}

/// Reads the marks of Codex, of Claude, and of Claude in JetBrains' client.
fn marked(meta: &Map<String, Json>) -> Option<(&str, CompanionRole)> {
    if let Some(codex) = meta.get("codex") {
        let is_note = codex.get("role").and_then(Json::as_str) == Some("user_note");
        let is_other = codex.get("isOtherAnswer") == Some(&Json::Bool(true));
        let owner = codex.get("questionId").and_then(Json::as_str).filter(|_| is_note || is_other);
        return owner.map(|owner| (owner, if is_note { CompanionRole::Note } else { CompanionRole::Answer }));
    }
    let air = meta.get("jetbrains").and_then(|jetbrains| jetbrains.get("air")?.get("customAnswer"));
    let mark = meta.get(CUSTOM_ANSWER).or(air)?;
    let is_custom = mark.get("isCustomAnswer") == Some(&Json::Bool(true));
    mark.get("questionId")
        .and_then(Json::as_str)
        .filter(|_| is_custom)
        .map(|owner| (owner, CompanionRole::AnswerOrNote))
}

/// The `_meta` member with which Claude's adapter marks a companion.
pub(super) const CUSTOM_ANSWER: &str = "_askUserQuestionCustomAnswer";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::schema;

    const CHOICE: &str = r#"{"type":"string","oneOf":[{"const":"A"},{"const":"None of the above"}]}"#;

    /// The companion of the choice `db` in a form that also has the field `name` with these members.
    fn beside(name: &str, members: &str, required: &str) -> Companion {
        among(&format!(r#""db":{CHOICE},"{name}":{{{members}}}"#), required)
    }

    fn among(properties: &str, required: &str) -> Companion {
        let schema = format!(r#"{{"properties":{{{properties}}},"required":[{required}]}}"#);
        let properties = schema::read(&schema).expect("a schema").properties;
        let companion = of("db", &properties);
        let others = properties.iter().filter(|property| is_companion(property, &properties));
        let others: Vec<_> = others.map(|property| property.key.clone()).collect();
        let key = match &companion {
            Companion::None => Vec::new(),
            Companion::Custom { key, .. } | Companion::Note { key, .. } => vec![key.clone()],
        };
        assert_eq!(others, key, "every companion belongs to a field");
        companion
    }

    fn custom(key: &str) -> Companion {
        Companion::Custom { key: key.to_owned(), notes: false }
    }

    fn claude(key: &str) -> Companion {
        Companion::Custom { key: key.to_owned(), notes: true }
    }

    fn note(key: &str) -> Companion {
        Companion::Note { key: key.to_owned(), none: Some("None of the above".to_owned()) }
    }

    #[test]
    fn companion_is_found_by_its_suffix() {
        assert_eq!(beside("db_custom", r#""type":"string""#, ""), custom("db_custom"));
        assert_eq!(beside("db__other", r#""type":"string""#, ""), custom("db__other"));
        assert_eq!(beside("db_note", r#""type":"string""#, ""), note("db_note"));
        assert_eq!(beside("db_more", r#""type":"string""#, ""), Companion::None);
        assert_eq!(beside("lang_custom", r#""type":"string""#, ""), Companion::None);
    }

    #[test]
    fn companion_is_found_by_its_mark() {
        let marked = |meta: &str| beside("x", &format!(r#""type":"string","_meta":{meta}"#), "");
        assert_eq!(marked(r#"{"codex":{"questionId":"db","role":"user_note"}}"#), note("x"));
        assert_eq!(marked(r#"{"codex":{"questionId":"db","isOtherAnswer":true}}"#), custom("x"));
        let custom_answer = r#"{"questionId":"db","isCustomAnswer":true}"#;
        assert_eq!(marked(&format!(r#"{{"_askUserQuestionCustomAnswer":{custom_answer}}}"#)), claude("x"));
        assert_eq!(
            marked(&format!(r#"{{"jetbrains":{{"air":{{"customAnswer":{custom_answer}}}}}}}"#)),
            claude("x")
        );
        assert_eq!(marked(r#"{"codex":{"questionId":"db"}}"#), Companion::None);
        assert_eq!(marked(r#"{"codex":{"questionId":"lang","role":"user_note"}}"#), Companion::None);
        assert_eq!(marked(r#"{"_askUserQuestionCustomAnswer":{"questionId":"db"}}"#), Companion::None);
        assert_eq!(marked(r#"{"jetbrains":5}"#), Companion::None);
    }

    #[test]
    fn companion_is_an_optional_text_beside_a_choice() {
        assert_eq!(beside("db_custom", r#""type":"string""#, r#""db_custom""#), Companion::None);
        assert_eq!(beside("db_custom", r#""type":"boolean""#, ""), Companion::None);
        assert_eq!(beside("db_custom", r#""type":"string","enum":["a"]"#, ""), Companion::None);
        let texts = r#""db":{"type":"string"},"db_custom":{"type":"string"}"#;
        assert_eq!(among(texts, ""), Companion::None);
        let many = r#""db":{"type":"array","items":{"enum":["a"]}},"db_custom":{"type":"string"}"#;
        assert_eq!(among(many, ""), custom("db_custom"));
    }

    #[test]
    fn note_companion_may_lack_an_option_for_none() {
        let properties = r#""db":{"type":"string","enum":["A"]},"db_note":{"type":"string"}"#;
        assert_eq!(among(properties, ""), Companion::Note { key: "db_note".to_owned(), none: None });
    }
}
