//! The open questions as a table, a line for each, as a person reads it on a terminal.
//! When it is printed is left to `command`.

use std::sync::Arc;

use super::{
    bridges::Bridges,
    columns::{Column, Columns, NarrowingStep},
    text::{self, NONE, place, span},
};
use crate::{
    desk::{Record, State},
    question::Purpose,
};

/// The heads of the columns, in their order.
const HEADS: [&str; 8] = ["ID", "AGENT", "PROJECT", "AGE", "ENDS", "SHOWN", "KIND", "QUESTION"];
/// With so many columns, most questions can be read as a whole.
const COMFORT: usize = 40;
/// With fewer columns, a question cannot be told from others.
const LEAST: usize = 20;
/// The least columns of an agent or a project before it is left out.
const NAME: usize = 12;

/// Returns the lines of a list of the open questions, its heads first. On a terminal of so many columns, the others give
/// way to what is asked; elsewhere nothing is cut.
pub fn table(open: &[Arc<Record>], bridges: &Bridges, room: Option<usize>) -> Vec<String> {
    let mut cells: [Vec<String>; 8] = Default::default();
    for record in open {
        for (column, cell) in cells.iter_mut().zip(row(record, bridges)) {
            column.push(cell);
        }
    }
    let has_ends = cells[4].iter().any(|ends| ends != NONE);
    let has_permissions = open.iter().any(|record| record.question.purpose != Purpose::Question);
    let mut columns: Vec<_> =
        HEADS.into_iter().zip(cells).map(|(head, cells)| Column::new(head, cells)).collect();
    let Some(question) = columns.pop() else { return Vec::new() };
    let mut columns = Columns::new(columns, question);
    if let Some(room) = room {
        columns.fit(room, &steps(has_ends, has_permissions));
    }
    columns.lines()
}

/// Returns what gives way to the question, the least important first.
fn steps(has_ends: bool, has_permissions: bool) -> Vec<(usize, NarrowingStep)> {
    let mut steps = Vec::new();
    if !has_permissions {
        steps.push((COMFORT, NarrowingStep::Drop("KIND")));
    }
    steps.extend([
        (COMFORT, NarrowingStep::Drop("SHOWN")),
        (COMFORT, NarrowingStep::Cut("AGENT", NAME)),
        (COMFORT, NarrowingStep::Cut("PROJECT", NAME)),
    ]);
    if !has_ends {
        steps.push((LEAST, NarrowingStep::Drop("ENDS")));
    }
    let last = ["KIND", "AGENT", "AGE", "PROJECT", "ENDS"];
    steps.extend(last.map(|head| (LEAST, NarrowingStep::Drop(head))));
    steps
}

/// Returns the cells of one question, on one printable line each.
pub fn row(record: &Record, bridges: &Bridges) -> [String; 8] {
    let now = bridges.now(record);
    // The mark is at the beginning, where nothing cuts it off.
    let mark = if record.question.risk().is_dangerous() { "! " } else { "" };
    let asked = format!("{mark}{}", record.question.headline().trim());
    let ends = match record.deadline {
        // It cannot expire any more.
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
        text::line(&asked),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::terminal::{printable_line, width};

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
        let status = json!({
            "protocol": 1, "bridge": "k3f9q2", "pid": 1, "version": "1.0.0", "open": 1, "folder": "/",
            "agent": "npx -y @zed-industries/claude-code-acp@0.9.1", "startedAt": "2026-11-21T11:00:00Z",
            "uptimeMs": 65 * 60 * 1000,
        });
        Bridges::new(vec![serde_json::from_value(status).expect("a status")])
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
ID         AGENT            PROJECT                     AGE  ENDS  SHOWN       KIND      QUESTION
k3f9q2-1   Codex            payments                    5m   10m   elsewhere   question  Which database should the payments service use?
k3f9q2-12  claude-code-acp  a-project-with-a-long-name  5m   sent  delivering  question  Deploy?";
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
ID        AGENT         PROJECT   AGE  ENDS  KIND        QUESTION
k3f9q2-1  Codex         payments  5m   10m   question    Which database should the paym…
k3f9q2-2  claude-code…  payments  5m   -     permission  ! rm -rf build";
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
        let [id, agent, project, _, ends, shown, kind, question] =
            row(&record("k3f9q2-1", &hostile, &json!({})), &bridges());
        assert_eq!([&*id, &*ends, &*shown], ["k3f9q2-1", "-", "client"]);
        assert_eq!((&*agent, &*project, &*kind), ("a\u{240a}1", "b\u{241b}", "question"));
        assert_eq!(question, "Sure?\u{241b}[2J\u{240a}Really?");
    }

    #[test]
    fn long_and_stacked_text_is_cut_on_a_terminal_and_whole_in_a_pipe() {
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
            assert_eq!(piped.matches(&*shown).count(), 3, "{piped}");
            assert_eq!(shown == text, text != marks);
        }
    }
}
