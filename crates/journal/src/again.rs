//! Finds the earlier decision when a question is asked again, and lets exactly one question claim that decision.
//! Whether the decision is given or offered is left to the caller.

use askbridge_core::{
    desk::{BridgeName, EarlierDecision, QuestionId, Record, Settlement, Timestamp},
    question::{Origin, Outcome, Purpose, Question, Reason},
};
use rusqlite::{Connection, Row, params};

use super::{
    JournalError,
    connection::{find, run},
    entries,
    stored::{self, AcceptedDecision, StoredQuestion, millis},
};
use crate::limits;

/// Tells whether a bridge is alive.
pub(super) type LivenessCheck<'a> = &'a dyn Fn(&BridgeName) -> bool;

/// The journal's record of one earlier question.
struct Candidate {
    id: String,
    bridge: String,
    accepted: Option<String>,
    is_claimed: bool,
    is_usable: bool,
    settled: Option<String>,
}

impl Candidate {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Candidate {
            id: row.get(0)?,
            bridge: row.get(1)?,
            accepted: row.get(2)?,
            is_claimed: row.get::<_, Option<String>>(3)?.is_some(),
            is_usable: row.get(4)?,
            settled: row.get(5)?,
        })
    }

    /// Returns how the question was settled, and whether a program asked it.
    fn settlement(&self) -> Option<(Settlement, bool)> {
        let Record { settlement, question, .. } = serde_json::from_str(self.settled.as_deref()?).ok()?;
        settlement.map(|settlement| (*settlement, question.origin == Origin::Program))
    }

    /// Returns whether the question's bridge is gone. A bridge whose name cannot be read is of another version, and may
    /// be alive.
    fn is_left(&self, is_alive: LivenessCheck<'_>) -> bool {
        self.bridge.parse().is_ok_and(|bridge| !is_alive(&bridge))
    }
}

/// How far a decision came on its way to the asker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The asker has it.
    Delivered,
    /// The asker may have it: its delivery had begun, or it is not known whether it had.
    Doubtful,
    /// Nothing of it was given to the asker.
    Waited,
}

impl AcceptedDecision {
    fn found(self) -> Judgement {
        Judgement::Decided(
            Box::new(self.settlement),
            if self.waits { Reach::Waited } else { Reach::Doubtful },
        )
    }
}

/// The result of judging one candidate.
enum Judgement {
    /// The candidate has no decision. An older candidate may have one.
    Nothing,
    /// The candidate has the latest decision, but that decision must not be used.
    End,
    /// The candidate has the latest decision, which may be used.
    Decided(Box<Settlement>, Reach),
}

fn judge(candidate: &Candidate, is_alive: LivenessCheck<'_>) -> Judgement {
    // A claimed decision belongs to the question that claimed it.
    let accepted = || {
        let decision = candidate.accepted.as_deref().filter(|_| !candidate.is_claimed)?;
        serde_json::from_str::<AcceptedDecision>(decision).ok()
    };
    match candidate.settlement() {
        Some((settlement, _)) if entries::is_of_dead_agent(&settlement.outcome) => {
            accepted().map_or(Judgement::Nothing, AcceptedDecision::found)
        }
        Some((settlement, is_of_program)) => match settlement.outcome {
            // A timeout, a withdrawal and the like are no decision of a person.
            Outcome::Rejected(reason) if reason != Reason::User => Judgement::Nothing,
            // A program may end without the inbox that it asked, and it asks again because it has lost what it got.
            Outcome::Answered(_) | Outcome::Rejected(_) if is_of_program || candidate.is_left(is_alive) => {
                Judgement::Decided(Box::new(settlement), Reach::Delivered)
            }
            _ => Judgement::End,
        },
        // There is a settlement, which this version cannot read.
        None if candidate.settled.is_some() => Judgement::End,
        None => match accepted() {
            Some(decision) if candidate.is_left(is_alive) => decision.found(),
            // The bridge is alive, and may still deliver the decision.
            Some(_) => Judgement::End,
            None => Judgement::Nothing,
        },
    }
}

/// Returns the last decision about the same question, if the decision is recent and has no secret part, and if the
/// bridge or the agent that it was made for is dead, or may be: a program that asks is seen only while it waits.
pub(super) fn earlier(
    connection: &Connection,
    stored: &StoredQuestion,
    is_alive: LivenessCheck<'_>,
    now: Timestamp,
) -> Result<Option<EarlierDecision>, JournalError> {
    let Some(fingerprint) = stored.fingerprint else { return Ok(None) };
    let (id, opened) = (stored.record.id.to_string(), millis(stored.record.opened_at));
    let mut statement = connection.prepare_cached(
        "SELECT q.id, q.bridge, q.accepted, q.claimed, q.usable, s.record
         FROM question q LEFT JOIN settlement s ON s.id = q.id AND s.opened = q.opened
         WHERE q.fingerprint = ?1 AND q.opened <= ?3 AND NOT (q.id = ?2 AND q.opened = ?3)
         ORDER BY q.opened DESC, q.rowid DESC LIMIT ?4",
    )?;
    let most = i64::try_from(limits::EARLIER).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![fingerprint, id, opened, most])?;
    while let Some(row) = rows.next()? {
        let candidate = Candidate::read(row)?;
        match judge(&candidate, is_alive) {
            Judgement::Nothing => {}
            Judgement::End => return Ok(None),
            Judgement::Decided(decision, reach) => {
                // If the latest decision cannot be used, no older one is offered in its place.
                let is_recent = now.since(decision.at) <= limits::EARLIER_OFFERED;
                let id = candidate.id.parse().ok().filter(|_| is_recent && candidate.is_usable);
                return Ok(id.map(|id| EarlierDecision {
                    id,
                    outcome: decision.outcome,
                    by: decision.by,
                    at: decision.at,
                    was_delivered: reach == Reach::Delivered,
                    may_have_arrived: reach == Reach::Doubtful,
                }));
            }
        }
    }
    Ok(None)
}

/// Returns whether the answer to a question may be given to a later one without asking the user: the question is
/// neither a permission nor dangerous (I12), and the user saw the same.
fn is_given(earlier: &Question, later: &Question) -> bool {
    earlier.purpose == Purpose::Question && !earlier.dangerous && stored::are_seen_alike(earlier, later)
}

/// Returns the latest open record with this ID. An ID may have several rows, as it can be used again.
fn open_question(connection: &Connection, id: &QuestionId) -> Result<Option<Record>, JournalError> {
    let sql = "SELECT record FROM question WHERE id = ?1 AND record IS NOT NULL ORDER BY opened DESC LIMIT 1";
    let json = find(connection, sql, [id.to_string()], |row| row.get::<_, String>(0))?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}

/// Claims the decision of the `earlier` question for the question `by`. Returns whether that succeeded: the bridge or
/// the agent of the decision must be dead, nothing of it was written to the asker, it is recent, it has no secret part,
/// and it may be given without asking the user.
pub(super) fn claim(
    connection: &Connection,
    (earlier, by): (&QuestionId, &QuestionId),
    is_alive: LivenessCheck<'_>,
    now: Timestamp,
) -> Result<bool, JournalError> {
    let found = find(
        connection,
        "SELECT q.id, q.bridge, q.accepted, q.claimed, q.usable, s.record, q.record, q.rowid
         FROM question q LEFT JOIN settlement s ON s.id = q.id AND s.opened = q.opened
         WHERE q.id = ?1 ORDER BY q.opened DESC LIMIT 1",
        [earlier.to_string()],
        |row| Ok((Candidate::read(row)?, row.get::<_, Option<String>>(6)?, row.get::<_, i64>(7)?)),
    );
    let Some((candidate, open, row)) = found? else { return Ok(false) };
    let Judgement::Decided(decision, Reach::Waited) = judge(&candidate, is_alive) else { return Ok(false) };
    let record: Option<Record> =
        open.or_else(|| candidate.settled.clone()).and_then(|json| serde_json::from_str(&json).ok());
    // An equal fingerprint is not enough to give an answer: both records are compared in all that the user saw.
    let later = open_question(connection, by)?;
    let is_given = record.zip(later).is_some_and(|(one, other)| is_given(&one.question, &other.question));
    if !is_given || !candidate.is_usable || now.since(decision.at) > limits::EARLIER_GIVEN {
        return Ok(false);
    }
    let claimed = run(
        connection,
        "UPDATE question SET claimed = ?2 WHERE rowid = ?1 AND claimed IS NULL",
        params![row, by.to_string()],
    )?;
    // The decision now waits at the question that claimed it, so that it also survives the death of that question's
    // bridge.
    run(
        connection,
        "UPDATE question SET accepted = ?2 WHERE submissions = 0 AND rowid =
         (SELECT rowid FROM question WHERE id = ?1 AND record IS NOT NULL ORDER BY opened DESC LIMIT 1)",
        params![by.to_string(), candidate.accepted],
    )?;
    Ok(claimed == 1)
}

/// Reverts a claim whose caller no longer waits.
pub(super) fn unclaim(
    connection: &Connection,
    (earlier, by): (&QuestionId, &QuestionId),
) -> Result<(), JournalError> {
    let by = by.to_string();
    let freed = run(
        connection,
        "UPDATE question SET claimed = NULL WHERE id = ?1 AND claimed = ?2",
        params![earlier.to_string(), by],
    )?;
    if freed > 0 {
        // A decision that was submitted to that question meanwhile has to stay.
        run(
            connection,
            "UPDATE question SET accepted = NULL WHERE submissions = 0 AND rowid =
             (SELECT rowid FROM question WHERE id = ?1 AND record IS NOT NULL ORDER BY opened DESC LIMIT 1)",
            [by],
        )?;
    }
    Ok(())
}
