//! A bot that answers the questions of all agents on this computer from a file, and leaves to the person what is not in it.
//! Run it with `cargo run -p askbridge-control --example answers_from_file -- FILE`.
//!
//! Each line of the file is a question, ` = `, and the answer: an option by its label or its value, or a text. `*` stands
//! for any text, and the first line that fits counts. The file may change while the bot runs.
//!
//! ```text
//! Which database should we use? = Postgres
//! Deploy to * now? = No
//! # Several choices.
//! Which checks? = unit | lint
//! # A form is answered once each of its fields has a line, by the field's label.
//! Name of the release = 1.4
//! ```
//!
//! Permissions, questions whose answer could do harm, and secrets always wait for the person, and so does a choice whose
//! options the line does not name.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it tells what it does")]

mod answers;
mod bot;
#[cfg(test)]
mod tests;

use std::{env, path::PathBuf, process::ExitCode};

use askbridge_control::{JoinedInbox, Places};

use bot::{AnswerFile, Bot};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(path) = env::args_os().nth(1) else {
        eprintln!("Usage: answers_from_file FILE");
        return ExitCode::from(2);
    };
    match run(path.into()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("answers_from_file: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(path: PathBuf) -> Result<(), String> {
    let file = AnswerFile::open(path)?;
    let places = Places::here().map_err(|why| why.to_string())?;
    let inbox = JoinedInbox::open(&places).await.map_err(|why| why.to_string())?;
    let mut bot = Bot::new(inbox.clone(), file, |line| println!("{line}"));
    tokio::select! {
        followed = inbox.follow() => followed.map_err(|why| why.to_string()),
        () = bot.run() => Ok(()),
    }
}
