//! What each user may do at the broker, as the subjects of its permissions: the server enforces them, whatever the program
//! of the user does. Writing them down is left to `users.rs`.
//!
//! A user is kept from everything that its role does not need by the server itself. What a bridge's user may do is to show
//! its own questions: an agent that reads the credentials of its sandbox can neither answer nor see anything of others.
//!
//! What the permissions cannot bound: the server sends its reply to a request to any subject that the request names.
//! So nobody but the operator makes a request whose reply has what the user chooses, no message without a subject for its
//! own reply opens a session, and a machine is there only once it has replied on its own subject.

use super::{
    access::Role,
    place::{ENTRIES, PREFIX, REPLIES, UserName, entries, inbox},
};

/// The request that says as whom the server knows this connection.
pub(super) const WHO: &str = "$SYS.REQ.USER.INFO";

/// The name of the stream of the bucket.
pub(super) const STREAM: &str = "KV_askbridge";

/// Returns what a user of this role may do.
pub(super) fn subjects(name: &UserName, role: Role) -> Subjects {
    let mut subjects = Subjects::default();
    if role != Role::Operator {
        subjects.add_machine(name);
    }
    if role == Role::Person {
        subjects.add_person(name);
    }
    subjects.publish.push(WHO.to_owned());
    subjects.publish.extend(requests(role));
    subjects.subscribe.push(format!("{}.>", inbox(name)));
    subjects.subscribe.extend(notices(role));
    subjects
}

/// Returns the subjects of the requests about the bucket that a user makes.
fn requests(role: Role) -> Vec<String> {
    let calls = match role {
        Role::Bridge | Role::Person => &["STREAM.INFO"][..],
        Role::Operator => &["STREAM.INFO", "STREAM.CREATE", "STREAM.DELETE"],
    };
    calls.iter().map(|call| format!("$JS.API.{call}.{STREAM}")).collect()
}

/// Returns the subject of the request for the bucket's configuration, and for the names of its entries.
pub(super) fn info() -> String {
    format!("$JS.API.STREAM.INFO.{STREAM}")
}

/// Returns the subject on which the broker says that somebody has created, changed or removed the bucket.
pub(super) fn notices(role: Role) -> Option<String> {
    (role != Role::Operator).then(|| format!("$JS.EVENT.ADVISORY.STREAM.*.{STREAM}"))
}

/// The subjects on which a user may publish, and those to which it may subscribe.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    pub publish: Vec<String>,
    pub subscribe: Vec<String>,
}

impl Subjects {
    /// Adds those of a machine of this user. Its replies have this one shape, so that it can use no other subject.
    pub(super) fn add_machine(&mut self, user: &UserName) {
        self.publish.push(format!("{PREFIX}.{user}.*.reply.*.*.{REPLIES}"));
        self.publish.push(format!("{ENTRIES}.{user}.*"));
        self.subscribe.push(format!("{PREFIX}.{user}.*.call.*"));
    }

    /// Adds those of a person, beside the requests about the directory.
    pub(super) fn add_person(&mut self, user: &UserName) {
        self.publish.push(format!("{PREFIX}.*.*.call.{user}"));
        self.subscribe.push(format!("{PREFIX}.*.*.reply.{user}.*.*"));
        self.subscribe.push(entries());
    }

    /// Returns the first of these subjects that none of the others covers.
    pub(super) fn first_beyond<'a>(&'a self, others: &Subjects) -> Option<&'a str> {
        let beyond = |own: &'a [String], others: &[String]| {
            own.iter().find(|own| !others.iter().any(|other| covers(other, own)))
        };
        let found = beyond(&self.publish, &others.publish);
        found.or_else(|| beyond(&self.subscribe, &others.subscribe)).map(String::as_str)
    }
}

/// Returns whether a subject covers all that another one, which may have wildcards too, stands for.
fn covers(subject: &str, other: &str) -> bool {
    let (mut tokens, mut others) = (subject.split('.'), other.split('.'));
    loop {
        match (tokens.next(), others.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(other)) if other != ">" => {}
            (Some(token), Some(other)) if token == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_covers_what_it_stands_for_and_nothing_else() {
        for (subject, other, expected) in [
            ("a.b", "a.b", true),
            ("a.>", "a.b.c", true),
            ("a.>", "a.*", true),
            ("a.*", "a.b", true),
            ("a.*", "a.*", true),
            ("a.*", "a.>", false),
            ("a.b", "a.*", false),
            ("a.*", "a.b.c", false),
            ("a.>", "a", false),
            ("a.b.c", "a.b", false),
        ] {
            assert_eq!(covers(subject, other), expected, "{subject} {other}");
        }
    }
}
