//! What led to a question, as text for a terminal. Asking for it is left to `command`.

use std::fmt::{self, Display, Formatter};

use askbridge_core::question::{Context, ContextCall};
use askbridge_os::terminal::{padded, printable, printable_line, width};

use super::layout::{self, wrapped};

/// What led to a question, in words.
pub struct ContextText<'a> {
    /// What the agent said and did.
    pub context: &'a Context,
    /// The columns of the terminal, at which text is wrapped.
    pub columns: usize,
}

impl Display for ContextText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Context { words, calls, truncated } = self.context;
        if self.context.is_empty() {
            return writeln!(out, "It is not known what led to this question.");
        }
        if *truncated {
            writeln!(out, "[what the agent said and did before this is not kept]\n")?;
        }
        if !words.is_empty() {
            writeln!(out, "{}", layout::indented(&printable(words), 0, self.columns))?;
        }
        if !calls.is_empty() {
            let above = if words.is_empty() { "" } else { "\n" };
            let what = if calls.len() == 1 { "Its last tool call:" } else { "Its last tool calls:" };
            writeln!(out, "{above}{what}")?;
        }
        let status = calls.iter().map(|call| width(&state(call))).max().unwrap_or(0);
        calls.iter().try_for_each(|call| {
            let state = padded(&state(call), status);
            let start = 2 + status + 2;
            let title = wrapped(&printable_line(&call.title), start, start, self.columns);
            writeln!(out, "  {state}  {title}")
        })
    }
}

/// Returns the status of a call in words.
fn state(call: &ContextCall) -> String {
    call.status.as_deref().map_or_else(|| "-".to_owned(), |name| printable_line(name).replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(title: &str, kind: Option<&str>, status: Option<&str>) -> ContextCall {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        ContextCall { title: title.to_owned(), kind: owned(kind), status: owned(status) }
    }

    fn shown(context: &Context) -> String {
        ContextText { context, columns: 40 }.to_string()
    }

    #[test]
    fn words_and_calls_are_shown_with_what_no_terminal_obeys() {
        let context = Context {
            words: "I look at it.\n\n\u{1b}[31mIt is empty, which is a surprise to me.".to_owned(),
            calls: vec![
                call("Read a", Some("read"), Some("completed")),
                call("Run a command that has many words in it", None, Some("in_progress")),
                call("Think", Some("think"), None),
            ],
            truncated: true,
        };
        let expected = "\
[what the agent said and did before this is not kept]

I look at it.

␛[31mIt is empty, which is a surprise to
me.

Its last tool calls:
  completed    Read a
  in progress  Run a command that has
               many words in it
  -            Think
";
        assert_eq!(shown(&context), expected);
    }

    #[test]
    fn what_is_missing_leaves_no_gap() {
        let context = Context { calls: vec![call("Read a", None, Some("failed"))], ..Context::default() };
        assert_eq!(shown(&context), "Its last tool call:\n  failed  Read a\n");
        let context = Context { words: "Hm.".to_owned(), ..Context::default() };
        assert_eq!(shown(&context), "Hm.\n");
        assert_eq!(shown(&Context::default()), "It is not known what led to this question.\n");
    }
}
