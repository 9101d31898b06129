//! The bot beside bridges that are played: what it answers, what it leaves to the person, and what it does when a question,
//! its bridge or the file changes under its hands.

use std::fs;

use askbridge_control::{
    Inbox, JoinedInbox,
    core::question::{
        Answer, Field, FieldOption, Kind, Origin, Outcome, Provenance, Purpose, Question, Reason, Responder,
        Value,
    },
    rpc::played::{PlayedBridge, soon},
};
use tempfile::TempDir;
use tokio::{sync::mpsc, task::JoinHandle};

use super::bot::{AnswerFile, Bot};

/// A bot that runs, and what it says.
struct Scene {
    folder: TempDir,
    bridge: PlayedBridge,
    said: mpsc::Receiver<String>,
    runs: JoinHandle<()>,
}

impl Scene {
    /// Starts a bot with these lines, and a bridge of the name `b`.
    async fn new(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bridge = PlayedBridge::start(folder.path(), "b");
        let path = folder.path().join("answers.txt");
        fs::write(&path, lines).unwrap();
        let inbox = soon(JoinedInbox::open(folder.path())).await.unwrap();
        let (say, said) = mpsc::channel(100);
        let file = AnswerFile::open(path).unwrap();
        let mut bot = Bot::new(inbox.clone(), file, move |line| say.try_send(line).unwrap());
        let runs = tokio::spawn(async move {
            tokio::select! { followed = inbox.follow() => followed.unwrap(), () = bot.run() => {} }
        });
        Scene { folder, bridge, said, runs }
    }

    /// Returns the next line that the bot says.
    async fn says(&mut self) -> String {
        soon(self.said.recv()).await.expect("the bot runs")
    }

    /// Returns how a question of the bridge was answered: the value of each field, and by whom.
    fn answer(&self, number: u64) -> (Vec<Value>, Provenance) {
        let id = format!("b-{number}").parse().unwrap();
        let record = self.bridge.inbox.store().read(|_, now| now.get(&id).cloned()).unwrap();
        let settlement = *record.settlement.clone().expect("a settlement");
        let Outcome::Answered(answer) = settlement.outcome else { panic!("not answered: {record:?}") };
        (answer.values.into_values().collect(), settlement.by)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.runs.abort();
    }
}

fn choice(label: &str, options: &[(&str, &str)], many: bool) -> Field {
    let option = |(value, label): &(&str, &str)| FieldOption {
        value: (*value).to_owned(),
        label: (*label).to_owned(),
        ..FieldOption::default()
    };
    Field::at(0, label.to_owned(), None, Kind::choice(options.iter().map(option).collect(), many, false))
}

fn question(mut fields: Vec<Field>) -> Question {
    fields.iter_mut().enumerate().for_each(|(place, field)| field.name = format!("q{place}"));
    Question::new(Origin::SandboxAgent, "q", fields)
}

fn database(label: &str) -> Question {
    question(vec![choice(label, &[("pg", "Postgres"), ("lite", "SQLite")], false)])
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[tokio::test]
async fn questions_with_a_line_are_answered() {
    let lines = "Which  database? = Postgres\nWhich cache? = lite\nDeploy to * now? = no\nPort = 8080\n\
                 # A comment.\n\nWhich checks? = unit | Lint\nName = a = b\n* database? = SQLite\n";
    let mut scene = Scene::new(lines).await;
    let checks = [("unit", "Unit"), ("lint", "Lint"), ("e2e", "All")];
    let confirm = Kind::Confirm { yes: "yes".to_owned(), no: "no".to_owned() };
    let port = serde_json::from_str(r#"{"name":"q","label":"Port","kind":"number"}"#).unwrap();
    let form = question(vec![Field::at(0, "Name".to_owned(), None, Kind::free_text()), port]);
    for (asked, said, values) in [
        (database("Which database?"), "Postgres", vec![text("pg")]),
        (database("Which cache?"), "lite", vec![text("lite")]),
        (database("Another database?"), "SQLite", vec![text("lite")]),
        (
            question(vec![Field::at(0, "Deploy to eu-1 now?".to_owned(), None, confirm)]),
            "no",
            vec![Value::Flag(false)],
        ),
        (
            question(vec![choice("Which checks?", &checks, true)]),
            "unit, Lint",
            vec![Value::Many(vec!["unit".to_owned(), "lint".to_owned()])],
        ),
        (form, "a = b, 8080", vec![text("a = b"), Value::Number(8080.into())]),
        (Question { message: "Which cache?".to_owned(), ..database("Choose") }, "lite", vec![text("lite")]),
    ] {
        let number = scene.bridge.ask(asked).await;
        scene.bridge.obey().await;
        assert_eq!(scene.says().await, format!("b-{number} answered: {said}"));
        let by = Provenance { responder: Responder::Rpc, name: Some("answers_from_file".to_owned()) };
        assert_eq!(scene.answer(number), (values, by));
    }
}

#[tokio::test]
async fn everything_else_waits_for_the_person() {
    let mut scene = Scene::new("* = Postgres\nName = x\n").await;
    let options = [("y", "Postgres"), ("n", "Reject")];
    let permission =
        Question { purpose: Purpose::Permission, ..question(vec![choice("Run it?", &options, false)]) };
    let secret = Field { secret: true, ..Field::at(0, "Key?".to_owned(), None, Kind::free_text()) };
    let mut open = choice("Which?", &[("a", "A")], false);
    open.kind = Kind::choice(open.kind.options().to_vec(), false, true);
    let twice = choice("Which?", &[("a", "Postgres"), ("b", "Postgres")], false);
    for (asked, why) in [
        (permission, "a permission is yours alone"),
        (Question { dangerous: true, ..database("Drop?") }, "a wrong answer could do harm"),
        (Question { confirm: true, ..database("Sure?") }, "a wrong answer could do harm"),
        (question(vec![secret]), "it asks for a secret"),
        (question(vec![open]), "none of its options is \"Postgres\""),
        (question(vec![twice]), "field \"q0\" has several options \"Postgres\""),
    ] {
        let number = scene.bridge.ask(asked).await;
        let said = scene.says().await;
        assert!(said.starts_with(&format!("b-{number} waits for you, since {why}")), "{said}");
    }
    // The bridge says what does not fit.
    let short = serde_json::from_str(r#"{"name":"q","label":"Code?","kind":"text","maxLength":3}"#).unwrap();
    let number = scene.bridge.ask(question(vec![short])).await;
    let said = scene.says().await;
    assert!(said.starts_with(&format!("b-{number} not answered: the answer does not fit")), "{said}");
    assert!(said.ends_with("; it waits for you"), "{said}");
    assert_eq!(scene.bridge.inbox.store().read(|_, now| now.open_count()), 7);
}

#[tokio::test]
async fn a_form_waits_unless_each_of_its_fields_has_a_line() {
    let mut scene = Scene::new("Name = x\n").await;
    let field = |label: &str| Field::at(0, label.to_owned(), None, Kind::free_text());
    scene.bridge.ask(question(vec![field("Name"), field("Port")])).await;
    let said = scene.says().await;
    assert!(said.starts_with("b-1 waits for you, since the file has no answer"), "{said}");
}

#[tokio::test]
async fn a_question_that_changes_is_answered_as_it_is_then() {
    let mut scene = Scene::new("Which database? = Postgres\nWhich test database? = SQLite\n").await;
    let number = scene.bridge.ask(database("Which database?")).await;
    let late = scene.bridge.submitted().await;
    scene.bridge.amend(number, database("Which test database?")).await;
    scene.bridge.carry_out(late).await;
    scene.bridge.obey().await;
    let mut said = [scene.says().await, scene.says().await];
    said.sort();
    assert_eq!(said[0], "b-1 answered: SQLite");
    assert!(said[1].starts_with("b-1 not answered: the question has changed"), "{said:?}");
    assert_eq!(scene.answer(number).0, [text("lite")]);
}

#[tokio::test]
async fn whoever_answers_first_wins() {
    let mut scene = Scene::new("* database? = Postgres\n").await;
    let page = Provenance { responder: Responder::Page, name: None };
    let lite = Outcome::Answered(Answer::text("q0", "lite"));
    for (outcome, why) in [
        (lite, "the question is settled already, in another way"),
        (Outcome::Rejected(Reason::Withdrawn), "the question is over"),
    ] {
        let number = scene.bridge.ask(database("Which database?")).await;
        let late = scene.bridge.submitted().await;
        scene.bridge.settle(number, outcome, page.clone()).await;
        scene.bridge.carry_out(late).await;
        assert_eq!(scene.says().await, format!("b-{number} not answered: {why}; nothing is left to do"));
    }
}

#[tokio::test]
async fn a_question_is_answered_once_its_lost_bridge_is_back() {
    let mut scene = Scene::new("Which database? = Postgres\n").await;
    let number = scene.bridge.ask(database("Which database?")).await;
    drop(scene.bridge.submitted().await);
    scene.bridge.vanish().await;
    let is_tried_again = |said: &str| {
        said.starts_with("b-1 not answered: ") && said.ends_with("; it is tried again while it is open")
    };
    let mut said = scene.says().await;
    assert!(is_tried_again(&said), "{said}");
    scene.bridge.reappear();
    scene.bridge.obey().await;
    // It may have tried before it heard that the bridge is lost.
    while is_tried_again(&said) {
        said = scene.says().await;
    }
    assert_eq!(said, "b-1 answered: Postgres");
    assert_eq!(scene.answer(number).0, [text("pg")]);
}

#[tokio::test]
async fn a_file_that_changes_counts_for_what_is_open() {
    let mut scene = Scene::new("# Nothing yet.\n").await;
    scene.bridge.ask(database("Which database?")).await;
    assert!(scene.says().await.contains("the file has no answer"));
    scene.bridge.ask(database("Which cache?")).await;
    assert!(scene.says().await.contains("the file has no answer"));
    let path = scene.folder.path().join("answers.txt");
    fs::write(&path, "Which database? Postgres\n").unwrap();
    let said = scene.says().await;
    assert!(said.ends_with("answers.txt: line 1 has no ` = `; the answers from before count"), "{said}");
    fs::write(&path, "Which database? = Postgres\n").unwrap();
    scene.bridge.obey().await;
    assert_eq!(scene.says().await, "b-1 answered: Postgres");
    // What still waits is not said again.
    fs::write(&path, "Which cache? = SQLite\n").unwrap();
    scene.bridge.obey().await;
    assert_eq!(scene.says().await, "b-2 answered: SQLite");
}
