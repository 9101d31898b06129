//! The questions that were settled last, so that a responder that comes late gets the right verdict. The values of
//! secret fields are not kept: a keyed digest of the whole answer stands for them.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use super::{Record, Refusal, Settlement, Submission, refusal::late_verdict};
use crate::{
    limits,
    question::{Answer, Outcome, Question},
};

/// Returns whether a record has the same answer. `None` if the answer had secrets, which the record does not keep.
pub(super) fn is_same_answer(record: &Record, answer: &Answer) -> Option<bool> {
    let Some(Outcome::Answered(given)) = record.settlement.as_ref().map(|settlement| &settlement.outcome)
    else {
        return Some(false);
    };
    (!has_secrets(&record.question)).then(|| given.clone().canonical() == answer.clone().canonical())
}

fn has_secrets(question: &Question) -> bool {
    question.fields.iter().any(|field| field.secret)
}

/// The last settled questions of a desk, oldest first.
#[derive(Debug)]
pub(super) struct SettledQuestions {
    /// The key of the digests, so that a secret cannot be guessed from one.
    key: u64,
    settled: VecDeque<SettledQuestion>,
    /// The sum of their sizes.
    bytes: usize,
}

#[derive(Debug)]
struct SettledQuestion {
    number: u64,
    record: Arc<Record>,
    bytes: usize,
    /// The digest of an answer with secrets, for comparison with a later answer: the record does not keep secrets.
    digest: Option<u64>,
}

impl SettledQuestions {
    pub(super) fn new(key: u64) -> Self {
        SettledQuestions { key, settled: VecDeque::new(), bytes: 0 }
    }

    /// Returns the questions with their numbers, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Arc<Record>)> {
        self.settled.iter().map(|settled| (settled.number, &settled.record))
    }

    /// Remembers a question that counted for this many bytes while it was open. Returns the numbers of the questions
    /// that are forgotten to make room. The last question is remembered even if it is too large.
    pub(super) fn remember(
        &mut self,
        number: u64,
        record: Arc<Record>,
        weight: usize,
        settlement: Settlement,
    ) -> Vec<u64> {
        let digest = match &settlement.outcome {
            Outcome::Answered(answer) if has_secrets(&record.question) => Some(self.digest(answer)),
            _ => None,
        };
        let record = Arc::new(Arc::unwrap_or_clone(record).settled(settlement));
        let bytes = weight + record.settlement.as_deref().map_or(0, Settlement::most_json);
        self.bytes += bytes;
        self.settled.push_back(SettledQuestion { number, record, bytes, digest });
        let mut forgotten = Vec::new();
        while (self.settled.len() > limits::REMEMBERED || self.bytes > limits::REMEMBERED_BYTES)
            && self.settled.len() > 1
            && let Some(first) = self.settled.pop_front()
        {
            self.bytes -= first.bytes;
            forgotten.push(first.number);
        }
        forgotten
    }

    /// Returns the verdict on a submission to a question that is over. A repetition of the decision that settled the
    /// question is accepted.
    pub(super) fn judge(&self, number: u64, submission: &Submission) -> Result<(), Refusal> {
        // A question that is forgotten may have been settled in any way.
        let settled = self.find(number).ok_or(Refusal::Unavailable)?;
        let is_same = |answer: &Answer| match settled.digest {
            Some(digest) => Some(digest == self.digest(answer)),
            None => is_same_answer(&settled.record, answer),
        };
        late_verdict(&settled.record, submission, is_same)
    }

    fn find(&self, number: u64) -> Option<&SettledQuestion> {
        self.settled.iter().rev().find(|settled| settled.number == number)
    }

    fn digest(&self, answer: &Answer) -> u64 {
        let mut hasher = DefaultHasher::new();
        // Without the key, a short secret could be found by trying.
        self.key.hash(&mut hasher);
        // Serialization cannot fail: the keys of an answer are strings.
        serde_json::to_string(&answer.clone().canonical()).unwrap_or_default().hash(&mut hasher);
        hasher.finish()
    }
}
