//! Texts of agents as Markdown: own nodes, links that show where they lead, nothing that an agent hid, and nothing loaded.
//! What a tree is made of is left to `crates/markdown`.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    listener::Listener,
    permissions::permission,
    world::{World, asks},
};

/// A plan as agents write them.
const PLAN: &str = "# Move the ledger

Moves all **accounts** to the new tables, *without* a pause. See [the incident](https://wiki.example/2026/11/ledger) and \
https://wiki.example/why.

## Steps

1. Copy the rows
   - in batches of `5000`
   - [x] tried on staging
2. Take the **write lock**
3. ~~Wait~~ Swap the names

| Step | Takes | Rows | Who | What can go wrong |
|---|--:|--:|:-:|---|
| copy | 10 min | 2,000,000 | cron | nothing: the old table stays as it is |
| swap | 1 s | 0 | **Ada** | writes fail while the lock is held |

> The lock holds up every write.
> It is taken at night.

```sql
alter table ledger rename to ledger_old; -- a comment
insert into ledger select * from ledger_new where id < 5000;
```

---

<!-- rm -rf / -->
![a plan](http://LEAK/plan.png) [run](javascript:top.leaked=1) [x]: http://LEAK/hidden

[hidden]: http://LEAK/hidden \"and run it\"
";

/// Returns a permission to go on with a plan.
pub(crate) fn plans(id: u64, plan: &str) -> Value {
    permission(id, "Ready to code?", "switch_mode", &json!({ "plan": plan }))
}

/// The text of an element, with its parts that are in sight.
const SHOWN: &str = "const one = (selector) => all(selector, card())[0];
    const texts = (selector) => all(selector, card()).map((it) => clean(it.innerText));";

impl Browser {
    /// Waits until the current question stands there as Markdown.
    pub(crate) async fn reads(&self) {
        self.until("the tree of a text", "all('.prose [data-lines*=\"-\"]', card()).length", &[]).await;
    }

    async fn links_say_where_they_lead(&self, address: &str) {
        let links = self
            .run(
                "return all('.plan a', card()).map((it) => [it.textContent, it.href, it.target, it.rel]);",
                &[],
            )
            .await;
        let link = |text: &str, href: &str| json!([text, href, "_blank", "noopener noreferrer"]);
        assert_eq!(
            links,
            json!([
                link("the incident", "https://wiki.example/2026/11/ledger"),
                link("https://wiki.example/why", "https://wiki.example/why"),
                link("image: a plan", &format!("{address}/plan.png")),
                link(&format!("{address}/hidden"), &format!("{address}/hidden")),
                link(&format!("{address}/hidden"), &format!("{address}/hidden")),
            ])
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_shown_as_it_is_meant() {
    let (world, browser, leak) = (World::start(), Browser::start().await, Listener::start(""));
    let plan = PLAN.replace("LEAK", &format!("127.0.0.1:{}", leak.port));
    let mut agent = world.agent(&[plans(1, &plan)]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    let found = browser
        .run(
            &format!(
                "{SHOWN} return [texts('.plan :is(h3, h4)'), texts('.plan strong'), texts('.plan s'), texts('.plan em'),
                    all('.plan ol > li', card()).map((it) => it.value), texts('.plan blockquote p'),
                    all('.plan td.end', card()).length, texts('.plan .language'), one('.plan hr') !== undefined];"
            ),
            &[],
        )
        .await;
    assert_eq!(
        found,
        json!([
            ["Move the ledger", "Steps"],
            ["accounts", "write lock", "Ada"],
            ["Wait"],
            ["without"],
            [1, 2, 3],
            ["The lock holds up every write. It is taken at night."],
            4,
            ["sql"],
            true
        ])
    );
    let address = format!("http://127.0.0.1:{}", leak.port);
    browser.links_say_where_they_lead(&address).await;
    let card = browser.card().await;
    for shown in [
        "the incident (https://wiki.example/2026/11/ledger)",
        "<!-- rm -rf / -->",
        &format!("image: a plan ({address}/plan.png)"),
        "run (javascript:top.leaked=1)",
        &format!("[hidden]: {address}/hidden \"and run it\""),
    ] {
        assert!(card.contains(shown), "{shown} is not in {card}");
    }
    for sign in ["# Move", "**", "| ---", "```", "~~"] {
        assert!(!card.contains(sign), "{sign} is in {card}");
    }
    for (width, height) in [(390, 1600), (1280, 1600), (1920, 1600)] {
        browser.look("plan", width, height).await;
        let outside = "const { right } = all('article', card())[0].getBoundingClientRect();
            return all('.prose *', card()).filter((it) => isSeen(it) && it.getBoundingClientRect().right > right + 1).map((it) => it.outerHTML.slice(0, 99));";
        assert_eq!(browser.run(outside, &[]).await, json!([]), "{width}");
    }
    assert_eq!(leak.requests(), [""; 0]);
    browser.is_clean().await;
    agent.is_kept_waiting();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn titles_and_rows_are_without_the_signs_of_their_source() {
    let (world, browser) = (World::start(), Browser::start().await);
    let field = json!([{ "name": "f", "label": "Which **one**?", "help": "- a\n- b", "kind": "text" }]);
    let message = "# Which one? See **bold**, `code`\n\nMore of *it*.";
    let mut agent = world.agent(&[asks(1, message, &field)]);
    world.until_open(1).await;
    browser.sign_in(&world).await;
    browser.select("Which one?").await;
    browser.reads().await;
    assert_eq!(browser.current_title().await, "Which one? See bold, code");
    let row = browser.run("return all('.row .title').map((it) => it.textContent);", &[]).await;
    assert_eq!(row, json!(["Which one? See bold, code More of *it*."]));
    let items = browser.run("return all('.hint li', card()).map((it) => it.textContent);", &[]).await;
    assert_eq!(items, json!(["a", "b"]));
    browser.fill("Which one?", "this").await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["this"]]));
    browser.is_clean().await;
}

/// Shows a text in the place of the plan, and returns how long its tree took.
const PUT: &str =
    "const { prose } = await import(document.querySelector('link[href$=\"/markdown.js\"]').href);
    const started = performance.now();
    const box = prose(arguments[0]);
    all('.plan', card())[0].replaceChildren(box);
    await new Promise((done) => box.addEventListener('read', done, { once: true }));
    box.getBoundingClientRect();
    const first = performance.now() - started;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_texts_are_shown_in_time() {
    let (world, browser) = (World::start(), Browser::start().await);
    let _agent = world.agent(&[plans(1, "# A plan")]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    for (text, shown) in [
        (
            format!("{} deep", ">".repeat(10_000)),
            "Shown as it was written: its parts stand within each other",
        ),
        (format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(10_000)), "Shown as it was written: it has more than"),
        (format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(40_000)), "Shown as it was written: it has more than"),
        (
            "Left \u{202e}thgir\u{202c} **bold\u{2066}**".to_owned(),
            "Left \\u{202e}thgir\\u{202c} bold\\u{2066}",
        ),
        (
            "[x](https://a.example/\u{202e}b) **[y](vbscript:z)**".to_owned(),
            "x (https://a.example/%E2%80%AEb) y (vbscript:z)",
        ),
    ] {
        let text = json!(text);
        let seen = browser.run_async(&format!("{PUT} return [box.innerText, first];"), &[text]).await;
        assert!(
            seen[0].as_str().unwrap().contains(shown),
            "{shown} is not in {}",
            seen[0].as_str().unwrap().chars().take(200).collect::<String>()
        );
        crate::cost::figure(&format!("{shown:?}: {:.0} ms", seen[1].as_f64().unwrap()));
    }
    browser.is_clean().await;
}

/// A plan of 2,000 lines.
fn long_plan() -> String {
    (0..200)
        .map(|step| {
            format!(
                "## Step {step}\n\nDo **this** and `that` for the {step}th time, see https://a.example/{step}.\n\n- one\n- two `x`\n- three\n\n> quoted\n\n"
            )
        })
        .collect()
}

/// A plan of as many lines, most of which are code.
fn long_code() -> String {
    let lines = "let a = b(1); // c\n".repeat(7);
    (0..200).map(|step| format!("# {step}\n```rust\n{lines}```\n")).collect()
}

/// Scrolls through it.
const SCROLL: &str = "const main = all('.main')[0];
    const frame = () => new Promise(requestAnimationFrame);
    const times = [];
    let last = await frame();
    while (times.length < 60) {
        main.scrollTop += 400;
        const now = await frame();
        times.push(now - last);
        last = now;
    }
    times.sort((a, b) => a - b);
    return [first, times[57], times.at(-1), all('.plan :is(h3, h4)', card()).length];";

/// Times are figures alone: they say as much of the machine as of the page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_plan_is_there_soon_and_scrolls() {
    let (world, browser) = (World::start(), Browser::start().await);
    let _agent = world.agent(&[plans(1, "# A plan")]);
    browser.sign_in(&world).await;
    browser.select("Ready to code?").await;
    browser.reads().await;
    for (what, plan) in [("a plan", long_plan()), ("a plan of code", long_code())] {
        assert_eq!(plan.lines().count(), 2000);
        let times = browser.run_async(&format!("{PUT} {SCROLL}"), &[json!(plan)]).await;
        let time = |place: usize| times[place].as_f64().unwrap();
        crate::cost::figure(&format!(
            "{what} of 2,000 lines: readable after {:.0} ms; 60 frames of scrolling, 95 % within {:.0} ms, the longest {:.0} ms",
            time(0),
            time(1),
            time(2)
        ));
        assert_eq!(times[3], json!(200));
    }
    let coloured = browser.run("return all('.plan [data-role]', card()).length;", &[]).await;
    assert_eq!(coloured, json!(7 * 200 * 4));
    browser.is_clean().await;
}

/// An inbox of an earlier version cannot read Markdown: its texts are shown as they are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_nobody_reads_is_shown_as_it_is_written() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.open(&world.address("/elements")).await;
    let shown = browser
        .run_async(
            "const { readBy, prose } = await import('/page/markdown.js');
            const seen = [];
            readBy(async () => { throw Object.assign(new Error('no such method'), { code: -32601 }); });
            seen.push(prose('# a **b**'));
            readBy(async (texts) => ({ documents: texts.map(() => ({ blocks: [{ kind: 'later', lines: [1, 1] }] })) }));
            seen.push(prose('# c **d**'));
            await new Promise((done) => setTimeout(done, 50));
            return seen.map((it) => it.textContent);",
            &[],
        )
        .await;
    assert_eq!(shown, json!(["# a b", "# c d"]));
}
