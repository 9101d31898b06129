//! What the scripts of the page keep to, so that `src/serve/page/shorten.rs` and `rename.rs` may shorten them: they read
//! tokens, and know neither the grammar nor scopes.

use crate::source::{Source, hold, read, repository, root};

/// Globals that the scripts use. A variable of the same name would get a short name, and the global with it.
const GLOBALS: [&str; 20] = [
    "clearInterval",
    "clearTimeout",
    "console",
    "customElements",
    "document",
    "fetch",
    "globalThis",
    "history",
    "isNaN",
    "localStorage",
    "location",
    "matchMedia",
    "navigator",
    "requestAnimationFrame",
    "addEventListener",
    "setInterval",
    "setTimeout",
    "undefined",
    "window",
    "encodeURIComponent",
];

/// Words after which a slash begins a pattern, where it would be taken for a division.
const BEFORE_PATTERNS: [&str; 6] = ["return", "case", "typeof", "in", "of", "else"];

/// Scripts of the page as they are in the repository.
fn sources() -> Vec<Source> {
    let paths = repository()
        .into_iter()
        .filter(|path| path.starts_with("src/serve/page/web/") && path.ends_with(".js"));
    let sources: Vec<_> = paths.map(|path| Source::new(&path, &read(&root().join(&path)))).collect();
    assert!(sources.len() > 5, "the page has scripts");
    sources
}

#[test]
fn scripts_of_the_page_have_nothing_that_shortening_would_change() {
    hold(
        &sources(),
        unsafe_to_shorten,
        "Put a pattern into a variable, write a slash and a backtick in it as `\\/` and `\\x60`, give each loop a body, \
         and call no variable like a global.",
    );
}

fn unsafe_to_shorten(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(source.text.lines().map(str::trim)) {
        if ["//", "/*", "*"].iter().any(|comment| line.starts_with(comment)) {
            continue;
        }
        let last =
            |text: &str| text.trim_end().rsplit(|char: char| !char.is_alphabetic()).next().map(str::to_owned);
        if line
            .match_indices(" /")
            .any(|(at, _)| last(&line[..at]).is_some_and(|word| BEFORE_PATTERNS.contains(&&*word)))
        {
            complaints.push(source.at(number, "a pattern after a word of the language"));
        }
        if line.contains("[/") || line.contains("/]") {
            complaints.push(source.at(number, "a slash in the brackets of a pattern"));
        }
        if line.matches('`').count() % 2 == 1 {
            complaints.push(source.at(number, "a template literal that does not end on its line"));
        }
        let is_loop = line.starts_with("for (") || line.starts_with("while (");
        if is_loop && line.ends_with(");") && !line.contains(") ") {
            complaints.push(source.at(number, "a loop without a body"));
        }
        for global in GLOBALS {
            let declared = ["const ", "let ", "function "].map(|keyword| format!("{keyword}{global} "));
            if declared.iter().any(|declared| line.contains(declared.as_str()))
                || line.contains(&format!("{global} =>"))
            {
                complaints.push(source.at(number, "a variable with the name of a global"));
            }
        }
    }
    complaints
}

#[test]
fn what_is_not_safe_to_shorten_is_found() {
    let found = |text: &str| unsafe_to_shorten(&Source::new("a.js", text)).len();
    for text in [
        "return /a/.test(b);",
        "a = b.split(/[/]/);",
        "a = `x\ny`;",
        "for (a of b);",
        "while (a());",
        "const location = 1;",
        "a(document => 1);",
    ] {
        assert!(found(text) > 0, "{text}");
    }
    for text in [
        "// return /a/ `",
        "/** ` */\n",
        "a = `x`;\n",
        "return a / b;",
        "for (const a of b) c();",
        "while (a()) b();",
        "const place = location;",
        "a(() => document);",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}
