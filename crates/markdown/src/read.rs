//! Reads a text: its events, as pulldown-cmark finds them, become a tree, or a title without the signs of its source.
//! Putting nodes together is left to `builder.rs`.

use pulldown_cmark::{Options, Parser};

use crate::{
    builder::Builder,
    code::{code, patch},
    limits,
    tree::{Block, BlockKind, CodePart, Document, Inline},
};

/// What is read beside CommonMark. Whatever hides, replaces or reorders what was written stays out: footnotes, smart
/// punctuation, attributes of headings, blocks of metadata.
const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Reads a text of an agent.
pub fn read(text: &str) -> Document {
    if text.len() > limits::TEXT {
        return Document::Source(format!("it has more than {} KiB", limits::TEXT / 1024));
    }
    let mut builder = Builder::new(text);
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        if let Err(why) = builder.take(event, range) {
            return Document::Source(why.to_string());
        }
    }
    match builder.end() {
        Ok(blocks) => Document::Blocks(blocks),
        Err(why) => Document::Source(why.to_string()),
    }
}

/// Returns the text of a file as a document: one block of code.
pub fn read_code(path: &str, text: &str) -> Document {
    of(text, code(path, text))
}

/// Returns a patch in the format of Git as the same.
pub fn read_patch(text: &str) -> Document {
    of(text, patch(text))
}

fn of(text: &str, parts: Vec<CodePart>) -> Document {
    let kind = BlockKind::Code { language: String::new(), parts };
    Document::Blocks(vec![Block { lines: [1, text.lines().count().max(1)], kind }])
}

/// Returns a line without the signs of Markdown: a heading is its words, code is without its backticks, the address of a
/// link stands behind its text. A line that is no heading or paragraph stays as it is.
pub fn line(text: &str) -> String {
    let Document::Blocks(blocks) = read(text) else { return text.to_owned() };
    match &*blocks {
        [Block { kind: BlockKind::Heading { children, .. } | BlockKind::Paragraph { children }, .. }] => {
            Inline::text(children)
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;
    use crate::tree::{Alignment, Item, Node};

    fn blocks(source: &str) -> Vec<Block> {
        match read(source) {
            Document::Blocks(blocks) => blocks,
            Document::Source(why) => panic!("{why}"),
        }
    }

    /// Returns a tree in one line, each block with its lines.
    fn shape(blocks: &[Block]) -> String {
        blocks.iter().map(shape_of).collect::<Vec<_>>().join(" ")
    }

    fn shape_of(block: &Block) -> String {
        let what = match &block.kind {
            BlockKind::Paragraph { children } => format!("p({})", parts(children)),
            BlockKind::Heading { level, children } => format!("h{level}({})", parts(children)),
            BlockKind::List { items } => {
                format!("list({})", items.iter().map(item).collect::<Vec<_>>().join(" "))
            }
            BlockKind::Quote { blocks } => format!("quote({})", shape(blocks)),
            BlockKind::Code { language, parts } => {
                let text: String = parts.iter().map(CodePart::text).collect();
                format!("code[{language}]({text:?})")
            }
            BlockKind::Table { alignments, head, rows } => {
                let row = |cells: &Vec<Vec<Inline>>| cells.iter().map(|it| parts(it)).collect::<Vec<_>>();
                let ends = alignments.iter().filter(|it| **it == Alignment::End).count();
                let rows: Vec<_> = rows.iter().map(|it| row(&it.cells).join("|")).collect();
                format!("table[{ends}]({}; {})", row(&head.cells).join("|"), rows.join("; "))
            }
            BlockKind::Rule => "rule".to_owned(),
        };
        format!("{}-{}:{what}", block.lines[0], block.lines[1])
    }

    fn item(item: &Item) -> String {
        let mark = item.number.map_or("-".to_owned(), |number| number.to_string());
        let done = item.done.map_or("", |done| if done { "[x]" } else { "[ ]" });
        format!("{mark}{done}{{{}}}", shape(&item.blocks))
    }

    fn parts(parts: &[Inline]) -> String {
        let part = |part: &Inline| match part {
            Inline::Text(text) => text.clone(),
            Inline::Node(Node::Strong { children }) => format!("<b {}>", self::parts(children)),
            Inline::Node(Node::Emphasis { children }) => format!("<i {}>", self::parts(children)),
            Inline::Node(Node::Struck { children }) => format!("<s {}>", self::parts(children)),
            Inline::Node(Node::Code { text }) => format!("<code {text}>"),
            Inline::Node(Node::Link { address, is_address, children }) => {
                let behind = if *is_address { String::new() } else { format!(" → {address}") };
                format!("<a {}{behind}>", self::parts(children))
            }
            Inline::Node(Node::Break) => "/".to_owned(),
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn a_title_is_without_the_signs_of_its_source() {
        for (source, expected) in [
            ("# Which one?", "Which one?"),
            ("# Which one? See **bold**, `code`", "Which one? See bold, code"),
            ("See [the incident](https://a.example/x)", "See the incident (https://a.example/x)"),
            ("plain, 2 * 3 * 4, *.txt *.log, a_b_c", "plain, 2 * 3 * 4, *.txt *.log, a_b_c"),
            ("- an item", "- an item"),
            ("1. Deploy", "1. Deploy"),
            ("> a quote", "> a quote"),
            ("[a]: https://a.example", "[a]: https://a.example"),
            ("<b>x</b>", "<b>x</b>"),
            ("#hash", "#hash"),
            ("", ""),
        ] {
            assert_eq!(line(source), expected, "{source}");
        }
    }

    #[test]
    fn texts_become_trees() {
        for (source, expected) in [
            ("", ""),
            ("one\ntwo  \nthree", "1-3:p(one/two/three)"),
            ("# A `b`\n\nc\n\nd\n===\n", "1-1:h1(A <code b>) 3-3:p(c) 5-6:h1(d)"),
            ("**a** *b* ~~c~~ __d__ a_b_c", "1-1:p(<b a> <i b> <s c> <b d> a_b_c)"),
            ("- a\n- b\n  - c", "1-3:list(-{1-1:p(a)} -{2-2:p(b) 3-3:list(-{3-3:p(c)})})"),
            ("- a\n\n- b\n\n  c", "1-5:list(-{1-1:p(a)} -{3-3:p(b) 5-5:p(c)})"),
            ("3. a\n7. b", "1-2:list(3{1-1:p(a)} 7{2-2:p(b)})"),
            ("1. a\n1. b\n1. c", "1-3:list(1{1-1:p(a)} 2{2-2:p(b)} 3{3-3:p(c)})"),
            ("- [x] a\n- [ ] b", "1-2:list(-[x]{1-1:p(a)} -[ ]{2-2:p(b)})"),
            ("> a\n> b\n\nc", "1-2:quote(1-2:p(a/b)) 4-4:p(c)"),
            ("```rust x\nfn a() {}\n```\n", "1-3:code[rust x](\"fn a() {}\\n\")"),
            ("~~~\n<b>\n", "1-2:code[](\"<b>\\n\")"),
            ("    a\n    b\n", "1-2:code[](\"a\\nb\\n\")"),
            ("a\n\n---\n\nb", "1-1:p(a) 3-3:rule 5-5:p(b)"),
            ("| a | b |\n|---|--:|\n| c | `d` |\n", "1-3:table[1](a|b; c|<code d>)"),
            ("a &amp; b \\* c &copy;", "1-1:p(a & b * c ©)"),
            ("see https://a.example/b_c.", "1-1:p(see <a https://a.example/b_c>.)"),
            ("<https://a.example>", "1-1:p(<a https://a.example>)"),
            ("[x](https://a.example \"t\")", "1-1:p(<a x → https://a.example/> \"t\")"),
            ("**[x](javascript:alert(1))**", "1-1:p(<b x (javascript:alert(1))>)"),
            ("[https://a.example](https://b.example)", "1-1:p(<a https://a.example → https://b.example/>)"),
            ("line\r\nnext\r\n\r\n# h\r\n", "1-2:p(line/next) 4-4:h1(h)"),
            ("\u{202e}abc", "1-1:p(\u{202e}abc)"),
        ] {
            assert_eq!(shape(&blocks(source)), expected, "{source:?}");
        }
    }

    /// A person decides by what they read: nothing that an agent wrote is out of sight.
    #[test]
    fn nothing_is_hidden() {
        for (source, expected) in [
            ("a <!-- rm -rf / --> b", "1-1:p(a <!-- rm -rf / --> b)"),
            ("<!-- rm\n-rf / -->\n\nb", "1-2:p(<!-- rm/-rf / -->) 4-4:p(b)"),
            ("<div hidden>x</div>", "1-1:p(<div hidden>x</div>)"),
            ("<script>\nalert(1)\n</script>", "1-3:p(<script>/alert(1)/</script>)"),
            ("![a](https://a.example/i.png)", "1-1:p(<a image: a → https://a.example/i.png>)"),
            ("![a](data:image/png;base64,AA)", "1-1:p(image: a (data:image/png;base64,AA))"),
            (
                "[![a](https://i.example/)](https://l.example/)",
                "1-1:p(<a image: a (https://i.example/) → https://l.example/>)",
            ),
            ("[a]: https://a.example\n\nb", "1-1:p([a]: <a https://a.example>) 3-3:p(b)"),
            ("b\n\n[a]: /x \"rm -rf\"", "1-1:p(b) 3-3:p([a]: /x \"rm -rf\")"),
            (
                "[x][a]\n\n[a]: https://a.example",
                "1-1:p(<a x → https://a.example/>) 3-3:p([a]: <a https://a.example>)",
            ),
            ("[a]: /x\n[a]: /y\n\nb", "1-2:p([a]: /x/[a]: /y) 4-4:p(b)"),
            ("> [a]: /x\n> b", "1-2:quote(1-1:p([a]: /x) 2-2:p(b))"),
            ("- [a]: /x\n- b", "1-2:list(-{1-1:p([a]: /x)} -{2-2:p(b)})"),
            ("- a\n\n  [b]: /x\n\nc", "1-3:list(-{1-1:p(a) 3-3:p([b]: /x)}) 5-5:p(c)"),
            ("a[^1]\n\n[^1]: hidden", "1-1:p(a^1 (hidden)) 3-3:p([^1]: hidden)"),
            ("| a |\n|---|\n| b | rm -rf | $ |\n", "1-3:table[0](a; b|rm -rf | $)"),
            ("| a | b |\n|---|---|\n| c |\n", "1-3:table[0](a|b; c|)"),
            ("---\ntitle: x\n---\n\nb", "1-1:rule 2-3:h2(title: x) 5-5:p(b)"),
            ("# a {#b .c}", "1-1:h1(a {#b .c})"),
            ("a\u{0}b", "1-1:p(a\u{0}b)"),
        ] {
            assert_eq!(shape(&blocks(source)), expected, "{source:?}");
        }
    }

    #[test]
    fn what_is_too_much_is_shown_as_its_source() {
        for (what, source) in [
            ("quotes", format!("{} a", ">".repeat(10_000))),
            ("lists", (0..200).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect()),
            ("cells", format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(50_000))),
            ("stars", "*a ".repeat(40_000) + &"b*".repeat(40_000)),
            ("links", "[a](javascript:b) `c` ".repeat(limits::NODES / 2)),
            ("length", "a\n\n".repeat(limits::TEXT)),
        ] {
            assert!(matches!(read(&source), Document::Source(_)), "{what}");
        }
        assert_eq!(
            read(&format!("{}a", ">".repeat(limits::DEPTH + 1))),
            Document::Source(format!("its parts stand within each other more than {} deep", limits::DEPTH))
        );
    }

    /// What an agent repeats as often as it can takes no more time than other text: a quadratic reader takes hours.
    #[test]
    fn hostile_marks_take_no_more_time_than_words() {
        for mark in [
            "[", "![", "`", "*_", "~", "<", "[a](", "|", "> ", "- ", "&", "\\", "<!--", "[a]: ", "https://",
            "1. ", "\t", "](", "[a][", "**a", "<a ", "```\n", "#\n", "\n|-", "\u{202e}",
        ] {
            read(&mark.repeat(limits::TEXT / mark.len()));
        }
    }

    /// Returns all texts of a tree, in their order.
    fn texts(blocks: &[Block], out: &mut String) {
        for Block { kind, .. } in blocks {
            match kind {
                BlockKind::Paragraph { children } | BlockKind::Heading { children, .. } => {
                    out.push_str(&Inline::text(children));
                }
                BlockKind::List { items } => items.iter().for_each(|item| {
                    out.push_str(if item.done == Some(true) { "x" } else { "" });
                    texts(&item.blocks, out);
                }),
                BlockKind::Quote { blocks } => texts(blocks, out),
                BlockKind::Code { language, parts } => {
                    out.push_str(language);
                    out.extend(parts.iter().map(CodePart::text));
                }
                BlockKind::Table { head, rows, .. } => {
                    let cells = [head].into_iter().chain(rows).flat_map(|row| &row.cells);
                    cells.for_each(|cell| out.push_str(&Inline::text(cell)));
                }
                BlockKind::Rule => {}
            }
        }
    }

    const MARKS: [&str; 34] = [
        " ",
        " ",
        " ",
        "\n",
        "\n",
        "\n\n",
        "\n# ",
        "\n- ",
        "\n1. ",
        "\n> ",
        "\n    ",
        "\n```",
        "\n- [x] ",
        "\n| ",
        " | ",
        "\n|---|---|\n",
        "*",
        "**",
        "_",
        "~~",
        "`",
        "[",
        "]",
        "](",
        ")",
        "]: ",
        "<",
        ">",
        "<!--",
        "-->",
        "!",
        "\"",
        "\\",
        " https://",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        /// The letters of a text occur in its tree, in their order.
        #[test]
        fn every_letter_is_in_sight(parts in prop::collection::vec((0..MARKS.len(), "[a-z]{0,3}"), 0..40)) {
            let source: String = parts.iter().flat_map(|(mark, word)| [MARKS[*mark], word]).collect();
            let mut shown = String::new();
            texts(&blocks(&source), &mut shown);
            let mut rest = shown.chars();
            for letter in source.chars().filter(char::is_ascii_lowercase) {
                prop_assert!(rest.any(|it| it == letter), "{letter} of {source:?} is not in {shown:?}");
            }
        }
    }
}
