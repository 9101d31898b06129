//! The raw input of a tool: its commands, files and addresses, in any of its members.
//!
//! Agents name the same thing in many ways (`command`, `cmd`, `fullCommandText`; `file_path`, `filePath`, `uri`), so
//! members are recognised by their names without case and `_`. The whole input is read, at any depth, and so is each
//! value of a name that occurs twice in an object: agents and this program need not agree on which of the two counts.

use super::{
    files,
    json::{Json, letters},
    members::{self, Member, Part},
};
use crate::question::{
    command::{self, Words},
    subject::quoted_words,
};

/// The parts of a tool's input.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Input {
    /// The commands.
    pub commands: Vec<Command>,
    /// The files and folders.
    pub paths: Vec<String>,
    /// Whether it names a search term.
    pub has_terms: bool,
    /// The addresses on the network, as far as they are texts.
    pub addresses: Vec<String>,
    /// Whether it asks to leave the sandbox, or for more rights.
    pub escalates: bool,
    /// Its members that say something, at any depth. A value without a name is a member, too.
    pub members: Vec<Member>,
    /// Whether words under a name that is not known stand beside a command, and may belong to it.
    pub has_words_beside: bool,
    /// The parts with an unknown shape.
    pub unclear: Option<&'static str>,
}

/// A command of the input, with the name of the member that has it. The name is empty if the value has none.
#[derive(Debug, PartialEq)]
pub(super) struct Command {
    pub text: String,
    pub member: String,
}

/// The maximum depth at which the input is read.
const DEPTH: usize = 16;

impl Input {
    /// Reads the raw input of a tool. `None` if it is no JSON, as after a cut.
    pub(super) fn read(raw: &str) -> Option<Self> {
        let json = Json::read(raw)?;
        let mut input = Input::default();
        input.whole(&json, DEPTH);
        Some(input)
    }

    /// Returns whether the input names an action or the target of one.
    pub(super) fn says_something(&self) -> bool {
        self.has_terms || !self.addresses.is_empty() || !self.commands.is_empty() || !self.paths.is_empty()
    }

    /// Returns a member whose effect on a tool of this kind is unknown.
    pub(super) fn unknown(&self, kind: &str) -> Option<&Member> {
        self.members.iter().find(|member| !members::is_known(kind, member))
    }

    /// Reads an input, or one of several. A value that has no name is taken for a command: some agents send nothing else.
    fn whole(&mut self, json: &Json, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            self.unclear = Some("its input is nested too deep");
            return;
        };
        match json {
            Json::Null | Json::Object(_) => self.value(json, depth),
            Json::List(items) => {
                items.iter().for_each(|item| self.whole(item, depth));
                if let Some(words) = texts(items).filter(|words| words.len() > 1) {
                    self.say("", quoted_words(&words));
                }
            }
            Json::Text(text) => match Json::within(text) {
                Some(json) => self.whole(&json, depth),
                None if text.is_empty() => {}
                None => {
                    self.say("", text.clone());
                    self.push("", Part::Other, json);
                }
            },
            Json::Flag(_) | Json::Number { .. } => self.push("", Part::Other, json),
        }
    }

    fn value(&mut self, json: &Json, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            self.unclear = Some("its input is nested too deep");
            return;
        };
        match json {
            Json::List(items) => items.iter().for_each(|item| self.value(item, depth)),
            Json::Object(members) => self.object(members, depth),
            Json::Text(text) => {
                if let Some(json) = Json::within(text) {
                    self.value(&json, depth);
                }
            }
            Json::Null | Json::Flag(_) | Json::Number { .. } => {}
        }
    }

    /// Reads the members of an object. A program and the words beside it are one command.
    fn object(&mut self, members: &[(String, Json)], depth: usize) {
        let is_part = |name: &str| command::is_program(name) || command::is_words(name);
        let parts = members.iter().map(|(name, value)| (letters(name), value));
        let parts: Vec<_> =
            parts.filter(|(name, _)| is_part(name)).map(|(name, value)| (name, words(value))).collect();
        let joined = command::joined(&parts);
        for (name, value) in members {
            let name = letters(name);
            match value {
                Json::Text(_) | Json::List(_) if joined.is_some() && is_part(&name) => {
                    self.push(&name, Part::Command { are_several: false }, value);
                    self.value(value, depth);
                }
                value => self.member(&name, value, depth),
            }
        }
        self.beside(members);
        let Some(joined) = joined else { return };
        self.say(&joined.name, joined.command);
        joined.other.into_iter().for_each(|other| self.say(&joined.name, other));
        if joined.is_unclear {
            self.unclear = Some("the words beside its command are no list of texts");
        }
    }

    /// Checks the members beside a command: words under a name that is not known may belong to it.
    fn beside(&mut self, members: &[(String, Json)]) {
        let has_words = |value: &Json| matches!(words(value), Words::Text(_) | Words::List(_));
        let named = members.iter().map(|(name, value)| (letters(name), value));
        let named: Vec<_> = named.filter(|(_, value)| has_words(value)).collect();
        let is_command =
            |name: &str| command::is_program(name) || matches!(members::part(name), Part::Command { .. });
        let commands: Vec<_> = named.iter().filter(|(name, _)| is_command(name)).collect();
        let may_belong = |(name, value): &(String, &Json)| {
            let is_other = !command::is_program(name) && !command::is_words(name);
            is_other
                && members::may_be_words(name)
                && commands.iter().any(|(other, command)| (other, *command) != (name, *value))
                && commands.iter().all(|(other, command)| other == name || *command != *value)
        };
        self.has_words_beside |= named.iter().any(may_belong);
    }

    fn member(&mut self, name: &str, value: &Json, depth: usize) {
        if members::says_nothing(name, value) {
            return;
        }
        let part = members::part(name);
        match part {
            Part::Command { are_several } => self.command(name, are_several, value),
            Part::CommandLike => self.command_like(name, value),
            Part::Address => self.address(value),
            Part::File => self.file(value),
            Part::Term => self.has_terms = true,
            Part::Other => {}
        }
        self.escalates |= members::asks_for_rights(name, value);
        self.push(name, part, value);
        match value {
            Json::Text(_) if members::is_of_a_file(name) => {}
            // JSON in a text counts as it would without the text around it.
            Json::Text(text) => match (Json::within(text), depth.checked_sub(1)) {
                (Some(json), Some(depth)) => self.member(name, &json, depth),
                (Some(_), None) => self.unclear = Some("its input is nested too deep"),
                (None, _) => {}
            },
            value => self.value(value, depth),
        }
    }

    fn push(&mut self, name: &str, part: Part, value: &Json) {
        let (is_count, is_words) = (value.is_count(), value.is_words());
        self.members.push(Member { name: name.to_owned(), part, is_count, is_words });
    }

    fn say(&mut self, member: &str, text: String) {
        self.commands.push(Command { text, member: member.to_owned() });
    }

    fn command(&mut self, name: &str, are_several: bool, value: &Json) {
        match value {
            Json::Text(text) => self.say(name, text.clone()),
            // The members inside are read on their own.
            Json::Object(_) if has_command(value) => {}
            Json::List(items) if !items.is_empty() && items.iter().all(has_command) => {}
            Json::List(items) => match texts(items) {
                Some(commands) if are_several => {
                    commands.into_iter().for_each(|text| self.say(name, text.to_owned()))
                }
                // The list may have the words of one command, or several commands: the whole counts as one, and so does
                // each word with a space.
                Some(words) => {
                    self.say(name, quoted_words(&words));
                    let parts = words.into_iter().filter(|word| word.contains(' '));
                    parts.for_each(|word| self.say(name, word.to_owned()));
                }
                None => self.unclear = Some("its command has an unknown shape"),
            },
            _ => self.unclear = Some("its command has an unknown shape"),
        }
    }

    fn command_like(&mut self, name: &str, value: &Json) {
        match value {
            Json::Text(text) => self.say(name, text.clone()),
            Json::List(items) => {
                let words = texts(items).unwrap_or_default();
                words.iter().for_each(|word| self.say(name, (*word).to_owned()));
                if words.len() > 1 {
                    self.say(name, quoted_words(&words));
                }
            }
            _ => {}
        }
    }

    fn address(&mut self, value: &Json) {
        match value {
            Json::Text(text) if text.starts_with("file:") => self.paths.push(text.clone()),
            Json::Text(text) => self.addresses.push(text.clone()),
            Json::List(items) => items.iter().for_each(|item| self.address(item)),
            _ => self.addresses.push(String::new()),
        }
    }

    fn file(&mut self, value: &Json) {
        match value {
            Json::Text(text) => self.path(text),
            Json::List(items) if let Some(paths) = texts(items) => {
                paths.into_iter().for_each(|path| self.path(path));
            }
            // The members inside are read on their own.
            Json::List(_) | Json::Object(_) => {}
            _ => self.unclear = Some("one of its files has an unknown shape"),
        }
    }

    fn path(&mut self, named: &str) {
        if files::is_address(named) {
            self.addresses.push(named.to_owned());
        }
        // A change of what an address means is not in the agent's folder either.
        self.paths.push(named.to_owned());
    }
}

/// Returns whether a value is an object with a program in it, as a text or a list of words.
fn has_command(value: &Json) -> bool {
    let Json::Object(members) = value else { return false };
    let is_text = |value: &Json| match words(value) {
        Words::Text(_) | Words::List(_) => true,
        Words::Nothing | Words::Other => false,
    };
    members.iter().any(|(name, value)| command::is_program(&letters(name)) && is_text(value))
}

/// Returns the words that a value is for a command.
fn words(value: &Json) -> Words {
    match value {
        value if value.is_empty() => Words::Nothing,
        Json::Text(text) => Words::Text(text.clone()),
        Json::List(items) => match texts(items) {
            Some(words) => Words::List(words.into_iter().map(str::to_owned).collect()),
            None => Words::Other,
        },
        _ => Words::Other,
    }
}

fn texts(items: &[Json]) -> Option<Vec<&str>> {
    let mut texts = Vec::new();
    for item in items {
        let Json::Text(text) = item else { return None };
        texts.push(text.as_str());
    }
    Some(texts)
}
