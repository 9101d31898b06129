//! What the scripts and styles of the page keep to, so that `src/serve/page/shorten.rs` may leave out lines and the spaces
//! around them, and how large they are.

use crate::source::{Source, hold, read, repository, root};

/// Scripts and styles of the page as they are in the repository.
fn sources() -> Vec<Source> {
    let paths = repository().into_iter().filter(|path| {
        path.starts_with("src/serve/page/web/") && [".js", ".css"].iter().any(|end| path.ends_with(end))
    });
    let sources: Vec<_> = paths.map(|path| Source::new(&path, &read(&root().join(&path)))).collect();
    assert!(sources.len() > 5, "the page has scripts and styles");
    sources
}

#[test]
fn no_text_of_the_page_goes_over_several_lines_and_comments_end_their_lines() {
    hold(
        &sources(),
        unsafe_to_shorten,
        "Join texts by `+`, write a backtick within a text or a pattern as `\\x60`, and put code on a line of its own.",
    );
}

fn unsafe_to_shorten(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut is_comment = false;
    for (number, line) in (1..).zip(source.text.lines().map(str::trim)) {
        let begins = line.starts_with("/*");
        if is_comment || begins {
            is_comment = !line.contains("*/");
            if !is_comment && !line.ends_with("*/") {
                complaints.push(source.at(number, "code after a comment"));
            }
        } else if !line.starts_with("//") {
            if line.matches('`').count() % 2 == 1 {
                complaints.push(source.at(number, "a template literal does not end on its line"));
            }
            if line.ends_with('\\') {
                complaints.push(source.at(number, "a text goes on in the next line"));
            }
            if line.rfind("/*").is_some_and(|start| !line[start..].contains("*/")) {
                complaints.push(source.at(number, "a comment begins after code and ends on another line"));
            }
        }
    }
    complaints
}

#[test]
fn what_is_not_safe_to_shorten_is_found() {
    let found = |text: &str| unsafe_to_shorten(&Source::new("a.js", text)).len();
    for text in ["a = `x\ny`;", "a = \"x\\\ny\";", "/* a */ b();", "/*\n a\n*/ b();", "a(); /* b\n*/"] {
        assert!(found(text) > 0, "{text}");
    }
    for text in ["// `\n", "/** ` */\n", "a = `x`;\n", "/*\n ` \\\n */\na();\n", "a(/* b */ c);\n"] {
        assert_eq!(found(text), 0, "{text}");
    }
}
