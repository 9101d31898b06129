//! Makes untrusted text safe to print on a terminal.
//! Nothing is removed: what a terminal would act on, or not show, becomes characters that can be read (I10).

use std::{borrow::Cow, fmt::Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters in a row that take no column of their own, and are shown as they are. Scripts need up to about 8, and an
/// emoji of a family up to 10. More of them slow a terminal down, or cover the lines around them.
const MARKS: usize = 16;
/// ZWNJ, which parts letters that would be joined.
const NON_JOINER: char = '\u{200c}';
/// ZWJ, which joins letters or emoji.
const JOINER: char = '\u{200d}';
/// The selector that makes an emoji of the character before it.
const EMOJI_SELECTOR: char = '\u{fe0f}';

/// Returns the text with everything that is not printable made visible; newlines and tabs stay.
///
/// `ESC` becomes `␛`, other C0 controls likewise; C1 controls, bidi controls and invisible characters
/// become `\u{202e}`, and so does each mark behind the 16th on one character. For text that may take several lines, such as
/// a message.
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, |c| matches!(c, '\n' | '\t'), push_visible)
}

/// Returns the text as [`printable`] does, on one line: a newline becomes `␊` and a tab `␉`.
///
/// For labels, values, and whatever else must not break the layout that it stands in.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    shown(text, |_| false, push_visible)
}

/// Returns a JSON text in which every character that is not printable is escaped, as in `\u202e`. Its meaning stays the
/// same.
///
/// Outside of its strings, the JSON has only printable ASCII and newlines, so every escape stands in a string.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    shown(json, |c| c == '\n', push_json_escape)
}

/// Returns a line of bytes as [`printable_line`] does, with each byte that is not UTF-8 as in `\xff`.
pub fn printable_bytes(line: &[u8]) -> String {
    let mut out = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        out.push_str(&printable_line(chunk.valid()));
        for byte in chunk.invalid() {
            write_to(&mut out, format_args!("\\x{byte:02x}"));
        }
    }
    out
}

/// Returns how many columns a line takes.
pub fn width(line: &str) -> usize {
    line.width()
}

/// Cuts a printable line that takes more columns than this, and ends it with `…` then.
pub fn cut(line: &str, most: usize) -> Cow<'_, str> {
    if width(line) <= most { Cow::Borrowed(line) } else { Cow::Owned(format!("{}…", fitting(line, most))) }
}

/// Returns as much of a line as leaves one column free.
fn fitting(line: &str, most: usize) -> &str {
    // Characters that stand together may take less room than their parts: the beginning is measured as a whole.
    let fits = |end: &usize| width(&line[..*end]) < most;
    let ends = line.char_indices().map(|(start, _)| start).chain([line.len()]);
    &line[..ends.take_while(fits).last().unwrap_or(0)]
}

/// Whether this changes the colour of the emoji before it.
fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Fills a line up to this many columns.
pub fn padded(line: &str, columns: usize) -> String {
    format!("{line}{}", " ".repeat(columns.saturating_sub(width(line))))
}

fn shown(text: &str, stays: fn(char) -> bool, push: fn(&mut String, char)) -> Cow<'_, str> {
    let mut run = Run::default();
    let mut all = text.char_indices();
    // Most texts are printable, and this pass spares them a copy.
    if all.all(|(start, c)| run.shows(c, &text[start + c.len_utf8()..], stays)) {
        return Cow::Borrowed(text);
    }
    let (mut run, mut out) = (Run::default(), String::with_capacity(text.len() + 16));
    for (start, c) in text.char_indices() {
        match run.shows(c, &text[start + c.len_utf8()..], stays) {
            true => out.push(c),
            false => push(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// The context in which a character stands: what came before it.
#[derive(Default)]
struct Run {
    before: Option<char>,
    /// How many characters in a row took no column of their own.
    marks: usize,
}

impl Run {
    /// Returns whether the next character is shown unchanged. `after` is the text after it.
    fn shows(&mut self, c: char, after: &str, stays: fn(char) -> bool) -> bool {
        // Emoji that are joined take the columns of one.
        let is_joined = self.before == Some(JOINER) || is_skin_tone(c);
        self.marks = if is_joined || c.width() == Some(0) { self.marks + 1 } else { 0 };
        let shows = stays(c) || (self.marks <= MARKS && is_printable(c, self.before, after));
        // A character that is replaced by its name joins nothing.
        self.before = shows.then_some(c);
        shows
    }
}

fn push_visible(out: &mut String, c: char) {
    let picture = match c {
        // Unicode has the pictures of the control characters in their order, from U+2400.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('␡'),
        _ => None,
    };
    match picture {
        Some(picture) => out.push(picture),
        None => write_to(out, format_args!("{}", c.escape_unicode())),
    }
}

fn push_json_escape(out: &mut String, c: char) {
    // A JSON escape is a unit of UTF-16: a character beyond the basic plane takes two.
    for unit in c.encode_utf16(&mut [0; 2]) {
        write_to(out, format_args!("\\u{unit:04x}"));
    }
}

/// Writes to a `String`, which cannot fail.
fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "a String takes everything");
}

fn is_printable(c: char, before: Option<char>, after: &str) -> bool {
    match c {
        ' '..='~' => true,
        // A selector belongs to the emoji or digit before it; a second one can only hide something.
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(takes_selector),
        NON_JOINER | JOINER => {
            before.zip(after.chars().next()).is_some_and(|(before, after)| joins(before, after))
        }
        _ => is_visible(c),
    }
}

fn takes_selector(before: char) -> bool {
    matches!(before, '0'..='9' | '#' | '*') || (!before.is_ascii() && is_visible(before))
}

/// Whether a joiner or non-joiner between these characters is ordinary text: a family of emoji, or Persian. At the
/// edge of a text, repeated, or between ASCII letters, it could only hide something.
fn joins(before: char, after: char) -> bool {
    let is_letter = |c: char| match c.is_ascii() {
        true => c.is_ascii_alphanumeric(),
        false => is_visible(c) && !c.is_whitespace(),
    };
    let is_before = is_letter(before) || before == EMOJI_SELECTOR;
    is_before && is_letter(after) && !(before.is_ascii() && after.is_ascii())
}

/// Whether this is a character of its own, and can be seen.
fn is_visible(c: char) -> bool {
    !c.is_control() && !is_invisible(c) && !matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a terminal shows nothing for this character, or shows its neighbours elsewhere.
///
/// Unicode's format characters (Cf), line and paragraph separators, and what is blank or ignorable by
/// default though it is not of those categories.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}'
        | '\u{34f}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;

    #[test]
    fn ordinary_text_is_borrowed_as_it_is() {
        for text in ["", "Option A", "Größe: 日本語 ✔️ 1️⃣ 🇩🇪 e\u{301}", "two\nlines\tand a tab"]
        {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn escape_sequences_are_shown_and_not_obeyed() {
        for (hostile, shown) in [
            ("\x1b[2J\x1b[H", "␛[2J␛[H"),
            ("\x1b]0;title\x07", "␛]0;title␇"),
            ("\x1b]52;c;Y3VybA==\x1b\\", "␛]52;c;Y3VybA==␛\\"),
            ("\u{9b}31mred", "\\u{9b}31mred"),
            ("\u{90}q\u{9c}", "\\u{90}q\\u{9c}"),
            ("safe\rEVIL", "safe␍EVIL"),
            ("a\x08b\x7fc\0", "a␈b␡c␀"),
        ] {
            assert_eq!(printable(hostile), shown);
        }
    }

    #[test]
    fn bidi_and_invisible_characters_are_named() {
        for (hostile, shown) in [
            ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
            ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
            ("yes\u{200b}", "yes\\u{200b}"),
            ("a\u{2028}b\u{feff}", "a\\u{2028}b\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            ("blank\u{3164}", "blank\\u{3164}"),
            ("A\u{fe0f}", "A\\u{fe0f}"),
            ("✔\u{fe0f}\u{fe0f}", "✔\u{fe0f}\\u{fe0f}"),
            ("1\u{fe01}", "1\\u{fe01}"),
        ] {
            assert_eq!(printable(hostile), shown);
        }
    }

    #[test]
    fn joiners_between_visible_characters_are_ordinary_text() {
        let family = "👩\u{200d}👩\u{200d}👧";
        for text in [
            family,
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}💋\u{200d}👨🏽",
            "می\u{200c}خواهم",
            "PDF\u{200c}ها",
            "क\u{94d}\u{200d}ष",
        ] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
            assert_eq!(cut(text, 80), text);
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(printable_json(&json), json);
        }
        assert_eq!((width(family), padded(family, 3)), (2, format!("{family} ")));
        for (hidden, shown) in [
            ("yes\u{200d}no", "yes\\u{200d}no"),
            ("\u{200d}é", "\\u{200d}é"),
            ("é\u{200c}", "é\\u{200c}"),
            ("é\u{200d} é", "é\\u{200d} é"),
            ("é\u{200d}\u{200d}é", "é\\u{200d}\\u{200d}é"),
            ("é\u{200d}\u{200b}é", "é\\u{200d}\\u{200b}é"),
            ("é\u{200c}\u{1b}", "é\\u{200c}␛"),
            ("é\u{200c}.", "é\\u{200c}."),
        ] {
            assert_eq!(printable(hidden), shown);
        }
        assert_eq!(printable_json("\"é\u{200d}\""), "\"é\\u200d\"", "the quote is not part of the text");
        // A terminal that does not join them would break its layout over a chain without end.
        let chain = "👩".to_owned() + &"\u{200d}👩🏽".repeat(100);
        let shown = printable(&chain);
        assert!(shown.contains("\\u{200d}") && cut(&shown, 80).chars().count() <= 80 * 3, "{shown}");
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(printable_line("a\nb\tc\r\n"), "a␊b␉c␍␊");
        assert_eq!(printable_bytes(b"ok \xff\xc3\n\x1b[m"), "ok \\xff\\xc3␊␛[m");
    }

    #[test]
    fn json_says_the_same_in_printable_characters() {
        let every: String = (0..=0x10ffff).filter_map(char::from_u32).collect();
        for text in [&*every, "✔\u{fe0f}\u{fe0f} \u{1f600} \u{e0041}", "\"\\\n\u{fe0f}"] {
            for json in [serde_json::to_string(&[text]), serde_json::to_string_pretty(&[text])] {
                let json = json.unwrap();
                let shown = printable_json(&json);
                assert_eq!(printable(&shown), shown);
                assert_eq!(shown.lines().count(), json.lines().count());
                assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [text]);
            }
        }
        let shown = printable_json("\"a\u{7f}\u{9b}\u{202e}\u{200b}\u{e0041}日本語 ✔️\"");
        assert_eq!(shown, r#""a\u007f\u009b\u202e\u200b\udb40\udc41日本語 ✔️""#);
    }

    #[test]
    fn a_line_is_cut_and_filled_by_the_columns_that_it_takes() {
        for (line, most, cut_off) in [
            ("plain", 5, "plain"),
            ("plain", 4, "pla…"),
            ("認証です", 8, "認証です"),
            ("認証です", 7, "認証で…"),
            ("認証です", 6, "認証…"),
            ("e\u{301}e\u{301}e", 3, "e\u{301}e\u{301}e"),
            ("e\u{301}e\u{301}e", 2, "e\u{301}…"),
            ("plain", 0, "…"),
        ] {
            assert_eq!(cut(line, most), cut_off, "{line} in {most}");
        }
        assert_eq!(padded("認", 4) + "|", "認  |");
        assert_eq!(padded("plain", 2), "plain");
    }

    #[test]
    fn marks_beyond_those_of_any_script_are_named() {
        let marks = |count: usize| "e".to_owned() + &"\u{301}".repeat(count);
        assert_eq!(printable(&marks(MARKS)), marks(MARKS));
        let named = marks(MARKS) + &"\\u{301}".repeat(3001 - MARKS) + "x";
        for show in [printable, printable_line] {
            assert_eq!(show(&(marks(3001) + "x")), named);
            assert_eq!(show(&marks(MARKS + 1).repeat(2)), (marks(MARKS) + "\\u{301}").repeat(2));
        }
        let json = format!("\"{}\"", marks(MARKS + 2));
        let shown = printable_json(&json);
        assert_eq!(shown, format!("\"{}\\u0301\\u0301\"", marks(MARKS)));
        let text = |json: &str| serde_json::from_str::<String>(json).expect("a text");
        assert_eq!(text(&shown), text(&json));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        #[test]
        fn no_character_carries_more_marks_than_any_script_does(
            parts in prop::collection::vec(
                (prop::sample::select(&["e", "\u{301}", "\u{20dd}", "👩", "\u{200d}", "\u{fe0f}", "🏽", "1", "\u{e34}", "\u{488}"][..]), 1..40usize),
                0..12,
            ),
        ) {
            let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
            for text in [printable(&text), printable_line(&text)] {
                // A joined emoji takes no column either.
                let (mut marks, mut before) = (0, ' ');
                for c in text.chars() {
                    marks = if before == JOINER || is_skin_tone(c) || c.width() == Some(0) { marks + 1 } else { 0 };
                    prop_assert!(marks <= MARKS, "{text:?}");
                    before = c;
                }
            }
        }
    }

    #[test]
    fn nothing_printed_is_a_control_character() {
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            let text = c.to_string();
            assert!(!printable_line(&text).chars().any(char::is_control), "{c:?}");
            assert!(!printable(&text).chars().any(|c| c.is_control() && !"\n\t".contains(c)), "{c:?}");
        }
    }
}
