//! Reads the tables of programs. Each line begins with one of these words; the lines of a program or a subcommand have two
//! more spaces than its own. `program *` holds for programs that are not known; its options that begin with `--` also hold
//! where a known program has none of that name:
//!
//! | line | meaning |
//! | --- | --- |
//! | `program NAMES`, `sub NAMES` | begins programs, or their subcommands; `sub *` is any |
//! | `does: WHY` | what it does, of a program that a rule must not leave open |
//! | `harm: WHY` | it is dangerous; `unless OPTIONS`, `unless word PATTERNS` and `unless most N` are the exceptions |
//! | `harm OPTIONS: WHY`, `harm word PATTERNS: WHY` | with one of these it is dangerous |
//! | `send …: WHY` | the same, unless it sends to this machine, or only says what it would do |
//! | `dry OPTIONS` | with one of these it only says what it would do: `harm`, `harm word` and `send` do not count |
//! | `fine OPTIONS`, `fine word PATTERNS` | these are not, whatever the lines below say; `-c=user.*` means values |
//! | `hole OPTIONS: WHY` | a rule that leaves words open does not mean these options |
//! | `names OPTIONS: WHY` | their value is a program that runs |
//! | `looks`, `looks most N`, `looks OPTIONS`, `acts OPTIONS` | it only looks: always, with at most N words, or with an option; or not |
//! | `value OPTIONS`, `flag OPTIONS` | what they do does not count; the first ones take a value |
//! | `writes OPTIONS`, `writes last`, `writes all` | files that it writes |
//! | `reads: WHY` | it is dangerous if another program fetches what it reads |
//! | `where OPTIONS` | folders and files whose code runs |
//! | `text OPTIONS`, `code LANGUAGE OPTIONS`, `runs OPTIONS`, `module OPTIONS` | their value is a command, code, the first word of a command, a module |
//! | `command N`, `shell N`, `shells`, `anywhere`, `script LANGUAGE`, `codes LANGUAGE`, `command-of PROGRAM` | what the words are that are no options, see [`Rest`] |
//! | `open`, `open first WORDS` | a rule that leaves words open would allow any command |
//! | `by NAME`, `idle OPTIONS`, `inherit`, `texts`, `pattern`, `evaluates`, `long`, `plus`, `assigns`, `always`, `is-local`, `passes`, `fed`, `builds`, `early` | see [`By`] and [`Flags`](super::row::Flags) |

use super::row::{By, Effect, Open, OptionRow, Rest, Row, Writes};

/// Returns the programs of a table, and the lines that are not understood.
pub(super) fn read(text: &'static str) -> (Vec<Row>, Vec<&'static str>) {
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty() && !line.starts_with("##")).collect();
    let mut wrong = Vec::new();
    let rows = blocks(&lines, 0, "program", &mut wrong);
    (rows, wrong)
}

/// Reads the rows that begin at this depth with this word.
fn blocks(lines: &[&'static str], depth: usize, head: &str, wrong: &mut Vec<&'static str>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut place = 0;
    while let Some(line) = lines.get(place) {
        place += 1;
        let Some(names) = line[depth.min(line.len())..].strip_prefix(head) else { continue };
        if indent(line) != depth {
            continue;
        }
        let end = lines[place..].iter().position(|line| indent(line) <= depth);
        let inner = &lines[place..end.map_or(lines.len(), |end| place + end)];
        let names = names.split_ascii_whitespace().collect();
        let mut row = Row { names, ..Row::default() };
        for line in inner.iter().filter(|line| indent(line) == depth + 2) {
            if !line.trim_start().starts_with("sub ") && !row.read(line.trim_start()) {
                wrong.push(line);
            }
        }
        row.subs = blocks(inner, depth + 2, "sub ", wrong);
        rows.push(row);
    }
    rows
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

impl Row {
    /// Reads a line of the row. Returns whether it is understood.
    fn read(&mut self, line: &'static str) -> bool {
        let (line, why) = match line.split_once(": ") {
            Some((line, why)) => (line, why),
            None => (line, ""),
        };
        let mut words = line.split_ascii_whitespace();
        let head = words.next().unwrap_or_default();
        let words: Vec<_> = words.collect();
        match (head, &words[..]) {
            ("does", []) => self.does = why,
            ("harm", []) => self.harm = Some(why),
            ("looks", []) => self.looks = Some(usize::MAX),
            ("looks", ["most", count]) => self.looks = count.parse().ok(),
            ("unless", ["most", count]) => self.unless_most = count.parse().ok(),
            ("writes", ["last"]) => self.writes = Writes::Last,
            ("writes", ["all"]) => self.writes = Writes::All,
            ("command", [count]) => self.rest = count.parse().map(Rest::Command).unwrap_or_default(),
            ("shell", [count]) => self.rest = count.parse().map(Rest::Text).unwrap_or_default(),
            ("shells", []) => self.rest = Rest::Texts,
            ("anywhere", []) => self.rest = Rest::Anywhere,
            ("script", [language]) => self.rest = Rest::Script(language),
            ("codes", [language]) => self.rest = Rest::Code(language),
            ("command-of", [program]) => self.rest = Rest::Of(program),
            ("open", []) => self.open = Open::Any,
            ("open", ["first", words @ ..]) => self.open = Open::First(words.to_vec()),
            ("inherit", []) => self.flags.inherits = true,
            ("texts", []) => self.flags.texts = true,
            ("pattern", []) => self.flags.has_pattern = true,
            ("evaluates", []) => self.flags.evaluates = true,
            ("long", []) => self.flags.is_long = true,
            ("plus", []) => self.flags.has_plus = true,
            ("assigns", []) => self.flags.assigns = true,
            ("always", []) => self.flags.always = true,
            ("is-local", []) => self.flags.is_local = true,
            ("passes", []) => self.flags.passes = true,
            ("builds", []) => self.flags.builds = true,
            ("fed", []) => self.flags.is_fed = true,
            ("early", []) => self.flags.is_early = true,
            ("reads", []) => self.reads = Some(why),
            ("by", [name]) => match by(name) {
                Some(by) => self.by = Some(by),
                None => return false,
            },
            ("code", [language, options @ ..]) => self.add(Effect::Code(language), options, why),
            (head, ["word", patterns @ ..]) if let Some(effect) = effect(head) => {
                let row = |name: &&'static str| OptionRow { name, pattern: None, effect, why };
                self.words.extend(patterns.iter().map(row));
            }
            (head, [_, ..]) if let Some(effect) = effect(head) => self.add(effect, &words, why),
            _ => return false,
        }
        true
    }

    fn add(&mut self, effect: Effect, options: &[&'static str], why: &'static str) {
        let read = |option: &&'static str| match option.split_once('=') {
            Some((name, pattern)) => OptionRow { name, pattern: Some(pattern), effect, why },
            None => OptionRow { name: option, pattern: None, effect, why },
        };
        self.options.extend(options.iter().map(read));
    }
}

fn effect(head: &str) -> Option<Effect> {
    Some(match head {
        "flag" => Effect::Flag,
        "value" | "fine" => Effect::Value,
        "harm" => Effect::Harm,
        "send" => Effect::Send,
        "hole" => Effect::Hole,
        "names" => Effect::Names,
        "looks" => Effect::Looks,
        "acts" => Effect::Acts,
        "unless" => Effect::Unless,
        "dry" => Effect::Dry,
        "writes" => Effect::Writes,
        "where" => Effect::Where,
        "text" => Effect::Text,
        "runs" => Effect::Runs,
        "module" => Effect::Module,
        "idle" => Effect::Idle,
        _ => return None,
    })
}

fn by(name: &str) -> Option<By> {
    Some(match name {
        "assignments" => By::Assignments,
        "awk" => By::Awk,
        "cd" => By::Cd,
        "checkout" => By::Checkout,
        "chmod" => By::Chmod,
        "cp" => By::Cp,
        "dashes" => By::Dashes,
        "emulate" => By::Emulate,
        "find" => By::Find,
        "let" => By::Let,
        "mongo" => By::Mongo,
        "sed" => By::Sed,
        "shell" => By::Shell,
        "sql" => By::Sql,
        "tar" => By::Tar,
        "xargs" => By::Xargs,
        _ => return None,
    })
}
