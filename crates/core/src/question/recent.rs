//! What an agent said and did last in each of its sessions, within bounds. How long a question keeps what led to it is
//! left to the desk.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::context::{Context, ContextCall, Said, SaidCall, last_words};
use crate::limits;

/// What stands between two messages.
const BREAK: &str = "\n\n";

/// The last words and tool calls of each session.
#[derive(Debug, Default)]
pub struct Recent {
    sessions: BTreeMap<String, Session>,
    /// The sizes of all sessions.
    bytes: usize,
    /// How often something was said: the clock by which the oldest session is found.
    said: u64,
}

#[derive(Debug, Default)]
struct Session {
    words: String,
    /// Whether words or calls are not kept any more.
    is_cut: bool,
    /// Whether the next piece begins another message.
    pauses: bool,
    /// The message that the last piece belonged to, if the agent named it.
    message: Option<String>,
    calls: VecDeque<Call>,
    /// When something was said last.
    last: u64,
    /// What the last question of this session got, as long as it is still so, and the call that it left out. Questions
    /// that are asked together share it.
    made: Option<(Option<String>, Arc<Context>)>,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    said: ContextCall,
}

impl Recent {
    /// Records what the agent said.
    pub fn take(&mut self, said: Said<'_>) {
        match said {
            Said::Words { session, message, text } => {
                self.change(&session, |known| known.say(message, &text));
            }
            Said::Pause(session) => self.pause(&session),
            Said::Call(call) => self.call(&call),
        }
    }

    /// Records that what the agent says next in this session is another message.
    pub fn pause(&mut self, session: &str) {
        // A session in which nothing was said needs none.
        if let Some(known) = self.sessions.get_mut(session) {
            known.pauses = true;
        }
    }

    /// Records what the agent said of a tool call.
    pub fn call(&mut self, said: &SaidCall<'_>) {
        if said.id.len() <= limits::CONTEXT_CALL_ID {
            self.change(&said.session, |known| known.call(said));
        }
    }

    /// Forgets what was said in a session, which has ended or begins anew.
    pub fn forget(&mut self, session: &str) {
        if let Some(known) = self.sessions.remove(session) {
            self.bytes -= known.size(session);
        }
    }

    /// Returns what led to a question that is asked now in this session. `but` is the tool call that the question is
    /// about, which it shows itself. `None` if nothing is known.
    pub fn context(&mut self, session: &str, but: Option<&str>) -> Option<Arc<Context>> {
        let known = self.sessions.get_mut(session)?;
        if let Some((left_out, made)) = &known.made
            && left_out.as_deref() == but
        {
            return Some(Arc::clone(made));
        }
        let made = Arc::new(known.context(but));
        if made.is_empty() {
            return None;
        }
        known.made = Some((but.map(str::to_owned), Arc::clone(&made)));
        Some(made)
    }

    fn change(&mut self, session: &str, change: impl FnOnce(&mut Session)) {
        if session.len() > limits::SESSION {
            return;
        }
        self.said += 1;
        if !self.sessions.contains_key(session) {
            self.sessions.insert(session.to_owned(), Session::default());
            self.bytes += session.len();
        }
        let Some(known) = self.sessions.get_mut(session) else { return };
        let before = known.size(session);
        change(known);
        (known.last, known.made) = (self.said, None);
        self.bytes = self.bytes - before + known.size(session);
        while self.bytes > limits::CONTEXT_SESSIONS_BYTES
            && let Some(oldest) = self.oldest()
        {
            self.forget(&oldest);
        }
    }

    /// Returns the session in which nothing was said for longest.
    fn oldest(&self) -> Option<String> {
        let oldest = self.sessions.iter().min_by_key(|(_, session)| session.last);
        oldest.map(|(name, _)| name.clone())
    }
}

impl Session {
    fn size(&self, name: &str) -> usize {
        let calls = self.calls.iter().map(Call::size);
        let message = self.message.as_ref().map_or(0, String::len);
        name.len() + message + self.words.len() + calls.sum::<usize>()
    }

    fn say(&mut self, message: Option<Cow<'_, str>>, text: &str) {
        let message = message.filter(|message| message.len() <= limits::CONTEXT_CALL_ID);
        let is_other = message.is_some() && message.as_deref() != self.message.as_deref();
        if (self.pauses || is_other) && !self.words.is_empty() {
            let has = self.words.bytes().rev().take(BREAK.len()).take_while(|byte| *byte == b'\n').count();
            self.words.push_str(&BREAK[has..]);
        }
        self.pauses = false;
        if is_other {
            self.message = message.map(Cow::into_owned);
        }
        self.words.push_str(text);
        if self.words.len() > limits::CONTEXT_WORDS {
            let left = last_words(&self.words, limits::CONTEXT_WORDS_LEFT).len();
            self.words.drain(..self.words.len() - left);
            // One piece may be long.
            self.words.shrink_to(limits::CONTEXT_WORDS);
            self.is_cut = true;
        }
    }

    fn call(&mut self, said: &SaidCall<'_>) {
        let place = self.calls.iter().rposition(|call| call.id == said.id).filter(|_| !said.begins);
        let mut call = place
            .and_then(|place| self.calls.remove(place))
            .unwrap_or_else(|| Call { id: said.id.clone().into_owned(), said: ContextCall::default() });
        // An update of a call does not part the words before it from those behind it.
        self.pauses |= place.is_none();
        call.tell(said);
        match place {
            Some(place) => self.calls.insert(place, call),
            None => self.calls.push_back(call),
        }
        if self.calls.len() > limits::CONTEXT_CALLS {
            self.calls.pop_front();
            self.is_cut = true;
        }
    }

    fn context(&self, but: Option<&str>) -> Context {
        let calls = self.calls.iter().filter(|call| but.is_none_or(|but| call.id != but));
        // A call without a title tells nothing.
        let told = calls.filter(|call| !call.said.title.is_empty()).map(|call| call.said.clone());
        Context { words: self.words.trim().to_owned(), calls: told.collect(), truncated: self.is_cut }
    }
}

impl Call {
    fn size(&self) -> usize {
        let ContextCall { title, kind, status } = &self.said;
        let names = [kind, status].into_iter().flatten().map(String::len).sum::<usize>();
        size_of::<Self>() + self.id.len() + title.len() + names
    }

    fn tell(&mut self, said: &SaidCall<'_>) {
        let name = |name: &Option<Cow<'_, str>>| {
            let short = name.as_deref().filter(|name| name.len() <= limits::CONTEXT_NAME);
            short.map(str::to_owned)
        };
        if let Some(title) = &said.title {
            self.said.title = first_line(title);
        }
        self.said.kind = name(&said.kind).or(self.said.kind.take());
        self.said.status = name(&said.status).or(self.said.status.take());
    }
}

/// Returns the first line of a title, cut with a mark where it is longer than [`limits::CONTEXT_TITLE`].
fn first_line(title: &str) -> String {
    const MARK: &str = "…";
    let (line, rest) = title.trim().split_once('\n').unwrap_or((title.trim(), ""));
    if rest.is_empty() && line.len() <= limits::CONTEXT_TITLE {
        return line.to_owned();
    }
    let mut end = line.len().min(limits::CONTEXT_TITLE - MARK.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    [line[..end].trim_end(), MARK].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'a>(session: &'a str, text: &'a str) -> Said<'a> {
        Said::Words { session: session.into(), message: None, text: text.into() }
    }

    fn call<'a>(session: &'a str, id: &'a str, title: &'a str, status: &'a str) -> Said<'a> {
        let text = |text: &'a str| Some(text.into()).filter(|_| !text.is_empty());
        let (session, id) = (session.into(), id.into());
        Said::Call(SaidCall { session, id, title: text(title), status: text(status), ..SaidCall::default() })
    }

    /// Returns the words, and the calls with their statuses.
    fn shown(recent: &mut Recent, session: &str, but: Option<&str>) -> (String, String) {
        let Some(context) = recent.context(session, but) else { return Default::default() };
        let calls = context.calls.iter();
        let calls: Vec<_> =
            calls.map(|call| format!("{} {}", call.title, call.status.as_deref().unwrap_or("-"))).collect();
        (context.words.clone(), calls.join(", "))
    }

    #[test]
    fn pieces_make_messages_and_a_call_keeps_its_place() {
        let mut recent = Recent::default();
        assert_eq!(recent.context("s", None), None);
        for said in [
            words("s", "I look "),
            words("s", "at it. "),
            call("s", "1", "Read a", "pending"),
            call("s", "2", "Read b", ""),
            words("s", "It is "),
            call("s", "1", "", "completed"),
            words("s", "empty."),
            Said::Pause("s".into()),
            Said::Pause("s".into()),
            words("s", "So:\n\n"),
            Said::Pause("s".into()),
            words("s", "Hm.\n"),
            Said::Pause("s".into()),
            words("s", "Which?\n"),
            words("other", "Hello"),
        ] {
            recent.take(said);
        }
        let said = "I look at it. \n\nIt is empty.\n\nSo:\n\nHm.\n\nWhich?".to_owned();
        assert_eq!(shown(&mut recent, "s", None), (said.clone(), "Read a completed, Read b -".to_owned()));
        assert_eq!(shown(&mut recent, "s", Some("2")), (said, "Read a completed".to_owned()));
        assert_eq!(shown(&mut recent, "other", None), ("Hello".to_owned(), String::new()));
        recent.forget("s");
        assert_eq!(shown(&mut recent, "s", None), Default::default());
    }

    #[test]
    fn a_message_of_another_name_is_another_message() {
        let mut recent = Recent::default();
        for (message, text) in [("1", "a"), ("1", "b"), ("", "c"), ("2", "d"), ("2", "e")] {
            let message = Some(message.into()).filter(|_| !message.is_empty());
            recent.take(Said::Words { session: "s".into(), message, text: text.into() });
        }
        assert_eq!(shown(&mut recent, "s", None).0, "abc\n\nde");
    }

    #[test]
    fn an_id_that_is_used_again_is_another_call() {
        let mut recent = Recent::default();
        let begins = |title: &'static str| {
            let title = Some(title.into());
            SaidCall { session: "s".into(), id: "1".into(), begins: true, title, ..SaidCall::default() }
        };
        recent.call(&begins("first"));
        recent.take(call("s", "1", "", "failed"));
        recent.call(&begins("second"));
        recent.take(call("s", "1", "", "pending"));
        assert_eq!(shown(&mut recent, "s", None).1, "first failed, second pending");
    }

    #[test]
    fn a_call_without_a_title_is_not_shown() {
        let mut recent = Recent::default();
        recent.take(call("s", "1", "", "failed"));
        assert_eq!(recent.context("s", None), None);
        recent.take(call("s", &"x".repeat(limits::CONTEXT_CALL_ID + 1), "Read", ""));
        assert_eq!(recent.context("s", None), None);
    }

    #[test]
    fn titles_are_one_line_that_is_cut_with_a_mark() {
        let long = "ä".repeat(limits::CONTEXT_TITLE);
        for (title, line) in [
            ("", String::new()),
            (" Run ls \n", "Run ls".to_owned()),
            ("cat <<E\nx\nE", "cat <<E…".to_owned()),
            (&*long, "ä".repeat(78) + "…"),
            (&long[..160], long[..160].to_owned()),
        ] {
            assert_eq!(first_line(title), line, "{title}");
        }
    }

    #[test]
    fn questions_that_are_asked_together_share_what_led_to_them() {
        let mut recent = Recent::default();
        recent.take(words("s", "Hm."));
        let first = recent.context("s", None).expect("words");
        assert!(Arc::ptr_eq(&first, &recent.context("s", None).expect("words")));
        recent.take(words("other", "x"));
        assert!(Arc::ptr_eq(&first, &recent.context("s", None).expect("words")));
        recent.take(words("s", "!"));
        assert_eq!(recent.context("s", None).expect("words").words, "Hm.!");
        assert_eq!(first.words, "Hm.", "what a question has does not change");
    }

    #[test]
    fn ten_thousand_sessions_that_never_stop_stay_within_the_bounds() {
        let mut recent = Recent::default();
        let title = "t".repeat(1000);
        for number in 0..10_000_usize {
            let name = format!("s{number}");
            for piece in 0..4 {
                recent.take(words(&name, &"word ".repeat(number % 1000)));
                recent.take(call(&name, &format!("c{}", number * 5 + piece), &title, "completed"));
            }
            let total: usize = recent.sessions.iter().map(|(name, session)| session.size(name)).sum();
            assert_eq!(recent.bytes, total);
            assert!(total <= limits::CONTEXT_SESSIONS_BYTES);
            assert!(recent.sessions[&name].size("") <= 16 * 1024);
            assert!(recent.context(&name, None).expect("words").size() <= 16 * 1024);
        }
        assert!(recent.sessions.len() > 60 && recent.context("s9999", None).is_some());
        assert!(recent.context("s0", None).is_none(), "the oldest is forgotten first");
    }

    #[test]
    fn one_word_without_end_is_cut() {
        let mut recent = Recent::default();
        recent.take(words("s", &"ä".repeat(1 << 20)));
        let context = recent.context("s", None).expect("words");
        assert_eq!((context.words.len(), context.truncated), (limits::CONTEXT_WORDS_LEFT, true));
        let kept = &recent.sessions["s"].words;
        assert!(kept.capacity() <= limits::CONTEXT_WORDS, "{}", kept.capacity());
    }
}
