//! Asks the person at this terminal whether to make a change, in one line that `y` agrees to.
//! Commands that decide a question are left to `converse.rs` and `second_step.rs`.

use std::io::{self, BufRead, IsTerminal};

use askbridge_os::{keyboard, limits::QUIET};

use super::{
    runner::{print, say},
    typist::Leftovers,
};

/// Asks a question such as `Write this?`, and returns whether the person agrees. Otherwise it says `refused`, such as
/// `nothing was written`. Where stdin is no terminal it also says what `--yes` does, such as `write it`.
pub(super) fn confirm(question: &str, refused: &str, by_option: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        say(&format!("{refused}: give --yes to {by_option} without confirmation"));
        return Ok(false);
    }
    let _leftovers = Leftovers::of_person();
    // What was typed before the change could be read says nothing about it.
    keyboard::forget(QUIET);
    print(&format!("{question} [y/N] "))?;
    let mut reply = String::new();
    io::stdin().lock().read_line(&mut reply)?;
    let agrees = ["y", "yes"].contains(&reply.trim().to_lowercase().as_str());
    if !agrees {
        print(&format!("{refused}\n"))?;
    }
    Ok(agrees)
}
