//! The names at the broker: users, machines, and the subjects of each.

use std::{fmt, str::FromStr};

use askbridge_core::desk::MachineName;

/// The longest name of a user.
const USER: usize = 24;
/// The longest name of a host in the name of a machine.
const HOST: usize = 30;
/// What all subjects begin with.
pub(super) const PREFIX: &str = "askbridge.v1";
/// The last token of the subject on which a machine replies in a session.
pub(super) const REPLIES: &str = "s";
/// What the subjects of the directory begin with.
pub(super) const ENTRIES: &str = "$KV.askbridge";

/// The name of a user at the broker: one token of a subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserName(String);

impl UserName {
    /// Returns the name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for UserName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match is_token(text, USER) {
            true => Ok(UserName(text.to_owned())),
            false => Err(format!(
                "{text:?} cannot be the name of a user: use up to {USER} letters, digits, `_` and `-`, of which the \
                 first is a letter or a digit"
            )),
        }
    }
}

fn is_token(text: &str, longest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    begins && text.len() <= longest && text.bytes().all(allowed)
}

/// One machine at the broker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    user: UserName,
    machine: String,
}

impl Place {
    /// Returns the place of a process on this host. `fresh` is what no other process has.
    pub(super) fn new(user: UserName, host: &str, fresh: &str) -> Self {
        let mut host: String =
            host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(HOST).collect();
        if !is_token(&host, HOST) {
            "machine".clone_into(&mut host);
        }
        Place { user, machine: format!("{host}-{fresh}") }
    }

    /// Reads the two tokens of a subject. `None` for those that no askbridge makes.
    fn of(user: &str, machine: &str) -> Option<Self> {
        let is_valid = is_token(machine, HOST + 1 + 6) && machine.contains('-');
        Some(Place { user: user.parse().ok()?, machine: is_valid.then(|| machine.to_owned())? })
    }

    /// Returns the first place that a user could have, in the order of places.
    pub(super) fn first_of(user: &UserName) -> Self {
        Place { user: user.clone(), machine: String::new() }
    }

    /// Returns the user that runs the machine.
    pub(super) fn user(&self) -> &UserName {
        &self.user
    }

    /// Returns the name of the machine: that of its host and the fresh letters, behind the name of its user unless the
    /// host has the same. Two places never have the same name, since no user's name has a dot.
    pub(super) fn name(&self) -> Option<MachineName> {
        let is_same = self.machine.rsplit_once('-').is_some_and(|(host, _)| host == self.user.as_str());
        match is_same {
            true => self.machine.parse().ok(),
            false => format!("{}.{}", self.user, self.machine).parse().ok(),
        }
    }

    /// Returns the subject of the calls of one person.
    pub(super) fn call(&self, person: &UserName) -> String {
        format!("{PREFIX}.{}.{}.call.{person}", self.user, self.machine)
    }

    /// Returns the subject of the calls of all persons.
    pub(super) fn calls(&self) -> String {
        format!("{PREFIX}.{}.{}.call.*", self.user, self.machine)
    }

    /// Returns what the subjects of one session begin with. The last token follows: [`REPLIES`], or the number of a call.
    pub(super) fn session(&self, person: &UserName, token: &str) -> String {
        format!("{PREFIX}.{}.{}.reply.{person}.{token}", self.user, self.machine)
    }

    /// Returns the person who calls with this subject.
    pub(super) fn caller(&self, subject: &str) -> Option<UserName> {
        let (before, person) = subject.rsplit_once('.')?;
        let person: UserName = person.parse().ok()?;
        (self.call(&person) == format!("{before}.{person}")).then_some(person)
    }

    /// Returns what the subjects of a session of this person begin with, if the subject is that of a call in one.
    pub(super) fn session_of<'a>(&self, person: &UserName, subject: &'a str) -> Option<&'a str> {
        let (session, number) = subject.rsplit_once('.')?;
        let token = session.rsplit_once('.')?.1;
        let is_number = number.parse::<u64>().is_ok();
        (is_number && is_token(token, 64) && self.session(person, token) == session).then_some(session)
    }

    /// Reads the place and the last token of a subject in a session with this token of this person.
    pub(super) fn of_reply<'a>(person: &UserName, token: &str, subject: &'a str) -> Option<(Self, &'a str)> {
        let (user, rest) = subject.strip_prefix(PREFIX)?.strip_prefix('.')?.split_once('.')?;
        let (machine, rest) = rest.split_once('.')?;
        let last = rest.strip_prefix(&format!("reply.{person}.{token}."))?;
        Some((Place::of(user, machine)?, last))
    }

    /// Returns the subject of the machine's entry in the directory.
    pub(super) fn entry(&self) -> String {
        format!("{ENTRIES}.{}.{}", self.user, self.machine)
    }

    /// Returns the place whose entry a subject is.
    pub(super) fn of_entry(subject: &str) -> Option<Self> {
        let (user, machine) = subject.strip_prefix(ENTRIES)?.strip_prefix('.')?.split_once('.')?;
        Place::of(user, machine)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.user, self.machine)
    }
}

/// Returns the subject of all entries.
pub(super) fn entries() -> String {
    format!("{ENTRIES}.>")
}

/// Returns the subject of the replies of all machines in the sessions of a person with this token.
pub(super) fn replies_to(person: &UserName, token: &str) -> String {
    format!("{PREFIX}.*.*.reply.{person}.{token}.*")
}

/// Returns what the inboxes of a user's requests begin with.
pub(super) fn inbox(user: &UserName) -> String {
    format!("_INBOX.{user}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserName {
        name.parse().expect("a name")
    }

    #[test]
    fn a_machine_is_named_by_its_user_and_no_other_user_can_have_the_name() {
        let name = |place: Place| place.name().expect("a name").to_string();
        assert_eq!(name(Place::new(user("box"), "box", "k3f9q2")), "box-k3f9q2");
        assert_eq!(name(Place::new(user("sandbox"), "box", "k3f9q2")), "sandbox.box-k3f9q2");
        assert_eq!(name(Place::new(user("a"), "é.\u{1b}[", "k3f9q2")), "a.machine-k3f9q2");
        let places = ["box", "box-box", "sandbox"]
            .map(|name| ["box", "box-box", "sandbox"].map(|host| Place::new(user(name), host, "k3f9q2")));
        let names: std::collections::BTreeSet<_> = places.into_iter().flatten().map(name).collect();
        assert_eq!(names.len(), 9, "{names:?}");
        let longest = Place::new(user(&"u".repeat(USER)), &"h".repeat(200), "k3f9q2");
        assert_eq!(longest.name().map(|name| name.as_str().len()), Some(USER + 1 + HOST + 7));
    }

    #[test]
    fn subjects_are_read_only_if_they_are_of_this_machine() {
        let place = Place::new(user("box"), "box", "k3f9q2");
        let ana = user("ana");
        assert_eq!(place.caller(&place.call(&ana)), Some(ana.clone()));
        let session = place.session(&ana, "t0k3n");
        assert_eq!(place.session_of(&ana, &format!("{session}.7")), Some(session.as_str()));
        let other = Place::new(user("box"), "box", "zzzzzz");
        for strange in [
            other.session(&ana, "t"),
            place.session(&user("bob"), "t"),
            place.session(&ana, "a.b"),
            place.session(&ana, ">"),
            "$KV.askbridge.ana.ana-zzzzzz".to_owned(),
            String::new(),
        ] {
            assert_eq!(place.session_of(&ana, &format!("{strange}.0")), None, "{strange}");
        }
        assert_eq!(place.session_of(&ana, &format!("{session}.{REPLIES}")), None);
        for strange in [other.call(&ana), format!("{}.x", place.call(&ana)), place.calls(), String::new()] {
            assert_eq!(place.caller(&strange), None, "{strange}");
        }
        let of_reply = |subject: &str| {
            Place::of_reply(&ana, "t0k3n", subject).map(|(place, last)| (place, last.to_owned()))
        };
        assert_eq!(of_reply(&format!("{session}.7")), Some((place.clone(), "7".to_owned())));
        assert_eq!(of_reply(&format!("{}.7", place.session(&ana, "other"))), None);
        assert_eq!(of_reply(&format!("{}.7", place.session(&user("bob"), "t0k3n"))), None);
        assert_eq!(Place::of_entry(&place.entry()), Some(place));
        for strange in
            ["$KV.askbridge.box", "$KV.askbridge.b x.box-a", "$KV.askbridge.box.a.b-c", "x.box.box-a"]
        {
            assert_eq!(Place::of_entry(strange), None, "{strange}");
        }
    }
}
