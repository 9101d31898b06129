//! The record of what is open and what was settled last, in one bridge or in many.
//! Pure: who writes in it, and who reads, is left to others.

use std::{
    collections::{BTreeMap, VecDeque},
    hash::{BuildHasher, RandomState},
    ops::Bound,
    sync::Arc,
};

use super::view::{Record, Settlement};
use crate::{
    limits,
    question::{Answer, Outcome},
};

/// The open questions, and the last that were settled, at one revision.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Grows with each change.
    pub revision: u64,
    open: BTreeMap<String, Arc<Record>>,
    /// The oldest first.
    settled: VecDeque<Settled>,
    /// The sizes of all of those.
    settled_bytes: usize,
    /// With what answers are compared that are not kept.
    hasher: RandomState,
}

/// A question that is not open any more.
#[derive(Clone, Debug)]
struct Settled {
    view: Arc<Record>,
    bytes: usize,
    /// The answer with its secrets, as what it is compared by.
    digest: Option<u64>,
    /// Whether nobody knows what became of it, or whether it is over at all.
    lost: bool,
}

impl Book {
    /// Returns the open questions, oldest first.
    pub fn open(&self) -> Vec<Arc<Record>> {
        let mut views: Vec<_> = self.open.values().cloned().collect();
        views.sort_by(|one, other| one.age().cmp(&other.age()));
        views
    }

    /// Returns the questions that were settled last, oldest first, for who follows what happens. Those that were lost
    /// are among them, as rejected because the agent is gone: they are not open any more for who would answer.
    pub fn settled(&self) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.settled.iter().map(|settled| &settled.view)
    }

    /// Returns those of them that were settled after the one with this name, or all where it is not remembered.
    pub fn settled_after(&self, id: Option<&str>) -> impl Iterator<Item = &Arc<Record>> {
        let known = self.settled.iter().rposition(|settled| Some(&*settled.view.id) == id);
        self.settled().skip(known.map_or(0, |known| known + 1))
    }

    /// Returns the question with this name, open or settled. Of one that was lost nothing is known.
    pub fn find(&self, id: &str) -> Option<&Arc<Record>> {
        self.open.get(id).or_else(|| self.known().rev().find(|view| view.id == id))
    }

    /// Says whether this name, or what it is short for, is that of a question that was lost.
    pub fn has_lost(&self, short: &str) -> bool {
        self.lost().any(|id| id == short || is_short_for(short, id))
    }

    fn known(&self) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.settled.iter().filter(|settled| !settled.lost).map(|settled| &settled.view)
    }

    fn lost(&self) -> impl Iterator<Item = &str> {
        self.settled.iter().filter(|settled| settled.lost).map(|settled| &*settled.view.id)
    }

    /// Returns the names of the questions of a bridge that are open.
    pub(crate) fn open_in(&self, bridge: &str) -> impl Iterator<Item = &str> {
        let start = format!("{bridge}-");
        let from = self.open.range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        from.map(|(id, _)| &**id).take_while(move |id| id.starts_with(&start))
    }

    /// Returns the names of the questions of a bridge that were lost.
    pub(crate) fn lost_in(&self, bridge: &str) -> impl Iterator<Item = &str> {
        self.lost().filter(move |id| id.rsplit_once('-').is_some_and(|(start, _)| start == bridge))
    }

    /// Returns the names that this is short for: those of open questions, or, where there are none, of settled ones.
    pub fn complete(&self, short: &str) -> Vec<&str> {
        let begins = |view: &&Arc<Record>| is_short_for(short, &view.id);
        let open: Vec<_> = self.open.values().filter(begins).map(|view| &*view.id).collect();
        if open.is_empty() { self.known().filter(begins).map(|view| &*view.id).collect() } else { open }
    }

    /// Says whether this is the answer that settled the question of this name. Secrets are compared, too: what is kept
    /// of them is a digest, under a key that never leaves this process. `None` where they were not to be had here.
    pub(crate) fn was_answered_by(&self, id: &str, answer: &Answer) -> Option<bool> {
        let settled = self.settled.iter().rev().find(|settled| settled.view.id == id)?;
        Some(settled.digest? == self.digest(answer))
    }

    fn digest(&self, answer: &Answer) -> u64 {
        // An answer can always be written: its names are texts.
        self.hasher.hash_one(serde_json::to_string(&answer.clone().canonical()).unwrap_or_default())
    }

    pub(crate) fn insert(&mut self, view: Record) {
        self.revision += 1;
        self.open.insert(view.id.clone(), Arc::new(view));
    }

    /// Takes a question over from elsewhere, open or settled. What is settled stays so; what was lost is found again.
    pub(crate) fn put(&mut self, mut view: Record) {
        if self.known().any(|settled| settled.id == view.id) {
            return;
        }
        let (id, settlement) = (view.id.clone(), view.settlement.take());
        if self.open.get(&id).is_none_or(|known| **known != view) {
            self.insert(view);
        }
        if let Some(settlement) = settlement {
            self.close(&id, settlement, false);
            // Whoever passed it on has left the secrets out.
            if let Some(settled) = self.settled.back_mut()
                && settled.view.id == id
                && settled.view.question.fields.iter().any(|field| field.secret)
            {
                settled.digest = None;
            }
        }
    }

    pub(crate) fn change(&mut self, id: &str, change: impl FnOnce(&mut Record)) {
        let Some(view) = self.open.get_mut(id) else { return };
        let mut changed = Record::clone(view);
        change(&mut changed);
        if changed != **view {
            self.revision += 1;
            *view = Arc::new(changed);
        }
    }

    pub(crate) fn settle(&mut self, id: &str, settlement: Settlement) {
        self.close(id, settlement, false);
    }

    /// Forgets an open question that is settled, without a word on how: its bridge has forgotten it, too.
    pub(crate) fn forget(&mut self, id: &str) {
        if self.open.remove(id).is_some() {
            self.revision += 1;
        }
    }

    /// Forgets an open question of which nothing can be known any more. Who follows is told this settlement.
    pub(crate) fn lose(&mut self, id: &str, told: Settlement) {
        self.close(id, told, true);
    }

    fn close(&mut self, id: &str, settlement: Settlement, lost: bool) {
        let Some(mut view) = self.open.remove(id) else { return };
        self.revision += 1;
        let digest = match &settlement.outcome {
            Outcome::Answered(answer) => Some(self.digest(answer)),
            Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_) => None,
        };
        let settled = Arc::make_mut(&mut view);
        settled.settlement = Some(settlement.without_secrets(&settled.question));
        let bytes = size(&view);
        self.settled_bytes += bytes;
        self.settled.push_back(Settled { view, bytes, digest, lost });
        while (self.settled.len() > limits::REMEMBERED || self.settled_bytes > limits::REMEMBERED_BYTES)
            && self.settled.len() > 1
            && let Some(first) = self.settled.pop_front()
        {
            self.settled_bytes -= first.bytes;
        }
    }
}

/// Returns how many bytes a question takes as JSON, which is about what it takes in memory.
pub fn size(view: &Record) -> usize {
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    // Counting cannot fail.
    drop(serde_json::to_writer(&mut count, view));
    count.0
}

/// Says whether a name was shortened to this: the bridge's name may be, the number may be left out. A number stands
/// for itself: who means question 1 must not answer question 10.
fn is_short_for(short: &str, id: &str) -> bool {
    let Some((bridge, number)) = id.rsplit_once('-') else { return false };
    match short.rsplit_once('-') {
        Some((start, only)) => !start.is_empty() && bridge.starts_with(start) && only == number,
        None => !short.is_empty() && bridge.starts_with(short),
    }
}

#[cfg(test)]
mod tests {
    use crate::control::old::book::*;
    use crate::question::{Field, Kind, Origin, Outcome, Provenance, Question, Reason, Value};

    fn view(number: usize, label: &str) -> Record {
        let field = Field::at(0, label.to_owned(), None, Kind::free_text());
        let question = Question::new(Origin::SandboxAgent, "q", vec![field]);
        Record::new(&format!("b-{number}"), "b", question.into(), "2026".to_owned())
    }

    fn settlement() -> Settlement {
        let outcome = Outcome::Rejected(Reason::User);
        Settlement { outcome, by: Provenance::bridge(), at: "2026".to_owned(), remark: None }
    }

    #[test]
    fn the_oldest_question_is_the_first() {
        let mut book = Book::default();
        for number in [10, 2, 1, 11] {
            book.insert(view(number, "a"));
        }
        let ids: Vec<_> = book.open().iter().map(|view| view.id.clone()).collect();
        assert_eq!(ids, ["b-1", "b-2", "b-10", "b-11"]);
    }

    #[test]
    fn as_many_settled_questions_are_remembered_as_have_room() {
        let mut book = Book::default();
        for (number, label) in
            [(1, "a".repeat(1000)), (2, "b".repeat(limits::REMEMBERED_BYTES)), (3, "c".repeat(10))]
        {
            book.insert(view(number, &label));
            book.settle(&format!("b-{number}"), settlement());
            assert!(book.find(&format!("b-{number}")).is_some(), "the last one is there");
        }
        assert_eq!(book.settled().count(), 1, "there was room for no more");
        for number in 4..limits::REMEMBERED + 10 {
            book.insert(view(number, "d"));
            book.settle(&format!("b-{number}"), settlement());
        }
        assert_eq!(book.settled().count(), limits::REMEMBERED);
    }

    #[test]
    fn of_a_question_that_was_lost_nothing_is_known_until_it_is_found_again() {
        let mut book = Book::default();
        (1..=3).for_each(|number| book.insert(view(number, "a")));
        assert_eq!(book.open_in("b").collect::<Vec<_>>(), ["b-1", "b-2", "b-3"]);
        (1..=2).for_each(|number| book.lose(&format!("b-{number}"), settlement()));
        assert_eq!((book.find("b-1"), book.complete("b-1")), (None, vec![]));
        assert!(book.has_lost("b-1") && !book.has_lost("b-3"));
        assert_eq!(book.settled().count(), 2, "who follows is told");
        assert_eq!(book.lost_in("b").collect::<Vec<_>>(), ["b-1", "b-2"]);
        book.put(view(1, "a"));
        assert_eq!(book.find("b-1").map(|view| view.settlement.clone()), Some(None));
        let settled = Record { settlement: Some(settlement()), ..view(2, "a") };
        book.put(settled.clone());
        assert_eq!(book.find("b-2"), Some(&Arc::new(settled)));
        book.put(view(2, "a"));
        assert_eq!(book.open_in("b").collect::<Vec<_>>(), ["b-1", "b-3"], "what is settled stays so");
    }

    #[test]
    fn an_answer_whose_secrets_are_not_here_is_not_compared() {
        let given = |text: &str| Answer {
            values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(),
            ..Answer::default()
        };
        for (secret, compared) in [(false, Some(true)), (true, None)] {
            let mut book = Book::default();
            let mut asked = view(1, "a");
            let mut question = Question::clone(&asked.question);
            question.fields[0].secret = secret;
            asked.question = Arc::new(question);
            let settlement = Settlement { outcome: Outcome::Answered(given("x")), ..settlement() };
            book.insert(asked.clone());
            book.settle("b-1", settlement.clone());
            assert_eq!(book.was_answered_by("b-1", &given("x")), Some(true));
            assert_eq!(book.was_answered_by("b-1", &given("y")), Some(false));

            let told = Record { settlement: book.find("b-1").unwrap().settlement.clone(), ..asked };
            let mut other = Book::default();
            other.put(told);
            assert_eq!(other.was_answered_by("b-1", &given("x")), compared);
        }
    }
}
