//! A text that is being typed, with its cursor. Where it is drawn is left to `card.rs`.

use askbridge_os::terminal::width;

use super::event::Key;

/// The most bytes that are typed or pasted into one text: as much as an answer may have.
const LONGEST: usize = 256 * 1024;

/// A text and the place of the cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editor {
    text: String,
    /// An offset in bytes, always on a character boundary.
    cursor: usize,
}

impl Editor {
    /// Returns an editor with this text, and the cursor at its end.
    pub fn new(text: &str) -> Self {
        Editor { text: text.to_owned(), cursor: text.len() }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text before and behind the cursor.
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    /// Inserts a text at the cursor. Carriage returns become newlines. Where a text must have one line, newlines become
    /// spaces.
    pub fn insert(&mut self, text: &str, is_multiline: bool) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if is_multiline { text } else { text.replace('\n', " ") };
        // A text that does not fit is left out as a whole, since a part of it could mean something else.
        if self.text.len() + text.len() <= LONGEST {
            self.text.insert_str(self.cursor, &text);
            self.cursor += text.len();
        }
    }

    /// Removes the character before the cursor, with the marks on it.
    pub fn backspace(&mut self) {
        let start = self.before();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes the character behind the cursor, with the marks on it.
    pub fn delete(&mut self) {
        let end = self.behind();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes the word before the cursor.
    pub fn delete_word(&mut self) {
        let before = &self.text[..self.cursor];
        let kept = before.trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        // If there is nothing but white space, all of it goes. White space may take several bytes, so `start` may be
        // inside it.
        let start = if kept.is_empty() { 0 } else { start_of_char(kept, start) };
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes all that is before the cursor on its line.
    pub fn delete_line(&mut self) {
        let start = self.start_of_line();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Moves by one character to the left.
    pub fn left(&mut self) {
        self.cursor = self.before();
    }

    /// Moves by one character to the right.
    pub fn right(&mut self) {
        self.cursor = self.behind();
    }

    /// Moves to the beginning of the line.
    pub fn home(&mut self) {
        self.cursor = self.start_of_line();
    }

    /// Moves to the end of the line.
    pub fn end(&mut self) {
        self.cursor += self.text[self.cursor..].find('\n').unwrap_or(self.text.len() - self.cursor);
    }

    /// Moves to the line above; returns whether there is one.
    pub fn up(&mut self) -> bool {
        let start = self.start_of_line();
        let Some(end) = start.checked_sub(1) else { return false };
        // The cursor keeps its column on the screen: characters may take more than one byte, and two columns.
        let above = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
        self.cursor = above + reach(&self.text[above..end], width(&self.text[start..self.cursor]));
        true
    }

    /// Moves to the line below; returns whether there is one.
    pub fn down(&mut self) -> bool {
        let columns = width(&self.text[self.start_of_line()..self.cursor]);
        let Some(end) = self.text[self.cursor..].find('\n') else { return false };
        let below = self.cursor + end + 1;
        let line = self.text[below..].split('\n').next().unwrap_or_default();
        self.cursor = below + reach(line, columns);
        true
    }

    /// Handles a key in a text; returns whether it did something.
    pub fn key(&mut self, key: Key, is_multiline: bool) -> bool {
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4]), is_multiline),
            Key::Enter => self.insert("\n", is_multiline),
            Key::Backspace | Key::Control('h') => self.backspace(),
            Key::Delete | Key::Control('d') => self.delete(),
            Key::Left | Key::Control('b') => self.left(),
            Key::Right | Key::Control('f') => self.right(),
            Key::Home | Key::Control('a') => self.home(),
            Key::End | Key::Control('e') => self.end(),
            Key::Control('w') => self.delete_word(),
            Key::Control('u') => self.delete_line(),
            Key::Up => return self.up(),
            Key::Down => return self.down(),
            _ => return false,
        }
        true
    }

    fn start_of_line(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    /// Returns where the character before the cursor begins.
    fn before(&self) -> usize {
        let text = &self.text[..self.cursor];
        // A mark takes no column: it belongs to the character before it.
        let mut starts = text.char_indices().rev();
        let base =
            starts.find(|(at, _)| *at == 0 || width(&text[*at..]) > 0 || text[*at..].starts_with('\n'));
        base.map_or(0, |(at, _)| at)
    }

    /// Returns where the character behind the cursor ends.
    fn behind(&self) -> usize {
        let text = &self.text[self.cursor..];
        let next = text
            .char_indices()
            .skip(1)
            .find(|(at, c)| *c == '\n' || width(&text[*at..*at + c.len_utf8()]) > 0);
        self.cursor + next.map_or(text.len(), |(at, _)| at)
    }
}

/// Returns how many bytes of a line fit into this many columns.
fn reach(line: &str, columns: usize) -> usize {
    let ends = line.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.take_while(|end| width(&line[..*end]) <= columns).last().unwrap_or(0)
}

fn start_of_char(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_edited_as_a_whole() {
        let mut editor = Editor::new("ae\u{301}認\n");
        for rest in ["ae\u{301}認", "ae\u{301}", "a", "", ""] {
            editor.backspace();
            assert_eq!(editor.text(), rest);
        }
        let mut editor = Editor::new("ae\u{301}認");
        (0..3).for_each(|_| editor.left());
        for rest in ["e\u{301}認", "認", "", ""] {
            editor.delete();
            assert_eq!(editor.text(), rest);
        }
    }

    #[test]
    fn the_cursor_moves_between_lines_by_columns() {
        let mut editor = Editor::new("認証 one\nab\nlonger line");
        assert!(editor.up() && editor.up() && !editor.up());
        editor.insert("|", true);
        assert_eq!(editor.text(), "認|証 one\nab\nlonger line");
        editor.end();
        assert!(editor.down());
        editor.insert("|", true);
        assert!(editor.down() && !editor.down());
        editor.home();
        editor.insert("|", true);
        assert_eq!(editor.text(), "認|証 one\nab|\n|longer line");
    }

    #[test]
    fn words_and_lines_are_removed() {
        let mut editor = Editor::new("one\ntwo thr\u{e9}e  ");
        for rest in ["one\ntwo ", "one\n", ""] {
            editor.delete_word();
            assert_eq!(editor.text(), rest);
        }
        let mut editor = Editor::new("one\ntwo");
        editor.delete_line();
        editor.delete_line();
        assert_eq!(editor.text(), "one\n");
        editor.delete_word();
        assert_eq!(editor.text(), "");
    }

    #[test]
    fn what_is_pasted_stays_within_its_lines_and_its_bound() {
        let mut editor = Editor::default();
        editor.insert("a\r\nb\rc", true);
        editor.insert("d\ne", false);
        assert_eq!(editor.text(), "a\nb\ncd e");
        editor.insert(&"x".repeat(LONGEST), true);
        assert_eq!(editor.text(), "a\nb\ncd e");
    }
}
