//! The bucket of the directory at the broker: the operator creates it, and everyone else looks whether it is the one that
//! askbridge creates before using it. What is in it is left to `directory.rs`.
//!
//! Whoever chooses how a stream is configured reads every message that the stream keeps. So nobody else may create it.

use std::time::Duration;

use askbridge_os::terminal::printable_line;
use serde_json::{Value, json};

use super::{
    access::{Access, Role},
    broker::Broker,
    place::entries,
    subjects::{STREAM, info},
};
use crate::limits as limit;

/// What is said while there is no bucket.
pub(super) const ABSENT: &str =
    "the broker has no directory yet: its operator makes one with `askbridge fleet create FOLDER`";

/// The codes of the broker's errors.
const NAME_IN_USE: u64 = 10058;
const NOT_FOUND: u64 = 10059;

/// What the broker has under the name of the bucket.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bucket {
    /// The one that askbridge creates.
    Right,
    Absent,
    /// Another one, and what is different.
    Wrong(String),
}

impl Bucket {
    /// Returns whether the broker may be used.
    ///
    /// # Errors
    /// The bucket is a wrong one. The error says what is wrong with it, and what to do.
    pub(super) fn usable(self) -> Result<Self, String> {
        match self {
            Bucket::Wrong(why) => Err(format!(
                "its directory is not the one that askbridge creates, and is not used, since others may read in it what \
                 is sent: {why}; `askbridge fleet create FOLDER --replace` of its operator makes it anew"
            )),
            right => Ok(right),
        }
    }
}

/// Asks the broker for the bucket.
///
/// # Errors
/// It cannot say, such as without a quorum.
pub(super) async fn look(broker: &Broker) -> Result<Bucket, String> {
    let reply = broker.request(&info(), &json!({})).await?;
    match (&reply["config"], reply["error"]["err_code"].as_u64()) {
        (Value::Object(_), _) => Ok(match differences(&reply["config"]) {
            all if all.is_empty() => Bucket::Right,
            all => Bucket::Wrong(all.join("; ")),
        }),
        (_, Some(NOT_FOUND)) => Ok(Bucket::Absent),
        _ => Err(refusal(&reply)),
    }
}

/// Creates the bucket as the operator. `replace` removes another one first. Returns whether it was made now.
///
/// # Errors
/// The broker cannot be reached or refuses, or there is a wrong bucket that is not to be replaced.
pub async fn create(access: &Access, replace: bool) -> Result<bool, String> {
    if access.role() != Role::Operator {
        return Err(format!(
            "{} is not the operator: only the operator creates the directory",
            access.user()
        ));
    }
    let broker = Broker::connect(access, limit::UNSORTED).await?;
    match look(&broker).await? {
        Bucket::Right => return Ok(false),
        Bucket::Absent => {}
        Bucket::Wrong(_) if replace => {
            let reply = broker.request(&format!("$JS.API.STREAM.DELETE.{STREAM}"), &Value::Null).await?;
            if reply.get("error").is_some() {
                return Err(refusal(&reply));
            }
        }
        wrong @ Bucket::Wrong(_) => return wrong.usable().map(|_| false),
    }
    make(&broker).await?;
    look(&broker).await?.usable().map(|_| true)
}

async fn make(broker: &Broker) -> Result<(), String> {
    // Three copies, so that a node may fail. A broker of one node refuses that.
    let mut why = String::new();
    for replicas in if broker.client().server_info().cluster.is_some() { &[3, 1][..] } else { &[1] } {
        let reply = broker.request(&format!("$JS.API.STREAM.CREATE.{STREAM}"), &wanted(*replicas)).await?;
        match reply["error"]["err_code"].as_u64() {
            None if reply.get("error").is_none() => return Ok(()),
            // Somebody else was faster. The caller looks at what there is.
            Some(NAME_IN_USE) => return Ok(()),
            _ => why = refusal(&reply),
        }
    }
    Err(why)
}

fn refusal(reply: &Value) -> String {
    let said = reply["error"]["description"].as_str().unwrap_or("its reply was not understood");
    format!("the broker cannot say what its directory is: {}", printable_line(said))
}

/// Returns the configuration of the stream: that of a bucket for the clients of the broker.
fn wanted(replicas: u8) -> Value {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "name": STREAM,
        "description": "the machines of askbridge",
        "subjects": [entries()],
        "retention": "limits",
        "discard": "new",
        // So that the bucket itself outlives a restart of the broker. Its entries would not have to.
        "storage": "file",
        "num_replicas": replicas,
        "max_age": nanoseconds(limit::VALID),
        "duplicate_window": nanoseconds(limit::VALID),
        "max_msgs_per_subject": 1,
        "max_msgs": -1,
        "max_bytes": limit::ENTRIES_BYTES,
        "max_msg_size": limit::ENTRY,
        "max_consumers": -1,
        // Nobody reads the entries themselves.
        "allow_direct": false,
        // Otherwise, the broker would confirm a write on any subject that the writer names, such as one of another user.
        "no_ack": true,
        // Otherwise, one write could remove the entries of all users.
        "allow_rollup_hdrs": false,
        "deny_delete": true,
        "deny_purge": true,
    })
}

/// Returns how a stream's configuration differs from that of the bucket.
fn differences(config: &Value) -> Vec<String> {
    let wanted = wanted(1);
    let (Some(wanted), Some(config)) = (wanted.as_object(), config.as_object()) else {
        return vec!["its configuration was not understood".to_owned()];
    };
    let shown =
        |value: &Value| printable_line(&value.to_string()).chars().take(limit::SHOWN).collect::<String>();
    let other = wanted.iter().filter_map(|(name, wanted)| {
        let value = config.get(name).unwrap_or(&Value::Null);
        let is_right = match name.as_str() {
            "num_replicas" => value.as_u64().is_some_and(|count| (1..=5).contains(&count)),
            // The server leaves out what is false.
            _ => value == wanted || (is_nothing(wanted) && is_nothing(value)),
        };
        (!is_right).then(|| format!("{name} is {} instead of {}", shown(value), shown(wanted)))
    });
    // A newer server has more members. What is set in one of them is no default of the server's.
    let more = config.iter().filter(|(name, value)| !wanted.contains_key(*name) && !is_default(name, value));
    let more = more.map(|(name, value)| format!("{} is {}", printable_line(name), shown(value)));
    // The subjects first: they say who can be read.
    let mut all: Vec<_> = other.chain(more).collect();
    all.sort_by_key(|difference| !difference.starts_with("subjects "));
    all
}

fn is_default(name: &str, value: &Value) -> bool {
    match value {
        // The server notes its own version there.
        Value::Object(members) if name == "metadata" => members.keys().all(|key| key.starts_with("_nats.")),
        Value::String(word) => ["", "none", "default"].contains(&word.as_str()),
        value => is_nothing(value),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What servers return for the bucket that askbridge creates.
    fn returned() -> Value {
        let mut config = wanted(3);
        let members = config.as_object_mut().expect("an object");
        members.remove("allow_rollup_hdrs");
        for (name, value) in [
            ("compression", json!("none")),
            ("mirror_direct", json!(false)),
            ("sealed", json!(false)),
            ("consumer_limits", json!({})),
            ("allow_msg_ttl", json!(false)),
            ("first_seq", json!(0)),
            ("metadata", json!({ "_nats.level": "5", "_nats.ver": "2.15.1" })),
            ("of_a_newer_server", json!("default")),
        ] {
            members.insert(name.to_owned(), value);
        }
        config
    }

    #[test]
    fn each_difference_is_named() {
        assert_eq!(differences(&returned()), [""; 0]);
        for (name, value) in [
            ("subjects", json!([">"])),
            ("subjects", json!(["$KV.askbridge.>", "askbridge.v1.>"])),
            ("subjects", Value::Null),
            ("republish", json!({ "src": "$KV.askbridge.>", "dest": "seen.>" })),
            ("sources", json!([{ "name": "other" }])),
            ("mirror", json!({ "name": "other" })),
            (
                "subject_transform",
                json!({ "src": "$KV.askbridge.bob.*", "dest": "$KV.askbridge.box.{{wildcard(1)}}" }),
            ),
            ("max_age", json!(0)),
            ("storage", json!("memory")),
            ("sealed", json!(true)),
            ("deny_delete", json!(false)),
            ("deny_purge", Value::Null),
            ("allow_rollup_hdrs", json!(true)),
            ("no_ack", json!(false)),
            ("placement", json!({ "tags": ["bobs"] })),
            ("num_replicas", json!(0)),
            ("retention", json!("workqueue")),
            ("discard", json!("old")),
            ("max_msgs_per_subject", json!(1000)),
            ("max_msg_size", json!(-1)),
            ("allow_direct", json!(true)),
            ("mirror_direct", json!(true)),
            ("allow_msg_schedules", json!(true)),
            ("compression", json!("s2")),
            ("metadata", json!({ "owner": "bob" })),
            ("of_a_newer_server", json!({ "copies_to": "bob" })),
        ] {
            let mut config = returned();
            config[name] = value.clone();
            let found = differences(&config);
            assert!(
                found.len() == 1 && found[0].starts_with(&format!("{name} is ")),
                "{name} {value}: {found:?}"
            );
            let why = Bucket::Wrong(found.join("; ")).usable().expect_err("it is wrong");
            assert!(why.contains(name) && why.contains("fleet create FOLDER --replace"), "{why}");
        }
        assert_eq!(differences(&json!([])).len(), 1);
    }
}
