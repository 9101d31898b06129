//! Adds a `[machine.NAME]` table to the text of the user's file, or removes one, and leaves the rest unchanged. Writing
//! the file is left to `files.rs`.

use std::ops::Range;

use askbridge_core::desk::MachineName;
use toml_edit::{Document, DocumentMut, Item};

use super::{
    keys,
    machine_tables::MachineRoute,
    render::{EditError, quoted_name, syntax, toml},
};

/// Returns the table of a machine, as it is written into the file.
pub fn table(name: &MachineName, route: &MachineRoute) -> String {
    let (key, value) = route.stored();
    format!("[{}.{}]\n{key} = {}\n", keys::MACHINES, quoted_name(name), toml(&value))
}

/// Returns the text with this table at its end.
///
/// # Errors
/// Fails if the text is not TOML, or if it writes its machines in a way that no table can be added to.
pub fn add(text: &str, table: &str) -> Result<String, EditError> {
    // The text is parsed first, so that an error shows the user's own mistake.
    let check = |text: &str| text.parse::<DocumentMut>().map_err(|error| syntax(text, &error));
    check(text)?;
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    // The table goes to the end, so that no comment of another table follows it.
    let text = format!("{text}{gap}{table}");
    check(&text).map(|_| text)
}

/// Returns the text without the table of this machine, and without the comment directly above it. `None` if the text has
/// no such table.
///
/// # Errors
/// Fails if the text is not TOML.
pub fn remove(text: &str, name: &str) -> Result<Option<String>, EditError> {
    let document = Document::parse(text).map_err(|error| syntax(text, &error))?;
    let machines = document.get(keys::MACHINES).and_then(Item::as_table_like);
    let Some(machine) = machines.and_then(|machines| machines.get(name)) else { return Ok(None) };
    match machine.as_table().filter(|table| !table.is_dotted() && !table.is_implicit()) {
        Some(table) => Ok(lines_of(text, table).map(|lines| without(text, lines))),
        // It is written as `machine = { … }` or as `machine.box.ssh = …`.
        None => {
            let mut document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
            let machines = document.get_mut(keys::MACHINES).and_then(Item::as_table_like_mut);
            machines.and_then(|machines| machines.remove(name));
            Ok(Some(document.to_string()))
        }
    }
}

/// Returns where the lines of a table are, with the comment above it.
fn lines_of(text: &str, table: &toml_edit::Table) -> Option<Range<usize>> {
    let head = table.span()?;
    let ends = table.iter().filter_map(|(_, item)| Some(item.span()?.end));
    let last = ends.chain([head.end]).max()?;
    let end = text[last..].find('\n').map_or(text.len(), |line| last + line + 1);
    let first = text[..head.start].rfind('\n').map_or(0, |line| line + 1);
    let mut start = first;
    while let Some(above) = text[..start].strip_suffix('\n') {
        let line = above.rfind('\n').map_or(0, |line| line + 1);
        if !above[line..].trim_start().starts_with('#') {
            break;
        }
        start = line;
    }
    // A comment at the beginning of the file describes the whole file, not the first table.
    let start = if start == 0 { first } else { start };
    Some(start..end)
}

/// Returns the text without these lines, and without an empty line that they leave behind.
fn without(text: &str, lines: Range<usize>) -> String {
    let (before, after) = (&text[..lines.start], &text[lines.end..]);
    let after =
        if before.is_empty() || before.ends_with("\n\n") { after.trim_start_matches('\n') } else { after };
    match after.is_empty() {
        true if before.trim().is_empty() => String::new(),
        true => format!("{}\n", before.trim_end()),
        false => format!("{before}{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str, name: &str, route: &MachineRoute) -> String {
        add(text, &table(&name.parse().expect("a name"), route)).expect("TOML")
    }

    fn ssh(host: &str) -> MachineRoute {
        MachineRoute::Ssh(host.to_owned())
    }

    #[test]
    fn a_table_is_added_at_the_end_and_taken_out_again() {
        let template = crate::render::template();
        for text in ["", "# mine\n", "[bridge]\ntimeout = \"1m\" # long\n# debug = 1\n", &*template] {
            let with_box = added(text, "box", &ssh("me@box.lan"));
            assert!(with_box.starts_with(text), "{with_box}");
            assert!(with_box.ends_with("[machine.box]\nssh = \"me@box.lan\"\n"), "{with_box}");
            let command = ["docker", "exec", "a \"b\""].map(str::to_owned).to_vec();
            let with_both = added(&with_box, "dev.lan", &MachineRoute::Command(command));
            let table = "\n\n[machine.\"dev.lan\"]\ncommand = [\"docker\", \"exec\", 'a \"b\"']\n";
            assert!(with_both.ends_with(table), "{with_both}");
            assert_eq!(remove(&with_both, "dev.lan").expect("TOML"), Some(with_box.clone()));
            assert_eq!(remove(&with_box, "box").expect("TOML").as_deref(), Some(text));
            assert_eq!(remove(text, "box").expect("TOML"), None);
        }
    }

    #[test]
    fn comments_and_tables_beside_it_stay() {
        let text = "# all\n\n# the server\n# in the cellar\n[machine.box]\ncommand = [ # run\n  \"a\",\n]  # b\n\n\
                    # notes\n[notify]\ndesktop = false\n";
        let left = "# all\n\n# notes\n[notify]\ndesktop = false\n";
        assert_eq!(remove(text, "box").expect("TOML").as_deref(), Some(left));
        let first = "# all\n# of it\n[machine.box]\nssh = \"box\"\n[notify]\n";
        assert_eq!(remove(first, "box").expect("TOML").as_deref(), Some("# all\n# of it\n[notify]\n"));
        let dotted = "machine.box.ssh = \"box\"\nmachine.dev.ssh = \"dev\"\n";
        assert_eq!(remove(dotted, "box").expect("TOML").as_deref(), Some("machine.dev.ssh = \"dev\"\n"));
        let inline = "machine = { box = { ssh = \"box\" } }\n";
        assert_eq!(remove(inline, "box").expect("TOML").as_deref(), Some("machine = {}\n"));
    }

    #[test]
    fn a_text_that_cannot_be_changed_is_refused() {
        let table = table(&"box".parse().expect("a name"), &ssh("box"));
        let why = |text: &str| add(text, &table).expect_err("no table can be added").to_string();
        assert!(why("a = 1\nb = = 2\n").starts_with("line 2: "), "{}", why("a = 1\nb = = 2\n"));
        assert!(why("machine = { dev = { ssh = \"dev\" } }\n").starts_with("line 3: "));
        assert!(why("[machine.box]\n").contains("duplicate"), "{}", why("[machine.box]\n"));
        assert!(remove("a = = 1", "box").is_err());
    }
}
