//! Enums whose names on the wire may grow: a name that this version does not know is kept, and written again as it was.
//! Bridges run for days while commands are replaced, so both sides meet names of other versions (I11). What an unknown
//! name means for its holder is left to the file of that enum.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

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
        // The bytes were copied from a text as a whole.
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
        #[non_exhaustive]
        pub enum $type {
            $( $(#[$doc])* #[serde(rename = $name)] $variant, )+
            /// A name that this version does not know.
            #[serde(untagged)]
            Other(#[cfg_attr(feature = "schema", schemars(with = "String"))] $crate::question::UnknownName),
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

pub(crate) use open_enum;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::{Origin, PreviewFormat, Purpose, Reason, Responder};

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
}
