//! The open questions as a table for people and as JSON for programs, and what the list leaves out, a line for each
//! reason.
//! When a list is printed is left to `command`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_control::{
    inbox::{PROTOCOL, report::ConnectedMachine},
    join::{Gaps, remote::is_socket},
};
use askbridge_core::{
    desk::{LostQuestion, Record, State},
    question::{Purpose, Question},
};
use askbridge_os::terminal::printable_line;
use serde::Serialize;

use super::{
    bridges::{Bridges, UnreachableBridges},
    layout::{NarrowingStep, Table},
    machines,
    text::{self, NONE, place, span},
};

/// The output of `askbridge list --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionList"))]
pub struct QuestionList {
    /// The version of the control protocol.
    pub protocol: u32,
    /// Grows with each change during `--watch`.
    pub revision: u64,
    /// The open questions: first what ends soon, then what is oldest.
    pub questions: Vec<ListedQuestion>,
    /// Whether all open questions of the bridges in the directory of the sockets are listed. Where they are not, the
    /// members below say why.
    pub complete: bool,
    /// The sockets of bridges that did not reply.
    pub unreachable: Vec<PathBuf>,
    /// The sockets of bridges that could not be asked, since the command had no file descriptor left.
    pub no_descriptors: Vec<PathBuf>,
    /// The sockets of bridges that were too busy to reply: they had too many connections or calls.
    pub busy: Vec<PathBuf>,
    /// The sockets of bridges that speak a protocol of a version before 1.
    pub older: Vec<PathBuf>,
    /// The other machines that are not connected, or where a bridge did not reply.
    pub not_connected: Vec<ConnectedMachine>,
    /// Why the machines of the fleet are not known. Absent if they are, and if the settings name no fleet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// How many open questions are not listed because they need a newer askbridge.
    pub unreadable: usize,
    /// How many open questions are not listed because there is no room for them.
    pub left_out: usize,
    /// Questions that were open when their bridges ended, within the last day, oldest first. They cannot be answered.
    pub lost: Vec<LostQuestion>,
    /// Bridges with open questions that this command could not ask, because their sockets are elsewhere.
    pub elsewhere: Vec<UnreachableBridges>,
}

/// An open question: its record, and the texts that a list shows.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "ListedQuestion"))]
pub struct ListedQuestion {
    /// The record.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "Record"))]
    pub record: Arc<Record>,
    /// The short name of the agent that asks, or of its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The folder that its session works in, as an absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    /// The question, on one line.
    pub title: String,
    /// The whole question, as plain text.
    pub text: String,
}

impl QuestionList {
    /// Lists these questions.
    pub fn new(revision: u64, open: Vec<Arc<Record>>, bridges: &Bridges, gaps: &Gaps) -> Self {
        let listed = |record: Arc<Record>| ListedQuestion {
            agent: bridges.agent(&record),
            project: record.question.project.clone(),
            title: text::summary(&record.question, TITLE),
            text: text::asked(&record.question),
            record,
        };
        let questions = open.into_iter().map(listed).collect();
        QuestionList {
            protocol: PROTOCOL,
            revision,
            questions,
            complete: gaps.is_empty(),
            unreachable: gaps.unreachable.clone(),
            no_descriptors: gaps.no_descriptors.clone(),
            busy: gaps.busy.clone(),
            older: gaps.older.clone(),
            not_connected: gaps.machines.clone(),
            fleet: gaps.fleet.clone(),
            unreadable: gaps.unreadable,
            left_out: gaps.left_out,
            lost: Vec::new(),
            elsewhere: Vec::new(),
        }
    }
}

/// The heads of the columns, in their order.
const HEADS: [&str; 9] = ["ID", "AGENT", "PROJECT", "AGE", "ENDS", "SHOWN", "KIND", "RISK", "QUESTION"];
/// The most columns of a question in a list, even in a pipe: `askbridge show` has the rest.
const TITLE: usize = 160;
/// Columns that show most questions in full.
const COMFORT: usize = 40;
/// Fewer columns do not distinguish a question from others.
const LEAST: usize = 20;
/// The least width of an agent or a project. Below that, the column is left out.
const NAME: usize = 12;

/// Returns the lines of a table of the open questions, its heads first. On a terminal of `room` columns, the other
/// columns make room for the question; otherwise all of them are there.
pub fn table(open: &[Arc<Record>], bridges: &Bridges, room: Option<usize>) -> Vec<String> {
    let rows: Vec<_> = open.iter().map(|record| row(record, bridges)).collect();
    let has_ends = rows.iter().any(|[_, _, _, _, ends, ..]| ends != NONE);
    let has_permissions = open.iter().any(|record| record.question.purpose != Purpose::Question);
    Table::new(HEADS, rows).lines(room, &steps(has_ends, has_permissions))
}

/// Returns the steps that make room for the question, the least important column first.
fn steps(has_ends: bool, has_permissions: bool) -> Vec<(usize, NarrowingStep)> {
    let mut steps = Vec::new();
    // If all are questions, these columns say nothing.
    if !has_permissions {
        steps.extend(["KIND", "RISK"].map(|head| (COMFORT, NarrowingStep::Drop(head))));
    }
    steps.extend([
        (COMFORT, NarrowingStep::Drop("SHOWN")),
        // What a permission risks says as well that it is one.
        (COMFORT, NarrowingStep::Drop("KIND")),
        (COMFORT, NarrowingStep::Cut("AGENT", NAME)),
        (COMFORT, NarrowingStep::Cut("PROJECT", NAME)),
    ]);
    // Likewise if no question has a deadline.
    if !has_ends {
        steps.push((LEAST, NarrowingStep::Drop("ENDS")));
    }
    let last = ["RISK", "AGENT", "AGE", "PROJECT", "ENDS"];
    steps.extend(last.map(|head| (LEAST, NarrowingStep::Drop(head))));
    steps
}

/// Returns what a permission risks: the agent does nothing by a question.
fn risk(question: &Question) -> String {
    match question.purpose {
        Purpose::Question => NONE.to_owned(),
        _ => text::line(question.risk().name()),
    }
}

/// Returns the cells of one question, on one printable line each.
pub fn row(record: &Record, bridges: &Bridges) -> [String; 9] {
    let now = bridges.now(record);
    // The mark comes first, so that cutting the line cannot remove it.
    let mark = if record.question.risk().is_dangerous() { "! " } else { "" };
    let asked = format!("{mark}{}", text::summary(&record.question, TITLE));
    let ends = match record.deadline {
        // A question whose answer is being delivered can no longer expire.
        _ if record.state == State::Delivering => "sent".to_owned(),
        Some(deadline) => span(deadline.since(now)),
        None => NONE.to_owned(),
    };
    [
        record.id.to_string(),
        bridges.agent(record).map_or_else(|| NONE.to_owned(), |agent| text::line(&agent)),
        text::project(&record.question).unwrap_or_else(|| NONE.to_owned()),
        span(now.since(record.opened_at)),
        ends,
        place(record).to_owned(),
        text::line(record.question.purpose.name()),
        risk(&record.question),
        asked,
    ]
}

/// Returns a line for each reason why questions are left out.
pub fn gap_lines(gaps: &Gaps) -> Vec<String> {
    let unasked = unreachable(gaps).chain(no_descriptors(gaps)).chain(busy(gaps));
    let missing = unasked.map(|why| format!("questions may be missing: {why}"));
    let mut lines: Vec<_> = missing.chain(gaps.older.iter().map(|path| older(path))).collect();
    lines.extend(machines::gap_lines(gaps));
    lines.extend(fleet(gaps).map(|why| format!("questions may be missing: {why}")));
    // A machine may claim any number.
    let on = machines::hidden_on(gaps).map(|names| format!(" (of {names})")).unwrap_or_default();
    let newer = format!("a newer askbridge{on}");
    lines.extend(count(gaps.unreadable, &format!("needs {newer}"), &format!("need {newer}")));
    let full = format!("left out: the list is full{on}");
    lines.extend(count(gaps.left_out, &format!("is {full}"), &format!("are {full}")));
    lines
}

/// Returns which of these lines of gaps say something new, after those before.
pub fn new_gap_lines<'a>(lines: &'a [String], before: &'a [String]) -> impl Iterator<Item = &'a String> {
    let has_connecting = before.iter().any(|line| machines::is_connecting(line));
    let is_known =
        move |line: &String| before.contains(line) || has_connecting && machines::is_connecting(line);
    lines.iter().filter(move |line| !is_known(line))
}

/// Where questions were looked for.
#[derive(Clone, Copy, Debug)]
pub struct Looked<'a> {
    /// The directories of the sockets of this machine's bridges. Empty if other machines were asked alone.
    pub folders: &'a [PathBuf],
    /// The other machines that are connected.
    pub machines: &'a [&'a str],
    /// Whether there are bridges that this command could not ask because they are elsewhere.
    pub has_elsewhere: bool,
}

impl Looked<'_> {
    /// Returns a line that says that none of so many bridges has an open question, or that there is no bridge.
    pub fn nothing(self, bridges: usize, gaps: &Gaps) -> String {
        let has_asked_all = gaps.has_asked_all();
        let folder = (!self.folders.is_empty()).then(|| folders(self.folders));
        let machines = match self.machines {
            [] => None,
            few @ ([_] | [_, _] | [_, _, _]) => Some(format!("on {}", few.join(", "))),
            many => Some(format!("on {} other machines", many.len())),
        };
        let looked = folder.iter().map(|folder| format!("in {folder}")).chain(machines.clone());
        let looked = looked.collect::<Vec<_>>().join(" and ");
        let looked = if looked.is_empty() { looked } else { format!(" (looked {looked})") };
        let place = match (&folder, machines) {
            (_, None) => String::new(),
            (Some(_), Some(machines)) => format!(" here and {machines}"),
            (None, Some(machines)) => format!(" {machines}"),
        };
        if let (0, true, Some(why)) = (bridges, gaps.unasked_bridges() == 0, machines::not_connected(gaps)) {
            let none = folder.map(|folder| format!("no bridge runs in {folder}; "));
            return none.unwrap_or_default() + &why;
        }
        match (bridges, has_asked_all, folder) {
            (0, true, Some(folder)) if self.has_elsewhere => format!("no bridge runs in {folder}"),
            (0, true, _) => format!("no bridge runs{looked}"),
            (0, false, Some(folder)) => format!("no bridge replied (looked in {folder})"),
            (0, false, None) => "no bridge replied".to_owned(),
            (1, true, _) => format!("no question is open (1 bridge{place})"),
            (several, true, _) => format!("no question is open ({several} bridges{place})"),
            (1, false, _) => "no question is open in the bridge that replied".to_owned(),
            (several, false, _) => format!("no question is open in the {several} bridges that replied"),
        }
    }
}

/// Returns the directories in one line.
pub fn folders(all: &[PathBuf]) -> String {
    let each = all.iter().map(|folder| printable_line(&folder.display().to_string()).into_owned());
    each.collect::<Vec<_>>().join(" and ")
}

/// Returns one line that names the bridges that could not be asked.
pub fn unasked(gaps: &Gaps) -> String {
    let older = gaps.older.iter().map(|path| older(path));
    let machines = machines::gap_lines(gaps);
    let unasked = unreachable(gaps).chain(no_descriptors(gaps)).chain(busy(gaps));
    unasked.chain(older).chain(machines).chain(fleet(gaps)).collect::<Vec<_>>().join("; ")
}

fn fleet(gaps: &Gaps) -> impl Iterator<Item = String> {
    gaps.fleet.iter().map(|why| printable_line(why).into_owned())
}

fn unreachable(gaps: &Gaps) -> impl Iterator<Item = String> + use<> {
    bridges(&gaps.unreachable, "did not reply", "did not reply")
}

fn no_descriptors(gaps: &Gaps) -> impl Iterator<Item = String> + use<> {
    let asked = match gaps.no_descriptors.len() {
        0 => None,
        1 => Some("a bridge".to_owned()),
        count => Some(format!("{count} bridges")),
    };
    let advice = "this command has no file descriptor left: raise the limit with `ulimit -n`";
    asked.map(|asked| format!("{asked} could not be asked: {advice}")).into_iter()
}

fn busy(gaps: &Gaps) -> impl Iterator<Item = String> + use<> {
    bridges(&gaps.busy, "is too busy", "are too busy")
}

/// Returns a line about the bridges behind these sockets, and one about the inbox that holds the machines.
fn bridges(sockets: &[PathBuf], one: &str, several: &str) -> impl Iterator<Item = String> + use<> {
    let (holders, bridges): (Vec<_>, Vec<_>) = sockets.iter().partition(|path| is_socket(path));
    let names: Vec<_> = bridges.iter().map(|path| path.display().to_string()).collect();
    let which = match names.len() {
        0 => None,
        1 => Some(format!("a bridge {one}")),
        count => Some(format!("{count} bridges {several}")),
    };
    let bridges = which.map(|which| printable_line(&format!("{which}: {}", names.join(", "))).into_owned());
    let holder = holders.first().map(|_| format!("the inbox that is connected to other machines {one}"));
    bridges.into_iter().chain(holder)
}

/// Returns a line that a bridge speaks an older protocol, and what to do.
pub(super) fn older(path: &Path) -> String {
    let socket = path.display().to_string();
    format!("{} speaks an older protocol: restart the agent that it wraps", printable_line(&socket))
}

fn count(count: usize, one: &str, several: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 question {one}")),
        _ => Some(format!("{count} questions {several}")),
    }
}

#[cfg(test)]
mod tests {
    use askbridge_control::inbox::report::MachineReport;
    use askbridge_os::terminal::{printable_line, width};
    use serde_json::{Value, json};

    use super::*;

    fn record(id: &str, question: &Value, more: &Value) -> Arc<Record> {
        let mut whole = json!({
            "questionId": "q", "message": "", "fields": [], "origin": "kiro", "dangerous": false, "blocking": true,
        });
        let mut record = json!({ "id": id, "bridge": "k3f9q2", "openedAt": "2026-11-21T12:00:00Z" });
        for (whole, more) in [(&mut whole, question), (&mut record, more)] {
            for (name, value) in more.as_object().expect("an object") {
                whole[name] = value.clone();
            }
        }
        record["question"] = whole;
        serde_json::from_value(record).expect("a record")
    }

    /// A bridge by whose clock it is 12:05.
    fn bridges() -> Bridges {
        Bridges::new(bridges_named("k3f9q2"))
    }

    fn bridges_named(name: &str) -> Vec<askbridge_control::inbox::BridgeStatus> {
        let status = json!({
            "protocol": 1, "bridge": name, "pid": 1, "version": "1.0.0", "open": 1, "folder": "/",
            "agent": "npx -y @zed-industries/claude-code-acp@0.9.1", "startedAt": "2026-11-21T11:00:00Z",
            "uptimeMs": 65 * 60 * 1000,
        });
        vec![serde_json::from_value(status).expect("a status")]
    }

    fn some() -> Vec<Arc<Record>> {
        let fields = json!([{ "name": "q0", "label": "Which database should the payments service use?", "kind": "text" }]);
        let codex = json!({
            "agent": "Codex", "project": "/data/me/payments", "fields": fields, "message": "Codex needs your input to continue.",
        });
        let claude = json!({ "message": "Deploy?", "project": "/data/me/a-project-with-a-long-name" });
        vec![
            record("k3f9q2-1", &codex, &json!({ "deadline": "2026-11-21T12:15:00Z", "elsewhere": true })),
            record("k3f9q2-12", &claude, &json!({ "state": "delivering" })),
        ]
    }

    fn lines(open: &[Arc<Record>], room: Option<usize>) -> String {
        table(open, &bridges(), room).join("\n")
    }

    #[test]
    fn columns_give_way_to_the_question() {
        let open = some();
        let whole = "
ID         AGENT            PROJECT                     AGE  ENDS  SHOWN       KIND      RISK  QUESTION
k3f9q2-1   Codex            payments                    5m   10m   elsewhere   question  -     Which database should the payments service use?
k3f9q2-12  claude-code-acp  a-project-with-a-long-name  5m   sent  delivering  question  -     Deploy?";
        let at_80 = "
ID         AGENT         PROJECT       AGE  ENDS  QUESTION
k3f9q2-1   Codex         payments      5m   10m   Which database should the pay…
k3f9q2-12  claude-code…  a-project-w…  5m   sent  Deploy?";
        let at_40 = "
ID         ENDS  QUESTION
k3f9q2-1   10m   Which database should …
k3f9q2-12  sent  Deploy?";
        for (room, shown) in [(Some(200), whole), (None, whole), (Some(80), at_80), (Some(40), at_40)] {
            assert_eq!("\n".to_owned() + &lines(&open, room), shown, "{room:?}");
        }
        let without_end = [record("k3f9q2-3", &json!({ "message": "Deploy?" }), &json!({}))];
        assert_eq!(
            lines(&without_end, Some(40)),
            "ID        PROJECT  AGE  QUESTION\nk3f9q2-3  -        5m   Deploy?"
        );
    }

    #[test]
    fn permissions_are_told_apart_and_dangerous_ones_are_marked() {
        let dangerous = json!({ "message": "rm -rf build", "purpose": "permission", "dangerous": true, "project": "/payments" });
        let open = [some().remove(0), record("k3f9q2-2", &dangerous, &json!({}))];
        let at_88 = "
ID        AGENT         PROJECT   AGE  ENDS  RISK       QUESTION
k3f9q2-1  Codex         payments  5m   10m   -          Which database should the payme…
k3f9q2-2  claude-code…  payments  5m   -     dangerous  ! rm -rf build";
        let at_40 = "
ID        ENDS  QUESTION
k3f9q2-1  10m   Which database should t…
k3f9q2-2  -     ! rm -rf build";
        for (room, shown) in [(88, at_88), (40, at_40)] {
            assert_eq!("\n".to_owned() + &lines(&open, Some(room)), shown, "{room}");
        }
    }

    #[test]
    fn text_of_an_agent_cannot_break_the_layout() {
        let hostile = json!({ "agent": "a\n1", "project": "/x/b\u{1b}", "message": "Sure?\x1b[2J\nReally?" });
        let [id, agent, project, _, ends, shown, kind, _, question] =
            row(&record("k3f9q2-1", &hostile, &json!({})), &bridges());
        assert_eq!([&*id, &*ends, &*shown], ["k3f9q2-1", "-", "client"]);
        assert_eq!((&*agent, &*project, &*kind), ("a\u{240a}1", "b\u{241b}", "question"));
        assert_eq!(question, "Sure?\u{241b}[2J …");
    }

    #[test]
    fn long_and_stacked_text_is_cut_on_a_terminal_and_a_question_everywhere() {
        let marks = "e".to_owned() + &"\u{301}".repeat(3001);
        for text in [&*marks, &"認".repeat(3001)] {
            let record =
                record("k3f9q2-1", &json!({ "agent": text, "project": text, "message": text }), &json!({}));
            for room in [40, 80, 200] {
                for line in table(&[Arc::clone(&record)], &bridges(), Some(room)) {
                    assert!(width(&line) <= room && line.chars().count() < 300, "{room}: {line}");
                }
            }
            let piped = lines(&[record], None);
            // No character carries so many marks anywhere.
            let shown = printable_line(text);
            assert_eq!(piped.matches(&*shown).count(), 2, "{piped}");
            assert_eq!(shown == text, text != marks);
        }
    }

    #[test]
    fn where_no_question_is_open_the_machines_are_named() {
        let two = ["/run".into(), "/state".into()];
        let here = Looked { folders: &two[..1], machines: &[], has_elsewhere: false };
        let both = Looked { machines: &["box", "lab"], ..here };
        let there = Looked { folders: &[], machines: &["box"], ..here };
        let many = Looked { machines: &["a", "b", "c", "d"], ..here };
        let frozen = Looked { folders: &[], ..here };
        let frozen_bridge = Gaps { unreachable: vec!["/run/a.sock".into()], ..Gaps::default() };
        let of = |problem: Option<&str>| {
            let report = MachineReport { problem: problem.map(str::to_owned), ..MachineReport::default() };
            ConnectedMachine { name: "box".parse().expect("a name"), report }
        };
        let missing = |machines: Vec<ConnectedMachine>| Gaps { machines, ..Gaps::default() };
        let away = missing(vec![of(Some("no route to the host"))]);
        for (looked, gaps, said) in [
            (
                here,
                &away,
                "no bridge runs in /run; box is not connected: no route to the host; `askbridge list --host box` tries again",
            ),
            (
                frozen,
                &away,
                "box is not connected: no route to the host; `askbridge list --host box` tries again",
            ),
            (here, &missing(vec![of(None)]), "no bridge runs in /run; box is being connected to"),
            (
                here,
                &missing(vec![of(None), of(Some("no route to the host"))]),
                "no bridge runs in /run; box, box are not connected: `askbridge status` says why",
            ),
            (
                here,
                &Gaps { fleet: Some("the fleet is not connected: why".to_owned()), ..Gaps::default() },
                "no bridge runs in /run; the fleet is not connected",
            ),
            (
                here,
                &Gaps { unreachable: frozen_bridge.unreachable.clone(), ..away.clone() },
                "no bridge replied (looked in /run)",
            ),
        ] {
            assert_eq!(looked.nothing(0, gaps), said);
        }
        for (looked, bridges, all, said) in [
            (here, 0, true, "no bridge runs (looked in /run)"),
            (Looked { folders: &two, ..here }, 0, true, "no bridge runs (looked in /run and /state)"),
            (here, 2, true, "no question is open (2 bridges)"),
            (both, 0, true, "no bridge runs (looked in /run and on box, lab)"),
            (both, 3, true, "no question is open (3 bridges here and on box, lab)"),
            (both, 1, false, "no question is open in the bridge that replied"),
            (there, 0, true, "no bridge runs (looked on box)"),
            (there, 1, true, "no question is open (1 bridge on box)"),
            (many, 5, true, "no question is open (5 bridges here and on 4 other machines)"),
            (frozen, 0, false, "no bridge replied"),
            (Looked { has_elsewhere: true, ..here }, 0, true, "no bridge runs in /run"),
        ] {
            let gaps = if all { Gaps::default() } else { frozen_bridge.clone() };
            assert_eq!(looked.nothing(bridges, &gaps), said);
        }
    }

    #[test]
    fn questions_of_two_machines_are_told_apart_by_their_ids() {
        let question =
            |message: &str| json!({ "message": message, "agent": "Codex", "project": "/src/shop" });
        let more = |bridge: &str| json!({ "bridge": bridge, "deadline": "2026-11-21T12:15:00Z" });
        let open = ["k3f9q2", "dev-box/k3f9q2"].map(|bridge| {
            record(&format!("{bridge}-1"), &question("Deploy the shop to the new region?"), &more(bridge))
        });
        let at_80 = "
ID                AGENT  PROJECT  AGE  ENDS  QUESTION
k3f9q2-1          Codex  shop     5m   10m   Deploy the shop to the new region?
dev-box/k3f9q2-1  Codex  shop     5m   10m   Deploy the shop to the new region?";
        let at_40 = "
ID                QUESTION
k3f9q2-1          Deploy the shop to th…
dev-box/k3f9q2-1  Deploy the shop to th…";
        for (room, shown) in [(80, at_80), (40, at_40)] {
            let statuses = [bridges_named("k3f9q2"), bridges_named("dev-box/k3f9q2")].concat();
            let listed = table(&open, &Bridges::new(statuses), Some(room)).join("\n");
            assert_eq!("\n".to_owned() + &listed, shown, "{room}");
        }
    }

    #[test]
    fn each_reason_is_one_line() {
        let mut gaps = Gaps::default();
        assert_eq!(gap_lines(&gaps), [""; 0]);
        gaps.unreadable = 1;
        assert_eq!(gap_lines(&gaps), ["1 question needs a newer askbridge"]);
        gaps.unreadable = 2;
        gaps.left_out = 1;
        gaps.unreachable = ["a", "other-machines", "b"].map(|name| format!("/r/{name}.sock").into()).into();
        gaps.no_descriptors = vec!["/r/d.sock".into()];
        gaps.busy = vec!["/r/c.sock".into()];
        gaps.older = vec!["/r/old.sock".into()];
        assert_eq!(
            gap_lines(&gaps),
            [
                "questions may be missing: 2 bridges did not reply: /r/a.sock, /r/b.sock",
                "questions may be missing: the inbox that is connected to other machines did not reply",
                "questions may be missing: a bridge could not be asked: this command has no file descriptor left: \
                 raise the limit with `ulimit -n`",
                "questions may be missing: a bridge is too busy: /r/c.sock",
                "/r/old.sock speaks an older protocol: restart the agent that it wraps",
                "2 questions need a newer askbridge",
                "1 question is left out: the list is full",
            ]
        );
        let hidden = Gaps { left_out: 7, hidden_on: vec!["box".parse().unwrap()], ..Gaps::default() };
        assert_eq!(gap_lines(&hidden), ["7 questions are left out: the list is full (of box)"]);
        assert_eq!(
            unasked(&gaps),
            "2 bridges did not reply: /r/a.sock, /r/b.sock; the inbox that is connected to other machines did not \
             reply; a bridge could not be asked: this command has no file descriptor left: raise the limit with `ulimit -n`; a bridge is too busy: /r/c.sock; \
             /r/old.sock speaks an older protocol: restart the agent that it wraps"
        );
    }
}
