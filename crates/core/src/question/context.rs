//! What led to a question: the last words of the agent, and its last tool calls, before it asked. What an agent said is
//! gathered in `recent.rs`; which line says what is left to the rooms above.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// What led to a question. Its texts are the agent's own, and not for logs.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionContext"))]
pub struct Context {
    /// The last words of the agent before it asked, in Markdown. A blank line stands where it did something else in between.
    pub words: String,
    /// Its last tool calls before it asked, oldest first.
    pub calls: Vec<ContextCall>,
    /// Whether it said more before this, which is not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A tool call of the agent, as it was when the agent asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextCall {
    /// What the call does, in the agent's words.
    pub title: String,
    /// The kind of the tool, by the name that the agent's protocol has for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The status of the call: `pending`, `in_progress`, `completed`, `failed` or `cancelled`; another protocol or version
    /// may have others. Absent if the agent did not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl Context {
    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.calls.is_empty()
    }

    /// Returns how many bytes its texts have.
    pub fn size(&self) -> usize {
        self.words.len() + self.calls.iter().map(ContextCall::size).sum::<usize>()
    }

    /// Returns the last part that has no more bytes than this.
    #[must_use]
    pub fn last(&self, most: usize) -> Self {
        let calls = self.calls.iter().rev();
        let fitting = calls.scan(0, |bytes, call| {
            *bytes += call.size();
            (*bytes <= most).then_some(call)
        });
        let mut calls: Vec<_> = fitting.cloned().collect();
        calls.reverse();
        let room = most - calls.iter().map(ContextCall::size).sum::<usize>();
        let words = last_words(&self.words, room);
        let is_all = words.len() == self.words.len() && calls.len() == self.calls.len();
        Context { words: words.to_owned(), calls, truncated: self.truncated || !is_all }
    }
}

/// Texts of an agent stand in no log.
impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Context({} bytes, {} calls)", self.words.len(), self.calls.len())
    }
}

impl ContextCall {
    fn size(&self) -> usize {
        let names = [&self.kind, &self.status].into_iter().flatten();
        size_of::<Self>() + self.title.len() + names.map(String::len).sum::<usize>()
    }
}

/// Returns the end of a text that has no more bytes than this. It begins with a whole word, if a word ends nearby.
pub(super) fn last_words(text: &str, most: usize) -> &str {
    /// How far the end of a word is looked for.
    const WORD: usize = 100;
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let rest = &text[from..];
    if from == 0 {
        return rest;
    }
    let space = rest.char_indices().take(WORD).find(|(_, letter)| letter.is_whitespace());
    space.map_or(rest, |(place, _)| rest[place..].trim_start())
}

/// What an agent says or does, as one of its lines has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// It says something in a session: a piece of a message, which continues the piece before it.
    Words {
        /// The session.
        session: Cow<'a, str>,
        /// The message that this is a piece of, where the agent names it.
        message: Option<Cow<'a, str>>,
        /// The piece.
        text: Cow<'a, str>,
    },
    /// It does something else in this session, so that what it says next is another message.
    Pause(Cow<'a, str>),
    /// It calls a tool, or tells more of a call.
    Call(SaidCall<'a>),
}

/// What an agent says of a tool call. What is `None` stays as it was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidCall<'a> {
    /// The session.
    pub session: Cow<'a, str>,
    /// The ID of the call.
    pub id: Cow<'a, str>,
    /// Whether this begins the call, also where another one had its ID.
    pub begins: bool,
    /// See [`ContextCall::title`].
    pub title: Option<Cow<'a, str>>,
    /// See [`ContextCall::kind`].
    pub kind: Option<Cow<'a, str>>,
    /// See [`ContextCall::status`].
    pub status: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_begin_with_a_whole_word_and_a_whole_character() {
        for (text, most, last) in [
            ("one two three", 100, "one two three"),
            ("one two three", 13, "one two three"),
            ("one two three", 12, "two three"),
            ("one two three", 6, "three"),
            ("one two three", 5, "three"),
            ("one two three", 4, "hree"),
            ("one\n\ntwo", 5, "two"),
            ("äöü", 5, "öü"),
            ("äöü", 3, "ü"),
            ("äöü", 1, ""),
            ("one", 0, ""),
        ] {
            assert_eq!(last_words(text, most), last, "{most} bytes of {text:?}");
        }
    }

    #[test]
    fn the_last_part_has_the_last_calls_and_then_words() {
        let call = |title: &str| ContextCall { title: title.to_owned(), ..ContextCall::default() };
        let all =
            Context { words: "one two".to_owned(), calls: vec![call("a"), call("b")], truncated: false };
        let one = call("b").size();
        assert_eq!(all.last(all.size()), all);
        let cut = |most| {
            let last = all.last(most);
            assert!(last.truncated && last.size() <= most);
            (last.words, last.calls.into_iter().map(|call| call.title).collect::<String>())
        };
        assert_eq!(cut(all.size() - 1), ("two".to_owned(), "ab".to_owned()));
        assert_eq!(cut(one + 3), ("two".to_owned(), "b".to_owned()));
        assert_eq!(cut(3), ("two".to_owned(), String::new()));
        assert_eq!(cut(0), (String::new(), String::new()));
    }

    #[test]
    fn a_log_has_no_words_of_an_agent() {
        let said = Context { words: "secret".to_owned(), ..Context::default() };
        assert_eq!(format!("{said:?}"), "Context(6 bytes, 0 calls)");
    }
}
