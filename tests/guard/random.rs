//! Random rules, and random permissions in the words of every agent, with what an agent might do that asks for them. All of
//! it is chosen by a row of bytes, so that a test and a fuzzing engine share it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

/// Bytes that choose.
pub(crate) struct Dice<'a>(std::slice::Iter<'a, u8>);

impl<'a> Dice<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Dice(bytes.iter())
    }

    /// Returns a number below this one: zero once no bytes are left.
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % sides)
    }

    fn is(&mut self, percent: usize) -> bool {
        // Zero, which comes once no bytes are left, is not one.
        self.below(100) >= 100 - percent
    }

    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

impl Dice<'_> {
    /// Returns files, folders and links of a project and its surroundings, as a table has them.
    pub(crate) fn tree(&mut self) -> String {
        let mut lines =
            vec!["dir OUTSIDE/a/b".to_owned(), "file OUTSIDE/c".to_owned(), "dir PROJECT-2/a".to_owned()];
        let mut taken = Vec::new();
        for _ in 0..4 + self.below(8) {
            let depth = 1 + self.below(3);
            let parts: Vec<_> = (0..depth).map(|_| self.one(&["a", "b", "c", "link", "d"])).collect();
            let path = parts.join("/");
            // A path goes through no file and no link: the tree is made in any order.
            let is_taken = |other: &String| path.starts_with(other.as_str()) || other.starts_with(&path);
            if taken.iter().any(is_taken) {
                continue;
            }
            let target = self.one(&[
                "..",
                ".",
                "../outside",
                "../../outside",
                "OUTSIDE",
                "OUTSIDE/c",
                "OUTSIDE/new",
                "PROJECT/a",
                "PROJECT/a/b",
                "a",
                "b",
                "c",
                "link",
                "nowhere",
                "../../..",
                "/",
                "PROJECT-2",
                "../project-2",
                "/proc/self/cwd",
                "PROJECT",
            ]);
            lines.push(match self.below(4) {
                0 => format!("dir PROJECT/{path}"),
                1 => format!("file PROJECT/{path}"),
                _ => format!("link PROJECT/{path} -> {target}"),
            });
            taken.push(path);
        }
        lines.join("\n")
    }
}

/// The programs that are there to be run.
pub(crate) const PROGRAMS: [&str; 10] =
    ["cargo", "git", "make", "npm", "cat", "rm", "bash", "sh", "env", "x"];

/// The programs of rules, the first of which are more likely.
const NAMED: [&str; 12] =
    ["cargo", "cargo", "git", "git", "make", "npm", "cat", "./run", "bash", "cargo", "x", "ca?go"];

const ARGUMENTS: [&str; 12] =
    ["test", "--lib", "push", "-c", "a b", "x=1", "don't", "", "a\"b", "ü", "-m", "rm x"];

/// What a rule says of commands.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    Exact(Vec<String>),
    Pattern { assignments: Vec<String>, words: Vec<String>, is_open: bool },
}

/// A rule that allows something.
#[derive(Clone, Debug)]
pub(crate) struct RandomRule {
    pub(crate) table: BTreeMap<String, Json>,
    pub(crate) command: Option<Words>,
    pub(crate) tools: Vec<String>,
}

impl RandomRule {
    pub(crate) fn new(dice: &mut Dice<'_>) -> Self {
        let mut rule = RandomRule { table: BTreeMap::new(), command: None, tools: Vec::new() };
        rule.table.insert("name".to_owned(), json!("r"));
        rule.table.insert("then".to_owned(), json!("allow"));
        if dice.is(60) {
            rule.name_command(dice);
        }
        if rule.command.is_none() || dice.is(10) {
            let kinds = [
                "read", "read", "search", "edit", "edit", "delete", "move", "fetch", "think", "Read", "other",
            ];
            let count = 1 + dice.below(4);
            rule.tools = (0..count).map(|_| dice.one(&kinds).to_owned()).collect();
            rule.table.insert("tool".to_owned(), json!(rule.tools));
        }
        if dice.is(if rule.command.is_some() { 70 } else { 25 }) {
            rule.table.insert("dangerous".to_owned(), json!(true));
        }
        rule
    }

    fn name_command(&mut self, dice: &mut Dice<'_>) {
        let program = dice.one(&NAMED).to_owned();
        let count = dice.below(3);
        if dice.is(20) {
            let arguments = (0..count).map(|_| dice.one(&ARGUMENTS).to_owned());
            let words: Vec<_> = [program].into_iter().chain(arguments).collect();
            self.table.insert("command".to_owned(), json!(words));
            self.command = Some(Words::Exact(words));
            return;
        }
        let assignments = if dice.is(20) { vec!["CI=1".to_owned()] } else { Vec::new() };
        let patterns = ["test", "t*", "?", "*", "--lib", "a b", "x*y"];
        let arguments = (0..count).map(|_| dice.one(&patterns).to_owned());
        let words: Vec<_> = [program].into_iter().chain(arguments).collect();
        // A `*` at the end stands for all further words.
        let is_open = dice.is(60) || words.last().is_some_and(|word| word == "*");
        let mut text: Vec<_> = assignments.iter().chain(&words).map(|word| in_single_quotes(word)).collect();
        let mut words = words;
        if words.last().is_some_and(|word| word == "*") {
            words.pop();
        } else if is_open {
            text.push("*".to_owned());
        }
        self.table.insert("command".to_owned(), json!(text.join(" ")));
        self.command = Some(Words::Pattern { assignments, words, is_open });
    }
}

/// What an agent might do that asks for a permission: whatever any of its parts may be taken for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Does {
    /// The texts of commands.
    pub(crate) commands: Vec<String>,
    /// The folders that commands would run in.
    pub(crate) folders: Vec<String>,
    /// Files, and whether they may be written.
    pub(crate) files: Vec<(String, bool)>,
    /// What changes what a command does.
    pub(crate) beside: Vec<&'static str>,
    /// What reaches further than files and commands.
    pub(crate) reaches: Vec<&'static str>,
    /// Whether a command runs, whether or not it is named.
    pub(crate) runs: bool,
}

/// A permission: a line as in the tables, and what it does.
pub(crate) struct RandomRequest {
    pub(crate) line: String,
    pub(crate) does: Does,
}

impl RandomRequest {
    pub(crate) fn new(dice: &mut Dice<'_>, rule: &RandomRule) -> Self {
        let mut writer = Writer { dice, rule, does: Does::default(), writes: false };
        let line = writer.request();
        RandomRequest { line, does: writer.does }
    }
}

struct Writer<'a, 'b> {
    dice: &'a mut Dice<'b>,
    rule: &'a RandomRule,
    does: Does,
    /// Whether files are written.
    writes: bool,
}

impl Writer<'_, '_> {
    fn request(&mut self) -> String {
        match self.dice.below(12) {
            0..=4 => {
                let kind = self.kind();
                let request = self.tool_call(kind);
                match self.dice.is(15) {
                    true => format!("acp {request} <- {}", self.tool_call(kind)),
                    false => format!("acp {request}"),
                }
            }
            5 => {
                self.does.runs = true;
                let command = self.command();
                let folder = self.folder();
                format!(r#"acp2 {{"type":"command","command":{command},"cwd":{folder}}}"#)
            }
            6 | 7 => {
                let over = self.dice.one(&["claude", "hook"]);
                let tools = ["Bash", "Bash", "Read", "Edit", "Write", "Grep"];
                let usual = if self.rule.command.is_some() { "Bash" } else { "Read" };
                let tool = if self.dice.is(50) { self.dice.one(&tools) } else { usual };
                self.does.runs = tool == "Bash";
                self.writes = matches!(tool, "Edit" | "Write");
                let mut input = self.input(tool == "Bash");
                if self.writes {
                    input.push(("new_string".to_owned(), "\"b\"".to_owned()));
                    input.push(("content".to_owned(), "\"b\"".to_owned()));
                }
                format!("{over} {tool} {}", object(&input))
            }
            8 => self.of_codex(),
            9 => self.of_copilot(),
            _ => self.of_opencode(),
        }
    }

    fn kind(&mut self) -> &'static str {
        let kinds = [
            "execute", "read", "edit", "search", "delete", "move", "think", "fetch", "other", "Execute",
            "READ", "",
        ];
        if self.dice.is(25) {
            return self.dice.one(&kinds);
        }
        match (&self.rule.command, self.rule.tools.first()) {
            (None, Some(tool)) => kinds.into_iter().find(|kind| kind == tool).unwrap_or("read"),
            _ => "execute",
        }
    }

    fn tool_call(&mut self, kind: &'static str) -> String {
        let mut members = Vec::new();
        if !kind.is_empty() {
            members.push(("kind".to_owned(), json!(kind).to_string()));
        }
        let kind = kind.to_lowercase();
        self.does.runs |= kind == "execute";
        self.writes |= matches!(&*kind, "edit" | "delete" | "move");
        let is_of_files = !self.does.runs;
        if is_of_files && self.dice.is(70) {
            let count = 1 + self.dice.below(2);
            let places: Vec<_> = (0..count).map(|_| format!(r#"{{"path":{}}}"#, self.file())).collect();
            members.push(("locations".to_owned(), format!("[{}]", places.join(","))));
        }
        if self.writes && self.dice.is(60) {
            let diff = format!(r#"[{{"type":"diff","path":{},"oldText":"a","newText":"b"}}]"#, self.file());
            members.push(("content".to_owned(), diff));
        }
        if self.does.runs || self.dice.is(40) {
            let input = self.input(self.does.runs);
            members.push(("rawInput".to_owned(), object(&input)));
        }
        object(&members)
    }

    /// Returns the members of an input.
    fn input(&mut self, runs: bool) -> Vec<(String, String)> {
        let mut members = Vec::new();
        match runs {
            true => self.add_command(&mut members),
            false => self.add_file(&mut members),
        }
        for _ in 0..self.dice.below(4) {
            match self.dice.below(12) {
                0 if self.dice.is(40) => self.add_command(&mut members),
                1 if self.dice.is(60) => self.add_file(&mut members),
                2 | 3 if runs => {
                    let name = self.dice.one(&["cwd", "workdir", "working_directory", "Cwd"]);
                    members.push((name.to_owned(), self.folder()));
                }
                4 => self.add_other(&mut members),
                _ => {
                    let name = self.dice.one(&["description", "timeout", "run_in_background", "title"]);
                    members
                        .push((name.to_owned(), self.dice.one(&["\"x\"", "5", "true", "null"]).to_owned()));
                }
            }
        }
        if self.dice.is(30) {
            members.reverse();
        }
        members
    }

    fn add_command(&mut self, members: &mut Vec<(String, String)>) {
        let names =
            ["command", "command", "command", "cmd", "Command", "script", "shell_command", "commands"];
        let name = if self.dice.is(40) { self.dice.one(&names) } else { "command" };
        if self.dice.is(4) {
            self.does.reaches.push("a command of an odd shape");
            members.push((
                name.to_owned(),
                self.dice.one(&["{\"a\":\"rm x\"}", "7", "[\"rm\",1]", "true"]).to_owned(),
            ));
            return;
        }
        let mut command = self.command();
        if name == "commands" {
            command = format!("[{command}]");
        }
        if self.dice.is(5) {
            members.push(("nested".to_owned(), format!("[{{{}:{command}}}]", json!(name))));
            self.does.beside.push("nested");
        } else {
            members.push((name.to_owned(), command));
        }
    }

    fn add_file(&mut self, members: &mut Vec<(String, String)>) {
        let name = self.dice.one(&["file_path", "file_path", "path", "filePath", "target_file", "paths"]);
        let mut file = self.file();
        if name == "paths" {
            file = format!("[{file}]");
        }
        self.does.beside.push("a file");
        members.push((name.to_owned(), file));
    }

    fn add_other(&mut self, members: &mut Vec<(String, String)>) {
        let (name, value, is_far) = self.dice.one(&[
            // A list of texts would be a part of the command: the tables try it.
            ("args", "[5]", false),
            ("arguments", "\"x\"", false),
            ("env", "{\"A\":\"1\"}", false),
            ("stdin", "\"x\"", false),
            ("mode", "5", false),
            ("url", "\"https://a\"", true),
            ("dangerouslyDisableSandbox", "true", true),
            ("with_escalated_permissions", "true", true),
            ("sandbox_permissions", "\"require_escalated\"", true),
        ]);
        let list = if is_far { &mut self.does.reaches } else { &mut self.does.beside };
        list.push(name);
        members.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the JSON of a command, as a text or a list of words.
    fn command(&mut self) -> String {
        if self.dice.is(15) {
            let words = self.words();
            self.does
                .commands
                .push(words.iter().map(|word| in_single_quotes(word)).collect::<Vec<_>>().join(" "));
            return json!(words).to_string();
        }
        let text = self.text();
        self.does.commands.push(text.clone());
        json!(text).to_string()
    }

    /// Returns words that the rule may name.
    fn words(&mut self) -> Vec<String> {
        let dice = &mut *self.dice;
        match &self.rule.command {
            Some(Words::Exact(words)) => words.clone(),
            Some(Words::Pattern { assignments, words, is_open }) => {
                let mut made: Vec<_> = assignments.clone();
                for word in words {
                    let mut text = String::new();
                    for char in word.chars() {
                        match char {
                            '*' => text.push_str(dice.one(&["", "a", "r", "est", "a b", "/"])),
                            '?' => text.push_str(dice.one(&["a", "r", "x"])),
                            char => text.push(char),
                        }
                    }
                    made.push(text);
                }
                if *is_open {
                    for _ in 0..dice.below(3) {
                        made.push(dice.one(&ARGUMENTS).to_owned());
                    }
                }
                made
            }
            None => vec![dice.one(&PROGRAMS).to_owned(), dice.one(&ARGUMENTS).to_owned()],
        }
    }

    /// Returns the text of a command: words in quotes, and often something else.
    fn text(&mut self) -> String {
        const ODD: [&str; 58] = [
            ";", "&&", "||", "|", "&", "; rm x", "&& rm x", "\n", "\nrm x", "\r", "\t", "\\\n", "\\", "'",
            "\"", "`rm x`", "$(rm x)", "$x", "${IFS}", "$'\\x3b'", ">", "> a", "<", "<(rm x)", "2>&1", "(",
            ")", "{", "}", "{a,b}", "*", "?", "[a-z]", "~", "~/a", "#", "# x", "!", "!!", "A=1", "A=1 ",
            "PATH=. ", "=", "\u{a0}", "\u{200b}", "\u{202e}", "\u{3000}", "\u{0}", "%", "^", "@", ",", "+",
            ":", "-", " ", "rm", "…",
        ];
        let words = self.words();
        let dice = &mut *self.dice;
        let mut text = String::new();
        if dice.is(8) {
            text.push_str(dice.one(&ODD));
        }
        for (place, word) in words.iter().enumerate() {
            if place > 0 {
                text.push_str(dice.one(&[" ", " ", " ", "  "]));
            }
            match dice.below(8) {
                0 if !word.contains('\'') => text.push_str(&format!("'{word}'")),
                1 if !word.contains(['"', '$', '`', '\\', '!']) => text.push_str(&format!("\"{word}\"")),
                2 if !word.contains('\'') => {
                    let half =
                        (0..=word.len() / 2).rev().find(|at| word.is_char_boundary(*at)).unwrap_or_default();
                    text.push_str(&format!("{}'{}'", quoted(&word[..half]), &word[half..]));
                }
                _ => text.push_str(&quoted(word)),
            }
            if dice.is(4) {
                text.push_str(dice.one(&ODD));
            }
        }
        if dice.is(10) {
            text.push_str(dice.one(&["", " "]));
            text.push_str(dice.one(&ODD));
            text.push_str(dice.one(&["", " x", "x"]));
        }
        text
    }

    /// Returns the JSON of a file.
    fn file(&mut self) -> String {
        let path = self.path();
        self.does.files.push((path.clone(), self.writes));
        json!(path).to_string()
    }

    fn folder(&mut self) -> String {
        let path = if self.dice.is(60) { "PROJECT".to_owned() } else { self.path() };
        self.does.folders.push(path.clone());
        json!(path).to_string()
    }

    fn path(&mut self) -> String {
        let dice = &mut *self.dice;
        let begin = match dice.below(10) {
            0..=3 => "",
            4..=7 => "PROJECT/",
            8 => "./",
            _ => dice.one(&[
                "/",
                "OUTSIDE/",
                "~/",
                "~",
                "$HOME/",
                "../",
                "file://",
                "file:",
                "%2e%2e/",
                "..\\",
                "PROJECT-2/",
                "PROJECT//",
                "`",
                "C:/",
                "//",
            ]),
        };
        let count = 1 + dice.below(3);
        let parts: Vec<_> = (0..count)
            .map(|_| match dice.below(16) {
                0 => dice.one(&["..", ".", "", "~", "%2e%2e", "a:5", "$x", "b\\c"]),
                _ => dice.one(&["a", "b", "c", "link", "d"]),
            })
            .collect();
        // An empty text names nothing.
        Some(format!("{begin}{}", parts.join("/"))).filter(|path| !path.is_empty()).unwrap_or("a".to_owned())
    }

    fn of_codex(&mut self) -> String {
        if self.rule.command.is_some() {
            self.does.runs = true;
            let (command, folder) = (self.command(), self.folder());
            let more = match self.dice.is(10) {
                true => {
                    self.does.reaches.push("additional permissions");
                    r#","additionalPermissions":{"network":{"enabled":true}}"#
                }
                false => "",
            };
            return match self.dice.is(30) && more.is_empty() {
                true => format!(
                    r#"codex-1-command {{"conversationId":"t","callId":"i","command":{command},"cwd":{folder}}}"#
                ),
                false => format!(
                    r#"codex-command {{"threadId":"t","itemId":"i","command":{command},"cwd":{folder}{more}}}"#
                ),
            };
        }
        self.writes = true;
        let file = self.file();
        match self.dice.below(3) {
            0 => format!(
                r#"codex-files {{"threadId":"t","itemId":"i"}} <- {{"type":"fileChange","id":"i","changes":[{{"path":{file},"kind":{{"type":"add"}},"diff":"x"}}]}}"#
            ),
            1 => format!(
                r#"codex-1-files {{"conversationId":"t","callId":"i","fileChanges":{{{file}:{{"type":"add","content":"x"}}}}}}"#
            ),
            _ => {
                let to = self.file();
                format!(
                    r#"codex-1-files {{"conversationId":"t","callId":"i","fileChanges":{{{file}:{{"type":"update","move_path":{to},"unified_diff":"x"}}}}}}"#
                )
            }
        }
    }

    fn of_copilot(&mut self) -> String {
        if self.rule.command.is_some() {
            self.does.runs = true;
            let text = self.text();
            self.does.commands.push(text.clone());
            let (command, folder) = (json!(text), self.folder());
            let more = match self.dice.is(10) {
                true => {
                    self.does.reaches.push("outside of the sandbox");
                    r#","requestSandboxBypass":true"#
                }
                false => "",
            };
            return format!(
                r#"copilot {{"kind":"commands","fullCommandText":{command},"resolvedWorkingDirectory":{folder}{more}}}"#
            );
        }
        match self.dice.below(3) {
            0 => {
                let (file, leads_to) = (self.file(), self.file());
                format!(r#"copilot {{"kind":"read","path":{file},"resolvedPath":{leads_to}}}"#)
            }
            1 => format!(r#"copilot {{"kind":"read","path":{}}}"#, self.file()),
            _ => {
                self.writes = true;
                let file = self.file();
                format!(r#"copilot {{"kind":"write","fileName":{file},"diff":"--- a\n+++ a\n"}}"#)
            }
        }
    }

    fn of_opencode(&mut self) -> String {
        let (permission, patterns) = match self.rule.command {
            Some(_) => {
                self.does.runs = true;
                ("bash", "\"ls\"".to_owned())
            }
            None => {
                let permission = self.dice.one(&["read", "edit", "grep", "list"]);
                self.writes = permission == "edit";
                let is_named = permission == "read" || permission == "list";
                (permission, if is_named { self.file() } else { "\"*\"".to_owned() })
            }
        };
        let metadata = self.input(permission == "bash");
        format!(
            r#"opencode {{"id":"p","sessionID":"s","permission":"{permission}","patterns":[{patterns}],"metadata":{}}}"#,
            object(&metadata)
        )
    }
}

fn object(members: &[(String, String)]) -> String {
    let members: Vec<_> = members.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// Returns a word as every shell reads it as one.
pub(crate) fn in_single_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns a word as most agents write it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./=:,@%+".contains(char);
    match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        word if word.contains('\'') && !word.contains('"') => format!("\"{word}\""),
        word => in_single_quotes(word),
    }
}
