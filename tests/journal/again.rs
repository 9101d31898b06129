//! What is known of a question that is asked again: given, offered, or nothing.

use std::sync::Arc;

use askbridge_control::inbox::Ledger;
use askbridge_core::{
    desk::{Record, Submission},
    question::{Origin, Outcome, Purpose, Question, Reason},
};
use askbridge_journal::{Journal, Options};

use crate::journal::support::{
    Place, agent_gone, answer, answered, asked, open, page, question, settled, submission,
};

/// Notes a question and an answer that is accepted, and of which nothing is delivered.
async fn accepted(journal: &Journal) -> Arc<Record> {
    let first = open("a-1", "Which?");
    accepted_of(journal, &first).await;
    first
}

/// Notes this question and an answer that is accepted, and of which nothing is delivered.
async fn accepted_of(journal: &Journal, first: &Arc<Record>) {
    journal.note(first);
    journal.accepting(first, &submission("SQLite"), &page()).await;
    journal.waits(&first.id);
}

/// Notes the same question of another bridge.
fn asked_again(journal: &Journal) -> Arc<Record> {
    let again = open("b-1", "Which?");
    journal.note(&again);
    again
}

#[tokio::test]
async fn answer_of_which_nothing_was_delivered_is_given_to_the_same_question_once() {
    let place = Place::new();
    let journal = place.journal();
    let first = accepted(&journal).await;
    place.lives("b");
    let again = asked_again(&journal);
    let earlier = journal.earlier(&again).await.expect("an earlier question");
    assert_eq!((earlier.id.to_string(), earlier.was_delivered), ("a-1".to_owned(), false));
    assert!(!earlier.may_have_arrived);
    assert_eq!((&earlier.outcome, &earlier.by), (&Outcome::Answered(answer("SQLite")), &page()));
    let other = open("b-2", "Which?");
    journal.note(&other);
    let (one, two) = tokio::join!(journal.claim(&first.id, &again.id), journal.claim(&first.id, &other.id));
    assert!(one && !two);
    let lost = place.history().unsettled(&["b".parse().expect("a name")]).expect("a list");
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].replaced_by.as_ref(), Some(&again.id));
    // The question that took it over dies as well before its agent has the answer: the next one takes it from there.
    journal.note(&answered(&other, "DuckDB"));
    place.dies("b");
    place.lives("c");
    let third = asked("c-1", question("Which?"));
    journal.note(&third);
    let earlier = journal.earlier(&third).await;
    assert_eq!(
        earlier.map(|earlier| earlier.id.to_string()).as_deref(),
        Some("b-2"),
        "the last decision counts"
    );
}

#[tokio::test]
async fn claimed_answer_survives_the_question_that_claimed_it() {
    let place = Place::new();
    let journal = place.journal();
    let first = accepted(&journal).await;
    let second = open("b-1", "Which?");
    journal.note(&second);
    assert!(journal.claim(&first.id, &second.id).await);
    let third = open("c-1", "Which?");
    journal.note(&third);
    let earlier = journal.earlier(&third).await.expect("an earlier question");
    assert_eq!((&earlier.id, earlier.was_delivered), (&second.id, false));
    assert!(!journal.claim(&first.id, &third.id).await);
    assert!(journal.claim(&second.id, &third.id).await);
}

#[tokio::test]
async fn answer_that_was_delivered_is_offered_and_never_given() {
    let place = Place::new();
    let journal = place.journal();
    let first = accepted(&journal).await;
    journal.settled(&answered(&first, "SQLite")).await;
    let again = asked_again(&journal);
    let earlier = journal.earlier(&again).await.expect("an earlier question");
    assert!(earlier.was_delivered);
    assert_eq!(earlier.outcome, Outcome::Answered(answer("SQLite")));
    assert!(!journal.claim(&first.id, &again.id).await);
}

/// A program may end while its inbox runs on, so that the inbox's life says nothing about it.
#[tokio::test]
async fn answer_that_a_program_got_is_offered_while_its_inbox_lives() {
    let place = Place::new();
    let journal = place.journal();
    place.lives("a");
    for ((origin, is_offered), number) in
        [(Origin::Program, true), (Origin::Elicitation, false)].into_iter().zip(1..)
    {
        let of = |id: &str| asked(id, Question { origin, ..question(origin.name()) });
        let first = of(&format!("a-{number}1"));
        journal.note(&first);
        journal.settled(&answered(&first, "SQLite")).await;
        let again = of(&format!("a-{number}2"));
        journal.note(&again);
        let earlier = journal.earlier(&again).await;
        assert_eq!(
            earlier.map(|earlier| (earlier.id, earlier.was_delivered)),
            is_offered.then(|| (first.id.clone(), true))
        );
        assert!(!journal.claim(&first.id, &again.id).await);
    }
}

#[tokio::test]
async fn answer_whose_delivery_had_begun_is_offered_and_never_given() {
    let place = Place::new();
    let journal = place.journal();
    // It is on its way as soon as it is accepted; or it waited, and its delivery began.
    let at_once = open("a-1", "At once?");
    journal.note(&at_once);
    journal.accepting(&at_once, &submission("SQLite"), &page()).await;
    let later = open("a-2", "Later?");
    accepted_of(&journal, &later).await;
    journal.begins(&later.id).await;
    for (first, again) in [(&at_once, open("b-1", "At once?")), (&later, open("b-2", "Later?"))] {
        for is_gone in [false, true] {
            if is_gone {
                journal.settled(&agent_gone(first)).await;
            }
            journal.note(&again);
            let earlier = journal.earlier(&again).await.expect("an earlier question");
            assert!(
                earlier.id == first.id && !earlier.was_delivered && earlier.may_have_arrived,
                "{earlier:?}"
            );
            assert!(!journal.claim(&first.id, &again.id).await);
        }
    }
}

#[tokio::test]
async fn answer_that_is_given_again_may_have_arrived_from_then_on() {
    let place = Place::new();
    let journal = place.journal();
    let first = accepted(&journal).await;
    let second = asked_again(&journal);
    assert!(journal.claim(&first.id, &second.id).await);
    journal.accepting(&second, &submission("SQLite"), &page()).await;
    let third = open("c-1", "Which?");
    journal.note(&third);
    let earlier = journal.earlier(&third).await.expect("an earlier question");
    assert!(earlier.id == second.id && earlier.may_have_arrived);
    assert!(!journal.claim(&second.id, &third.id).await);
}

#[tokio::test]
async fn question_of_a_bridge_that_is_alive_is_not_an_earlier_one() {
    let place = Place::new();
    place.lives("a");
    let journal = place.journal();
    let first = accepted(&journal).await;
    let again = asked_again(&journal);
    assert_eq!(journal.earlier(&again).await, None);
    assert!(!journal.claim(&first.id, &again.id).await);
    journal.settled(&answered(&first, "SQLite")).await;
    assert_eq!(journal.earlier(&again).await, None);
}

#[tokio::test]
async fn answer_that_died_with_its_agent_is_given_though_its_bridge_is_alive() {
    let place = Place::new();
    place.lives("a");
    let journal = place.journal();
    let first = accepted(&journal).await;
    journal.settled(&agent_gone(&first)).await;
    let again = open("a-2", "Which?");
    journal.note(&again);
    let earlier = journal.earlier(&again).await.expect("an earlier question");
    assert!(!earlier.was_delivered);
    assert!(journal.claim(&earlier.id, &again.id).await);
    assert!(!journal.claim(&earlier.id, &again.id).await);
}

#[tokio::test]
async fn refused_submission_is_not_an_answer() {
    let place = Place::new();
    let journal = place.journal();
    let first = open("a-1", "Which?");
    journal.accepting(&first, &submission("nonsense"), &page()).await;
    journal.refused(&first.id);
    let again = open("b-1", "Which?");
    assert_eq!(journal.earlier(&again).await, None);
    // Of two at once it is not known which one was refused.
    journal.accepting(&first, &submission("one"), &page()).await;
    journal.accepting(&first, &submission("two"), &page()).await;
    assert_eq!(journal.earlier(&again).await, None);
    journal.refused(&first.id);
    assert_eq!(journal.earlier(&again).await, None);
    journal.refused(&first.id);
    journal.accepting(&first, &submission("three"), &page()).await;
    let earlier = journal.earlier(&again).await.expect("an earlier question");
    assert_eq!(earlier.outcome, Outcome::Answered(answer("three")));
}

#[tokio::test]
async fn last_decision_counts_and_not_one_before_it() {
    let place = Place::new();
    let journal = place.journal();
    let first = open("a-1", "Which?");
    journal.accepting(&first, &submission("one"), &page()).await;
    let second = open("a-2", "Which?");
    journal.settled(&answered(&second, "two")).await;
    let again = open("b-1", "Which?");
    let earlier = journal.earlier(&again).await.expect("an earlier question");
    assert_eq!(earlier.outcome, Outcome::Answered(answer("two")));
    // What no person decided takes no decision's place.
    let third = open("a-3", "Which?");
    journal.settled(&settled(&third, Outcome::Rejected(Reason::Cancelled))).await;
    let fourth = open("a-4", "Which?");
    journal.note(&fourth);
    assert_eq!(journal.earlier(&again).await.expect("an earlier question").id, second.id);
    // Nor is it given once a bridge that is alive has another decision.
    place.lives("c");
    let fifth = open("c-1", "Which?");
    journal.settled(&answered(&fifth, "three")).await;
    assert_eq!(journal.earlier(&open("b-2", "Which?")).await, None);
}

#[tokio::test]
async fn rejection_by_the_person_counts_as_a_decision() {
    let place = Place::new();
    let journal = place.journal();
    let first = open("a-1", "Which?");
    journal.accepting(&first, &Submission::Reject(Some("no".to_owned())), &page()).await;
    let earlier = journal.earlier(&open("b-1", "Which?")).await.expect("an earlier question");
    assert_eq!(earlier.outcome, Outcome::Rejected(Reason::User));
}

#[tokio::test]
async fn another_question_is_not_the_same() {
    let place = Place::new();
    let journal = place.journal();
    journal.accepting(&open("a-1", "Which?"), &submission("SQLite"), &page()).await;
    assert_eq!(journal.earlier(&open("b-1", "Which one?")).await, None);
    let mut without_session = question("Which?");
    without_session.session = None;
    journal.accepting(&asked("a-2", without_session.clone()), &submission("SQLite"), &page()).await;
    assert_eq!(journal.earlier(&asked("b-2", without_session)).await, None);
}

#[tokio::test]
async fn answer_with_a_secret_part_is_neither_offered_nor_given() {
    let place = Place::new();
    let journal = place.journal();
    let mut secret = question("Which?");
    secret.fields[0].secret = true;
    let first = asked("a-1", secret.clone());
    journal.accepting(&first, &submission("hunter2"), &page()).await;
    let again = asked("b-1", secret.clone());
    journal.note(&again);
    assert_eq!(journal.earlier(&again).await, None);
    assert!(!journal.claim(&first.id, &again.id).await);
    journal.settled(&answered(&first, "hunter2")).await;
    assert_eq!(journal.earlier(&again).await, None);
    journal.flush().await;
    let written = std::fs::read(place.file().with_extension("db-wal")).expect("a log");
    let written = [written, std::fs::read(place.file()).expect("a file")].concat();
    assert!(!written.windows(7).any(|bytes| bytes == b"hunter2"));
    assert!(written.windows(6).any(|bytes| bytes == b"Which?"), "the question itself is there");
}

#[tokio::test]
async fn permission_is_offered_and_never_given() {
    let place = Place::new();
    let journal = place.journal();
    let mut permission = question("Run it?");
    permission.purpose = Purpose::Permission;
    let first = asked("a-1", permission.clone());
    journal.accepting(&first, &submission("allow"), &page()).await;
    let again = asked("b-1", permission);
    journal.note(&again);
    assert!(journal.earlier(&again).await.is_some());
    assert!(!journal.claim(&first.id, &again.id).await);
}

#[tokio::test]
async fn what_is_dangerous_is_offered_and_never_given() {
    let place = Place::new();
    let journal = place.journal();
    let dangerous = Question { dangerous: true, ..question("Drop it?") };
    let first = asked("a-1", dangerous.clone());
    accepted_of(&journal, &first).await;
    let again = asked("b-1", dangerous);
    journal.note(&again);
    assert!(journal.earlier(&again).await.is_some());
    assert!(!journal.claim(&first.id, &again.id).await);
}

#[tokio::test]
async fn answer_is_given_only_where_its_person_would_see_the_same() {
    let place = Place::new();
    let journal = place.journal();
    let first = accepted(&journal).await;
    let mut other = question("Which?");
    other.fields[0].help = Some("Delete the production database".to_owned());
    let explained = asked("b-1", other);
    let dangerous = asked("b-2", Question { dangerous: true, ..question("Which?") });
    for later in [&explained, &dangerous] {
        journal.note(later);
        let earlier = journal.earlier(later).await.expect("it is offered");
        assert!(earlier.id == first.id && !earlier.was_delivered);
        assert!(!journal.claim(&first.id, &later.id).await, "{}", later.id);
    }
    // What says nothing to a person may be new.
    let alike = Question { id: "other".to_owned(), tool_call: Some("c".to_owned()), ..question("Which?") };
    let alike = asked("b-3", alike);
    journal.note(&alike);
    assert!(journal.claim(&first.id, &alike.id).await);
}

#[tokio::test]
async fn journal_without_texts_has_no_answer_to_give() {
    let place = Place::new();
    let journal = Journal::new(Options { texts: false, ..place.options() });
    let first = accepted(&journal).await;
    let again = asked_again(&journal);
    assert_eq!(journal.earlier(&again).await, None);
    assert!(!journal.claim(&first.id, &again.id).await);
}

#[tokio::test]
async fn old_answer_is_offered_for_a_day_and_given_for_an_hour() {
    let place = Place::new();
    let journal = place.journal();
    let first = accepted(&journal).await;
    let again = asked_again(&journal);
    journal.flush().await;
    let age = |hours: u64| {
        let at = std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600 + 60);
        let at = askbridge_core::desk::Timestamp::from(at).to_string();
        let sql = "UPDATE question SET accepted = json_set(accepted, '$.at', ?1) WHERE id = 'a-1'";
        assert_eq!(place.sql().execute(sql, [at]).expect("a row"), 1);
    };
    age(1);
    assert!(journal.earlier(&again).await.is_some());
    assert!(!journal.claim(&first.id, &again.id).await);
    age(24);
    assert_eq!(journal.earlier(&again).await, None);
}
