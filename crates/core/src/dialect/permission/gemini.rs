//! The commands of Gemini CLI, which only the title of the tool call contains. Everything else of it is left to
//! `subject.rs`.
//!
//! Source: what `ShellToolInvocation` of Gemini CLI 0.61 describes. The title is the command, or its description if the
//! command is long; the content has the folder and the description: `[current working directory /p] (Run the tests)`.

use crate::question::Subject;

/// How the ID of a call of its shell begins.
const TOOL: &str = "run_shell_command";

/// Takes the command from the title of a call of Gemini CLI's shell, if the title is certainly the command.
pub(super) fn read_command(id: &str, subject: &mut Subject) {
    let says_nothing = subject.command.is_none() && subject.raw_input.is_none() && subject.diffs.is_empty();
    if !id.starts_with(TOOL) || !says_nothing {
        return;
    }
    let (Some(title), Some(content)) = (&subject.title, &subject.content) else { return };
    let Some((folder, description)) = context(content) else { return };
    // The command is too long for the title, which repeats the description.
    if description.is_some_and(|description| is_same(description, title)) {
        return;
    }
    (subject.folder, subject.description) = (Some(folder.to_owned()), description.map(str::to_owned));
    (subject.command, subject.content) = (subject.title.take(), None);
}

/// Returns the folder and the description. `None` if it is not certain where they end, because the model writes the
/// description.
fn context(content: &str) -> Option<(&str, Option<&str>)> {
    let (folder, rest) = match content.strip_prefix("[current working directory ") {
        Some(content) => {
            let (folder, rest) = content.split_once(']')?;
            (folder, rest.strip_suffix(" [background]").unwrap_or(rest))
        }
        None => content.strip_prefix("[in ")?.split_once(']')?,
    };
    if rest.is_empty() {
        return Some((folder, None));
    }
    let description = rest.strip_prefix(" (")?.strip_suffix(')')?;
    (!description.contains([']', '['])).then_some((folder, Some(description)))
}

/// Returns whether two texts have the same characters, but for spaces and line ends.
fn is_same(one: &str, other: &str) -> bool {
    let chars = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
    chars(one) == chars(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: &str, title: &str, content: &str) -> Subject {
        let mut subject = Subject {
            kind: Some("execute".to_owned()),
            title: Some(title.to_owned()),
            content: Some(content.to_owned()),
            ..Subject::default()
        };
        read_command(id, &mut subject);
        subject
    }

    #[test]
    fn a_title_is_a_command_where_nothing_else_could_be() {
        const ID: &str = "run_shell_command__c1";
        for (content, folder, description) in [
            ("[current working directory /p] (Run the tests)", "/p", Some("Run the tests")),
            ("[current working directory /p]", "/p", None),
            ("[current working directory /p] (Serve) [background]", "/p", Some("Serve")),
            ("[in src] (Run the tests)", "src", Some("Run the tests")),
        ] {
            let subject = read(ID, "cargo test", content);
            assert_eq!(subject.command.as_deref(), Some("cargo test"), "{content}");
            assert_eq!(subject.folder.as_deref(), Some(folder));
            assert_eq!(
                (subject.description.as_deref(), &subject.title, &subject.content),
                (description, &None, &None)
            );
        }
        for (id, content) in [
            // The title of a long command is its description.
            (ID, "[current working directory /p] (cargo test)"),
            (ID, "[current working directory /p] (  cargo\u{a0}test )"),
            (ID, "[in /p] (a)] (cargo test)"),
            (ID, "[in /p] [background]"),
            (ID, "[in /p"),
            (ID, "cargo test"),
            ("read_file__c1", "[current working directory /p] (Run the tests)"),
        ] {
            let subject = read(id, "cargo test", content);
            assert_eq!((subject.command, subject.title.as_deref()), (None, Some("cargo test")), "{content}");
        }
    }
}
