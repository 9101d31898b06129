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

#[cfg(test)]
mod tests {
    use super::*;

    const CHOICE: &str = r#"{"type":"string","oneOf":[{"const":"A"},{"const":"None of the above"}]}"#;

    /// Where the free text of `db` goes, if `name` stands beside it with these members.
    fn beside(name: &str, members: &str, required: &str) -> Companion {
        among(&format!(r#""db":{CHOICE},"{name}":{{{members}}}"#), required)
    }

    fn among(properties: &str, required: &str) -> Companion {
        let schema = format!(r#"{{"properties":{{{properties}}},"required":[{required}]}}"#);
        let schema: Schema = serde_json::from_str(&schema).expect("a schema");
        let companion = of("db", &schema);
        let others =
            schema.properties.0.iter().filter(|(key, property)| is_companion(key, property, &schema));
        let others: Vec<_> = others.map(|(key, _)| key.clone()).collect();
        let key = match &companion {
            Companion::None => Vec::new(),
            Companion::Custom { key, .. } | Companion::Note { key, .. } => vec![key.clone()],
        };
        assert_eq!(others, key, "what is a companion is that of a field");
        companion
    }

    fn custom(key: &str) -> Companion {
        Companion::Custom { key: key.to_owned(), remarks: false }
    }

    fn claude(key: &str) -> Companion {
        Companion::Custom { key: key.to_owned(), remarks: true }
    }

    fn note(key: &str) -> Companion {
        Companion::Note { key: key.to_owned(), none: Some("None of the above".to_owned()) }
    }

    #[test]
    fn by_what_its_name_ends_with() {
        assert_eq!(beside("db_custom", r#""type":"string""#, ""), custom("db_custom"));
        assert_eq!(beside("db__other", r#""type":"string""#, ""), custom("db__other"));
        assert_eq!(beside("db_note", r#""type":"string""#, ""), note("db_note"));
        assert_eq!(beside("db_more", r#""type":"string""#, ""), Companion::None);
        assert_eq!(beside("lang_custom", r#""type":"string""#, ""), Companion::None);
    }

    #[test]
    fn by_its_mark_whatever_its_name() {
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
    fn only_an_optional_text_beside_a_choice() {
        assert_eq!(beside("db_custom", r#""type":"string""#, r#""db_custom""#), Companion::None);
        assert_eq!(beside("db_custom", r#""type":"boolean""#, ""), Companion::None);
        assert_eq!(beside("db_custom", r#""type":"string","enum":["a"]"#, ""), Companion::None);
        let texts = r#""db":{"type":"string"},"db_custom":{"type":"string"}"#;
        assert_eq!(among(texts, ""), Companion::None);
        let many = r#""db":{"type":"array","items":{"enum":["a"]}},"db_custom":{"type":"string"}"#;
        assert_eq!(among(many, ""), custom("db_custom"));
    }

    #[test]
    fn a_note_without_an_option_for_none() {
        let properties = r#""db":{"type":"string","enum":["A"]},"db_note":{"type":"string"}"#;
        assert_eq!(among(properties, ""), Companion::Note { key: "db_note".to_owned(), none: None });
    }
}
