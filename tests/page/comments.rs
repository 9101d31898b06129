//! Comments at lines: by pointer, by key and on a selection, in the place that the agent has for them, kept as drafts.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    markdown::plans,
    permissions::permission,
    world::{World, asks},
};

const PLAN: &str = "# Move the ledger\n\n1. Copy the rows\n2. Take the **lock**\n\n| Step | Takes |\n|---|---|\n| copy | 10 min |\n\n```sql\ndrop table ledger;\n```\n\nThen it is done.";

/// The fields of the comments, as a person sees them.
const FIELDS: &str =
    "all('.comment textarea', card()).map((it) => [it.getAttribute('aria-label'), it.value])";

impl Browser {
    /// Comments on the block that has this text, by the pointer.
    async fn comments(&self, block: &str, text: &str) {
        let at = "const block = all('[data-lines], .row', card()).filter((it) => !it.querySelector('[data-lines]') && it.textContent.includes(arguments[0])).at(-1);
            block.scrollIntoView({ block: 'center', behavior: 'instant' });
            const { x, y, width, height } = block.getBoundingClientRect();
            return [x + width / 2, y + height / 2];";
        let at = self.run(at, &[json!(block)]).await;
        let mouse = json!({ "type": "mouseMoved", "x": at[0], "y": at[1] });
        self.cdp("Input.dispatchMouseEvent", mouse).await;
        self.press("Comment on this (c)").await;
        self.rest().await;
        self.keys(text).await;
    }

    async fn fields(&self) -> Value {
        self.run(&format!("return {FIELDS};"), &[]).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_on_a_plan_go_with_its_rejection() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[plans(1, PLAN)]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    browser.settle_in().await;
    browser.comments("Then it is done", "When?").await;
    browser.comments("copy", "Too slow").await;
    // By the key, on what is selected.
    browser.run("const strong = all('.plan strong', card())[0]; strong.getRootNode().activeElement?.blur(); getSelection().selectAllChildren(strong);", &[]).await;
    browser.rest().await;
    browser.keys("c").await;
    browser.rest().await;
    browser.keys("Which one?").await;
    let expected = json!([
        ["Comment on “lock”", "Which one?"],
        ["Comment on “copy | 10 min”", "Too slow"],
        ["Comment on “Then it is done.”", "When?"],
    ]);
    assert_eq!(browser.fields().await, expected);
    browser.shows("Your 3 comments reach this agent with a rejection only.").await;
    // They are a draft like any other.
    browser.until("the draft", "localStorage['askbridge-drafts']?.includes('Which one?')", &[]).await;
    browser.refresh().await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    browser
        .until(
            "the comments",
            &format!("{FIELDS}.length === 3 && !all('.loose .comment', card()).length"),
            &[],
        )
        .await;
    assert_eq!(browser.fields().await, expected);
    // Who allows it is told what becomes of them.
    browser.decide("Allow").await;
    browser.step().await;
    browser.shows("Your 3 comments are not sent with this: only a rejection takes them.").await;
    browser.press("Back").await;
    browser.settle_in().await;
    browser.press("Reject with your 3 comments").await;
    browser.rest().await;
    browser.keys("Not like this").await;
    browser.confirm().await;
    let told = agent.told(1);
    assert_eq!(told["outcome"]["optionId"], "no", "{told}");
    let remark = "Not like this\n\n> Move the ledger\n> lock\nWhich one?\n\n> Move the ledger\n> copy | 10 min\nToo slow\n\n\
         > Move the ledger\n> Then it is done.\nWhen?";
    assert_eq!(told["_meta"]["askbridge"]["remark"], remark);
    browser.is_clean().await;
    world.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_on_a_change_name_the_file_and_the_line() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut request = permission(1, "Edit src/main.rs", "edit", &json!({}));
    request["params"]["toolCall"]["content"] = json!([{ "type": "diff", "path": "/shop/src/main.rs", "oldText": "one\ntwo\n", "newText": "one\nTWO\n" }]);
    let mut agent = world.agent(&[request]);
    browser.sign_in(&world).await;
    browser.select("Edit src/main.rs").await;
    browser.settle_in().await;
    browser.comments("TWO", "Why in capitals?").await;
    // The option that refuses it takes them as well.
    browser.decide("Reject").await;
    let told = agent.told(1);
    assert_eq!(
        told["_meta"]["askbridge"]["remark"], "> /shop/src/main.rs:2\n> +TWO\nWhy in capitals?",
        "{told}"
    );
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_on_a_question_go_with_its_answer_as_a_note() {
    let (world, browser) = (World::start(), Browser::start().await);
    let field = json!([{ "name": "f", "label": "Go on?", "kind": "boolean" }]);
    let mut agent = world.agent(&[asks(1, "Go on?\n\nFirst this.\n\nThen **that**.", &field)]);
    browser.sign_in(&world).await;
    browser.select("Go on?").await;
    browser.reads().await;
    browser.settle_in().await;
    browser.comments("Then that", "Not that").await;
    browser.shows("Your comment goes with your answer, and with a rejection.").await;
    browser.choose("Yes").await;
    browser.send().await;
    let told = agent.told(1);
    assert_eq!(told["answers"], json!([["true"]]), "{told}");
    assert!(told.to_string().contains(r"> Then that.\nNot that"), "{told}");
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comment_is_made_changed_and_removed_by_keys() {
    let (world, browser) = (World::start(), Browser::start().await);
    let _agent = world.agent(&[plans(1, PLAN)]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    browser.settle_in().await;
    browser.run("all('.plan [tabindex=\"0\"]', card())[0].focus();", &[]).await;
    browser.key(Key::Down).await;
    browser.rest().await;
    // In one go: nothing of a comment is lost, since it decides nothing.
    browser.keys("cWhy?").await;
    assert_eq!(browser.fields().await, json!([["Comment on “Copy the rows”", "Why?"]]));
    browser.key(Key::Escape).await;
    assert_eq!(browser.run("return focused().textContent;", &[]).await, json!("Copy the rows"));
    // A letter in the midst of a text that somebody types for another window opens none. (A space would scroll the page, and
    // the next click would miss.)
    browser.keys("account").await;
    assert_eq!(browser.fields().await, json!([["Comment on “Copy the rows”", "Why?"]]));
    browser.press("Remove").await;
    assert_eq!(browser.fields().await, json!([]));
    browser.hides("your comment").await;
    // One without a text is none.
    browser.rest().await;
    browser.keys("c").await;
    browser.key(Key::Escape).await;
    assert_eq!(browser.fields().await, json!([]));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_are_on_a_line_of_code_and_on_the_head_of_a_table() {
    let (world, browser) = (World::start(), Browser::start().await);
    let plan = PLAN.replace("drop table ledger;", "begin;\ndrop table ledger;\ncommit;\nvacuum;");
    let mut agent = world.agent(&[plans(1, &plan)]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    browser.settle_in().await;
    browser.shows("To comment on a line, point at it or tap it.").await;
    browser.comments("StepTakes", "In minutes").await;
    // The second of four lines.
    let at = "const code = all('.plan pre code', card())[0].getClientRects();
        const { x, y } = code[0], { bottom } = code[code.length - 1];
        return [x + 20, y + ((bottom - y) * 3) / 8];";
    let at = browser.run(at, &[]).await;
    let mouse = json!({ "type": "mouseMoved", "x": at[0], "y": at[1] });
    browser.cdp("Input.dispatchMouseEvent", mouse).await;
    browser.press("Comment on this (c)").await;
    browser.keys("Why?").await;
    let expected =
        json!([["Comment on “Step | Takes”", "In minutes"], ["Comment on “drop table ledger;”", "Why?"]]);
    assert_eq!(browser.fields().await, expected);
    // The option that refuses it takes them, and says so; with Ctrl, Enter asks for a reason of the rejection.
    browser.shows("Refuses it this time, with your 2 comments").await;
    browser.chord(Key::Control, char::from(Key::Enter)).await;
    browser.shows("Reject this, with your 2 comments").await;
    browser.confirm().await;
    let told = agent.told(1);
    let remark =
        "> Move the ledger\n> Step | Takes\nIn minutes\n\n> Move the ledger\n> drop table ledger;\nWhy?";
    assert_eq!(told["_meta"]["askbridge"]["remark"], remark, "{told}");
    browser.is_clean().await;
}

/// What a person writes between the lines is no part of what they have to read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_stays_read_when_it_is_commented() {
    let (world, browser) = (World::start(), Browser::start().await);
    let plan: String = (0..60).map(|step| format!("{step}. step number {step}\n")).collect();
    let mut agent = world.agent(&[plans(1, &plan)]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    browser.settle_in().await;
    for _ in 0..2 {
        browser.scrolls(0.4).await;
    }
    browser.comments("step number 31", "Why?").await;
    for _ in 0..12 {
        browser.scrolls(0.4).await;
    }
    browser.decide("Allow").await;
    browser.step().await;
    assert_eq!(
        browser.run("return all('.rest-of-it', card()).length;", &[]).await,
        json!(0),
        "all of it was read"
    );
    browser.confirm().await;
    assert_eq!(agent.told(1)["outcome"]["optionId"], "once");
    browser.is_clean().await;
}
