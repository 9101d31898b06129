//! How much of what led to its questions a desk keeps. Gathering it is left to the askers.

use std::sync::Arc;

use super::Desk;
use crate::{limits, question::Context};

impl Desk {
    /// Returns as much of what led to one more question as there is room for.
    pub(super) fn fitting(&self, context: Arc<Context>) -> Option<Arc<Context>> {
        let room = limits::CONTEXTS_BYTES.saturating_sub(self.context_bytes(&context));
        if context.size() <= room {
            return Some(context);
        }
        let fitting = context.last(room);
        (!fitting.is_empty()).then(|| Arc::new(fitting))
    }

    /// Returns how many bytes led to the questions that are open or remembered, beside this context. Questions that are
    /// asked together share theirs, and have numbers that follow each other.
    fn context_bytes(&self, beside: &Arc<Context>) -> usize {
        let open = self.open.values().map(|entry| &entry.record);
        let records = self.memory.iter().map(|(_, record)| record).chain(open);
        let mut last: Option<&Arc<Context>> = None;
        let mut bytes = 0;
        for context in records.filter_map(|record| record.context.as_ref()) {
            let is_counted =
                last.is_some_and(|last| Arc::ptr_eq(last, context)) || Arc::ptr_eq(beside, context);
            bytes += if is_counted { 0 } else { context.size() };
            last = Some(context);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::desk::{
        Opening, Submission,
        samples::{desk, question, submit},
    };

    fn said(bytes: usize) -> Arc<Context> {
        Arc::new(Context { words: "a ".repeat(bytes / 2), ..Context::default() })
    }

    fn open(desk: &mut Desk, context: &Arc<Context>) -> u64 {
        let (question, context) = (question("Why?", None), Some(Arc::clone(context)));
        let opening = Opening { question, weight: 10, timeout: None, elsewhere: false, context };
        desk.open(opening, Duration::ZERO)
    }

    fn kept(desk: &Desk, number: u64) -> usize {
        desk.get(number).and_then(|record| record.context.as_deref()).map_or(0, Context::size)
    }

    #[test]
    fn questions_keep_what_led_to_them_within_a_bound_and_the_first_lose_nothing() {
        let mut desk = desk();
        let most = 16 * 1024;
        let numbers: Vec<_> = (0..300).map(|_| open(&mut desk, &said(most))).collect();
        let total: usize = numbers.iter().map(|number| kept(&desk, *number)).sum();
        assert!(total <= limits::CONTEXTS_BYTES && total > limits::CONTEXTS_BYTES - most, "{total}");
        assert_eq!((kept(&desk, numbers[0]), kept(&desk, numbers[299])), (most, 0));
        assert!(desk.get(numbers[0]).is_some_and(|record| record.has_context));
        assert!(desk.get(numbers[299]).is_some_and(|record| !record.has_context));
    }

    #[test]
    fn what_questions_share_counts_once() {
        let mut desk = desk();
        let shared = said(16 * 1024);
        let numbers: Vec<_> = (0..1000).map(|_| open(&mut desk, &shared)).collect();
        assert!(numbers.iter().all(|number| kept(&desk, *number) == shared.size()));
        assert_eq!(desk.context_bytes(&said(2)), shared.size());
    }

    #[test]
    fn questions_that_are_forgotten_make_room() {
        let mut desk = desk();
        for _ in 0..1000 {
            let number = open(&mut desk, &said(16 * 1024));
            assert_eq!(kept(&desk, number), 16 * 1024);
            assert!(submit(&mut desk, number, number, Submission::Reject(None)));
            desk.delivered(number);
        }
        let remembered = desk.context_bytes(&said(2));
        assert!(remembered > 0 && remembered <= limits::REMEMBERED * 16 * 1024, "{remembered}");
    }
}
