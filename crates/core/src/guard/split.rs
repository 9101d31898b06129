//! A command as shells read it: the programs that it runs, with their words. What a program does with its words is left
//! to `programs` and `scripts`.
//!
//! Only what `sh`, `bash`, `zsh` and `fish` read alike is understood; all else is more than words.

/// Splits a command into the programs that it runs, with their arguments, if it is nothing but plain words and
/// operators that join programs: `&&`, `||`, `;`, `|`, and redirections to nothing.
///
/// # Errors
/// The part that is more than plain words.
pub(super) fn split(command: &str) -> Result<Vec<Vec<String>>, String> {
    let mut splitter = Splitter::default();
    let mut chars = command.trim().chars().peekable();
    while let Some(char) = chars.next() {
        if is_hidden(char) && char != '\n' {
            return Err(format!("it has a character that cannot be seen: {}", char.escape_unicode()));
        }
        let next = chars.peek().copied();
        match (splitter.quote, char) {
            (Some(quote), char) if char == quote => splitter.quote = None,
            (Some(quote), char) if is_more_in(quote, char, next) => return Err(more(char)),
            (Some(_), char) => splitter.push(char),
            (None, '\'' | '"') => {
                splitter.quote = Some(char);
                splitter.word.get_or_insert_default();
            }
            (None, ' ') => splitter.end_word()?,
            (None, '\n' | ';') => splitter.end_command()?,
            (None, '|' | '&') if chars.next_if_eq(&char).is_some() => splitter.end_command()?,
            (None, '|') => splitter.end_command()?,
            (None, '>') => {
                while chars.next_if_eq(&' ').is_some() {}
                let target: String =
                    std::iter::from_fn(|| chars.next_if(|char| !" ;|\n".contains(*char))).collect();
                splitter.redirect(&target)?;
            }
            // `$?` is the exit code of the previous command: a number, which cannot become further words.
            (None, '$') if next == Some('?') && !splitter.words.is_empty() => splitter.push('$'),
            (None, '&' | '<' | '(' | ')' | '`' | '$' | '\\' | '{' | '}' | '!') => return Err(more(char)),
            (None, '#') if splitter.word.is_none() => return Err(more(char)),
            // `[` as a word is the program `test`, and not a pattern.
            (None, '[') if splitter.is_before_a_program() && next == Some(' ') => splitter.push('['),
            // A pattern in the place of the program may expand to any program; in an argument, it expands to names of
            // files.
            (None, '*' | '?' | '[' | ']' | '~') if splitter.words.is_empty() => return Err(more(char)),
            (None, char) => splitter.push(char),
        }
    }
    if splitter.quote.is_some() {
        return Err("a quotation mark has no end".to_owned());
    }
    splitter.end_command()?;
    match splitter.commands.is_empty() {
        true => Err("it has no words".to_owned()),
        false => Ok(splitter.commands),
    }
}

/// Returns whether a shell interprets a character in quotes.
fn is_more_in(quote: char, char: char, next: Option<char>) -> bool {
    match (quote, char) {
        // Before these characters, some shells take a backslash for an escape, also in single quotes.
        (_, '\\') => next.is_none_or(|next| matches!(next, '\'' | '"' | '\\' | '$' | '`' | '\n')),
        ('"', '$') => next != Some('?'),
        // An interactive shell takes this for a word of its history, unless a space or the end of the quotes follows.
        ('"', '!') => !matches!(next, Some(' ' | '"')),
        ('"', '`') => true,
        _ => false,
    }
}

fn more(char: char) -> String {
    format!("a shell gives `{char}` a special meaning")
}

#[derive(Default)]
struct Splitter {
    quote: Option<char>,
    word: Option<String>,
    words: Vec<String>,
    commands: Vec<Vec<String>>,
}

impl Splitter {
    fn push(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    /// Returns whether the next word is the program.
    fn is_before_a_program(&self) -> bool {
        self.word.is_none() && self.words.is_empty()
    }

    fn end_word(&mut self) -> Result<(), String> {
        let Some(word) = self.word.take() else { return Ok(()) };
        // A shell takes these for the beginning of a statement.
        const STATEMENTS: [&str; 14] = [
            "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select", "then",
            "until", "while",
        ];
        if self.words.is_empty() && STATEMENTS.contains(&&*word) {
            return Err(format!("`{word}` begins a statement"));
        }
        self.words.push(word);
        Ok(())
    }

    fn end_command(&mut self) -> Result<(), String> {
        self.end_word()?;
        // The mark of a cut text is on its own line, which would otherwise be read as another command.
        if self.words.first().is_some_and(|program| program.starts_with('…')) {
            return Err("it was cut".to_owned());
        }
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
        Ok(())
    }

    /// Accepts a redirection to `/dev/null`, or of stderr to stdout.
    fn redirect(&mut self, target: &str) -> Result<(), String> {
        // A `1` or `2` right before `>` is a file descriptor, and no argument.
        if self.word.as_deref().is_some_and(|word| matches!(word, "1" | "2")) {
            self.word = None;
        }
        let is_between = self.word.is_none();
        match is_between && matches!(target, "&1" | "&2" | "/dev/null") {
            true => Ok(()),
            false => Err(more('>')),
        }
    }
}

/// Returns whether a terminal shows nothing for a character, or reverses the text around it.
pub fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        // Spaces of other kinds look like the space that separates words.
        || (char.is_whitespace() && char != ' ')
}
