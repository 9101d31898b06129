//! What shells and `man` know of the command line: completion scripts, candidates, and man pages.
//! The candidates that are questions, or options of one, are left to `command`.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, CommandFactory, ValueEnum};

use super::{Cli, help};
use crate::{
    command::{self, Offer},
    terminal::printable_line,
};

/// Options of `askbridge completions`.
#[derive(Debug, Args)]
#[command(after_help = help::COMPLETIONS)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// A shell that completes command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// With open questions and their options
    Bash,
    /// With open questions and their options
    Zsh,
    /// With open questions and their options
    Fish,
    /// Commands and options only
    Elvish,
    /// Commands and options only
    Powershell,
}

/// Options of `askbridge man`.
#[derive(Debug, Args)]
#[command(after_help = help::MAN)]
pub struct ManArgs {
    /// The directory, which is made if it is not there
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Options of `askbridge complete`.
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words after the name of the program; the last one is to be completed
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

impl CompletionsArgs {
    /// Prints the script for the shell.
    ///
    /// # Errors
    /// Stdout cannot be written to.
    pub fn print(&self) -> io::Result<()> {
        io::stdout().write_all(&self.script())
    }

    fn script(&self) -> Vec<u8> {
        let generated = |shell| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "askbridge", &mut script);
            script
        };
        match self.shell {
            Shell::Bash => include_bytes!("shell/askbridge.bash").to_vec(),
            Shell::Zsh => include_bytes!("shell/askbridge.zsh").to_vec(),
            Shell::Fish => include_bytes!("shell/askbridge.fish").to_vec(),
            Shell::Elvish => generated(clap_complete::Shell::Elvish),
            Shell::Powershell => generated(clap_complete::Shell::PowerShell),
        }
    }
}

impl ManArgs {
    /// Writes the man pages.
    ///
    /// # Errors
    /// The directory cannot be made or written to.
    pub fn write(&self) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        clap_mangen::generate_to(Cli::command(), Path::new(&self.directory))
    }
}

impl CompleteArgs {
    /// Prints the candidates for the last word, a line for each: the word, a tab, and what it means.
    ///
    /// # Errors
    /// Stdout cannot be written to.
    pub fn print(&self) -> io::Result<()> {
        io::stdout().write_all(self.candidates().as_bytes())
    }

    fn candidates(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let offers = command::offers(&words).unwrap_or_else(|| self.of_clap());
        let lines = offers.iter().map(|Offer { word, meaning }| {
            let first = meaning.lines().next().unwrap_or_default();
            format!("{word}\t{}\n", printable_line(first))
        });
        lines.collect()
    }

    /// Returns what clap knows: commands, options, and their values.
    fn of_clap(&self) -> Vec<Offer> {
        let args: Vec<_> =
            [OsString::from("askbridge")].into_iter().chain(self.words.iter().cloned()).collect();
        let (last, folder) = (args.len() - 1, std::env::current_dir().ok());
        let found = clap_complete::engine::complete(&mut Cli::command(), args, last, folder.as_deref());
        let offers = found.unwrap_or_default().into_iter().map(|candidate| Offer {
            word: candidate.get_value().to_string_lossy().into_owned(),
            meaning: candidate.get_help().map(ToString::to_string).unwrap_or_default(),
        });
        // A word that cannot be printed as it is cannot be typed either.
        offers.filter(|offer| printable_line(&offer.word) == offer.word).collect()
    }
}
