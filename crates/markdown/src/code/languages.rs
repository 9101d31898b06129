//! Languages as tables: how each writes its comments and texts, and which words are its own. Reading a text by them is
//! left to `scanner.rs`.

/// What a language has beside comments, texts, numbers and words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Names are called.
    Program,
    /// As `Program`, and a quotation mark may begin a lifetime, `r#"` a text.
    Rust,
    /// Its words are the same in capitals.
    Query,
    /// Variables, and documents within the text.
    Shell,
    /// A text before a colon is a name.
    Json,
    /// What stands at the beginning of a line before a colon or an equals sign is a name.
    Keyed,
    /// Properties in braces.
    Style,
    /// Tags.
    Markup,
    /// Lines with a sign.
    Patch,
}

/// How a text begins and ends.
pub(super) struct Quote {
    pub(super) mark: &'static str,
    /// Whether a backslash takes its meaning from what follows.
    pub(super) escapes: bool,
    /// Whether it may have line breaks.
    pub(super) is_long: bool,
}

/// How a language is written.
pub(super) struct Language {
    /// What fences call it, and the extensions of its files.
    names: &'static str,
    pub(super) manner: Manner,
    /// What begins a comment that ends with its line.
    pub(super) notes: &'static [&'static str],
    /// What begins and ends a longer comment.
    pub(super) comment: Option<(&'static str, &'static str)>,
    /// The longest marks come first.
    pub(super) quotes: &'static [Quote],
    /// What may stand directly before a quotation mark.
    pub(super) prefixes: &'static str,
    words: &'static str,
}

impl Language {
    /// Returns the language of a fence or of a file.
    pub(super) fn of(name: &str) -> Option<&'static Language> {
        let first = name.trim().split([' ', ',', '{', '\t']).next()?;
        let extension = first.rsplit(['/', '.']).next()?;
        [first, extension].iter().find_map(|name| {
            let name = name.to_ascii_lowercase();
            LANGUAGES.iter().find(|it| has(it.names, &name))
        })
    }

    pub(super) fn owns(&self, word: &str) -> bool {
        match self.manner {
            Manner::Query => has(self.words, &word.to_ascii_lowercase()),
            _ => has(self.words, word),
        }
    }
}

/// Returns whether a list of words has this one.
pub(super) fn has(words: &str, word: &str) -> bool {
    !word.is_empty() && words.split_ascii_whitespace().any(|it| it == word)
}

const fn quote(mark: &'static str, escapes: bool, is_long: bool) -> Quote {
    Quote { mark, escapes, is_long }
}

const BOTH: &[Quote] = &[quote("\"", true, false), quote("'", true, false)];
const SLASHES: &[&str] = &["//"];
const STARS: Option<(&str, &str)> = Some(("/*", "*/"));

const PLAIN: Language = Language {
    names: "",
    manner: Manner::Program,
    notes: SLASHES,
    comment: STARS,
    quotes: BOTH,
    prefixes: "",
    words: "",
};

static LANGUAGES: [Language; 15] = [
    Language {
        names: "rust rs",
        manner: Manner::Rust,
        quotes: &[quote("\"", true, true)],
        prefixes: "b c r br cr",
        words: "as async await box break const continue crate dyn else enum extern false fn for if impl in let loop \
                macro_rules match mod move mut pub ref return self Self static struct super trait true type union \
                unsafe use where while yield",
        ..PLAIN
    },
    Language {
        names: "javascript js jsx mjs cjs typescript ts tsx mts cts",
        quotes: &[quote("\"", true, false), quote("'", true, false), quote("`", true, true)],
        words: "abstract any as async await boolean break case catch class const continue debugger declare default \
                delete do else enum export extends false finally for from function get if implements import in \
                infer instanceof interface is keyof let namespace never new null number object of private \
                protected public readonly return satisfies set static string super switch symbol this throw true \
                try type typeof undefined unknown var void while with yield",
        ..PLAIN
    },
    Language {
        names: "python python3 py pyi pyw",
        notes: &["#"],
        comment: None,
        quotes: &[
            quote("\"\"\"", true, true),
            quote("'''", true, true),
            quote("\"", true, false),
            quote("'", true, false),
        ],
        prefixes: "r u b f t br rb fr rf R B F U Rb rB RB",
        words: "False None True and as assert async await break case class continue def del elif else except \
                finally for from global if import in is lambda match nonlocal not or pass raise return self try \
                type while with yield",
        ..PLAIN
    },
    Language {
        names: "go golang",
        quotes: &[quote("\"", true, false), quote("'", true, false), quote("`", false, true)],
        words: "any bool break byte case chan const continue default defer else error fallthrough false float32 \
                float64 for func go goto if import int int32 int64 interface iota map nil package range return \
                rune select string struct switch true type uint uint32 uint64 var",
        ..PLAIN
    },
    Language {
        names: "java kotlin kt kts csharp c# cs",
        quotes: &[quote("\"\"\"", true, true), quote("\"", true, false), quote("'", true, false)],
        words: "abstract assert async await base bool boolean break byte case catch char class const continue \
                decimal default delegate do double else enum event extends false final finally float for foreach \
                fun get goto if implements import in instanceof int interface internal is lock long namespace \
                native new null object out override package permits private protected public readonly record ref \
                return sealed set short static string super suspend switch synchronized this throw throws \
                transient true try typeof using val var virtual void volatile when where while yield",
        ..PLAIN
    },
    Language {
        names: "c h cpp c++ cc cxx hpp hh hxx objc m",
        prefixes: "L u U u8 R",
        words: "alignas alignof auto bool break case catch char class concept const constexpr continue co_await \
                co_return co_yield decltype default delete do double else enum explicit extern false float for \
                friend goto if inline int long mutable namespace new noexcept nullptr NULL operator private \
                protected public register requires restrict return short signed sizeof static static_assert \
                static_cast struct switch template this throw true try typedef typename union unsigned using \
                virtual void volatile while #define #else #elif #endif #if #ifdef #ifndef #include #pragma #undef",
        ..PLAIN
    },
    Language {
        names: "ruby rb rake gemfile",
        notes: &["#"],
        comment: None,
        words: "alias and attr_accessor attr_reader begin break case class def defined? do else elsif end ensure \
                extend false for if in include module next nil not or private protected public raise redo \
                require require_relative rescue retry return self super then true undef unless until when while \
                yield",
        ..PLAIN
    },
    Language {
        names: "shell sh bash zsh fish ksh dash console bashrc zshrc profile dockerfile",
        manner: Manner::Shell,
        notes: &["#"],
        comment: None,
        quotes: &[quote("\"", true, true), quote("'", false, true)],
        words: "alias break case cd continue declare do done echo elif else esac eval exec exit export fi for \
                function if in local printf read readonly return set shift source test then trap unset until \
                while ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN USER VOLUME WORKDIR",
        ..PLAIN
    },
    Language {
        names: "json jsonc json5 jsonl ndjson",
        manner: Manner::Json,
        words: "true false null",
        ..PLAIN
    },
    Language {
        names: "yaml yml",
        manner: Manner::Keyed,
        notes: &["#"],
        comment: None,
        words: "true false null yes no on off",
        ..PLAIN
    },
    Language {
        names: "toml ini cfg conf properties env editorconfig gitconfig",
        manner: Manner::Keyed,
        notes: &["#", ";"],
        comment: None,
        quotes: &[
            quote("\"\"\"", true, true),
            quote("'''", false, true),
            quote("\"", true, false),
            quote("'", false, false),
        ],
        words: "true false",
        ..PLAIN
    },
    Language {
        names: "html htm xml svg xhtml vue svelte plist",
        manner: Manner::Markup,
        notes: &[],
        comment: Some(("<!--", "-->")),
        quotes: &[quote("\"", false, true), quote("'", false, true)],
        ..PLAIN
    },
    Language { names: "css scss less", manner: Manner::Style, ..PLAIN },
    Language {
        names: "sql psql mysql postgresql postgres sqlite plsql",
        manner: Manner::Query,
        notes: &["--"],
        quotes: &[quote("'", false, true), quote("\"", false, false)],
        words: "add all alter and as asc begin between bigint boolean by cascade case check column commit \
                constraint create cross database default delete desc distinct drop else end exists explain false \
                for foreign from full function grant group having if in index inner insert int integer into is \
                join key left like limit not null offset on or order outer over partition primary references \
                returning revoke right rollback row rows schema select set table temporary text then \
                transaction trigger true truncate union unique update using values varchar view when where with",
        ..PLAIN
    },
    Language { names: "diff patch", manner: Manner::Patch, ..PLAIN },
];
