//! Merges the layers: which value of a setting wins, which layer it comes from, and which values are ignored.
//! The layers here are the defaults, the user's file, the project's file and the environment. Flags win over all of
//! them, in `cli`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    document::{self, DocumentEntry, Mark},
    key::{AnyKey, Key, Project, Setting},
    keys,
    machine_tables::{self, MachineTable},
    mcp_servers::{self, McpServer},
    place::{self, Layer, Place, Problem, StoredValue, printable, unknown_named},
    rule_tables::{self, RuleTable},
};
use crate::{limits, rule::Rule};

/// A file and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Whether other users of the machine may read it.
    pub is_readable_by_others: bool,
}

/// The sources of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The user's own file.
    pub user: Option<SettingsFile>,
    /// The file of the project.
    pub project: Option<SettingsFile>,
    /// The environment variables that begin with [`keys::PREFIX`].
    pub environment: Vec<(String, String)>,
    /// The user's home, which replaces `~`.
    pub home: Option<PathBuf>,
    /// The sources that could not be read at all.
    pub problems: Vec<Problem>,
}

/// The values of one `[[notify.project]]`, by the names of its settings.
pub type ProjectTable = BTreeMap<&'static str, StoredValue>;

/// The settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The values that differ from the defaults.
    values: BTreeMap<&'static str, StoredValue>,
    /// The settings that the file of the project narrows.
    narrowed: BTreeSet<&'static str>,
    projects: Vec<ProjectTable>,
    rules: Vec<Rule>,
    rule_tables: Vec<RuleTable>,
    machines: Vec<MachineTable>,
    mcp_servers: Vec<McpServer>,
    home: Option<PathBuf>,
    problems: Vec<Problem>,
}

impl Settings {
    /// Merges the sources.
    pub fn of(sources: Sources) -> Self {
        let Sources { user, project, environment, home, problems } = sources;
        let mut settings = Settings { home, problems, ..Settings::default() };
        if let Some(file) = user {
            settings.file(&file, false);
            // This precedes the other layers, so that only secrets of this file count.
            settings.shared_secret(&file);
        }
        if let Some(file) = project {
            settings.file(&file, true);
        }
        for (name, text) in environment {
            settings.variable(name, &text);
        }
        settings
    }

    /// Returns the effective value.
    pub fn get<T: Setting>(&self, key: &Key<T>) -> T {
        let stored = self.values.get(key.path());
        // A stored value was parsed successfully before, so it parses again.
        stored.and_then(|stored| T::read(&stored.value).ok()).unwrap_or_else(|| key.default())
    }

    /// Returns the effective path, with `~` replaced by the user's home.
    pub fn path(&self, key: &Key<Option<PathBuf>>) -> Option<PathBuf> {
        self.get(key).map(|path| self.at_home(path))
    }

    /// Returns the effective value of any setting, and the layer that it comes from.
    pub fn stored(&self, key: &dyn AnyKey) -> StoredValue {
        let default = || StoredValue { value: key.default_value(), origin: Layer::Default };
        self.values.get(key.path()).cloned().unwrap_or_else(default)
    }

    /// Returns the file of the project if it narrows the effective value.
    pub fn narrowed_by(&self, key: &dyn AnyKey) -> Option<PathBuf> {
        match self.stored(key).origin {
            Layer::Project(place) if self.narrowed.contains(key.path()) => Some(place.path),
            _ => None,
        }
    }

    /// Returns the tables of projects, in the order of the file.
    pub fn projects(&self) -> &[ProjectTable] {
        &self.projects
    }

    /// Returns the user's rules, in the order of the file. Rules with a mistake are left out.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rules in their written form.
    pub fn rule_tables(&self) -> &[RuleTable] {
        &self.rule_tables
    }

    /// Returns the user's machines, in the order of their names. Machines with a mistake are left out.
    pub fn machines(&self) -> &[MachineTable] {
        &self.machines
    }

    /// Returns the user's MCP servers over HTTP, in the order of the file; also those with a mistake.
    pub fn mcp_servers(&self) -> &[McpServer] {
        &self.mcp_servers
    }

    /// Returns the values that are ignored, and why.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns whether a value of this setting could not be read. It may have been meant for more than what counts now.
    pub fn is_broken(&self, key: &dyn AnyKey) -> bool {
        let is_of_key = |problem: &Problem| match &problem.origin {
            Some(Layer::Environment(name)) => *name == keys::variable(key),
            _ => problem.message.contains(key.path()),
        };
        self.problems.iter().any(is_of_key)
    }

    /// Returns the path with `~` replaced by the user's home.
    pub(super) fn at_home(&self, path: PathBuf) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path,
        }
    }

    fn file(&mut self, file: &SettingsFile, is_project: bool) {
        let document = document::read(&file.text, &|name| {
            keys::is_section(name) || machine_tables::is_table(name) || mcp_servers::is_table(name)
        });
        let mut found: Vec<Problem> = Vec::new();
        let origin = |mark: Mark| {
            let place = Place { path: file.path.clone(), line: mark.line, column: mark.column };
            if is_project { Layer::Project(place) } else { Layer::User(place) }
        };
        for (mark, message) in &document.errors {
            found.push(Problem { origin: Some(origin(*mark)), message: format!("not TOML here: {message}") });
        }
        if document.entries.len() >= limits::SETTINGS_KEYS {
            let message =
                format!("the file has more than {} values: the others are ignored", limits::SETTINGS_KEYS);
            found.push(Problem { origin: Some(origin(Mark { line: 1, column: 1 })), message });
        }
        let mut tables = BTreeMap::new();
        let of_tables = self.tables_of(&document, is_project, &origin);
        found.extend(
            of_tables.into_iter().map(|(mark, message)| Problem { origin: Some(origin(mark)), message }),
        );
        let has_own_pass = |path: &[String]| {
            rule_tables::is_of_rule(path)
                || machine_tables::is_of_machine(path)
                || mcp_servers::is_of_server(path)
        };
        for entry in document.entries.iter().filter(|entry| !has_own_pass(&entry.path)) {
            // The position of a problem is the name for a mistake in the name, else the value.
            let (mark, taken) = self.entry(entry, is_project, &mut tables, &origin);
            found.extend(taken.err().map(|message| Problem { origin: Some(origin(mark)), message }));
        }
        self.take_projects(tables, &mut found);
        // Rules and project tables are read in passes of their own, so their problems are out of order.
        found.sort_by_key(|problem| {
            problem.origin.as_ref().and_then(Layer::place).map(|place| (place.line, place.column))
        });
        self.keep(found, &file.path);
    }

    /// Stores the rules, the machines and the MCP servers of the user's file. Returns their mistakes.
    fn tables_of(
        &mut self,
        document: &document::Document,
        is_project: bool,
        origin: &dyn Fn(Mark) -> Layer,
    ) -> Vec<(Mark, String)> {
        if is_project {
            // A project's file comes with its repository, whose authors may neither decide for the user nor name
            // commands that are run on the user's machine, nor where secrets are sent.
            let refused = [
                rule_tables::refuse(document),
                machine_tables::refuse(document),
                mcp_servers::refuse(document),
            ];
            return refused.concat();
        }
        let (machines, of_machines) = machine_tables::read(document, origin);
        let (servers, of_servers) = mcp_servers::read(document, self.home.as_deref(), origin);
        (self.machines, self.mcp_servers) = (machines, servers);
        [self.rules_of(document, origin), of_machines, of_servers].concat()
    }

    /// Stores the rules of the user's file. Returns their mistakes.
    fn rules_of(
        &mut self,
        document: &document::Document,
        origin: &dyn Fn(Mark) -> Layer,
    ) -> Vec<(Mark, String)> {
        let rule_tables::FileRules { rules, tables, problems } =
            rule_tables::read(document, self.home.as_deref(), origin);
        (self.rules, self.rule_tables) = (rules, tables);
        problems
    }

    /// Stores one entry of a file. On failure, the text describes the mistake.
    fn entry(
        &mut self,
        entry: &DocumentEntry,
        is_project: bool,
        tables: &mut BTreeMap<usize, ProjectTable>,
        origin: &dyn Fn(Mark) -> Layer,
    ) -> (Mark, Result<(), String>) {
        let path = entry.path.join(".");
        if let Some(rest) = path.strip_prefix(keys::PROJECTS).filter(|rest| rest.starts_with('.')) {
            if is_project {
                let message =
                    "only your own file may set `notify.project`: a project decides nothing about others";
                return (entry.name, Err(message.to_owned()));
            }
            return of_project(rest, entry, tables, origin);
        }
        let Some(key) = keys::find(&path) else { return (entry.name, Err(unknown(&path, &entry.value))) };
        if is_project && let Project::Refused(what) = key.project() {
            return (entry.name, Err(format!("only your own file may set `{path}`: {what}")));
        }
        let value = match key.check(&entry.value) {
            Ok(value) => value,
            Err(message) => return (entry.at, Err(format!("`{path}`: {message}"))),
        };
        // The user's file was read before the project's, so this is the user's own value, or else the default.
        let held = self.stored(key).value;
        if is_project && key.project() == Project::Narrower && !key.narrows(&value, &held) {
            let message =
                format!("`{path}`: a project may only set less than your own value, which is {held}");
            return (entry.at, Err(message));
        }
        if is_project && value != held {
            self.narrowed.insert(key.path());
        }
        self.values.insert(key.path(), StoredValue { value, origin: origin(entry.at) });
        (entry.at, Ok(()))
    }

    /// Stores the tables of projects. A table without a folder belongs to no project, and is a problem.
    fn take_projects(&mut self, tables: BTreeMap<usize, ProjectTable>, problems: &mut Vec<Problem>) {
        // A table is empty if all of its entries have mistakes, which were reported before.
        for table in tables.into_values().filter(|table| !table.is_empty()) {
            match table.contains_key(keys::PROJECT_FOLDER.path()) {
                true => self.projects.push(table),
                false => {
                    let origin = table.into_values().next().map(|stored| stored.origin);
                    let message = "this [[notify.project]] has no `folder`, so it is ignored".to_owned();
                    problems.push(Problem { origin, message });
                }
            }
        }
    }

    /// Adds a problem if the file has a secret and others may read it.
    fn shared_secret(&mut self, file: &SettingsFile) {
        if !file.is_readable_by_others {
            return;
        }
        let path = file.path.display();
        let secret = keys::all().find(|key| key.is_secret() && self.values.contains_key(key.path()));
        if let Some(key) = secret {
            let stored = self.stored(key);
            let message =
                format!("`{}` is a secret, and others may read it here: chmod 600 {path}", key.path());
            self.problems.push(Problem { origin: Some(stored.origin), message });
        }
        if self.mcp_servers.iter().any(McpServer::has_secret) {
            let message = format!(
                "the headers of [[{}]] are secrets, and others may read them here: chmod 600 {path}",
                keys::MCP_SERVERS
            );
            self.problems.push(Problem { origin: None, message });
        }
    }

    fn variable(&mut self, name: String, text: &str) {
        // Scripts unset a variable by making it empty.
        if text.is_empty() {
            return;
        }
        let found = keys::all().find(|key| keys::variable(*key) == name);
        let taken = found.ok_or_else(|| unknown_variable(&name)).and_then(|key| {
            let value = key.check(&key.typed(text))?;
            Ok((key.path(), value))
        });
        match taken {
            Ok((path, value)) => {
                self.values.insert(path, StoredValue { value, origin: Layer::Environment(name) });
            }
            Err(message) => self.problems.push(Problem { origin: Some(Layer::Environment(name)), message }),
        }
    }

    /// Stores the problems of a file, up to a number that a person would read.
    fn keep(&mut self, mut found: Vec<Problem>, path: &Path) {
        let count = found.len();
        found.truncate(limits::SETTINGS_PROBLEMS);
        let more = count - found.len();
        self.problems.append(&mut found);
        if more > 0 {
            let message = format!("{}: and {more} more problems", path.display());
            self.problems.push(Problem { origin: None, message });
        }
    }
}

/// Stores a value of one `[[notify.project]]`. `rest` has the number of the table and the name of the value.
fn of_project(
    rest: &str,
    entry: &DocumentEntry,
    tables: &mut BTreeMap<usize, ProjectTable>,
    origin: &dyn Fn(Mark) -> Layer,
) -> (Mark, Result<(), String>) {
    let mut parts = rest.trim_start_matches('.').splitn(2, '.');
    let (number, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(number) = number.parse::<usize>() else { return (entry.name, Err(single_brackets())) };
    let table = tables.entry(number).or_default();
    let Some(key) = keys::of_project().find(|key| key.path() == name) else {
        let meant = place::closest(name, keys::of_project().map(|key| key.path()));
        return (entry.name, Err(unknown_named(&format!("{} of a project", printable(name)), meant)));
    };
    match key.check(&entry.value) {
        Ok(value) => {
            table.insert(key.path(), StoredValue { value, origin: origin(entry.at) });
            (entry.at, Ok(()))
        }
        Err(message) => (entry.at, Err(format!("`{name}` of a project: {message}"))),
    }
}

fn single_brackets() -> String {
    format!("each project has a table of its own: write [[{}]], with two brackets", keys::PROJECTS)
}

/// Describes the mistake in a name that is not a setting.
fn unknown(path: &str, value: &Value) -> String {
    if path == keys::PROJECTS {
        return single_brackets();
    }
    if keys::is_section(path) {
        return format!("`{path}` is a table: write [{path}]");
    }
    let table = path.split('.').next().unwrap_or_default();
    if place::closest(table, [keys::RULES].into_iter()).is_some() {
        return format!("there is no table `{}`: for each rule, write [[{}]]", printable(table), keys::RULES);
    }
    match value {
        Value::Object(_) => unknown_named(&format!("table `{}`", printable(path)), place::near_section(path)),
        _ => unknown_named(&format!("setting `{}`", printable(path)), place::near_key(path)),
    }
}

fn unknown_variable(name: &str) -> String {
    let names: Vec<_> = keys::all().map(keys::variable).collect();
    unknown_named("such variable", place::closest(name, names.iter().map(String::as_str)))
}

/// Describes the mistake in the typed name of a setting.
pub fn unknown_key(path: &str) -> String {
    unknown(path, &Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NotifySettings, keys, limits, words::Disclosure};

    const USER: &str = "config.toml";
    const PROJECT: &str = ".askbridge.toml";

    fn file(path: &str, text: &str) -> Option<SettingsFile> {
        Some(SettingsFile { path: path.into(), text: text.to_owned(), is_readable_by_others: false })
    }

    fn settings(user: &str, project: &str, environment: &[(&str, &str)]) -> Settings {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::of(Sources {
            user: file(USER, user),
            project: file(PROJECT, project),
            environment: environment.collect(),
            home: Some("/people/ada".into()),
            problems: Vec::new(),
        })
    }

    fn problems(settings: &Settings) -> Vec<String> {
        settings.problems().iter().map(ToString::to_string).collect()
    }

    fn shown(settings: &Settings, path: &str) -> (String, String) {
        let stored = settings.stored(keys::find(path).unwrap());
        (stored.value.to_string(), stored.origin.to_string())
    }

    #[test]
    fn later_layers_win_and_each_value_knows_its_place() {
        let pair = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
        let user = "[notify]\ndelay = '20s'\nquiet = ['1:00-2:00']\n[bridge]\nchat-hint = true\n";
        let project = "# ours\n[notify]\n  delay =  \"30s\"\n[bridge]\nchat-hint = false\n";
        let all =
            settings(user, project, &[("ASKBRIDGE_BRIDGE_CHAT_HINT", "true"), ("ASKBRIDGE_LOG_LEVEL", "")]);
        assert_eq!(problems(&all), [""; 0]);
        assert_eq!(shown(&all, "notify.delay"), pair("\"30s\"", ".askbridge.toml:3:12"));
        assert_eq!(shown(&all, "notify.quiet"), pair("[\"01:00-02:00\"]", "config.toml:3:9"));
        assert_eq!(shown(&all, "bridge.chat-hint"), pair("true", "ASKBRIDGE_BRIDGE_CHAT_HINT"));
        assert_eq!(shown(&all, "log.level"), pair("\"warn\"", "default"));
        assert!(all.get(&keys::BRIDGE_CHAT_HINT));
        assert_eq!(all.get(&keys::NOTIFY_DELAY).as_secs(), 30);
        assert_eq!(settings(user, "", &[]).get(&keys::NOTIFY_DELAY).as_secs(), 20);
        assert_eq!(settings("", "", &[]).get(&keys::NOTIFY_DELAY), limits::NOTIFY_DELAY);
    }

    #[test]
    fn each_mistake_is_named_with_its_place_and_the_rest_counts() {
        for (text, problem) in [
            (
                "[bridge]\ntimout = '1s'",
                "config.toml:2:1: there is no setting `bridge.timout`; did you mean `bridge.timeout`?",
            ),
            (
                "timeout = '1s'",
                "config.toml:1:1: there is no setting `timeout`; did you mean `bridge.timeout`?",
            ),
            (
                "[notify.webhook]\ntopic = 'x'",
                "config.toml:2:1: there is no setting `notify.webhook.topic`; did you mean `notify.ntfy.topic`?",
            ),
            (
                "[bridge]\nchat_hint = false",
                "config.toml:2:1: there is no setting `bridge.chat_hint`; did you mean `bridge.chat-hint`?",
            ),
            (
                "[brigde]\ntimeout = '1s'",
                "config.toml:1:2: there is no table `brigde`; did you mean `bridge`?",
            ),
            ("[zzzzzzzzzz]\na = 1", "config.toml:1:2: there is no table `zzzzzzzzzz`"),
            ("bridge = 1", "config.toml:1:1: `bridge` is a table: write [bridge]"),
            (
                "[notify.project]\nfolder = '/a'",
                "config.toml:1:9: each project has a table of its own: write [[notify.project]], with two brackets",
            ),
            (
                "[[notify.project]]\nfolder = '/a'\ntxt = 'all'",
                "config.toml:3:1: there is no txt of a project; did you mean `text`?",
            ),
            (
                "[[notify.project]]\nfolder = 'a'",
                "config.toml:2:10: `folder` of a project: \"a\" does not begin with / or ~/",
            ),
            (
                "[[notify.project]]\nenabled = false",
                "config.toml:2:11: this [[notify.project]] has no `folder`, so it is ignored",
            ),
            (
                "[bridge]\ntimeout = 90",
                "config.toml:2:11: `bridge.timeout`: 90 is not a number and a unit, such as \"500ms\", \"90s\", \"10m\" or \"2h\"; or \"never\"",
            ),
            (
                "[bridge.timeout]\na = 1",
                "config.toml:1:1: `bridge.timeout`: {\"a\":1} is not a number and a unit, such as \"500ms\", \"90s\", \"10m\" or \"2h\"; or \"never\"",
            ),
            (
                "[notify.sound]\ncommand = 'paplay x'",
                "config.toml:2:11: `notify.sound.command`: \"paplay x\" is not a list of the program and its arguments, such as [\"paplay\", \"bell.ogg\"]: no shell reads it",
            ),
            ("[log]\nfile = 'log'", "config.toml:2:8: `log.file`: \"log\" does not begin with / or ~/"),
        ] {
            let settings = settings(&format!("{text}\n[notify.terminal]\nenabled = false\n"), "", &[]);
            assert_eq!(problems(&settings), [problem], "{text}");
            assert!(!settings.get(&keys::NOTIFY_TERMINAL_ENABLED), "the rest does not count: {text}");
        }
    }

    #[test]
    fn what_is_not_toml_is_named_and_the_other_lines_count() {
        for text in [
            "[bridge]\ntimeout = 10m",
            "[bridge]\ntimeout = \"10m",
            "[bridge]\ntimeout 10m",
            "[bridge]\ntimeout =",
            "[bridge]\ntimeout = ~",
        ] {
            let settings =
                settings(&format!("{text}\ngrace = '3s'\n[notify.terminal]\nenabled = false\n"), "", &[]);
            let found = problems(&settings);
            let [problem] = &found[..] else { panic!("{text}: {found:?}") };
            assert!(problem.starts_with("config.toml:2:") && problem.contains("not TOML here"), "{problem}");
            assert_eq!(shown(&settings, "bridge.timeout").0, "\"never\"", "{text}");
            assert_eq!(settings.get(&keys::BRIDGE_GRACE).as_secs(), 3, "{text}");
            assert!(!settings.get(&keys::NOTIFY_TERMINAL_ENABLED), "{text}");
        }
        let header = settings(
            "[bridge]\ngrace = '3s'\n[notify.webhook\ntext = 'all'\n[notify]\ndelay = '1s'\n",
            "",
            &[],
        );
        assert_eq!(shown(&header, "notify.delay").0, "\"1s\"");
        assert_eq!(problems(&header).len(), 1, "{:?}", problems(&header));
        let list = settings("[notify.sound]\ncommand = [\n'sh',\nx,\n'-c']\n", "", &[]);
        assert_eq!(shown(&list, "notify.sound.command").0, "null", "part of a value is not a value");
        let twice = settings("[bridge]\ngrace = '1s'\ngrace = '2s'\n", "", &[]);
        assert_eq!(problems(&twice), ["config.toml:3:1: not TOML here: duplicate key"]);
    }

    #[test]
    fn variables_are_named_with_what_was_meant() {
        let found = settings(
            "",
            "",
            &[("ASKBRIDGE_NOTIFY_DELAI", "1s"), ("ASKBRIDGE_NOTIFY_DELAY", "1"), ("ASKBRIDGE_X", "1")],
        );
        let found = problems(&found);
        assert_eq!(
            found[0],
            "ASKBRIDGE_NOTIFY_DELAI: there is no such variable; did you mean `ASKBRIDGE_NOTIFY_DELAY`?"
        );
        assert!(
            found[1].starts_with("ASKBRIDGE_NOTIFY_DELAY: \"1\" is not a number and a unit"),
            "{found:?}"
        );
        assert_eq!(found[2], "ASKBRIDGE_X: there is no such variable");
    }

    /// Each value is of the right kind, and would do what a project must not do.
    const HOSTILE: &[(&str, &str, &str)] = &[
        ("fleet", "url", "'tls://broker.example.org'"),
        ("fleet", "credentials", "'/etc/mine.json'"),
        ("fleet", "ca", "'/etc/mine.pem'"),
        ("fleet", "server-user", "'nobody'"),
        ("journal", "enabled", "false"),
        ("journal", "texts", "false"),
        ("journal", "context", "true"),
        ("journal", "keep", "'1s'"),
        ("journal", "size", "'1MiB'"),
        ("unattended", "then", "'reject'"),
        ("unattended", "when", "['ci']"),
        ("bridge", "timeout", "'1ms'"),
        ("bridge", "client-questions", "'none'"),
        ("bridge", "promise", "false"),
        ("bridge", "inbox", "false"),
        ("bridge", "serve", "'0.0.0.0:80'"),
        ("bridge", "grace", "'999d'"),
        ("permission", "confirm", "'dangerous'"),
        ("permission", "looks", "'plain'"),
        ("permission", "one-tap", "'acts'"),
        ("inbox", "address", "'0.0.0.0:80'"),
        ("inbox", "token-file", "'/dev/null'"),
        ("inbox", "allow-host", "['evil.example']"),
        ("inbox", "allow-origin", "['https://evil.example']"),
        ("inbox", "attach", "true"),
        ("inbox", "trusted-servers", "['evil.example:80']"),
        ("send", "undo", "'0s'"),
        ("mcp", "elicitation", "'host'"),
        ("mcp", "session", "'any'"),
        ("mcp", "ask", "['none/none']"),
        ("callbacks", "hosts", "['evil.example']"),
        ("callbacks", "secret", "'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'"),
        ("claude", "enabled", "false"),
        ("claude", "grace", "'0s'"),
        ("claude", "pass-after", "'0s'"),
        ("log", "level", "'trace'"),
        ("log", "file", "'~/.ssh/authorized_keys'"),
        ("log", "format", "'json'"),
        ("notify.heartbeat", "every", "'1s'"),
        ("notify.heartbeat", "command", "['sh']"),
        ("notify.sound", "command", "['sh']"),
        ("notify.command", "command", "['sh']"),
        ("notify.webhook", "url", "'https://evil.example'"),
        ("notify.ntfy", "server", "'https://evil.example'"),
        ("notify.ntfy", "topic", "'evil'"),
        ("notify.ntfy", "token", "'evil'"),
        // These are refused for their value: it allows more.
        ("notify.webhook", "text", "'all'"),
        ("notify.ntfy", "text", "'title'"),
        ("notify.desktop", "enabled", "true"),
        ("bridge", "permissions", "'inbox'"),
        ("notify", "purposes", "['permission']"),
    ];

    #[test]
    fn a_project_cannot_run_commands_or_widen_what_leaves_the_machine() {
        for &(table, name, value) in HOSTILE {
            let rest = if table == "notify" { "" } else { "[notify]\n" };
            let text = format!("[{table}]\n{name} = {value}\n{rest}delay = '1m'\n");
            let own = match name {
                "permissions" => "[bridge]\npermissions = 'client'",
                "purposes" => "[notify]\npurposes = ['question']",
                _ => "",
            };
            let all = settings(own, &text, &[]);
            let found = problems(&all);
            let [problem] = &found[..] else { panic!("{text}: {found:?}") };
            let path = format!("{table}.{name}");
            assert!(
                problem.contains(&format!("`{path}`")) && problem.starts_with(".askbridge.toml:2:"),
                "{problem}"
            );
            assert_eq!(shown(&all, &path), shown(&settings(own, "", &[]), &path), "{text}");
            assert_eq!(all.get(&keys::NOTIFY_DELAY).as_secs(), 60, "the rest counts");
        }
        let tables = settings("", "[[notify.project]]\nfolder = '/'\ntext = 'all'\n", &[]);
        assert!(tables.projects().is_empty());
        assert_eq!(problems(&tables).len(), 2, "{:?}", problems(&tables));
    }

    #[test]
    fn every_key_that_a_project_cannot_set_is_tried() {
        for key in keys::all().filter(|key| key.project() != Project::Free) {
            let is_tried = HOSTILE.iter().any(|(table, name, _)| format!("{table}.{name}") == key.path());
            // A terminal that its person switched off stays off: the same kind as the desktop.
            assert!(
                is_tried || key.path() == "notify.terminal.enabled",
                "{}: add a value that a project must not set to `HOSTILE`",
                key.path()
            );
        }
    }

    #[test]
    fn a_project_may_allow_less() {
        let own = "[notify.ntfy]\ntext = 'all'\n[notify.desktop]\nenabled = true\n";
        let less = "[notify.ntfy]\ntext = 'title'\n[notify.desktop]\nenabled = false\n[bridge]\npermissions = 'client'\n[notify]\npurposes = ['question']\n";
        let all = settings(own, less, &[]);
        assert_eq!(problems(&all), [""; 0]);
        assert_eq!(all.get(&keys::NOTIFY_NTFY_TEXT), Disclosure::Title);
        assert!(!all.get(&keys::NOTIFY_DESKTOP_ENABLED));
        assert_eq!(shown(&all, "bridge.permissions").0, "\"client\"");
        assert_eq!(shown(&all, "notify.purposes").0, "[\"question\"]");
    }

    #[test]
    fn what_a_project_switched_off_is_known_by_its_file() {
        const CLIENT: &str = "[bridge]\npermissions = 'client'\n";
        const INBOX: &str = "[bridge]\npermissions = 'inbox'\n";
        let by = |user: &str, project: &str, variables: &[(&str, &str)]| {
            settings(user, project, variables).narrowed_by(&keys::BRIDGE_PERMISSIONS)
        };
        let file = Some(PathBuf::from(".askbridge.toml"));
        assert_eq!(by("", CLIENT, &[]), file);
        assert_eq!(by(INBOX, CLIENT, &[]), file);
        assert_eq!(by(CLIENT, "", &[]), None);
        assert_eq!(by(CLIENT, CLIENT, &[]), None, "the user had switched it off");
        assert_eq!(by("", INBOX, &[]), None);
        for value in ["inbox", "client"] {
            let variables = [("ASKBRIDGE_BRIDGE_PERMISSIONS", value)];
            assert_eq!(by("", CLIENT, &variables), None, "the user decides by the environment");
        }
    }

    #[test]
    fn hostile_texts_take_bounded_time_and_name_few_problems() {
        let long = limits::SETTINGS_FILE;
        for text in [
            "[".repeat(long),
            "a=[".repeat(long / 3),
            format!("a={}", "{a=".repeat(long / 3)),
            "a.".repeat(long / 2),
            format!("[{}]\nx=1", "notify.".repeat(long / 7)),
            "\u{0}\n".repeat(long / 2),
            (0..long / 6).map(|n| format!("a{n}=1\n")).collect(),
            format!("notify={{{}}}", (0..long / 7).map(|n| format!("a{n}=1,")).collect::<String>()),
            "[[notify.project]]\n".repeat(long / 19),
            "x = '\u{1b}]0;pwned\u{7}'\n".repeat(100),
            "\r".repeat(long),
        ] {
            let found = settings("", &text, &[]);
            assert!(problems(&found).len() <= limits::SETTINGS_PROBLEMS + 1, "{}", &text[..20]);
            assert!(problems(&found).iter().all(|problem| problem.chars().count() < 500), "{}", &text[..20]);
            assert_eq!(found.values.len(), 0, "{}", &text[..20]);
        }
    }

    #[test]
    fn notify_settings_are_those_of_the_project() {
        let user = "
            [notify]
            delay = '20s'
            [notify.ntfy]
            topic = 'ada-7f3'
            text = 'all'
            [[notify.project]]
            folder = '~/src'
            text = 'none'
            [[notify.project]]
            folder = '~/src/shop'
            delay = '1m'
            quiet = ['00:00-24:00']
            purposes = ['permission']
            [[notify.project]]
            folder = '~/secret'
            enabled = false
            [[notify.project]]
            folder = '/people/ada'
            enabled = false
        ";
        let all = settings(user, "[notify]\ndelay = '5s'\n", &[]);
        assert_eq!(problems(&all), [""; 0]);
        let of = |folder: &str| NotifySettings::of(&all, Some(Path::new(folder)));
        let seconds = |folder: &str| of(folder).map(|notify| notify.delay.as_secs());
        let text = |folder: &str| of(folder).and_then(|notify| notify.ntfy).map(|ntfy| ntfy.text);
        assert_eq!(seconds("/people/ada/src/shop/web"), Some(60), "the person's own word wins");
        assert_eq!(seconds("/people/ada/src/shopping"), Some(5));
        assert_eq!(seconds("/people/ada/secret"), None);
        assert_eq!(text("/people/ada/src/blog"), Some(Disclosure::None));
        assert_eq!(text("/people/ada/src/shop"), Some(Disclosure::All), "only the longest folder counts");
        let shop = of("/people/ada/src/shop").unwrap();
        assert!(shop.quiet.contains(0) && shop.purposes == [askbridge_core::question::Purpose::Permission]);
        assert!(!format!("{shop:?}").contains("ada-7f3"), "a log would have the secret");
        let every = settings(user, "", &[("ASKBRIDGE_NOTIFY_DELAY", "2s")]);
        let notify = NotifySettings::of(&every, Some(Path::new("/people/ada/src/shop")));
        assert_eq!(notify.map(|notify| notify.delay.as_secs()), Some(2), "the environment wins");
    }
}
