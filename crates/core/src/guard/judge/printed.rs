//! What commands print, as far as it counts where it becomes a word of another command: `$(git rev-parse HEAD)`, or a pipe
//! into `xargs`.

use super::state::{Judge, Printed};
use crate::guard::{
    argument::Argument,
    grammar, places,
    shell::{Node, Redirection, Simple, Word},
};

/// Programs that print one text that is no option, such as a path or a date.
const TAME: [&str; 8] = ["pwd", "uname", "whoami", "hostname", "mktemp", "arch", "getconf", "tput"];

impl Judge<'_> {
    /// Returns what these commands print.
    pub(super) fn printed(&self, list: &[Node]) -> Printed {
        match list {
            [node] => self.printed_by(node, Printed::Nothing),
            _ => Printed::Unknown,
        }
    }

    /// Returns what a command prints that reads this.
    pub(super) fn printed_by(&self, node: &Node, input: Printed) -> Printed {
        match node {
            Node::Simple(simple) => self.by_simple(simple, input),
            Node::Pipeline(parts) => parts.iter().fold(input, |input, part| self.printed_by(part, input)),
            // `cd` prints nothing, but for `cd -`, which prints a path as well.
            Node::Chain { parts, has_or: false } => match &parts[..] {
                [Node::Simple(first), last] if first.words.first().and_then(Word::literal) == Some("cd") => {
                    self.printed_by(last, Printed::Nothing)
                }
                _ => Printed::Unknown,
            },
            _ => Printed::Unknown,
        }
    }

    fn by_simple(&self, simple: &Simple, input: Printed) -> Printed {
        let [program, words @ ..] = &simple.words[..] else { return Printed::Unknown };
        let name = grammar::name(program.literal().unwrap_or_default());
        let input = simple.redirections.iter().fold(input, |input, redirection| match redirection {
            Redirection::Write { .. } => input,
            Redirection::Read(file) if file.literal().is_some_and(places::is_inside) => Printed::Ours,
            _ => Printed::Unknown,
        });
        let words: Vec<_> = words.iter().map(|word| self.argument(word)).collect();
        if words.iter().any(Argument::has_any) {
            return Printed::Unknown;
        }
        let words: Vec<_> = words.iter().map(|word| &*word.text).collect();
        by_words(&name, &words, input)
    }
}

/// Returns what a program with these words prints.
fn by_words(name: &str, words: &[&str], input: Printed) -> Printed {
    let is_inside = words.iter().all(|word| places::is_inside(word));
    let operands = words.iter().filter(|word| !word.starts_with('-')).count();
    match name {
        "wc" if operands == 0 && matches!(words, ["-l" | "-c" | "-w" | "-m"]) => Printed::Number,
        "wc" | "id" => Printed::Tame,
        // Their other words may be printed as they stand.
        "seq" | "expr"
            if words.iter().all(|word| word.chars().all(|it| it.is_ascii_digit() || it == '+')) =>
        {
            Printed::Tame
        }
        "nproc" => Printed::Number,
        "date" => of_date(words),
        "git" => of_git(words),
        "mktemp" if words.iter().all(|word| !word.contains('/') || word.starts_with("/tmp/")) => {
            Printed::Passing
        }
        // A path of this machine, or options of a compiler that an installed library needs.
        "which" | "realpath" | "readlink" | "brew"
            if operands <= 2 && words.iter().all(|word| !word.contains("..")) =>
        {
            Printed::Tame
        }
        "npm" if matches!(words, ["root" | "prefix" | "bin", ..]) => Printed::Tame,
        "go" if matches!(words, ["env", _]) => Printed::Tame,
        _ if name.ends_with("-config") || name == "pkgconf" => Printed::Tame,
        _ if TAME.contains(&name) => Printed::Tame,
        "docker" | "podman" if words.iter().any(|word| is_bundle(word, "aqlnf") && word.contains('q')) => {
            Printed::Names
        }
        "kubectl" if words.windows(2).any(|pair| pair == ["-o", "name"]) => Printed::Names,
        "pgrep" | "pidof" => Printed::Names,
        "basename" | "dirname" if is_inside && operands == words.len() => Printed::Names,
        // Their names begin with the folder that they search.
        "find" | "fd" | "fdfind" => {
            const OTHER: [&str; 10] =
                ["-printf", "--format", "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "-ls"];
            let prints_other = words.iter().any(|word| {
                OTHER.contains(word) || word.starts_with("-fprint") || word.starts_with("--exec")
            });
            if is_inside && !prints_other { Printed::Names } else { Printed::Unknown }
        }
        "ls" if is_inside && words.iter().all(|word| is_bundle(word, "1adrtASXv")) => Printed::Names,
        "grep" | "rg" if is_inside && words.iter().any(|word| lists_names(word)) => Printed::Names,
        "sort" | "head" | "tail" | "uniq" | "grep"
            if input.is_kept() && operands <= 1 && !words.contains(&"-o") =>
        {
            input
        }
        _ if is_inside && input != Printed::Unknown && prints_what_it_reads(name, words) => Printed::Ours,
        _ => Printed::Unknown,
    }
}

/// Returns whether a program prints nothing but what stands in the files that it names, or in its input.
fn prints_what_it_reads(name: &str, words: &[&str]) -> bool {
    let is_path = |filter: &&&str| {
        filter.starts_with('.') && filter.chars().all(|it| it.is_ascii_alphanumeric() || "._-[]".contains(it))
    };
    match name {
        "cat" | "head" | "tail" | "cut" | "grep" => true,
        "jq" | "yq" => words.iter().find(|word| !word.starts_with('-')).as_ref().is_some_and(is_path),
        "tr" => words.first() == Some(&"-d"),
        "awk" => words.iter().any(|word| {
            word.strip_prefix("{print $").and_then(|rest| rest.strip_suffix('}')).is_some_and(is_digits)
        }),
        "sed" => matches!(words, ["-n", line, ..] if line.strip_suffix('p').is_some_and(is_digits)),
        _ => false,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a word is no option, or one of these short ones.
fn is_bundle(word: &str, known: &str) -> bool {
    word.strip_prefix('-')
        .is_none_or(|options| !options.is_empty() && options.chars().all(|it| known.contains(it)))
}

/// Returns whether an option of `grep` makes it print names of files.
fn lists_names(word: &str) -> bool {
    let short = word.strip_prefix('-').filter(|short| !short.starts_with('-')).unwrap_or_default();
    let alone = short.split(['e', 'f', 'm', 'g', 't', 'T', 'A', 'B', 'C', 'd', 'D', 'j', 'M']).next();
    matches!(word, "--files" | "--files-with-matches" | "--files-without-match")
        || alone.is_some_and(|short| short.contains(['l', 'L']))
}

/// `date`: a format with nothing but digits is a number, and one without `/` and spaces is a name.
fn of_date(words: &[&str]) -> Printed {
    let formats: Vec<_> = words.iter().filter_map(|word| word.strip_prefix('+')).collect();
    let parts = formats.first().copied().unwrap_or_default();
    match &formats[..] {
        [format] if format.starts_with('-') => Printed::Unknown,
        [_] if parts
            .split('%')
            .skip(1)
            .all(|part| matches!(part, "s" | "Y" | "m" | "d" | "H" | "M" | "S" | "N"))
            && parts.starts_with('%') =>
        {
            Printed::Number
        }
        [format]
            if !format.contains(['/', ' ', '\n', '\t'])
                && !["%D", "%x", "%c", "%+", "%n", "%t"].iter().any(|part| format.contains(part)) =>
        {
            Printed::Word
        }
        _ => Printed::Tame,
    }
}

/// `git`: no name of a branch or a tag is an option, and a commit is a number in another notation.
fn of_git(words: &[&str]) -> Printed {
    let Some((sub, words)) = words.split_first() else { return Printed::Unknown };
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let is_plain = words.iter().all(|word| !word.starts_with(['/', '~']) && !word.contains("../"));
    let format = words.iter().find_map(|word| {
        ["--format=", "--pretty=format:", "--pretty=tformat:", "--pretty="]
            .iter()
            .find_map(|it| word.strip_prefix(it))
    });
    match *sub {
        "rev-parse" if words.iter().any(|it| it.starts_with("--show-") || it.starts_with("--git-")) => {
            Printed::Tame
        }
        "rev-parse" => {
            let is_known = |word: &&str| {
                !word.starts_with('-')
                    || [
                        "--short",
                        "--verify",
                        "--abbrev-ref",
                        "-q",
                        "--quiet",
                        "--symbolic-full-name",
                        "--is-",
                    ]
                    .iter()
                    .any(|option| word.starts_with(option))
            };
            let is_range = words.iter().any(|word| word.contains(".."));
            if is_plain && !is_range && words.iter().all(is_known) { Printed::Word } else { Printed::Unknown }
        }
        "rev-list" if has(&["--count"]) => Printed::Number,
        "merge-base" | "hash-object" | "write-tree" | "describe" | "symbolic-ref" => Printed::Word,
        "branch" if has(&["--show-current"]) => Printed::Word,
        "rev-list" if format.is_none() => Printed::Names,
        "tag" | "remote"
            if words.iter().all(|word| word.starts_with('-') || has(&["-l", "--list"]))
                && format.is_none() =>
        {
            if has(&["-n", "-v"]) {
                Printed::Unknown
            } else {
                Printed::Names
            }
        }
        "for-each-ref" | "branch" if format.is_some_and(|it| it.starts_with("%(refname")) => Printed::Names,
        "log" | "show" => match format {
            Some("%H" | "%h" | "%T" | "%P") => Printed::Names,
            Some("%ct" | "%at") => Printed::Names,
            Some("" | "format:") if has(&["--name-only"]) => Printed::Names,
            _ => Printed::Ours,
        },
        "ls-files" | "ls-tree" | "diff" | "diff-tree" | "grep"
            if is_plain && (*sub == "ls-files" || has(&["--name-only", "-l", "--files-with-matches"])) =>
        {
            Printed::Names
        }
        _ => Printed::Unknown,
    }
}
