//! What changed in an inbox, with a number for each change, so that whoever was away hears what it missed.
//! Pure: who waits for it, and what it is told, is left to `events.rs`.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use crate::{
    control::old::{Book, Record, book::size},
    limits,
};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// A question opened.
    Requested(Arc<Record>),
    /// It is open, and something else about it changed: its deadline, or what was kept.
    Changed(Arc<Record>),
    /// It was settled.
    Resolved(Arc<Record>),
}

impl Change {
    fn view(&self) -> &Record {
        let (Change::Requested(view) | Change::Changed(view) | Change::Resolved(view)) = self;
        view
    }
}

/// The last changes, and what is open behind them.
#[derive(Debug)]
pub(super) struct Ring {
    /// How many changes there were: the number of the next one.
    next: u64,
    /// The first change that is not forgotten.
    first: u64,
    /// Of a question that is settled there is only its end.
    changes: VecDeque<Entry>,
    /// The sizes of all of those.
    bytes: usize,
    open: BTreeMap<String, Arc<Record>>,
    /// The last question that was settled.
    settled: Option<String>,
}

/// A change with its number, and the size of its question.
#[derive(Debug)]
struct Entry {
    number: u64,
    bytes: usize,
    change: Change,
}

/// What there is to tell to somebody.
#[derive(Debug, PartialEq)]
pub(super) enum News {
    /// What happened since, the oldest first.
    Since(Vec<(u64, Change)>),
    /// What is open, where it is not known any more what happened since.
    Open(Vec<Arc<Record>>),
}

impl Ring {
    /// Begins with what is open now.
    pub(super) fn new(book: &Book) -> Self {
        let mut ring = Ring {
            next: 0,
            first: 0,
            changes: VecDeque::new(),
            bytes: 0,
            open: BTreeMap::new(),
            settled: None,
        };
        ring.open = book.open().into_iter().map(|view| (view.id.clone(), view)).collect();
        ring.settled = book.settled().last().map(|view| view.id.clone());
        ring
    }

    /// Returns the number of the change that comes next.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Compares with what is open and settled now, and returns what was settled in between.
    pub(super) fn follow(&mut self, book: &Book) -> Vec<Arc<Record>> {
        let settled: Vec<_> = book.settled().collect();
        let known = settled.iter().rposition(|view| self.settled.as_ref() == Some(&view.id));
        let settled: Vec<_> =
            settled[known.map_or(0, |known| known + 1)..].iter().map(|view| Arc::clone(view)).collect();
        for view in &settled {
            self.settled = Some(view.id.clone());
            self.open.remove(&view.id);
            self.push(Change::Resolved(Arc::clone(view)));
        }
        let open = book.open();
        for view in &open {
            match self.open.insert(view.id.clone(), Arc::clone(view)) {
                None => self.push(Change::Requested(Arc::clone(view))),
                // Most are the very same.
                Some(known) if !Arc::ptr_eq(&known, view) && known != *view => {
                    self.push(Change::Changed(Arc::clone(view)));
                }
                Some(_) => {}
            }
        }
        if self.open.len() > open.len() {
            self.start_over(open);
        }
        settled
    }

    /// So much was settled at once that the record does not say what became of all of it: everybody is told what is
    /// open.
    fn start_over(&mut self, open: Vec<Arc<Record>>) {
        self.open = open.into_iter().map(|view| (view.id.clone(), view)).collect();
        self.changes.clear();
        self.bytes = 0;
        self.next += 1;
        self.first = self.next;
    }

    fn push(&mut self, change: Change) {
        // Whoever was away needs the last that is known of a question, and nobody its text once it is over.
        if !matches!(change, Change::Requested(_)) {
            self.supersede(&change);
        }
        let bytes = size(change.view());
        self.bytes += bytes;
        self.changes.push_back(Entry { number: self.next, bytes, change });
        self.next += 1;
        while (self.changes.len() > limits::EVENTS || self.bytes > limits::EVENTS_BYTES)
            && self.changes.len() > 1
            && let Some(forgotten) = self.changes.pop_front()
        {
            self.bytes -= forgotten.bytes;
            self.first = forgotten.number + 1;
        }
    }

    /// Forgets what a change makes out of date.
    fn supersede(&mut self, change: &Change) {
        let is_over = matches!(change, Change::Resolved(_));
        self.changes.retain(|known| {
            known.change.view().id != change.view().id
                || (!is_over && matches!(known.change, Change::Requested(_)))
        });
        self.bytes = self.changes.iter().map(|known| known.bytes).sum();
    }

    /// Returns what happened from this change on.
    pub(super) fn since(&self, next: u64) -> News {
        if next < self.first || next > self.next {
            let mut open: Vec<_> = self.open.values().cloned().collect();
            open.sort_by(|one, other| one.age().cmp(&other.age()));
            return News::Open(open);
        }
        let from = self.changes.partition_point(|known| known.number < next);
        News::Since(self.changes.range(from..).map(|known| (known.number, known.change.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{
        acp::{Opened, Settled},
        control::{
            self,
            old::{Feed, Inbox, Owner, Source},
        },
        question::{Outcome, Provenance, Question, Reason},
    };

    struct Bridge(Inbox, Feed);

    fn question(label: &str) -> Arc<Question> {
        let field = json!({ "name": "q0", "label": label, "kind": "text" });
        let question = json!({
            "questionId": "q", "message": "Why?", "fields": [field], "origin": "kiro",
            "dangerous": false, "blocking": true,
        });
        Arc::new(serde_json::from_value(question).unwrap())
    }

    impl Bridge {
        fn new() -> Self {
            let owner = Owner { bridge: "b".to_owned(), agent: String::new(), folder: String::new() };
            let (inbox, feed) = control::old::new(owner);
            Bridge(inbox, feed)
        }

        fn open(&self, number: u64) -> Arc<Opened> {
            self.open_of(number, "Why?")
        }

        fn open_of(&self, number: u64, label: &str) -> Arc<Opened> {
            let since = Duration::from_millis(number);
            let opened = Arc::new(Opened {
                number,
                question: question(label),
                since,
                deadline: None,
                elsewhere: false,
            });
            self.1.opened(&opened);
            opened
        }

        fn settle(&self, number: u64) {
            let (outcome, by) = (Outcome::Rejected(Reason::User), Provenance::bridge());
            let after = Duration::ZERO;
            let question = question("Why?");
            self.1.settled(&Settled { number, question, outcome, by, remark: None, after }, after);
        }

        fn follow(&self, ring: &mut Ring) -> usize {
            ring.follow(&self.0.book().borrow()).len()
        }
    }

    /// Says news in short: `+` opened, `~` changed, `-` settled, `=` open at all.
    fn said(news: News) -> String {
        let number = |view: &Record| view.id.trim_start_matches("b-").to_owned();
        let texts: Vec<_> = match news {
            News::Open(open) => open.iter().map(|view| format!("={}", number(view))).collect(),
            News::Since(changes) => changes
                .iter()
                .map(|(_, change)| match change {
                    Change::Requested(view) => format!("+{}", number(view)),
                    Change::Changed(view) => format!("~{}", number(view)),
                    Change::Resolved(view) => format!("-{}", number(view)),
                })
                .collect(),
        };
        texts.join(" ")
    }

    #[test]
    fn changes_are_told_once_and_in_their_order() {
        let bridge = Bridge::new();
        bridge.open(1);
        bridge.open(2);
        bridge.settle(2);
        let mut ring = Ring::new(&bridge.0.book().borrow());
        assert_eq!((said(ring.since(u64::MAX)), said(ring.since(0))), ("=1".to_owned(), String::new()));
        assert_eq!(bridge.follow(&mut ring), 0);
        let third = bridge.open(3);
        bridge.follow(&mut ring);
        bridge.1.extended(&third, Duration::from_secs(1));
        bridge.follow(&mut ring);
        bridge.1.extended(&third, Duration::from_secs(2));
        bridge.follow(&mut ring);
        // One that opened and was settled between two looks is told as settled.
        bridge.open(4);
        bridge.settle(4);
        assert_eq!(bridge.follow(&mut ring), 1);
        assert_eq!(said(ring.since(0)), "+3 ~3 -4");
        bridge.settle(3);
        bridge.settle(1);
        assert_eq!(bridge.follow(&mut ring), 2);
        assert_eq!((said(ring.since(0)), said(ring.since(4))), ("-4 -3 -1".to_owned(), "-3 -1".to_owned()));
        assert_eq!((said(ring.since(6)), said(ring.since(7))), (String::new(), String::new()));
    }

    #[test]
    fn what_is_forgotten_is_made_good_by_what_is_open() {
        let bridge = Bridge::new();
        let mut ring = Ring::new(&bridge.0.book().borrow());
        for number in 0..=limits::EVENTS as u64 {
            bridge.open(number);
            bridge.follow(&mut ring);
        }
        assert!(said(ring.since(0)).starts_with("=0 =1 =2 "), "the first change is forgotten");
        assert!(said(ring.since(1)).starts_with("+1 +2 "));
        assert_eq!(ring.changes.len(), limits::EVENTS);
    }

    #[test]
    fn so_many_bytes_are_remembered_and_no_more() {
        let bridge = Bridge::new();
        let mut ring = Ring::new(&bridge.0.book().borrow());
        let long = "x".repeat(limits::EVENTS_BYTES / 10);
        for number in 0..20 {
            bridge.open_of(number, &long);
            bridge.follow(&mut ring);
            bridge.settle(number);
            bridge.follow(&mut ring);
            let kept: usize = ring.changes.iter().map(|known| size(known.change.view())).sum();
            assert_eq!(ring.bytes, kept);
            assert!(kept <= limits::EVENTS_BYTES, "{kept} bytes after {number}");
        }
        // A change before the last nine is forgotten, and whoever has not heard of it is told so.
        assert_eq!(ring.changes.len(), 9);
        assert_eq!(ring.since(21), News::Open(Vec::new()));
        assert_eq!(said(ring.since(39)), "-19");
        bridge.open_of(20, &"x".repeat(2 * limits::EVENTS_BYTES));
        bridge.follow(&mut ring);
        assert_eq!(said(ring.since(40)), "+20", "the last one is there");
    }

    #[test]
    fn more_is_settled_at_once_than_the_record_holds() {
        let bridge = Bridge::new();
        let count = limits::SETTLED as u64 + 2;
        for number in 0..count {
            bridge.open(number);
        }
        let mut ring = Ring::new(&bridge.0.book().borrow());
        (1..count).for_each(|number| bridge.settle(number));
        bridge.follow(&mut ring);
        let (last, next) = (ring.next() - 1, ring.next());
        assert_eq!((said(ring.since(last)), said(ring.since(next))), ("=0".to_owned(), String::new()));
    }
}
