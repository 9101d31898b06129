//! The names of bridges and questions, and the shortened references that a user may type.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use thiserror::Error;

/// Bytes of the longest bridge name. Ours have 6.
const LONGEST: usize = 32;

/// A text that is no name of a bridge or a question.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not the ID of a {1}")]
pub struct InvalidId(String, &'static str);

/// The name of a bridge: 1 to 32 ASCII letters, digits or underscores, unique on the machine. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BridgeName(Arc<str>);

impl BridgeName {
    /// Returns a name made of 6 letters, which random bytes choose.
    pub fn from_random(bytes: [u8; 6]) -> Self {
        // Without l, o, 0 and 1, which are easily mistaken for each other.
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        // 256 is a multiple of 32, so that each letter is equally likely.
        let letters = bytes.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        BridgeName(letters.iter().collect::<String>().into())
    }

    /// Returns the name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for BridgeName {
    /// Returns the name of a bridge that no inbox serves.
    fn default() -> Self {
        BridgeName("bridge".into())
    }
}

impl FromStr for BridgeName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if text.is_empty() || text.len() > LONGEST || !text.bytes().all(allowed) {
            return Err(InvalidId(text.to_owned(), "bridge"));
        }
        Ok(BridgeName(text.into()))
    }
}

impl fmt::Display for BridgeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The asker behind a bridge. Each numbers its questions by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asker {
    /// The bridge's agent: `k3f9q2-1`.
    Agent,
    /// A program, over the control protocol: `k3f9q2-p1`.
    Program,
}

impl Asker {
    /// Returns the part before the number.
    fn letter(self) -> &'static str {
        match self {
            Asker::Agent => "",
            Asker::Program => "p",
        }
    }
}

/// The ID of a question, unique on the machine: `BRIDGE-NUMBER`, or `BRIDGE-pNUMBER` for a question of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId {
    /// The bridge that the question waits in.
    pub bridge: BridgeName,
    /// The asker.
    pub asker: Asker,
    /// The number of the question, from 1.
    pub number: u64,
}

impl FromStr for QuestionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId(text.to_owned(), "question");
        let (bridge, number) = text.rsplit_once('-').ok_or_else(invalid)?;
        let bridge = bridge.parse().map_err(|_| invalid())?;
        let (asker, number) = read_number(number).ok_or_else(invalid)?;
        Ok(QuestionId { bridge, asker, number })
    }
}

/// Reads `1` or `p1`. Any other spelling of the number, such as `01`, is refused, so that each question has one ID.
fn read_number(text: &str) -> Option<(Asker, u64)> {
    let (asker, digits) = match text.strip_prefix('p') {
        Some(digits) => (Asker::Program, digits),
        None => (Asker::Agent, text),
    };
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some((asker, number))
}

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}{}", self.bridge, self.asker.letter(), self.number)
    }
}

/// A typed reference to a question: the beginning of its bridge's name, and its number unless that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix {
    bridge: String,
    number: Option<(Asker, u64)>,
}

impl IdPrefix {
    /// Returns whether the question's number was typed. Settling a question requires it: without it, the next
    /// question of the bridge could be meant by the time that the command runs.
    pub fn has_number(&self) -> bool {
        self.number.is_some()
    }

    /// Returns the typed part of the bridge's name.
    pub fn bridge(&self) -> &str {
        &self.bridge
    }

    /// Returns whether a bridge of this name may have the question.
    pub fn may_be_in(&self, bridge: &str) -> bool {
        bridge.starts_with(&self.bridge)
    }

    /// Returns whether this reference matches the question. The number must match as a whole: `k3-1` never matches
    /// `k3f9q2-10`.
    pub fn matches(&self, id: &QuestionId) -> bool {
        self.may_be_in(id.bridge.as_str()) && self.number.is_none_or(|number| number == (id.asker, id.number))
    }
}

impl FromStr for IdPrefix {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId(text.to_owned(), "question");
        let (bridge, number) = match text.rsplit_once('-') {
            Some((bridge, number)) => (bridge, Some(read_number(number).ok_or_else(invalid)?)),
            None => (text, None),
        };
        // The beginning of a name is a valid name, too.
        let bridge: BridgeName = bridge.parse().map_err(|_| invalid())?;
        Ok(IdPrefix { bridge: bridge.0.as_ref().to_owned(), number })
    }
}

impl fmt::Display for IdPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.bridge)?;
        match self.number {
            Some((asker, number)) => write!(formatter, "-{}{number}", asker.letter()),
            None => Ok(()),
        }
    }
}

impl From<&QuestionId> for IdPrefix {
    fn from(id: &QuestionId) -> Self {
        IdPrefix { bridge: id.bridge.as_str().to_owned(), number: Some((id.asker, id.number)) }
    }
}

impl Serialize for BridgeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BridgeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for QuestionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for QuestionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        for text in ["k3f9q2-1", "k3f9q2-p1", "b-18446744073709551615", "a_b-7"] {
            assert_eq!(text.parse::<QuestionId>().expect("an ID").to_string(), text);
        }
        let hostile =
            ["", "-1", "b-", "b", "b-01", "b-+1", "b-1p", "b-pp1", "\x1b[2J-1", "b b-1", "b-1\n", "a-b-1"];
        for text in hostile {
            assert!(text.parse::<QuestionId>().is_err(), "{text:?}");
        }
        assert!("x".repeat(LONGEST).parse::<BridgeName>().is_ok());
        for byte in 0..=u8::MAX {
            let name = BridgeName::from_random([byte; 6]);
            assert_eq!(name.as_str().parse(), Ok(name.clone()));
        }
        assert!("x".repeat(LONGEST + 1).parse::<BridgeName>().is_err());
    }

    #[test]
    fn a_prefix_matches_the_number_as_a_whole() {
        let matches = |typed: &str, id: &str| {
            let id: QuestionId = id.parse().expect("an ID");
            typed.parse::<IdPrefix>().is_ok_and(|prefix| prefix.matches(&id))
        };
        for typed in ["k3f9q2-10", "k3-10", "k-10", "k3", "k3f9q2"] {
            assert!(matches(typed, "k3f9q2-10"), "{typed}");
            assert_eq!(typed.parse::<IdPrefix>().expect("a prefix").to_string(), typed);
        }
        for typed in ["k3-1", "k3-p10", "f9-10", "k3f9q2x", "", "-10", "k3-010"] {
            assert!(!matches(typed, "k3f9q2-10"), "{typed}");
        }
        assert!(matches("k3-p10", "k3f9q2-p10"));
    }
}
