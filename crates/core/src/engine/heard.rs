//! What an agent says on its way to its client, for the questions that it asks later. Nothing here changes a byte, and
//! almost nothing is read as it passes: the bytes are copied, and read when a question opens or when enough of them
//! wait. Of a flood, only the last bytes of each read are kept. What a line says is left to the protocol, and what is
//! kept of it to [`Recent`].

use std::{fmt, mem, sync::Arc, time::Duration};

use memchr::memchr;

use crate::{
    limits::{HEARD, HEARD_BURST, HEARD_CALL, HEARD_LINE, HEARD_RATE, HEARD_TAIL},
    question::{Context, Question, Recent, Said, SaidCall},
};

/// Reads a line of an agent: tells what the agent says in it, if anything.
pub type Reader = fn(&[u8], &mut dyn FnMut(Said<'_>));

/// What the agent of a bridge said.
pub struct Heard {
    /// `None` if the agent says nothing to a person.
    reader: Option<Reader>,
    recent: Recent,
    /// The last bytes that passed and were not read yet: in a flood the older ones, and the last ones. Two buffers that
    /// change places move no byte a second time.
    older: Vec<u8>,
    waiting: Vec<u8>,
    /// Whether these bytes begin in the midst of a line.
    is_cut: bool,
    /// How many bytes may be read now, and when that was counted.
    budget: usize,
    counted_at: Duration,
}

/// Bytes of an agent stand in no log.
impl fmt::Debug for Heard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Heard({} bytes wait)", self.older.len() + self.waiting.len())
    }
}

impl Heard {
    /// Returns what was said before anything was: nothing. `reader` reads the lines of the agent.
    pub fn new(reader: Option<Reader>) -> Self {
        Heard {
            reader,
            recent: Recent::default(),
            older: Vec::new(),
            waiting: Vec::new(),
            is_cut: false,
            budget: HEARD_BURST,
            counted_at: Duration::ZERO,
        }
    }

    /// Takes bytes of the agent that pass: whole lines, or parts of a long one.
    #[inline]
    pub fn hear(&mut self, bytes: &[u8], now: Duration) {
        if self.reader.is_none() {
            return;
        }
        if self.waiting.len() + bytes.len() > HEARD {
            return self.hear_many(bytes, now);
        }
        if self.waiting.capacity() == 0 {
            self.waiting.reserve_exact(HEARD);
        }
        self.waiting.extend_from_slice(bytes);
    }

    /// Takes bytes for which there is no more room: reads all, or drops what a flood has brought before.
    #[cold]
    fn hear_many(&mut self, bytes: &[u8], now: Duration) {
        if self.takes(self.older.len() + self.waiting.len() + bytes.len(), now) {
            self.waiting.extend_from_slice(bytes);
            return self.read();
        }
        let last = &bytes[bytes.len().saturating_sub(HEARD_TAIL)..];
        mem::swap(&mut self.older, &mut self.waiting);
        self.is_cut |= !self.waiting.is_empty();
        self.waiting.clear();
        if last.len() < bytes.len() {
            self.is_cut = true;
            self.older.clear();
        }
        self.waiting.extend_from_slice(last);
    }

    /// Records what the agent said of a tool call, in a line that is too long to be heard. Nothing is recorded in a flood
    /// of such lines.
    pub fn call(&mut self, said: &SaidCall<'_>, now: Duration) {
        if self.takes(HEARD_CALL, now) {
            self.catch_up(now);
            self.recent.call(said);
        }
    }

    /// Records that what the agent says next in this session is another message.
    pub fn pause(&mut self, session: &str, now: Duration) {
        self.catch_up(now);
        self.recent.pause(session);
    }

    /// Forgets what was said in a session, which has ended or begins anew.
    pub fn forget(&mut self, session: &str, now: Duration) {
        self.catch_up(now);
        self.recent.forget(session);
    }

    /// Returns what led to a question that is asked now, beside the tool call that it is about. `None` if nothing is known.
    pub fn before(&mut self, question: &Question) -> Option<Arc<Context>> {
        self.read();
        self.recent.context(question.session.as_deref()?, question.tool_call.as_deref())
    }

    fn catch_up(&mut self, now: Duration) {
        let bytes = self.older.len() + self.waiting.len();
        if bytes > 0 && self.takes(bytes, now) {
            self.read();
        }
    }

    /// Takes so many bytes off what may be read now. Returns whether that is enough.
    fn takes(&mut self, bytes: usize, now: Duration) -> bool {
        let passed = now.saturating_sub(mem::replace(&mut self.counted_at, now));
        let more = passed.as_nanos().saturating_mul(HEARD_RATE as u128) / 1_000_000_000;
        let more = usize::try_from(more).unwrap_or(usize::MAX);
        self.budget = self.budget.saturating_add(more).min(HEARD_BURST);
        let left = self.budget.checked_sub(bytes);
        self.budget = left.unwrap_or(self.budget);
        left.is_some()
    }

    /// Reads the lines that wait. The beginning of an unfinished one stays, unless it is too long.
    fn read(&mut self) {
        let Some(reader) = self.reader else { return };
        if !self.older.is_empty() {
            let last = mem::take(&mut self.waiting);
            self.waiting = mem::take(&mut self.older);
            self.waiting.extend_from_slice(&last);
        }
        let waiting = mem::take(&mut self.waiting);
        let mut rest = &waiting[..];
        while let Some(end) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end + 1);
            if !mem::take(&mut self.is_cut) && line.len() <= HEARD_LINE {
                reader(line, &mut |said| self.recent.take(said));
            }
            rest = behind;
        }
        self.is_cut |= rest.len() > HEARD_LINE;
        let stays = if self.is_cut { 0 } else { rest.len() };
        let from = waiting.len() - stays;
        self.waiting = waiting;
        self.waiting.drain(..from);
        // After a long line the buffer is large; it is not kept.
        self.waiting.shrink_to(HEARD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{limits, question::Origin};

    /// A line is `SESSION TEXT`.
    fn read(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        let line = std::str::from_utf8(line).unwrap_or_default().trim_end_matches('\n');
        if let Some((session, text)) = line.split_once(' ') {
            tell(Said::Words { session: session.into(), message: None, text: text.into() });
        }
    }

    fn words(heard: &mut Heard, session: &str) -> String {
        let session = Some(session.to_owned());
        let question = Question { session, ..Question::new(Origin::Permission, "q", Vec::new()) };
        heard.before(&question).map(|context| context.words.clone()).unwrap_or_default()
    }

    fn held(heard: &Heard) -> usize {
        heard.older.capacity() + heard.waiting.capacity()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn words_are_the_same_at_any_chunking() {
        let said: String = (0..500).map(|number| format!("s{} {number},\n", number % 2)).collect();
        let expected = |rest: usize| -> String {
            (0..500).filter(|number| number % 2 == rest).map(|number| format!("{number},")).collect()
        };
        for chunk in [1, 7, 100, limits::HEARD, said.len()] {
            let mut heard = Heard::new(Some(read));
            said.as_bytes().chunks(chunk).for_each(|bytes| heard.hear(bytes, Duration::ZERO));
            assert_eq!([words(&mut heard, "s0"), words(&mut heard, "s1")], [0, 1].map(expected), "{chunk}");
            heard.hear(b"s0 half a", Duration::ZERO);
            assert_eq!(words(&mut heard, "s0"), expected(0), "a line without its end says nothing yet");
            heard.hear(b" line\n", Duration::ZERO);
            assert_eq!(words(&mut heard, "s0"), expected(0) + "half a line");
        }
    }

    #[test]
    fn what_comes_as_fast_as_a_model_writes_is_all_read() {
        let mut heard = Heard::new(Some(read));
        let piece = format!("s {}\n", "x".repeat(1000));
        heard.hear(b"other first\n", Duration::ZERO);
        for number in 0..10_000 {
            heard.hear(piece.as_bytes(), number * SECOND / 1000);
            assert!(held(&heard) <= 2 * limits::HEARD);
        }
        assert_eq!(words(&mut heard, "other"), "first");
        assert!(words(&mut heard, "s").len() >= limits::CONTEXT_WORDS_LEFT);
    }

    #[test]
    fn of_a_flood_the_end_is_kept_within_a_bound() {
        for chunk in [10, 1000, 4096, limits::HEARD_TAIL, limits::HEARD_TAIL + 1, limits::READ] {
            let mut heard = Heard::new(Some(read));
            let said: String = (0..200_000).map(|number| format!("s {number},\n")).collect();
            for bytes in said.as_bytes().chunks(chunk) {
                heard.hear(bytes, Duration::ZERO);
                assert!(held(&heard) <= limits::HEARD_BURST, "{} bytes", held(&heard));
            }
            assert!(held(&heard) <= 3 * limits::HEARD, "{} bytes", held(&heard));
            let kept = words(&mut heard, "s");
            assert!(kept.ends_with("199998,199999,"), "{chunk}: {}", &kept[kept.len() - 20..]);
            // No part of a line that was cut counts as one.
            let numbers: Vec<u32> =
                kept.split(',').skip(1).filter_map(|number| number.parse().ok()).collect();
            let last = &numbers[numbers.len() - 100..];
            assert!(last.is_sorted_by(|one, next| one + 1 == *next), "{chunk}: {last:?}");
            // After it, all is heard again.
            heard.hear(b"s then\n", SECOND);
            assert!(words(&mut heard, "s").ends_with("199999,then"));
        }
    }

    #[test]
    fn a_line_that_is_too_long_says_nothing_and_hides_no_other() {
        let mut heard = Heard::new(Some(read));
        heard.hear(b"s before.\n", Duration::ZERO);
        heard.hear(b"s ", Duration::ZERO);
        let part = vec![b'x'; limits::READ];
        for number in 0..160_u32 {
            heard.hear(&part, number * SECOND);
            assert!(held(&heard) <= limits::HEARD_LINE + 2 * limits::READ, "{} bytes", held(&heard));
        }
        heard.hear(b"\ns after.\n", 200 * SECOND);
        assert_eq!(words(&mut heard, "s"), "before.after.");
    }

    #[test]
    fn a_pause_and_an_end_come_behind_what_was_said_before() {
        let mut heard = Heard::new(Some(read));
        heard.hear(b"s one\n", Duration::ZERO);
        heard.pause("s", Duration::ZERO);
        heard.hear(b"s two\n", Duration::ZERO);
        assert_eq!(words(&mut heard, "s"), "one\n\ntwo");
        heard.hear(b"s three\n", Duration::ZERO);
        heard.forget("s", Duration::ZERO);
        assert_eq!(words(&mut heard, "s"), "");
    }

    #[test]
    fn an_agent_that_says_nothing_to_a_person_is_not_heard() {
        let mut heard = Heard::new(None);
        heard.hear(b"s one\n", Duration::ZERO);
        assert_eq!((held(&heard), words(&mut heard, "s")), (0, String::new()));
    }
}
