//! Code with the roles of its parts. Which language a text is in, and what that language has, is left to `languages.rs`,
//! finding the parts to `scanner.rs`.
//!
//! Why not a library: those with grammars need C (tree-sitter, Oniguruma), and the others match regular expressions, which
//! makes the program 1.6 to 1.9 MB larger and takes 20 to 190 ms for 2,000 lines, or as long as a hostile line likes
//! (synoptic, syntect). A person who reads what an agent wants to do needs comments, strings, numbers, words of the language and names
//! apart, and nothing that only a parser knows. What is found here takes one pass.

use super::{languages::Language, scanner::Scanner};
use crate::{limits, tree::CodePart};

/// Returns code with the roles of its parts. `name` is what a fence calls its language, or the path of its file. Code that
/// is too long, has too many parts, or is in no known language is one part. `room` is how many parts there may be, and
/// what is used of it is taken off.
pub(crate) fn parts(name: &str, text: String, room: &mut usize) -> Vec<CodePart> {
    let scanned = || {
        let language = Language::of(name).filter(|_| text.len() <= limits::CODE)?;
        Scanner::new(&text, language).parts(*room)
    };
    if let Some(parts) = scanned() {
        *room -= parts.len();
        return parts;
    }
    if text.is_empty() { Vec::new() } else { vec![CodePart::Plain(text)] }
}

/// Returns the text of a file as code.
pub fn code(path: &str, text: &str) -> Vec<CodePart> {
    let mut room = limits::PARTS;
    parts(path, text.to_owned(), &mut room)
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;
    use crate::tree::Role;

    /// Every language.
    const ALL: [&str; 15] = [
        "rs", "ts", "py", "go", "java", "cpp", "rb", "sh", "json", "yaml", "toml", "html", "css", "sql",
        "diff",
    ];

    /// Returns code in one line, each part with the first letter of its role.
    fn drawn(name: &str, text: &str) -> String {
        let part = |part: &CodePart| match part.role() {
            None => part.text().to_owned(),
            Some(role) => {
                let letter = format!("{role:?}").to_lowercase();
                format!("⟨{} {}⟩", &letter[..1], part.text())
            }
        };
        code(name, text).iter().map(part).collect()
    }

    /// Code in each language, and what is found in it.
    const CASES: &[(&str, &str, &str)] = &[
        (
            "a/b.rs",
            "pub fn a<'b>(c: &'b str) -> char { println!(\"{c} \\\" //\"); 'd' } // e",
            "⟨k pub⟩ ⟨k fn⟩ a<'b>(c: &'b str) -> char { ⟨n println⟩!(⟨s \"{c} \\\" //\"⟩); ⟨s 'd'⟩ } ⟨c // e⟩",
        ),
        (
            "rust",
            "r#\"a\"b\"# b\"x\" '\\'' 1_000.5 0..10",
            "⟨s r#\"a\"b\"#⟩ ⟨s b\"x\"⟩ ⟨s '\\''⟩ ⟨n 1_000.5⟩ ⟨n 0⟩..⟨n 10⟩",
        ),
        ("rust,ignore", "/* a\nb */ r\"\\\" break", "⟨c /* a\nb */⟩ ⟨s r\"\\\"⟩ ⟨k break⟩"),
        (
            "tsx",
            "const a = `b\n${c}` + f('d'); // e",
            "⟨k const⟩ a = ⟨s `b\n${c}`⟩ + ⟨n f⟩(⟨s 'd'⟩); ⟨c // e⟩",
        ),
        ("ts", "@Input() a: string = \"b\n1", "⟨n @Input⟩() a: ⟨k string⟩ = ⟨s \"b⟩\n⟨n 1⟩"),
        (
            "python",
            "def f(a): # b\n  \"\"\"c\n'd\"\"\"\n  return rf'{a}' or None",
            "⟨k def⟩ ⟨n f⟩(a): ⟨c # b⟩\n  ⟨s \"\"\"c\n'd\"\"\"⟩\n  ⟨k return⟩ ⟨s rf'{a}'⟩ ⟨k or⟩ ⟨k None⟩",
        ),
        ("go", "func f() { return `a\\` }", "⟨k func⟩ ⟨n f⟩() { ⟨k return⟩ ⟨s `a\\`⟩ }"),
        (
            "Main.java",
            "@Override public int a() { return 1L; }",
            "⟨n @Override⟩ ⟨k public⟩ ⟨k int⟩ ⟨n a⟩() { ⟨k return⟩ ⟨n 1L⟩; }",
        ),
        ("x.hpp", "#include <a>\nint b = 'c';", "⟨k #include⟩ <a>\n⟨k int⟩ b = ⟨s 'c'⟩;"),
        ("rb", "def a # b\n  \"c\"\nend", "⟨k def⟩ a ⟨c # b⟩\n  ⟨s \"c\"⟩\n⟨k end⟩"),
        (
            "sh",
            "if [ \"$a\" = '\\' ]; then b $c ${d:-e} x#y $# # f\nfi",
            "⟨k if⟩ [ ⟨s \"$a\"⟩ = ⟨s '\\'⟩ ]; ⟨k then⟩ b ⟨n $c⟩ ⟨n ${d:-e}⟩ x#y ⟨n $#⟩ ⟨c # f⟩\n⟨k fi⟩",
        ),
        (
            "bash",
            "cat <<-'EOF' > a\ndon't $b\n\tEOF\nexit 1",
            "cat <<-'EOF' > a\n⟨s don't $b\n⟩\tEOF\n⟨k exit⟩ ⟨n 1⟩",
        ),
        ("sh", "cat <<<'a' <<E", "cat <<<⟨s 'a'⟩ <<E"),
        ("json", "{\"a\" : [\"b\", -1.5e3, true]}", "{⟨n \"a\"⟩ : [⟨s \"b\"⟩, -⟨n 1.5e3⟩, ⟨k true⟩]}"),
        (
            ".github/ci.yml",
            "on: push\n- run: don't # a\n  b-c: 'd'\nhttp://e",
            "⟨n on⟩: push\n- ⟨n run⟩: don't ⟨c # a⟩\n  ⟨n b-c⟩: ⟨s 'd'⟩\nhttp://e",
        ),
        ("toml", "[a.b]\nc = \"d\" # e\nf = 1", "⟨n [a.b]⟩\n⟨n c⟩ = ⟨s \"d\"⟩ ⟨c # e⟩\n⟨n f⟩ = ⟨n 1⟩"),
        (
            "html",
            "<!-- a --><b c=\"d\" e>it's</b> 1 < 2",
            "⟨c <!-- a -->⟩<⟨k b⟩ ⟨n c⟩=⟨s \"d\"⟩ ⟨n e⟩>it's</⟨k b⟩> 1 < 2",
        ),
        (
            "css",
            "@media x { a:hover { color: #fff; margin-top: 1.5rem } } /* b */",
            "⟨k @media⟩ x { a:hover { ⟨n color⟩: ⟨n #fff⟩; ⟨n margin-top⟩: ⟨n 1.5rem⟩ } } ⟨c /* b */⟩",
        ),
        (
            "sql",
            "SELECT count(*) FROM a -- b\nWHERE c = 'd''e'",
            "⟨k SELECT⟩ ⟨n count⟩(*) ⟨k FROM⟩ a ⟨c -- b⟩\n⟨k WHERE⟩ c = ⟨s 'd'⟩⟨s 'e'⟩",
        ),
        (
            "diff",
            "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-c\n+d\n e",
            "⟨n --- a/b\n⟩⟨n +++ b/b\n⟩⟨k @@ -1 +1 @@\n⟩⟨r -c\n⟩⟨a +d\n⟩ e",
        ),
        ("", "let a = 1;", "let a = 1;"),
        ("brainfuck", "let a = 1;", "let a = 1;"),
        ("rust", "", ""),
    ];

    #[test]
    fn each_language_has_its_comments_texts_words_and_names() {
        for (name, text, expected) in CASES {
            assert_eq!(drawn(name, text), *expected, "{name} {text:?}");
        }
    }

    /// What looks ahead, repeated as often as an agent can. A scanner that looks at a text again and again takes hours.
    #[test]
    fn hostile_code_takes_one_pass() {
        for (name, marks) in [
            ("rs", &["(", "'", "\"", "r#", "r##\"", "/*", "'\\", "#", "é", "\u{202e}"][..]),
            ("ts", &["[", "`", "/", "\"\\\n", "@", "a(", "1."]),
            ("py", &["\"\"\"", "'", "#", "f'", "\\"]),
            ("sh", &["${", "$", "<<A\n", "<<", "\\", "a-", "$(", "# "]),
            ("json", &["{", "\"\" ", "\"a\":", " ", "[\""]),
            ("yaml", &["-", " ", "- ", "a:", "a ", "[", "\n", "a: [\n"]),
            ("toml", &["[", "a=", "\"\"\"", "'"]),
            ("html", &["<", "<a ", "<!--", "<!", "<a \"", ">"]),
            ("css", &["{", "{#", "-", "@", "a:"]),
            ("sql", &["'", "--", "a "]),
            ("diff", &["+", "+\n", "@@"]),
        ] {
            let language = Language::of(name).expect("a language");
            for mark in marks {
                let text = mark.repeat((1 << 18) / mark.len());
                let parts = Scanner::new(&text, language).parts(usize::MAX).expect("any number");
                assert_eq!(
                    parts.iter().map(|it| it.text().len()).sum::<usize>(),
                    text.len(),
                    "{name} {mark:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_too_much_is_not_coloured() {
        let (long, many) = ("1 ".repeat(limits::CODE), "1 ".repeat(limits::PARTS));
        for text in [&long, &many] {
            assert_eq!(code("rs", text), [CodePart::Plain(text.clone())]);
        }
        assert!(code("rs", &many[..limits::PARTS / 2]).len() > limits::PARTS / 4);
        // The blocks of a text share what there is room for.
        let mut room = 10;
        let is_coloured = |parts: Vec<CodePart>| parts.iter().any(|it| it.role() == Some(Role::Number));
        assert!(is_coloured(parts("rs", "1 2 3".into(), &mut room)));
        assert!(!is_coloured(parts("rs", "1 2 3".into(), &mut room)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        /// What is shown is the text, whatever it is.
        #[test]
        fn the_parts_are_the_text(name in 0..ALL.len(), text in "([-'\"`/*#<>{}()\\[\\]$@:=+rbaE0 \n\\\\é\u{202e}😀!]|EOF|<<|<!--|-->|\"\"\"){0,60}") {
            let parts = code(ALL[name], &text);
            prop_assert_eq!(parts.iter().map(CodePart::text).collect::<String>(), text);
            prop_assert!(parts.iter().all(|part| !part.text().is_empty()));
        }

        #[test]
        fn the_parts_of_any_text_are_the_text(name in 0..ALL.len(), text in any::<String>()) {
            prop_assert_eq!(code(ALL[name], &text).iter().map(CodePart::text).collect::<String>(), text);
        }
    }
}
