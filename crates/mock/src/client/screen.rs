//! The layout of a conversation: the speaker on the left, the text on the right.
//! All text of other programs is made printable here. What to show is left to `conversation.rs`.

use std::{
    env,
    io::{self, IsTerminal, StdoutLock, Write},
};

use askbridge_os::terminal::{printable, printable_bytes, printable_line};

use super::form::{ClientChoice, ClientField, Detail};

/// Labels up to this length are aligned with each other.
const LONGEST_ALIGNED: usize = 30;
const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const PLAIN: &str = "\x1b[0m";

/// The screen of a conversation.
pub(crate) struct Screen<W> {
    output: W,
    colour: bool,
    /// The owner of the last line, if it has no newline yet.
    unfinished: Option<OpenLine>,
}

/// A line without a newline yet.
#[derive(PartialEq)]
enum OpenLine {
    /// A message of the agent: its ID, and the number of its trailing newlines that are not shown yet.
    Message(Option<String>, usize),
    /// The line of the keyboard input.
    Typing,
}

impl Screen<StdoutLock<'static>> {
    /// Returns a screen on stdout, in colour if it is a terminal and `NO_COLOR` is not set.
    pub(crate) fn on_stdout() -> Self {
        let stdout = io::stdout();
        // An empty `NO_COLOR` counts as absent. Source: https://no-color.org
        let colour = stdout.is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self::new(stdout.lock(), colour)
    }
}

impl<W: Write> Screen<W> {
    fn new(output: W, colour: bool) -> Self {
        Self { output, colour, unfinished: None }
    }

    /// Shows a text after the speaker's name.
    pub(crate) fn say(&mut self, speaker: &str, text: &str) -> io::Result<()> {
        self.finish_line()?;
        for (n, line) in text.lines().enumerate() {
            self.gutter(if n == 0 { speaker } else { "" }, "│")?;
            writeln!(self.output, " {}", printable(line))?;
        }
        self.output.flush()
    }

    /// Shows a chunk of a message of the agent, after earlier chunks of the same message.
    pub(super) fn say_chunk(&mut self, message: Option<&str>, text: &str) -> io::Result<()> {
        let (mut held, text) = match &self.unfinished {
            Some(OpenLine::Message(last, held)) if last.as_deref() == message => (*held, text),
            _ => {
                self.finish_line()?;
                self.gutter("agent", "│")?;
                write!(self.output, " ")?;
                // No message begins with an empty line.
                (0, text.trim_start_matches('\n'))
            }
        };
        for line in text.split_inclusive('\n') {
            let words = line.strip_suffix('\n').unwrap_or(line);
            if !words.is_empty() {
                self.break_lines(held)?;
                write!(self.output, "{}", printable(words))?;
                held = 0;
            }
            // Newlines are held back until more text follows, so that no message ends in an empty line.
            held += usize::from(line.ends_with('\n'));
        }
        self.unfinished = Some(OpenLine::Message(message.map(str::to_owned), held));
        self.output.flush()
    }

    fn break_lines(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            writeln!(self.output)?;
            self.gutter("", "│")?;
            write!(self.output, " ")?;
        }
        Ok(())
    }

    /// Shows a field of a question; `place` is its number and the number of fields.
    pub(super) fn ask(&mut self, field: &ClientField, place: (usize, usize)) -> io::Result<()> {
        self.finish_line()?;
        self.gutter("agent", "?")?;
        let header = field.header.as_deref().filter(|header| *header != field.question);
        let header = header.map(|header| {
            let colon = if header.ends_with('?') { "" } else { ":" };
            format!("{}{colon} ", printable_line(header))
        });
        let header = header.unwrap_or_default();
        let (bold, plain) = (self.style(BOLD), self.style(PLAIN));
        write!(self.output, " {bold}{header}{}{plain}", printable_line(&field.question))?;
        match place {
            (_, 1) => writeln!(self.output)?,
            (nth, count) => writeln!(self.output, " ({nth} of {count})")?,
        }
        for detail in &field.details {
            self.gutter("", "│")?;
            self.detail(detail)?;
        }
        let labels = field.options.iter().map(|option| printable_line(&option.label).chars().count());
        let width = labels.filter(|&width| width <= LONGEST_ALIGNED).max().unwrap_or(0);
        for (n, option) in field.options.iter().enumerate() {
            self.gutter("", "│")?;
            self.option(n + 1, option, width, field.opaque)?;
        }
        self.output.flush()
    }

    fn detail(&mut self, detail: &Detail) -> io::Result<()> {
        let (style, mark, line) = match detail {
            Detail::Text(line) => ("", "", line),
            Detail::Removed(line) => (self.style(RED), "- ", line),
            Detail::Added(line) => (self.style(GREEN), "+ ", line),
        };
        let plain = if style.is_empty() { "" } else { PLAIN };
        writeln!(self.output, " {style}{mark}{}{plain}", printable_line(line))
    }

    fn option(&mut self, number: usize, option: &ClientChoice, width: usize, opaque: bool) -> io::Result<()> {
        let label = printable_line(&option.label);
        let value = (!opaque && option.value != option.label).then_some(option.value.as_str());
        let beside: Vec<_> =
            value.into_iter().chain(option.description.as_deref()).map(printable_line).collect();
        if beside.is_empty() {
            return writeln!(self.output, "   {number}  {label}");
        }
        let (dim, plain) = (self.style(DIM), self.style(PLAIN));
        writeln!(self.output, "   {number}  {label:width$}  {dim}{}{plain}", beside.join("  "))
    }

    /// Shows the input line with this hint.
    pub(super) fn ask_typing(&mut self, hint: &str) -> io::Result<()> {
        self.finish_line()?;
        self.gutter("you", ">")?;
        let (dim, plain) = (self.style(DIM), self.style(PLAIN));
        write!(self.output, " {dim}{hint}:{plain} ")?;
        self.unfinished = Some(OpenLine::Typing);
        self.output.flush()
    }

    /// Ends the input line; shows the typed text unless the terminal has echoed it.
    pub(super) fn typed(&mut self, line: &str, shown: bool) -> io::Result<()> {
        if !shown {
            writeln!(self.output, "{}", printable_line(line))?;
        }
        self.unfinished = None;
        self.output.flush()
    }

    /// Returns whether the last line is the input line.
    pub(super) fn is_typing(&self) -> bool {
        self.unfinished == Some(OpenLine::Typing)
    }

    /// Shows a line of the protocol.
    pub(super) fn wire(&mut self, direction: &str, line: &[u8]) -> io::Result<()> {
        self.finish_line()?;
        let (dim, plain) = (self.style(DIM), self.style(PLAIN));
        writeln!(self.output, "{dim}{direction} {}{plain}", printable_bytes(line))?;
        self.output.flush()
    }

    fn gutter(&mut self, speaker: &str, line: &str) -> io::Result<()> {
        let (dim, plain) = (self.style(DIM), self.style(PLAIN));
        write!(self.output, "{dim}{speaker:>5} {line}{plain}")
    }

    /// Ends the last line, if it has no newline yet.
    pub(super) fn finish_line(&mut self) -> io::Result<()> {
        if self.unfinished.take().is_some() { writeln!(self.output) } else { Ok(()) }
    }

    fn style(&self, style: &'static str) -> &'static str {
        if self.colour { style } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(show: impl FnOnce(&mut Screen<Vec<u8>>) -> io::Result<()>) -> String {
        let mut screen = Screen::new(Vec::new(), false);
        show(&mut screen).unwrap();
        String::from_utf8(screen.output).unwrap()
    }

    #[test]
    fn chunks_of_a_message_are_joined_and_messages_are_separated() {
        let text = shown(|screen| {
            screen.say("you", "hello\nthere")?;
            screen.say_chunk(Some("1"), "one ")?;
            screen.say_chunk(Some("1"), "two\nthree")?;
            screen.say_chunk(Some("2"), "four\n\n")?;
            screen.say_chunk(Some("2"), "five\n")?;
            screen.say("ended", "well")
        });
        let lines = [
            "  you │ hello",
            "      │ there",
            "agent │ one two",
            "      │ three",
            "agent │ four",
            "      │ ",
            "      │ five",
            "ended │ well",
        ];
        assert_eq!(text, lines.join("\n") + "\n");
    }

    #[test]
    fn options_are_numbered_and_aligned() {
        let choice = |value: &str, label: &str, description: Option<&str>| ClientChoice {
            value: value.to_owned(),
            label: label.to_owned(),
            description: description.map(str::to_owned),
        };
        let options = vec![
            choice("a", "Option A", Some("the first")),
            choice("B", "B", Some("the second")),
            choice("C", "C", None),
        ];
        let field = ClientField {
            header: Some("H".to_owned()),
            question: "Which?".to_owned(),
            options,
            ..ClientField::default()
        };
        let text = shown(|screen| {
            screen.ask(&field, (2, 3))?;
            screen.ask_typing("1-3")?;
            screen.typed("2", false)
        });
        let lines = [
            "agent ? H: Which? (2 of 3)",
            "      │   1  Option A  a  the first",
            "      │   2  B         the second",
            "      │   3  C",
            "  you > 1-3: 2",
        ];
        assert_eq!(text, lines.join("\n") + "\n");
    }

    #[test]
    fn the_ids_of_a_permission_request_are_not_shown() {
        let option = ClientChoice { value: "id-0".to_owned(), label: "Allow".to_owned(), description: None };
        let field = ClientField { options: vec![option], opaque: true, ..ClientField::default() };
        let text = shown(|screen| screen.ask(&field, (1, 1)));
        assert!(text.ends_with("   1  Allow\n"), "{text}");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let hostile = "\x1b]0;x\x07\u{202e}\r\nyou > 1";
        let choice = ClientChoice { value: hostile.to_owned(), label: hostile.to_owned(), description: None };
        let field = ClientField {
            header: Some(hostile.to_owned()),
            question: hostile.to_owned(),
            details: vec![Detail::Text(hostile.to_owned()), Detail::Added(hostile.to_owned())],
            options: vec![choice],
            ..ClientField::default()
        };
        let text = shown(|screen| {
            screen.say_chunk(None, hostile)?;
            screen.ask(&field, (1, 1))?;
            screen.wire("a → b", hostile.as_bytes())?;
            screen.typed(hostile, false)
        });
        assert!(!text.contains(['\x1b', '\x07', '\r', '\u{202e}']), "{text:?}");
        assert!(text.lines().all(|line| !line.starts_with("you")), "{text}");
    }
}
