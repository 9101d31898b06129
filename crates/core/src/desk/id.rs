//! The names of bridges and questions, and the shortened references that a user may type.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use thiserror::Error;

/// Bytes of the longest bridge name. Ours have 6.
const LONGEST: usize = 32;
/// Bytes of the longest machine name.
const LONGEST_MACHINE: usize = 64;
/// The separator between the name of another machine and that of one of its bridges.
const ON_MACHINE: char = '/';

/// A text that is no name of a bridge or a question.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not the ID of a {1}")]
pub struct InvalidId(String, &'static str);

/// The name that a user gives to another machine: 1 to 64 ASCII letters, digits, `_`, `-` or `.`, of which the first is
/// a letter or a digit. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct MachineName(Arc<str>);

impl MachineName {
    /// Returns the name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MachineName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        // A name that begins with `-` would be an option of ssh.
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !begins || text.len() > LONGEST_MACHINE || !text.bytes().all(allowed) {
            return Err(InvalidId(text.to_owned(), "machine"));
        }
        Ok(MachineName(text.into()))
    }
}

impl fmt::Display for MachineName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The name of a bridge: 1 to 32 ASCII letters, digits or underscores, unique on its machine. A bridge of another machine
/// has that machine's name before its own: `box/k3f9q2`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct BridgeName(Arc<str>);

impl BridgeName {
    /// Returns a name made of 6 letters, which random bytes choose.
    pub fn from_random(bytes: [u8; 6]) -> Self {
        // The alphabet lacks l, o, 0 and 1, which are easily mistaken for each other.
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        // 256 is a multiple of 32, so each letter is equally likely.
        let letters = bytes.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        BridgeName(letters.iter().collect::<String>().into())
    }

    /// Returns the name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the machine that the bridge runs on. `None` for a bridge of this machine.
    pub fn machine(&self) -> Option<&str> {
        Some(self.0.split_once(ON_MACHINE)?.0)
    }

    /// Returns the name that the bridge has on its own machine.
    pub fn own(&self) -> BridgeName {
        match self.0.split_once(ON_MACHINE) {
            Some((_, own)) => BridgeName(own.into()),
            None => self.clone(),
        }
    }

    /// Returns the name by which a bridge of this other machine is known here. `None` if it has a machine already: a
    /// machine speaks for its own bridges only.
    pub fn on(&self, machine: &MachineName) -> Option<BridgeName> {
        self.machine().is_none().then(|| BridgeName(format!("{machine}{ON_MACHINE}{self}").into()))
    }
}

impl Default for BridgeName {
    /// Returns the placeholder name of a bridge that no inbox serves, whose questions have no ID for responders.
    fn default() -> Self {
        BridgeName("bridge".into())
    }
}

impl FromStr for BridgeName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId(text.to_owned(), "bridge");
        let own = match text.split_once(ON_MACHINE) {
            Some((machine, own)) => machine.parse::<MachineName>().map(|_| own).map_err(|_| invalid())?,
            None => text,
        };
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if own.is_empty() || own.len() > LONGEST || !own.bytes().all(allowed) {
            return Err(invalid());
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

/// The ID of a question, unique on the machine: `BRIDGE-NUMBER`, or `BRIDGE-pNUMBER` for a question of a program. The ID
/// of a question of another machine begins with that machine's name: `box/k3f9q2-1`.
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

impl QuestionId {
    /// Returns the ID that the question has on its own machine.
    pub fn own(&self) -> QuestionId {
        QuestionId { bridge: self.bridge.own(), ..self.clone() }
    }

    /// Returns the ID by which a question of this other machine is known here. `None` if it has a machine already.
    pub fn on(&self, machine: &MachineName) -> Option<QuestionId> {
        Some(QuestionId { bridge: self.bridge.on(machine)?, ..self.clone() })
    }
}

/// A typed reference to a question: the name of its machine unless that is left out, the beginning of its bridge's name,
/// and its number unless that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix {
    machine: Option<MachineName>,
    bridge: String,
    number: Option<(Asker, u64)>,
}

impl IdPrefix {
    /// Returns whether the question's number was typed. Settling a question requires it: without it, the next
    /// question of the bridge could be meant by the time that the command runs.
    pub fn has_number(&self) -> bool {
        self.number.is_some()
    }

    /// Returns the typed name of the machine.
    pub fn machine(&self) -> Option<&MachineName> {
        self.machine.as_ref()
    }

    /// Returns the typed part of the bridge's name on its machine.
    pub fn bridge(&self) -> &str {
        &self.bridge
    }

    /// Returns the reference as the question's own machine reads it.
    pub fn own(&self) -> IdPrefix {
        IdPrefix { machine: None, ..self.clone() }
    }

    /// Returns whether a bridge of this machine may have the question.
    pub fn may_be_on(&self, machine: &MachineName) -> bool {
        self.machine.as_ref().is_none_or(|typed| typed == machine)
    }

    /// Returns whether a bridge of this name may have the question.
    pub fn may_be_in(&self, bridge: &BridgeName) -> bool {
        let own = match (bridge.0.split_once(ON_MACHINE), &self.machine) {
            (Some((machine, own)), typed) if typed.as_ref().is_none_or(|typed| typed.as_str() == machine) => {
                own
            }
            (None, None) => bridge.as_str(),
            _ => return false,
        };
        own.starts_with(&self.bridge)
    }

    /// Returns whether this reference matches the question. The number must match as a whole: `k3-1` never matches
    /// `k3f9q2-10`. A reference without a machine also matches questions of other machines: [`IdPrefix::prefer_own`]
    /// then leaves those out if a question of this machine matches.
    pub fn matches(&self, id: &QuestionId) -> bool {
        self.may_be_in(&id.bridge) && self.number.is_none_or(|number| number == (id.asker, id.number))
    }

    /// Leaves out the questions of other machines if one of this machine is among those that were found. So no other
    /// machine can make the ID of a question ambiguous by giving it to one of its own.
    pub fn prefer_own<T>(found: &mut Vec<T>, id: impl Fn(&T) -> &QuestionId) {
        let is_own = |found: &T| id(found).bridge.machine().is_none();
        if found.iter().any(is_own) {
            found.retain(is_own);
        }
    }
}

impl FromStr for IdPrefix {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId(text.to_owned(), "question");
        let (machine, own) = match text.split_once(ON_MACHINE) {
            Some((machine, own)) => (Some(machine.parse().map_err(|_| invalid())?), own),
            None => (None, text),
        };
        let (bridge, number) = match own.rsplit_once('-') {
            Some((bridge, number)) => (bridge, Some(read_number(number).ok_or_else(invalid)?)),
            None => (own, None),
        };
        // The beginning of a name is a valid name, too.
        let bridge: BridgeName = bridge.parse().map_err(|_| invalid())?;
        match bridge.machine() {
            Some(_) => Err(invalid()),
            None => Ok(IdPrefix { machine, bridge: bridge.as_str().to_owned(), number }),
        }
    }
}

impl fmt::Display for IdPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(machine) = &self.machine {
            write!(formatter, "{machine}{ON_MACHINE}")?;
        }
        formatter.write_str(&self.bridge)?;
        match self.number {
            Some((asker, number)) => write!(formatter, "-{}{number}", asker.letter()),
            None => Ok(()),
        }
    }
}

impl From<&QuestionId> for IdPrefix {
    fn from(id: &QuestionId) -> Self {
        let machine = id.bridge.machine().map(|machine| MachineName(machine.into()));
        let bridge = id.bridge.own().as_str().to_owned();
        IdPrefix { machine, bridge, number: Some((id.asker, id.number)) }
    }
}

impl<'de> Deserialize<'de> for MachineName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
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
        for text in ["k3f9q2-1", "k3f9q2-p1", "b-18446744073709551615", "a_b-7", "dev-box.lan/k3f9q2-1"] {
            assert_eq!(text.parse::<QuestionId>().expect("an ID").to_string(), text);
        }
        let hostile =
            ["", "-1", "b-", "b", "b-01", "b-+1", "b-1p", "b-pp1", "\x1b[2J-1", "b b-1", "b-1\n", "a-b-1"];
        let other_machine = ["/b-1", "box/-1", "box/c/b-1", "-o/b-1", ".b/b-1", "b x/b-1", "box//b-1"];
        for text in hostile.into_iter().chain(other_machine) {
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

    #[test]
    fn a_question_of_another_machine_is_named_with_it_or_without() {
        let id = |text: &str| text.parse::<QuestionId>().expect("an ID");
        let typed = |text: &str| text.parse::<IdPrefix>().expect("a prefix");
        let other = id("dev-box/k3f9q2-1");
        for text in ["dev-box/k3f9q2-1", "dev-box/k3-1", "dev-box/k", "k3-1", "k3f9q2"] {
            assert!(typed(text).matches(&other), "{text}");
            assert_eq!(typed(text).to_string(), text);
        }
        for text in ["box/k3-1", "dev/k3-1", "dev-box/k3-2"] {
            assert!(!typed(text).matches(&other), "{text}");
        }
        assert!(!typed("dev-box/k3-1").matches(&id("k3f9q2-1")));
        assert_eq!(IdPrefix::from(&other).to_string(), "dev-box/k3f9q2-1");
        assert_eq!(other.own(), id("k3f9q2-1"));
        let machine: MachineName = "dev-box".parse().expect("a name");
        assert_eq!(other.own().on(&machine), Some(other.clone()));
        assert_eq!(other.on(&machine), None);

        let mut found = vec![other.clone(), id("k3f9q2-1")];
        IdPrefix::prefer_own(&mut found, |id| id);
        assert_eq!(found, [id("k3f9q2-1")]);
        let mut found = vec![other.clone()];
        IdPrefix::prefer_own(&mut found, |id| id);
        assert_eq!(found, [other]);
    }
}
