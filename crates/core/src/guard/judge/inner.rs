//! A command in the words of another program.

use super::state::{Input, Judge};
use crate::guard::{
    argument::{Argument, is_assignment},
    degree::{Danger, Degree, Judged},
    grammar::{self, Seen},
    sql, variables,
};

/// Programs that run others in a container.
const CONTAINERS: [&str; 6] = ["docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"];

/// Programs that run others with secrets in their variables.
const KEEPING: [&str; 8] =
    ["doppler", "infisical", "op", "chamber", "aws-vault", "teller", "dotenvx", "vault"];

/// The most words behind a program any of which may begin a command.
const WORDS: usize = 64;

impl Judge<'_> {
    /// Judges the words behind an image that has the name of its program, which they are for.
    fn image(
        &mut self,
        seen: Seen<'_>,
        words: &[Argument<'_>],
        from: usize,
        input: &Input,
    ) -> Result<(), Danger> {
        const IMAGES: [&str; 14] = [
            "flyway",
            "liquibase",
            "migrate",
            "dbmate",
            "atlas",
            "terraform",
            "opentofu",
            "aws-cli",
            "kubectl",
            "helm",
            "rclone",
            "mc",
            "skopeo",
            "pulumi",
        ];
        let is_container = matches!(seen.label.program(), "docker" | "podman" | "nerdctl");
        let Some(image) = words.get(from.wrapping_sub(1)).filter(|_| is_container) else { return Ok(()) };
        let name = image.text.rsplit('/').next().unwrap_or_default();
        let name = name.split([':', '@']).next().unwrap_or_default();
        if IMAGES.contains(&name) {
            let program = match name {
                "aws-cli" => "aws",
                "opentofu" => "tofu",
                name => name,
            };
            let words: Vec<_> =
                [Argument::known(program)].into_iter().chain(words[from..].iter().cloned()).collect();
            self.command(&words, input)?;
        }
        Ok(())
    }

    /// Judges a command in the words of another program.
    pub(super) fn inner(
        &mut self,
        seen: Seen<'_>,
        words: &[Argument<'_>],
        (from, to): (usize, usize),
        input: &Input,
    ) -> Judged {
        self.image(seen, words, from, input)?;
        let words = &words[from.min(to)..to];
        let outer = seen.label.program();
        if outer == "cmake" && words.first().is_some_and(|word| word.text == "chdir") {
            // `cmake -E chdir FOLDER COMMAND`
            return self.command(words.get(2..).unwrap_or_default(), input);
        }
        check_shown(seen, words)?;
        // In a container of this machine, nobody types anything; a cluster is elsewhere.
        let is_here = CONTAINERS.contains(&outer) && !matches!(outer, "kubectl" | "oc");
        let has_terminal = is_here && matches!(input, Input::Nothing);
        if has_terminal
            && let Some((client, words)) = words.split_first()
            && grammar::is_sql(&client.text)
            && sql::only_connects(words)
        {
            return Ok(Degree::Acts);
        }
        self.command(words, if has_terminal { &Input::Terminal } else { input })
    }

    /// Judges words any of which may begin a command, or be the text of one.
    pub(super) fn anywhere(&mut self, seen: Seen<'_>, words: &[Argument<'_>], input: &Input) -> Judged {
        if let Some(last) = words.len().checked_sub(1) {
            check_shown(seen, &words[last..])?;
        }
        if words.len() > WORDS {
            return Err("its command is nested too deep in the arguments of others".to_owned().into());
        }
        for place in 0..words.len() {
            let text = &*words[place].text;
            if words[place].is_unknown() {
                return Err(format!(
                    "`{}` may be any command, as a shell replaces a part of it",
                    words[place].shown()
                )
                .into());
            }
            let value = match text.strip_prefix("--") {
                Some(long) => long.split_once('=').map(|(_, value)| value),
                None => text.strip_prefix('-').and_then(|short| short.get(1..)),
            };
            if let Some(value) = value.filter(|value| is_text(value)) {
                self.place.judged(value, input)?;
            }
            if is_text(text) && !text.starts_with('-') {
                self.place.judged(text, input)?;
            }
            if !text.starts_with('-') {
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                match is_assignment(text) {
                    true if let Some(why) = variables::why_dangerous(name, value) => return Err(why.into()),
                    true => {}
                    false => drop(self.command(&words[place..], input)?),
                }
            }
        }
        Ok(Degree::Acts)
    }
}

/// Checks that a command does not show the variables of a container, or those with secrets.
fn check_shown(seen: Seen<'_>, words: &[Argument<'_>]) -> Result<(), Danger> {
    let outer = seen.label.program();
    let has_secrets = CONTAINERS.contains(&outer) || KEEPING.contains(&outer);
    match words {
        [only] if has_secrets && matches!(&*only.text, "env" | "printenv") => {
            Err(format!("{seen} shows the variables in there, which may have secrets").into())
        }
        _ => Ok(()),
    }
}

/// Returns whether a word may be the text of a command: it has white space, or characters that a shell interprets.
fn is_text(word: &str) -> bool {
    word.contains(|char: char| char.is_whitespace() || ";&|<>()`$".contains(char))
}
