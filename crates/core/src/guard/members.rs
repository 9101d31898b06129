//! What a member of a tool's input means, by its name and its value. A name is in lower case, with letters and digits only:
//! agents write the same one as `file_path`, `filePath` or `FilePath`.
//!
//! A name that stands in no table is one that this program does not know: it may mean anything, and so may a `false`, a
//! zero or a `null` behind it. `sandbox` with `false` asks for more than without the member.

use serde::Deserialize;

use super::json::{Json, letters};

/// A member of the input.
#[derive(Debug, PartialEq)]
pub(super) struct Member {
    /// Its name in lower case, with letters and digits only. Empty if the value has none.
    pub name: String,
    pub part: Part,
    /// Whether it is a flag, a number, or a list of these.
    pub is_count: bool,
    /// Whether it is a text, or a list of texts.
    pub is_words: bool,
}

impl Member {
    /// Returns why a permission is not plain beside it, where its name is not known.
    pub(super) fn why_unknown(&self) -> String {
        match &*self.name {
            "" => "its input has a value without a name".to_owned(),
            name => format!("its input has `{name}`, whose effect is unknown"),
        }
    }
}

/// Members that are a command, or code.
const COMMANDS: [&str; 18] = [
    "argv",
    "bash",
    "cmd",
    "cmds",
    "code",
    "command",
    "commandline",
    "commands",
    "commandtext",
    "exec",
    "execute",
    "fullcommandtext",
    "powershell",
    "program",
    "script",
    "scripts",
    "shell",
    "shellcommand",
];

/// The members among [`COMMANDS`] of which a list has a command, and not a word, in each item.
const SEVERAL: [&str; 3] = ["cmds", "commands", "scripts"];

/// Members that are a file or a folder, beside those whose name has `path` in it.
const FILES: [&str; 19] = [
    "cwd",
    "destination",
    "dest",
    "dir",
    "directories",
    "directory",
    "dirs",
    "file",
    "filename",
    "filenames",
    "files",
    "folder",
    "folders",
    "from",
    "target",
    "targetfile",
    "to",
    "workdir",
    "workingdirectory",
];

/// Members that are an address.
const ADDRESSES: [&str; 7] = ["endpoint", "host", "hostname", "uri", "uris", "url", "urls"];

/// Members that have a search term.
const TERMS: [&str; 7] = ["glob", "pattern", "patterns", "q", "query", "regex", "searchterm"];

/// The part of the tool's input that a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A command, or several: then each item of a list is one.
    Command {
        are_several: bool,
    },
    /// Its name has that of a command in it. It is one if it is a text.
    CommandLike,
    File,
    Address,
    Term,
    Other,
}

/// Returns which part of the input a name stands for.
pub(super) fn part(name: &str) -> Part {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if COMMANDS.contains(&name) {
        Part::Command { are_several: SEVERAL.contains(&name) }
    } else if ADDRESSES.contains(&name) {
        Part::Address
    } else if FILES.contains(&name) || name.contains("path") {
        Part::File
    } else if TERMS.contains(&name) {
        Part::Term
    } else if has(&["bash", "cmd", "command", "powershell", "script", "shell"])
        && !has(&["description", "manuscript", "subscript", "transcript", "typescript"])
    {
        Part::CommandLike
    } else {
        Part::Other
    }
}

/// Parts of the names of members that ask for more rights, unless their value says no.
const GRANTS: [&str; 15] = [
    "additionalpermission",
    "allowall",
    "asroot",
    "autoapprov",
    "bypass",
    "dangerous",
    "elevat",
    "escalat",
    "fullaccess",
    "permissionmode",
    "privileged",
    "skippermission",
    "unrestricted",
    "unsafe",
    "yolo",
];

/// A member with this in its name asks to leave the sandbox, unless its value says yes. With one of [`LEAVES`] in its name
/// as well, it is the other way round.
const SANDBOX: &str = "sandbox";
const LEAVES: [&str; 8] = ["disable", "escape", "exempt", "leave", "outside", "skip", "unsandbox", "without"];

/// Values of either that keep to the rights that the agent has, with letters and digits only.
const USUAL: [&str; 6] = ["ask", "default", "plan", "readonly", "usedefault", "workspacewrite"];

fn grants(name: &str) -> bool {
    let leaves = || name.starts_with("no") || LEAVES.iter().any(|part| name.contains(part));
    GRANTS.iter().any(|part| name.contains(part))
        || matches!(name, "sudo" | "usesudo" | "withsudo")
        || (name.contains(SANDBOX) && leaves())
}

/// Returns whether a member of a request asks for more rights, or to leave the sandbox. `None` if it is about neither.
pub fn wants_rights(name: &str, value: &serde_json::Value) -> Option<bool> {
    let name = letters(name);
    let is_about_rights = grants(&name) || name.contains(SANDBOX);
    is_about_rights.then(|| Json::deserialize(value).is_ok_and(|value| asks_for_rights(&name, &value)))
}

/// Returns whether a member asks for more rights, or to leave the sandbox.
pub(super) fn asks_for_rights(name: &str, value: &Json) -> bool {
    let is_usual = |value: &Json| match value {
        Json::Text(text) => USUAL.contains(&&*letters(text)),
        value => value.is_empty(),
    };
    let keeps = |value: &Json| is_usual(value) || value.is_on();
    if grants(name) {
        return !is_usual(value) && !value.is_off();
    }
    name.contains(SANDBOX)
        && match value {
            Json::Object(members) => !members.iter().all(|(name, value)| {
                matches!(&**name, "enabled" | "level" | "mode" | "policy" | "type") && keeps(value)
            }),
            value => !keeps(value),
        }
}

/// Members that say nothing if they are empty: something that could be there is not.
const EMPTY: [&str; 16] = [
    "additionalcontext",
    "args",
    "arguments",
    "env",
    "environment",
    "environmentvariables",
    "envs",
    "flags",
    "input",
    "justification",
    "options",
    "parameters",
    "params",
    "prefixrule",
    "sandboxpermissions",
    "stdin",
];

/// Members that say nothing if they are `false` or empty: the tool then does less than with `true`.
const FALSE: [&str; 14] = [
    "debug",
    "detach",
    "detached",
    "force",
    "interactive",
    "isinput",
    "overwrite",
    "pty",
    "recursive",
    "reset",
    "tty",
    "usepty",
    "usetty",
    "verbose",
];

/// Returns whether a member says no more than the input without it.
pub(super) fn says_nothing(name: &str, value: &Json) -> bool {
    let usual = || match value {
        // In Copilot CLI, this member only says whether the tool waits for its command.
        Json::Text(text) if name == "mode" => matches!(&**text, "sync" | "async"),
        // Codex writes it where it could leave it out.
        Json::Text(text) => name == "sandboxpermissions" && text == "use_default",
        _ => false,
    };
    let is_empty = value.is_empty();
    let is_no = is_empty || value.is_off();
    match part(name) {
        Part::Other => {
            (is_empty && EMPTY.contains(&name))
                || (is_no && (FALSE.contains(&name) || grants(name)))
                || usual()
        }
        _ => is_empty,
    }
}

/// Members that change nothing about what a tool does, whatever their value: words for a person, and how long the tool
/// may take.
const HARMLESS: [&str; 14] = [
    "background",
    "cwd",
    "description",
    "directory",
    "initialwait",
    "isbackground",
    "reason",
    "runinbackground",
    "timeout",
    "timeoutms",
    "title",
    "variant",
    "workdir",
    "workingdirectory",
];

/// Returns whether a member leaves the command beside it as it is.
pub(super) fn is_harmless_beside_a_command(member: &Member) -> bool {
    matches!(member.part, Part::Command { .. }) || HARMLESS.contains(&&*member.name)
}

/// Members that say something about a command to a person or to the agent, and are no words of it.
const ABOUT: &str = "activity allowedprompts availabledecisions comment env environment environmentname explanation goal \
    identifiers intent intention justification kind label language message mode model name note notes output possibleurls \
    prefixrule prompt proposedexecpolicyamendment purpose rationale risk sandboxpermissions shelltype source status summary \
    text thought tool toolname type user warning";

/// Returns whether a text under this name, which stands beside a command, may be a part of the command.
pub(super) fn may_be_words(name: &str) -> bool {
    let is_about = HARMLESS.contains(&name)
        || name.ends_with("id")
        || name.contains(SANDBOX)
        || GRANTS.iter().any(|part| name.contains(part))
        || ABOUT.split_ascii_whitespace().any(|known| known == name);
    match part(name) {
        Part::Other | Part::CommandLike => !is_about,
        // The others are commands of their own, whatever stands beside them.
        Part::Command { .. } => matches!(name, "code" | "script" | "scripts"),
        Part::File | Part::Address | Part::Term => false,
    }
}

/// Members of tools that look at something or change files, which choose or count, if their value is a flag or a number.
/// The single letters are the options of `grep`, as Claude Code and Copilot CLI have them.
const COUNTS: &str = "a additions after allowmultiple b before c casesensitive charlimit context count deletions depth \
    end endline endlineno filesonly fixedstrings forcereadlargefiles headlimit hidden i ignorecase includedirs \
    includehidden insertline iscasesensitive isregex isregexp l length limit line linecount lineend linenumber \
    linenumbers lineoffset lines linestart maxcount maxdepth maxlines maxmatches maxmatchesperfile maxresults \
    modifiedbyuser multiline n namesonly nextthoughtneeded nlines noignore numlines offset \
    expectedreplacements page pages recursive replaceall respectgeminiignore respectgitignore respectqwenignore \
    showlinenumbers size start startline startlineno thoughtnumber totalmaxmatches totalthoughts usedefaultexcludes \
    usegitignore viewrange wholeword";

/// Members of tools that look at something: which part of it, and how it is shown.
const LOOKING: &str = "encoding exclude excludepattern excludepatterns excludes filepattern filetype filetypes format \
    ignore ignores include includepattern includepatterns includes lang language languages outputmode pages sort sortby \
    symbol symbols type types";

/// Members of tools that change files: the texts, which the change of the permission shows.
const CHANGING: &str = "aiproposedcontent celltype cellid content contents diff editmode filetext insert insertedtext \
    inserttext instruction instructions new newcontent newsource newstr newstring newtext old oldcontent oldstr \
    oldstring oldtext patch patchtext replacement replacewith text unifieddiff";

/// Members of tools that only think, keep a list of what to do, or have a plan.
const THINKING: &str = "activeform agent agenttype content explanation goal id intent model name plan priority prompt \
    question status step steps subagent subagenttype summary task text thinking thought thoughts todo topic";

/// Members of tools that fetch an address, or search the web.
const FETCHING: &str = "alloweddomains blockeddomains contextmaxcharacters format livecrawl maxcharacters maxlength \
    maxresults numresults prompt protocol provider recency startindex tokensnum type";

/// Members that only hold others, which are looked at on their own.
const HOLDERS: &str = "edit edits filediff filefilteringoptions networkapprovalcontext ranges todos";

/// Returns whether what a member does to a tool of this kind is known.
pub(super) fn is_known(kind: &str, member: &Member) -> bool {
    let name = &*member.name;
    let is_in = |names: &str| names.split_ascii_whitespace().any(|known| known == name);
    let of_kind = match kind {
        "read" | "search" => LOOKING,
        "think" | "switch_mode" => THINKING,
        "fetch" => FETCHING,
        _ => CHANGING,
    };
    // Commands, files, addresses and terms count for what they are.
    !matches!(member.part, Part::Other | Part::CommandLike)
        || HARMLESS.contains(&name)
        || (member.is_count && is_in(COUNTS))
        || (member.is_words && is_in(of_kind))
        || (!member.is_words && is_in(HOLDERS))
}

/// Returns whether a text is what a file has, or will have: JSON in it is no input of the tool.
pub(super) fn is_of_a_file(name: &str) -> bool {
    CHANGING.split_ascii_whitespace().any(|known| known == name)
}
