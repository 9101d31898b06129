//! Takes out of a client's settings what setup put there, and nothing else.
//! Where the texts before and after are kept is left to `command`.

use super::{
    document::{Document, DocumentError},
    plan::Change,
};

/// A change that was made, with the whole text before and after it.
#[derive(Clone, Debug)]
pub struct AppliedChange {
    /// The text before. `None` if there was no file.
    pub before: Option<String>,
    /// The text after, where it is still known.
    pub after: Option<String>,
    /// Whether the member that holds the agents was added.
    pub added_agents: bool,
    /// What was changed.
    pub changes: Vec<Change>,
}

/// The settings without the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoResult {
    /// The text. `None` if the file is to be removed.
    pub text: Option<String>,
    /// What could not be taken out, in sentences.
    pub notes: Vec<String>,
}

/// Takes the changes out, the last of them first. Where nothing else was changed since, the text is byte for byte as it
/// was; otherwise what else was changed stays.
///
/// # Errors
/// Says where the settings are broken.
pub fn undo(current: &str, key: &str, made: &[AppliedChange]) -> Result<UndoResult, DocumentError> {
    let mut text = current.to_owned();
    let mut notes = Vec::new();
    for made in made.iter().rev() {
        if made.after.as_ref() == Some(&text) {
            match &made.before {
                Some(before) => text.clone_from(before),
                None => return Ok(UndoResult { text: None, notes }),
            }
            continue;
        }
        let mut document = Document::parse(&text, key)?;
        made.changes.iter().rev().for_each(|change| notes.extend(take_out(&mut document, change)));
        if made.added_agents {
            document.remove_empty_agents();
        }
        if made.before.is_none() && document.is_empty() {
            return Ok(UndoResult { text: None, notes });
        }
        text = document.text();
    }
    Ok(UndoResult { text: Some(text), notes })
}

/// Takes one change out. Returns what to say if it is not there any more.
fn take_out(document: &mut Document, change: &Change) -> Option<String> {
    let name = change.entry();
    let entries = document.entries();
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
        return Some(format!("{name} is not in the settings any more"));
    };
    if !entry.launch().is_some_and(|launch| launch.is_wrapped()) {
        return Some(format!("{name} does not run askbridge any more, and stays as it is"));
    }
    match change {
        Change::Added { .. } => document.remove(name),
        Change::Wrapped { command, has_args, .. } => document.unwrap(name, command, *has_args),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{
        agents,
        launch::Launch,
        plan::{self, AvailableAgent, SetupRequest},
    };

    const ZED: &str = include_str!("../../fixtures/setup/zed.jsonc");
    const KEY: &str = "agent_servers";

    fn made(before: Option<&str>, agent: Option<&str>) -> AppliedChange {
        let mut document = Document::parse(before.unwrap_or_default(), KEY).unwrap();
        let added_agents = !document.has_agents();
        let agent_found = agents::named("gemini").unwrap();
        let found = [AvailableAgent {
            agent: agent_found,
            launch: Launch::new("/bin/gemini", &["--acp"]),
            is_installed: true,
        }];
        let request =
            SetupRequest { askbridge: "/bin/askbridge", agent, found: &found, home: "/h", has_types: true };
        let plan = plan::apply(&mut document, &request).unwrap();
        assert!(!plan.changes.is_empty());
        let after = Some(document.text());
        AppliedChange { before: before.map(str::to_owned), after, added_agents, changes: plan.changes }
    }

    fn after(made: &AppliedChange) -> String {
        made.after.clone().unwrap()
    }

    #[test]
    fn undone_at_once_it_is_byte_for_byte_as_before() {
        let bom = format!("\u{feff}{}", ZED.replace('\n', "\r\n"));
        for before in [ZED, &bom, "{}", "", "{ \"agent_servers\": { } }", "// only\n{\n}\n"] {
            let made = made(Some(before), None);
            let undone = undo(&after(&made), KEY, &[made]).unwrap();
            assert_eq!(undone, UndoResult { text: Some(before.to_owned()), notes: vec![] });
        }
        let made = made(None, None);
        assert_eq!(undo(&after(&made), KEY, &[made]).unwrap().text, None);
    }

    #[test]
    fn taken_out_of_another_text_each_shape_is_as_before() {
        for entry in [
            r#"{"command":"x"}"#,
            r#"{ "command": "x", "args": [], "env": {} }"#,
            r#"{"args":["q", "r",],"command":"x"}"#,
            r#"{"command":"x","args":["q"/*1*/,/*2*/"r"]}"#,
            "{\n    \"command\": \"x\", // c\n  }",
            "{\n    \"command\": \"x\",\n    \"env\": {},\n  }",
            "{\n\t\"command\": \"x\",\n\t\"args\": [ // c\n\t\t\"q\", // d\n\t\t\"r\" ] }",
            "{ \"command\": \"x\", \"args\": [ /* c\n */ \"q\",\n \"r\" ] }",
            "{\r\n  \"command\": \"x\",\r\n  \"args\": [\r\n    // c\r\n    \"q\"\r\n  ]\r\n}",
            r#"{ "type": "custom", "command": "a \"b\" \\ é", "args": ["--x=\"y\""] }"#,
        ] {
            let before = format!("{{ \"agent_servers\": {{ // all\n  \"A\": {entry} }} }}\n");
            let mut made = made(Some(&before), Some("A"));
            let wrapped = Document::parse(&after(&made), KEY).unwrap().entries();
            let own = Document::parse(&before, KEY).unwrap().entries();
            assert_eq!(wrapped[0].launch().unwrap().agent(), *own[0].launch().unwrap(), "{}", after(&made));
            let text = made.after.take().unwrap();
            assert_eq!(undo(&text, KEY, &[made]).unwrap().text.as_deref(), Some(&*before), "{text}");
        }
    }

    #[test]
    fn several_changes_are_undone_in_turn() {
        let first = made(Some(ZED), Some("gemini"));
        let second = made(first.after.as_deref(), None);
        let undone = undo(&after(&second), KEY, &[first, second]).unwrap();
        assert_eq!(undone.text.as_deref(), Some(ZED));
    }

    #[test]
    fn what_was_edited_since_stays() {
        let made = made(Some(ZED), None);
        for (old, new) in [
            ("\"vim_mode\": true,", "\"vim_mode\": false, // no more"),
            ("\"--verbose\"", "\"--verbose\", \"--more\""),
            ("\"agent_servers\": {", "\"agent_servers\": { // mine"),
        ] {
            let edited = after(&made).replacen(old, new, 1);
            assert_ne!(edited, after(&made), "{old}");
            let undone = undo(&edited, KEY, std::slice::from_ref(&made)).unwrap();
            assert_eq!(undone.notes, [""; 0]);
            assert_eq!(undone.text.unwrap(), ZED.replacen(old, new, 1));
        }
    }

    #[test]
    fn an_added_member_goes_with_its_last_agent_and_the_persons_own_stays() {
        for (before, is_kept) in
            [("{ \"vim_mode\": true }", false), ("{ \"vim_mode\": true, \"agent_servers\": {} }", true)]
        {
            let made = made(Some(before), None);
            let edited = after(&made).replace("true", "false");
            let text = undo(&edited, KEY, std::slice::from_ref(&made)).unwrap().text.unwrap();
            assert!(text.contains("\"vim_mode\": false") && !text.contains("askbridge"), "{text}");
            assert_eq!(text.contains(KEY), is_kept, "{text}");
        }
    }

    #[test]
    fn what_is_gone_is_said() {
        let made = made(Some(ZED), None);
        let text =
            after(&made).replace("/bin/askbridge", "/bin/other").replace("Gemini CLI (askbridge)", "G");
        let notes = undo(&text, KEY, &[made]).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("(askbridge) is not in the settings")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("does not run askbridge any more")), "{notes:?}");
    }
}
