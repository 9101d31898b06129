//! The objects of the protocol: a submission becomes a permission, and a record becomes a request. An ID is a UUID, as the
//! protocol's clients demand, and stands for the number of a question.

use std::time::Duration;

use askbridge_core::{
    desk::{Record, Report, Settlement, Timestamp},
    dialect::program,
    question::{Origin, Outcome, Question, Reason},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::limits;

/// The program's own ID of each of these questions.
const ID: &str = "aap";

/// A tool call that waits for leave.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Submission {
    tool: String,
    server: Option<String>,
    arguments: Map<String, Json>,
    timeout: String,
    agent_reasoning: Option<String>,
    context: Option<Map<String, Json>>,
}

/// Reads a submission as a permission.
///
/// # Errors
/// What cannot be read or asked, and why.
pub(super) fn read(body: &str) -> Result<Question, String> {
    let members = program::distinct(body)?;
    if let Some((name, _)) = members.iter().find(|(_, value)| value.is_null()) {
        return Err(format!("{name} is null: leave it out"));
    }
    let submission =
        Submission::deserialize(Json::from(members.clone())).map_err(|error| error.to_string())?;
    let Submission { tool, server, arguments, timeout, agent_reasoning, context } = submission;
    let timeout = humantime::parse_duration(&timeout)
        .ok()
        .filter(|time| (Duration::from_secs(1)..=limits::AAP_TIMEOUT).contains(time))
        .ok_or_else(|| format!("timeout: {timeout:?} is no time from 1s to 30d, such as \"10m\""))?;
    let subject = program::NewSubject {
        tool: Some(tool),
        server,
        arguments: Some(arguments),
        description: agent_reasoning,
        ..program::NewSubject::default()
    };
    let asked = Question { timeout: Some(timeout), ..Question::new(Origin::Program, ID, Vec::new()) };
    let asked = Question { agent: Some("AAP".into()), ..asked };
    let context = context.filter(|context| !context.is_empty());
    program::permission_of(asked, members, subject, context, limits::AAP_GRANT)
}

/// A request of the protocol. `submission` are the members of the body, as they came.
#[derive(Debug, Serialize)]
pub(super) struct Request {
    id: String,
    #[serde(flatten)]
    submission: Map<String, Json>,
    status: &'static str,
    created_at: Timestamp,
    deadline_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumption: Option<Consumption>,
}

#[derive(Debug, Serialize)]
struct Decision {
    status: &'static str,
    decided_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct Consumption {
    consumed_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Reported>,
}

#[derive(Debug, Serialize)]
struct Reported {
    #[serde(flatten)]
    report: Report,
    reported_at: Timestamp,
}

/// Returns a record as a request. `None` if it is not one of this protocol.
pub(super) fn request(record: &Record) -> Option<Request> {
    let question = &record.question;
    let action = question.action.as_ref().filter(|_| question.id == ID)?;
    let deadline_at = record.deadline?;
    let decision = record.settlement.as_deref().map(decision);
    let decided_at = decision.as_ref().map(|decision| decision.decided_at);
    let consumption = record.used.as_deref().zip(decided_at).and_then(|(used, decided_at)| {
        // The clocks of the desk and of the day may differ by a little, and clients demand this order.
        let consumed_at = used.consumed_at?.max(decided_at);
        let reported = |report: &Report| Reported {
            report: report.clone(),
            reported_at: used.reported_at.unwrap_or(consumed_at).max(consumed_at),
        };
        Some(Consumption { consumed_at, outcome: used.report.as_ref().map(reported) })
    });
    Some(Request {
        id: uuid(record.id.bridge.as_str(), record.id.number),
        submission: action.request.clone(),
        status: decision.as_ref().map_or("pending", |decision| decision.status),
        created_at: record.opened_at,
        deadline_at,
        decision,
        consumption,
    })
}

fn decision(settlement: &Settlement) -> Decision {
    let expires_at = settlement.grant.as_deref().and_then(|grant| grant.expires);
    let status = match (&settlement.outcome, expires_at) {
        (Outcome::Answered(_), Some(_)) => "approved",
        (Outcome::Answered(_) | Outcome::Rejected(Reason::User), _) => "denied",
        (Outcome::Rejected(Reason::Timeout), _) => "expired",
        _ => "cancelled",
    };
    let note = settlement.remark.clone().filter(|note| !note.is_empty());
    Decision {
        status,
        decided_at: settlement.at,
        note,
        expires_at: expires_at.filter(|_| status == "approved"),
    }
}

/// How many bits of a UUID have the number of a question.
const NUMBER: u32 = 56;

/// Returns the UUID of a question, of the version for formats of one's own: 48 bits of the inbox's name, and the number.
pub(super) fn uuid(inbox: &str, number: u64) -> String {
    let name = inbox.bytes().take(6).fold(0_u64, |name, byte| name << 8 | u64::from(byte));
    let number = number & ((1 << NUMBER) - 1);
    let (high, low) = (number >> 48, number & ((1 << 48) - 1));
    format!("{:08x}-{:04x}-8000-80{high:02x}-{low:012x}", name >> 16, name & 0xffff)
}

/// Returns the number in a UUID.
pub(super) fn number(uuid: &str) -> Option<u64> {
    let mut parts = uuid.rsplit('-');
    let (low, high) = (parts.next()?, parts.next()?);
    let high = u64::from_str_radix(high.get(2..)?, 16).ok()?;
    Some(high << 48 | u64::from_str_radix(low, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_uuid_stands_for_the_number_of_a_question() {
        for number in [1, 4096, (1 << 48) + 7, (1 << NUMBER) - 1] {
            let uuid = uuid("k3f9q2", number);
            assert_eq!((uuid.len(), &uuid[14..15], &uuid[19..20]), (36, "8", "8"), "{uuid}");
            assert_eq!(super::number(&uuid), Some(number), "{uuid}");
        }
        assert_eq!(uuid("k3f9q2", 10), "6b336639-7132-8000-8000-00000000000a");
        for no in ["", "x", "6b336639-7132-8000-8000-zz", "é-é"] {
            assert_eq!(number(no), None, "{no}");
        }
    }

    #[test]
    fn a_submission_is_read_whole_or_refused() {
        let whole = json!({ "tool": "deploy", "arguments": { "to": "prod" }, "timeout": "10m",
            "agent_reasoning": "It is ready.", "context": { "call_id": "c1" } });
        let question = read(&whole.to_string()).expect("a permission");
        assert_eq!(question.timeout, Some(Duration::from_secs(600)));
        let subject = question.subject.as_deref().expect("a subject");
        assert_eq!(subject.description.as_deref(), Some("It is ready."));
        assert!(subject.content.as_deref().is_some_and(|content| content.contains("c1")));
        assert_eq!(Json::from(question.action.expect("an action").request), whole);
        for (change, why) in [
            (json!({ "timeout": "soon" }), "timeout"),
            (json!({ "timeout": "0s" }), "timeout"),
            (json!({ "server": null }), "server is null"),
            (json!({ "more": 1 }), "unknown field `more`"),
            (json!({ "arguments": [] }), "expected a map"),
        ] {
            let mut body = whole.clone();
            body.as_object_mut().expect("members").extend(change.as_object().expect("members").clone());
            let refused = read(&body.to_string()).expect_err("it is wrong");
            assert!(refused.contains(why), "{body}: {refused}");
        }
    }
}
