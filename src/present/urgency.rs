//! Which questions come first in every list: those that end soon; and which come last: those that are set aside. What else decides the order is left to each list.

use std::sync::Arc;

use askbridge_core::desk::{Record, State, Timestamp};

use super::bridges::Bridges;
use crate::limits;

/// Returns when a question ends, if that is soon or most of its time is over: it then comes before all others, by this time.
pub fn ends_soon(record: &Record, now: Timestamp) -> Option<Timestamp> {
    let is_soon = |deadline: &Timestamp| record.expiring || deadline.since(now) <= limits::ENDS_SOON;
    // What is being delivered can no longer expire.
    record.deadline.filter(|deadline| record.state != State::Delivering && is_soon(deadline))
}

/// Returns what a question is sorted by. Among equals, the order stays.
pub fn urgency(record: &Record, now: Timestamp) -> (bool, bool, Option<Timestamp>) {
    let soon = ends_soon(record, now);
    // `false` sorts first.
    (record.later.is_some(), soon.is_none(), soon)
}

/// Puts what ends soon before the rest, which stays in its order.
pub fn sort(open: &mut [Arc<Record>], bridges: &Bridges) {
    open.sort_by_key(|record| urgency(record, bridges.now(record)));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(id: &str, deadline: Option<&str>, expiring: bool, state: &str) -> Arc<Record> {
        let question = json!({ "questionId": id, "message": "?", "fields": [], "origin": "program", "dangerous": false, "blocking": true });
        let record = json!({ "id": id, "bridge": "b", "openedAt": "2026-11-29T12:00:00Z", "question": question,
            "deadline": deadline, "expiring": expiring, "state": state });
        Arc::new(serde_json::from_value(record).expect("a record"))
    }

    #[test]
    fn what_ends_within_ten_minutes_comes_first_and_the_rest_stays() {
        let now = record("b-1", Some("2026-11-29T12:00:00Z"), false, "open").opened_at;
        let mut records = [
            record("b-1", None, false, "open"),
            record("b-2", Some("2026-11-29T12:10:01Z"), false, "open"),
            record("b-3", Some("2026-11-29T12:10:00Z"), false, "open"),
            record("b-4", Some("2026-11-29T13:00:00Z"), true, "open"),
            record("b-5", Some("2026-11-29T12:00:01Z"), false, "delivering"),
            record("b-6", Some("2026-11-29T12:02:58Z"), false, "open"),
            record("b-7", Some("2026-11-29T11:59:59Z"), false, "open"),
        ];
        let aside = Record { later: Some(now), ..Record::clone(&records[0]) };
        records[0] = Arc::new(aside);
        records.sort_by_key(|record| urgency(record, now));
        let order: Vec<_> = records.iter().map(|record| record.id.number).collect();
        assert_eq!(order, [7, 6, 3, 4, 2, 5, 1], "what is set aside is last");
    }
}
