//! Reads the subject of a permission: from a tool call, or from another subject on the wire, to a [`Subject`]. Agents
//! with a protocol of their own fill in a [`PermissionDescription`], which becomes the same question as a permission
//! over ACP. Reading the requests of such an agent is left to its dialect, the parts of a tool call to `input.rs`,
//! `content.rs` and `said.rs`.
//!
//! Source: `ToolCallUpdate` and `RequestPermissionSubject` of the ACP schema.

use serde_json::{Map, Value as Json, value::RawValue};

use super::{
    changes::{self, OTHER},
    commands,
    content::{Blocks, DELETE, locations, of_locations},
    gemini, input,
    said::{Said, add_lines},
    wire::{PermissionSubject, PermissionToolCall},
};
use crate::{
    dialect::media::{TERMINAL, add_images},
    limits,
    question::{
        Diff, Field, FieldOption, Image, Kind, Origin, Purpose, Question, Subject,
        subject::{self, cut},
    },
    wire::scan,
};

/// The kind of a tool that changes what the agent may do, such as the end of a plan.
const SWITCH_MODE: &str = "switch_mode";

/// Kinds of tools that look at something, and those that change files.
const LOOKING: [&str; 3] = ["read", "search", "think"];
const EDIT: &str = "edit";

/// The type of a subject of version 2 that is a command.
const COMMAND: &str = "command";

/// The parts of a permission's subject.
#[derive(Default)]
pub(super) struct Draft {
    pub tool_call: Option<String>,
    pub subject: Subject,
    pub images: Vec<Image>,
    /// What the request has and no responder can show, each as a sentence.
    pub unshown: Vec<String>,
    /// Whether the agent says that the wrong answer can do harm.
    pub is_marked: bool,
}

/// Members of a tool call that are read on their own, or say nothing: `name` is that of the tool.
const OF_TOOL_CALL: [&str; 9] =
    ["toolCallId", "title", "kind", "content", "locations", "rawInput", "_meta", "rawOutput", "name"];

/// Members of a subject of version 2. The words beside its command are read with it.
const OF_SUBJECT: [&str; 8] =
    ["type", "toolCall", "toolCallId", "command", "cwd", "args", "arguments", "argv"];

impl Draft {
    pub(super) fn of_tool_call(tool_call: PermissionToolCall<'_>) -> Self {
        let (locations, are_whole) = locations(&tool_call.locations);
        let unclear = (!are_whole).then(|| "its files have an unknown shape".to_owned());
        let (kind, title) = (tool_call.kind, tool_call.title);
        let mut subject = Subject { kind, title, locations, unclear, ..Subject::default() };
        if let Some(raw) = tool_call.raw_input {
            input::read(raw, &mut subject);
        }
        let blocks = Blocks::read(&tool_call.content, &mut subject);
        if !blocks.is_whole {
            subject.unclear.get_or_insert_with(|| "its content has an unknown shape".to_owned());
        }
        changes::add(tool_call.raw_input, &mut subject);
        subject.content = (!blocks.texts.is_empty()).then(|| blocks.texts.join("\n"));
        if subject.plan.is_none() && subject.kind.as_deref() == Some(SWITCH_MODE) {
            subject.plan = subject.content.take();
        }
        if let Some(id) = &tool_call.tool_call_id {
            gemini::read_command(id, &mut subject);
        }
        // A description that repeats the title is dropped.
        if subject.content.is_some() && [&subject.plan, &subject.description].contains(&&subject.content) {
            subject.content = None;
        }
        let is_marked = is_marked(&tool_call.meta);
        let (images, unshown) = blocks.media.finish();
        let draft = Draft { tool_call: tool_call.tool_call_id, subject, images, unshown, is_marked };
        draft.with_meta(&tool_call.meta).with(blocks.said).with(of_locations(&tool_call.locations))
    }

    /// Reads an update of a tool call, whose JSON this is.
    pub(super) fn of_update(mut tool_call: PermissionToolCall<'_>, update: &[u8]) -> Self {
        // It names what will show the output.
        if let Json::Array(blocks) = &mut tool_call.content {
            blocks.retain(|block| block["type"] != TERMINAL);
        }
        Draft::of_tool_call(tool_call).with_unknown(update)
    }

    /// Adds what `_meta` says.
    pub(super) fn with_meta(self, meta: &Json) -> Self {
        let mut said = Said::default();
        said.meta(meta);
        self.with(said)
    }

    /// Adds the members of a tool call, as JSON, that no version of the standard has.
    pub(super) fn with_unknown(self, tool_call: &[u8]) -> Self {
        let mut said = Said::default();
        said.unknown(tool_call, &OF_TOOL_CALL);
        self.with(said)
    }

    /// Adds what the request says beside the standard.
    pub(super) fn with(mut self, said: Said) -> Self {
        self.is_marked |= said.is_marked;
        said.add_to(&mut self.subject);
        self
    }

    /// Returns the kind of the tool.
    pub(super) fn kind(&self) -> Option<&str> {
        self.subject.kind.as_deref()
    }

    /// Reads a subject of version 2. A subject of an unknown type is kept as raw input.
    pub(super) fn of_subject(about: PermissionSubject<'_>, raw: &RawValue) -> Self {
        let json = raw.get().as_bytes();
        let mut said = Said::default();
        if let Some(tool_call) = about.tool_call {
            said.unknown(json, &OF_SUBJECT);
            let of_call = scan::member(json, "toolCall").unwrap_or_default();
            return Draft::of_tool_call(tool_call).with_unknown(of_call).with(said);
        }
        let is_command = about.kind == COMMAND;
        let mut subject = Subject { kind: Some(about.kind), ..Subject::default() };
        if is_command {
            let input: Map<String, Json> = serde_json::from_slice(json).unwrap_or_default();
            (subject.command, subject.folder) = (commands::of_command(&input).or(about.command), about.cwd);
            said.unknown(json, &OF_SUBJECT);
        } else {
            subject.raw_input = Some(raw.get().to_owned());
        }
        Draft { tool_call: about.tool_call_id, subject, ..Draft::default() }.with(said)
    }

    /// Returns a draft of a subject that a dialect has read itself.
    pub(super) fn of_known(subject: Subject) -> Self {
        Draft { subject, ..Draft::default() }
    }

    /// Returns the heading of the permission, and its subject within the limits.
    pub(super) fn with_heading(
        self,
        title: Option<String>,
        description: Option<String>,
    ) -> (String, Subject) {
        let mut subject = self.subject;
        if let Some(description) = description {
            let said = subject.description.replace(description);
            input::add_reasons(&mut subject, said.into_iter());
        }
        let heading = match (title, subject.title.take()) {
            (Some(title), of_tool_call) => {
                subject.title = of_tool_call.filter(|other| *other != title);
                title
            }
            (None, Some(title)) => title,
            (None, None) => subject.untitled(),
        };
        subject.fit();
        (heading, subject)
    }
}

/// Completes a permission with the parts that only earlier updates of its tool call have. `updates` are the JSON of these,
/// the latest first. `is_titled` says whether the permission has a title of its own, which no update replaces.
pub fn complete<'a>(question: &mut Question, updates: impl Iterator<Item = &'a [u8]>, is_titled: bool) {
    let mut is_named = false;
    for update in updates {
        let Ok(mut tool_call) = serde_json::from_slice::<PermissionToolCall<'_>>(update) else { continue };
        // The latest title counts: opencode first names the tool, and then the command.
        tool_call.title = tool_call.title.filter(|_| !is_named);
        is_named |= tool_call.title.is_some();
        add_earlier(question, Draft::of_update(tool_call, update), is_titled);
    }
}

/// Returns whether a permission has a title of its own, by the `params` of its request.
pub fn is_titled(params: &[u8]) -> bool {
    let titled = |json| scan::member(json, "title").and_then(scan::text).is_some();
    titled(params) || scan::member(params, "toolCall").is_some_and(titled)
}

/// Adds the parts that only this earlier update of the tool call has.
fn add_earlier(question: &mut Question, earlier: Draft, is_titled: bool) {
    question.dangerous |= earlier.is_marked;
    add_images(question, earlier.images);
    add_lines(&mut question.unshown, earlier.unshown);
    let Subject {
        kind,
        title,
        command,
        folder,
        locations,
        diffs,
        plan,
        content,
        raw_input,
        description,
        patch,
        unclear,
        environment,
        grants,
        further,
        plan_file,
        // `guard` decides this later.
        input_says_more: _,
    } = earlier.subject;
    let subject = question.subject.get_or_insert_default();
    let unclear = subject.unclear.take().or(unclear);
    let unclear = unclear.or_else(|| disagreement(subject, [&command, &folder, &patch]));
    if let (Some(later), Some(earlier)) = (&mut subject.raw_input, &raw_input)
        && !says_the_same(later, earlier)
    {
        // It is not known which input counts, so `guard` must see both.
        *later = format!("[{later},{earlier}]");
    }
    // This comes before the kind is taken, which `untitled` depends on.
    let is_untitled = !is_titled && question.message == subject.untitled();
    let unclear = unclear.or(take_kind(subject, kind).err());
    for (known, earlier) in [
        (&mut subject.command, command),
        (&mut subject.folder, folder),
        (&mut subject.plan, plan),
        (&mut subject.content, content),
        (&mut subject.raw_input, raw_input),
        (&mut subject.description, description),
        (&mut subject.patch, patch),
        (&mut subject.unclear, unclear),
        (&mut subject.environment, environment),
        (&mut subject.plan_file, plan_file),
    ] {
        *known = known.take().or(earlier);
    }
    add_lines(&mut subject.grants, grants);
    subject.add_further(further);
    add_files(subject, diffs, locations);
    match title {
        Some(title) if is_untitled => question.message = cut(&title, limits::TEXT),
        Some(title) if title != question.message => drop(subject.title.get_or_insert(title)),
        None if is_untitled => question.message = cut(&subject.untitled(), limits::TEXT),
        _ => {}
    }
    subject.fit();
    if let Some(field) = question.fields.first_mut() {
        field.label.clone_from(&question.message);
    }
}

/// Adds the files of an earlier update. The later diffs are shown, but the files of all earlier ones must be known.
fn add_files(subject: &mut Subject, diffs: Vec<Diff>, locations: Vec<String>) {
    let changed = diffs.iter().filter(|diff| subject.diffs.iter().all(|later| later.path != diff.path));
    let changed: Vec<_> = changed.map(|diff| diff.path.clone()).collect();
    if subject.diffs.is_empty() {
        subject.diffs = diffs;
    }
    for place in locations.into_iter().chain(changed) {
        if !subject.locations.contains(&place) {
            subject.locations.push(place);
        }
    }
}

/// Returns how an earlier update of a tool call contradicts its permission, in a command, a folder or a patch.
fn disagreement(subject: &Subject, earlier: [&Option<String>; 3]) -> Option<String> {
    let said = [&subject.command, &subject.folder, &subject.patch];
    let names = ["command", "folder", "change"];
    let differs =
        |place: &usize| said[*place].as_ref().zip(earlier[*place].as_ref()).is_some_and(|(a, b)| a != b);
    match (0..names.len()).find(differs) {
        Some(place) => Some(format!("an earlier update of its tool call names another {}", names[place])),
        // The permission's own input may hide another command.
        None if subject.raw_input.is_some() && said[0].is_none() && earlier[0].is_some() => {
            Some("only an earlier update of its tool call names its command".to_owned())
        }
        None => None,
    }
}

/// Takes the kind of tool that an earlier update names, if it says more than that of the permission: Codex' adapter
/// says "read" of a command that looks at a file, and `execute` when it asks for it; Copilot CLI asks to read a file
/// outside of its folders before it changes it; Qwen Code does not know the kind of a tool at first.
///
/// # Errors
/// The two kinds have nothing to do with each other.
pub(super) fn take_kind(subject: &mut Subject, earlier: Option<String>) -> Result<(), String> {
    let (Some(said), Some(other)) = (subject.kind.as_deref(), earlier.as_deref()) else {
        subject.kind = subject.kind.take().or(earlier);
        return Ok(());
    };
    // Of a deletion and an edit, the deletion counts, so that the risk is never shown too low (I12).
    if said == other || other == OTHER || LOOKING.contains(&other) || (said, other) == (DELETE, EDIT) {
        return Ok(());
    }
    if LOOKING.contains(&said) || (said, other) == (EDIT, DELETE) {
        subject.kind = earlier;
        return Ok(());
    }
    Err("an earlier update of its tool call names another kind of tool".to_owned())
}

/// Returns whether two JSON texts have the same value. The lengths must match as well, since a parser drops duplicate
/// members.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    let length = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    let value = |text: &str| serde_json::from_str::<Json>(text).ok();
    one == other || (length(one) == length(other) && value(one).is_some_and(|one| Some(one) == value(other)))
}

impl Subject {
    /// Returns a heading for a permission that has none.
    pub(super) fn untitled(&self) -> String {
        let command = self.command.as_deref().map(|command| command.lines().next().unwrap_or(command));
        match (command, &self.kind) {
            (Some(command), _) => command.to_owned(),
            (None, Some(kind)) => format!("Permission to {}", kind.replace('_', " ")),
            (None, None) => "The agent asks for a permission.".to_owned(),
        }
    }
}

/// Returns whether the agent says that the wrong answer can do harm.
pub(super) fn is_marked(meta: &Json) -> bool {
    let is_so = |meta: &Json| any(meta, "dangerous", |mark| mark == true);
    is_so(meta) || any(meta, "askbridge", is_so)
}

/// Returns whether this holds for a member, or for one of its values where it occurs several times.
fn any(meta: &Json, name: &str, holds: impl Fn(&Json) -> bool) -> bool {
    match meta.get(name) {
        Some(Json::Array(values)) => values.iter().any(holds),
        Some(value) => holds(value),
        None => false,
    }
}

/// The parts of a permission that a dialect has read.
#[derive(Debug, Default)]
pub(in crate::dialect) struct PermissionDescription {
    /// The session that it belongs to.
    pub session: Option<String>,
    /// The tool call that waits for it.
    pub tool_call: Option<String>,
    /// The heading. If there is none, it is made from the subject.
    pub title: Option<String>,
    /// The subject.
    pub subject: Subject,
    /// Whether the agent itself says that a wrong answer can do harm.
    pub is_marked: bool,
    /// What the request has and no responder can show, each as a sentence.
    pub unshown: Vec<String>,
    /// The options, with their roles.
    pub options: Vec<FieldOption>,
}

impl PermissionDescription {
    /// Returns the permission as a question. Texts that are too long are cut.
    ///
    /// Returns `None` if there are no options, or two options have the same value: an answer could not name its option.
    pub(in crate::dialect) fn question(self, origin: Origin, fallback_id: &str) -> Option<Question> {
        let PermissionDescription { session, tool_call, title, subject, is_marked, unshown, mut options } =
            self;
        let is_known = |(place, option): (usize, &FieldOption)| {
            options[..place].iter().any(|other| other.value == option.value)
        };
        if options.is_empty() || options.iter().enumerate().any(is_known) {
            return None;
        }
        for option in &mut options {
            option.label = subject::cut(&option.label, limits::TEXT);
            subject::fit_lines(&mut option.grants);
        }
        let draft = Draft::of_known(subject);
        let (message, subject) = draft.with_heading(title, None);
        let message = subject::cut(&message, limits::TEXT);
        let field = Field::at(0, message.clone(), None, Kind::choice(options, false, false));
        Some(Question {
            session,
            tool_call,
            message,
            purpose: Purpose::Permission,
            subject: (!subject.is_empty()).then(|| Box::new(subject)),
            unshown,
            dangerous: is_marked,
            // Such agents read the chosen option only, and no note.
            notes: false,
            ..Question::new(origin, fallback_id, vec![field])
        })
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use serde_json::json;

    use super::*;
    use crate::question::Origin;

    /// Returns the subject of a permission to which an earlier update was added.
    fn completed(permission: &Json, update: &Json) -> Subject {
        let text = permission.to_string();
        let tool_call = serde_json::from_str(&text).expect("a tool call");
        let (message, subject) = Draft::of_tool_call(tool_call).with_heading(None, None);
        let mut question = Question::new(Origin::Permission, "q", Vec::new());
        (question.message, question.subject) = (message, Some(Box::new(subject)));
        complete(&mut question, iter::once(update.to_string().as_bytes()), false);
        *question.subject.expect("a subject")
    }

    #[test]
    fn the_latest_title_is_the_heading_unless_the_permission_has_its_own() {
        let [first, latest] = ["bash", "touch a"].map(|title| json!({ "title": title }).to_string());
        for (tool_call, earlier, heading, title) in [
            (json!({ "title": "touch a" }), vec![&first], "touch a", Some("bash")),
            (json!({ "title": "touch a" }), vec![&latest, &first], "touch a", None),
            (json!({}), vec![&latest, &first], "touch a", None),
            (json!({}), vec![&first], "bash", None),
            (json!({}), vec![], "touch a", None),
        ] {
            let mut tool_call = tool_call;
            tool_call["rawInput"] = json!({ "command": "touch a" });
            let text = tool_call.to_string();
            let draft = Draft::of_tool_call(serde_json::from_str(&text).expect("a tool call"));
            let (message, subject) = draft.with_heading(None, None);
            let mut question = Question::new(Origin::Permission, "q", Vec::new());
            (question.message, question.subject) = (message, Some(Box::new(subject)));
            let params = json!({ "toolCall": tool_call }).to_string();
            let updates = earlier.iter().map(|update| update.as_bytes());
            complete(&mut question, updates, is_titled(params.as_bytes()));
            let subject = question.subject.expect("a subject");
            assert_eq!(
                (&*question.message, subject.title.as_deref()),
                (heading, title),
                "{text} {earlier:?}"
            );
        }
    }

    #[test]
    fn a_subject_of_version_2_has_the_words_beside_its_command() {
        for (members, command, further) in [
            (json!({ "command": "git push" }), "git push", &[][..]),
            (json!({ "command": "git", "args": ["push", "--force"] }), "git push --force", &[]),
            (json!({ "command": "git", "arguments": ["push"] }), "git push", &[]),
            (json!({ "command": "git", "argv": ["git", "push"] }), "git push", &[]),
            (json!({ "command": ["git", "push"] }), "git push", &[]),
            (json!({ "command": { "program": "git", "args": ["push"] } }), "git push", &[]),
            (json!({ "command": "ls", "host": "prod" }), "ls", &["Network access to prod"]),
        ] {
            let mut json = members.clone();
            json["type"] = COMMAND.into();
            let raw = RawValue::from_string(json.to_string()).expect("JSON");
            let about = serde_json::from_str(raw.get()).expect("a subject");
            let subject = Draft::of_subject(about, &raw).subject;
            let said = [subject.grants, subject.further].concat();
            assert_eq!(
                (subject.command.as_deref(), said.join(" ")),
                (Some(command), further.join(" ")),
                "{members}"
            );
        }
    }

    /// How far a call is says nothing; what else an update says is said of the permission.
    #[test]
    fn an_update_says_what_is_not_its_progress() {
        for (update, further) in [
            (
                json!({ "status": "in_progress", "sessionUpdate": "tool_call_update", "rawOutput": { "a": 1 } }),
                &[][..],
            ),
            (json!({ "_meta": { "claudeCode": { "toolName": "Bash", "toolResponse": "done" } } }), &[]),
            (json!({ "content": [{ "type": "terminal", "terminalId": "7" }] }), &[]),
            (json!({ "_meta": { "terminal_info": { "cwd": "/p", "terminal_id": "7" } } }), &[]),
            (json!({ "_meta": { "terminal_info": { "cwd": "/etc" } } }), &["cwd: /etc"]),
            (json!({ "colour": "red" }), &["colour: red"]),
            (json!({ "_meta": { "colour": "red" } }), &["colour: red"]),
        ] {
            let permission = json!({ "kind": "execute", "rawInput": { "command": "ls", "cwd": "/p" } });
            let subject = completed(&permission, &update);
            assert_eq!((subject.further.join(" "), subject.content), (further.join(" "), None), "{update}");
        }
    }

    #[test]
    fn the_kind_of_both_is_the_one_that_says_more() {
        for (said, earlier, kind) in [
            ("execute", "read", "execute"),
            ("read", "execute", "execute"),
            ("read", "edit", "edit"),
            ("fetch", "other", "fetch"),
            ("edit", "delete", "delete"),
            ("delete", "edit", "delete"),
            ("other", "search", "other"),
        ] {
            let subject = completed(&json!({ "kind": said }), &json!({ "kind": earlier }));
            assert_eq!((subject.kind.as_deref(), &subject.unclear), (Some(kind), &None), "{said}, {earlier}");
        }
        for (said, earlier) in
            [("edit", "execute"), ("execute", "delete"), ("other", "edit"), ("fetch", "move")]
        {
            let subject = completed(&json!({ "kind": said }), &json!({ "kind": earlier }));
            assert!(subject.unclear.is_some(), "{said}, {earlier}");
        }
    }

    #[test]
    fn a_change_that_removes_a_file_deletes() {
        let mut change = json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/p/a", "oldText": "a", "newText": "" }] });
        let kind = |change: &Json| completed(&json!({ "kind": "edit" }), change).kind;
        assert_eq!(kind(&change).as_deref(), Some("edit"));
        change["content"][0]["_meta"] = json!({ "kind": "delete" });
        assert_eq!(kind(&change).as_deref(), Some("delete"));
    }
}
