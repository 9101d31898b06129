//! Shows a change of settings, and asks whether to write it.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
};

use anstyle::{AnsiColor, Style};

use super::super::run::{print, say};
use crate::{
    setup::diff,
    terminal::{printable, printable_line},
};

/// Says something on stdout, in one line.
pub(super) fn tell(text: &str) -> io::Result<()> {
    print(&format!("{}\n", printable_line(text)))
}

/// Prints the change of a file as a unified diff.
pub(super) fn show(path: &Path, before: Option<&str>, after: Option<&str>) -> io::Result<()> {
    let path = path.display().to_string();
    let diff = diff::unified(&printable_line(&path), before, after);
    let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let mut text = String::with_capacity(diff.len());
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') if colour => AnsiColor::Green.on_default(),
            Some(b'-') if colour => AnsiColor::Red.on_default(),
            _ => Style::new(),
        };
        let line = printable(line.trim_end_matches('\r'));
        text.push_str(&format!("{style}{line}{style:#}\n"));
    }
    print(&text)
}

/// Asks whether to write the change. Returns `false`, and says why, if stdin is not a terminal.
pub(super) fn confirm(yes: bool, what: &str) -> io::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        say("nothing was written: give --yes to write it without a question");
        return Ok(false);
    }
    print(&format!("{what} [y/N] "))?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let is_yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if !is_yes {
        tell("nothing was written")?;
    }
    Ok(is_yes)
}
