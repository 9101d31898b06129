//! How parts of a question are read from JSON and written to it where a derive is not enough: enums that may grow,
//! field kinds of another version, and durations in milliseconds.
//!
//! Bridges run for days while commands are replaced, so both sides meet names of other versions (I11): such a name is
//! kept, and written again unchanged. Its meaning for the holder is left to the file of each enum.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::{Map, Value as Json};

/// Bytes of the longest name that is kept. Ours have up to 16.
const LONGEST_NAME: usize = 39;

/// A name that this version does not know. It is held in place, so that an open enum is small and cheap to copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownName {
    length: u8,
    bytes: [u8; LONGEST_NAME],
}

impl UnknownName {
    /// Keeps a name. Returns `None` for one that is longer than 39 bytes.
    pub fn new(name: &str) -> Option<Self> {
        let mut bytes = [0; LONGEST_NAME];
        bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        Some(UnknownName { length: u8::try_from(name.len()).ok()?, bytes })
    }

    /// Returns the name as it came.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        // Cannot fail: the bytes are those of a whole text.
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for UnknownName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(formatter)
    }
}

impl Serialize for UnknownName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for UnknownName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::new(&name).ok_or_else(|| D::Error::custom(format!("a name longer than {LONGEST_NAME} bytes")))
    }
}

/// Defines an enum of names that are written in snake case, with a variant `Other` for each name of another version.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $type:ident { $( $(#[$doc:meta])* $variant:ident = $name:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $type {
            $( $(#[$doc])* #[serde(rename = $name)] $variant, )+
            /// A name that this version does not know.
            #[serde(untagged)]
            Other(#[cfg_attr(feature = "schema", schemars(with = "String"))] $crate::question::encoding::UnknownName),
        }

        impl $type {
            /// All names that this version knows, in the order of their declaration.
            pub const NAMES: &'static [&'static str] = &[$( $name, )+];

            /// Returns the name, as it stands on the wire and in logs.
            pub fn name(&self) -> &str {
                match self {
                    $( $type::$variant => $name, )+
                    $type::Other(name) => name.as_str(),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

/// The kinds that this version knows, and the members that each requires.
const KNOWN_KINDS: [(&str, &[&str]); 8] = [
    ("text", &[]),
    ("choice", &["options"]),
    ("choices", &["options"]),
    ("boolean", &[]),
    ("number", &[]),
    ("confirm", &["yes", "no"]),
    ("texts", &[]),
    ("json", &["schema"]),
];

/// Returns the mistake in a kind that could not be read, as a sentence whose subject is the field.
pub(super) fn describe_unknown_kind(members: &Map<String, Json>) -> String {
    let names = || KNOWN_KINDS.map(|(name, _)| name).join(", ");
    let kind = match members.get("kind") {
        None => return format!("has no `kind`, which must be one of {}", names()),
        Some(Json::String(kind)) => kind,
        Some(_) => return format!("has a `kind` that is not a text: it must be one of {}", names()),
    };
    let Some((_, required)) = KNOWN_KINDS.iter().find(|(name, _)| name == kind) else {
        return format!("has the unknown kind {kind:?}: it must be one of {}", names());
    };
    match required.iter().find(|name| !members.contains_key(**name)) {
        Some(missing) => format!("is of kind {kind:?} and must have `{missing}`"),
        // The error does not name the member, since that would take another parse of the field as this kind.
        None => format!("is of kind {kind:?}, and has a member of the wrong type"),
    }
}

pub(super) fn serialize_milliseconds<S: Serializer>(
    time: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_millis().try_into().unwrap_or(u64::MAX)).serialize(serializer)
}

pub(super) fn deserialize_milliseconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
}

pub(crate) use open_enum;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Field, Kind, Origin, PreviewFormat, Purpose, Question, Reason, Responder};

    #[track_caller]
    fn survives<T: Serialize + for<'de> Deserialize<'de>>(name: &str) {
        let json = format!("{name:?}");
        let read: T = serde_json::from_str(&json).expect("a name");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), json);
    }

    #[test]
    fn unknown_names_survive_a_round_trip() {
        for name in ["of_next_year", "", &"x".repeat(LONGEST_NAME)] {
            survives::<Reason>(name);
            survives::<Responder>(name);
            survives::<Origin>(name);
            survives::<Purpose>(name);
            survives::<PreviewFormat>(name);
        }
    }

    #[test]
    fn known_names_are_the_variants() {
        assert_eq!(serde_json::from_str::<Reason>("\"timeout\"").expect("a reason"), Reason::Timeout);
        assert_eq!(serde_json::to_string(&Responder::CommandLine).expect("JSON"), "\"command_line\"");
        assert_eq!(Reason::RepliedInChat.name(), "replied_in_chat");
        for name in Reason::NAMES {
            let read: Reason = serde_json::from_str(&format!("{name:?}")).expect("a reason");
            assert!(!matches!(read, Reason::Other(_)) && read.name() == *name, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_too_long_or_not_a_text_is_refused() {
        let long = format!("{:?}", "x".repeat(LONGEST_NAME + 1));
        for json in [&*long, "5", "null", "{}"] {
            assert!(serde_json::from_str::<Reason>(json).is_err(), "{json}");
        }
    }

    fn read(members: serde_json::Value) -> Field {
        let mut json = json!({ "name": "f", "label": "F" });
        let members = members.as_object().expect("members").clone();
        json.as_object_mut().expect("an object").extend(members);
        serde_json::from_value(json).expect("a field")
    }

    #[test]
    fn a_question_with_a_kind_that_cannot_be_read_is_refused_with_the_reason() {
        for (members, reason) in [
            (json!({}), "has no `kind`, which must be one of text, choice, choices,"),
            (json!({ "kind": 5 }), "has a `kind` that is not a text"),
            (json!({ "kind": "drawing" }), "has the unknown kind \"drawing\""),
            (json!({ "kind": "choice" }), "is of kind \"choice\" and must have `options`"),
            (json!({ "kind": "confirm", "yes": "y" }), "is of kind \"confirm\" and must have `no`"),
            (
                json!({ "kind": "text", "minLength": "x" }),
                "is of kind \"text\", and has a member of the wrong",
            ),
            (json!({ "kind": "choices", "options": [{}] }), "is of kind \"choices\", and has a member"),
        ] {
            let field = read(members.clone());
            assert!(matches!(field.kind, Kind::Unknown(_)), "{members}");
            let question = Question::new(Origin::Program, "q", vec![field]);
            let error = question.check_limits().expect_err("it cannot be asked");
            assert!(error.starts_with(&format!("field \"f\" {reason}")), "{error} for {members}");
        }
    }

    #[test]
    fn every_known_kind_is_described_as_one() {
        for (kind, _) in super::KNOWN_KINDS {
            let members = json!({
                "kind": kind, "options": [{ "value": "a", "label": "A" }], "yes": "y", "no": "n", "schema": {}, "mood": 1,
            });
            assert!(!matches!(read(members).kind, Kind::Unknown(_)), "{kind}");
        }
    }

    #[test]
    fn a_field_of_an_unknown_kind_survives_a_round_trip() {
        let json = json!({
            "name": "f", "label": "F", "required": true, "kind": "drawing", "canvas": { "width": [1, null] },
        });
        let field: Field = serde_json::from_value(json.clone()).expect("a field");
        assert_eq!(serde_json::to_value(field).expect("JSON"), json);
    }
}
