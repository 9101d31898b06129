//! The images of a question: small in place, large in a dialog, drawn from the bytes alone, and what is hostile about them.

use base64::{Engine, prelude::BASE64_STANDARD};
use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    listener::Listener,
    permissions::permission,
    world::{World, asks},
};

/// A GIF of two frames of one pixel: a red one, and a blue one after 10 ms.
fn blinking() -> String {
    let head = b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\xff\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0";
    let frame = |colour: u8| {
        [&b"\x21\xf9\x04\x04\x01\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02"[..], &[0x44 + 8 * colour, 1, 0]]
            .concat()
    };
    BASE64_STANDARD.encode([&head[..], &frame(0), &frame(1), b"\x3b"].concat())
}

/// The header of a PNG of this size, without its pixels.
fn header(width: u32, height: u32) -> String {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    BASE64_STANDARD
        .encode([&head[..], &width.to_be_bytes(), &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat())
}

fn block(kind: &str, data: &str, name: &str) -> Value {
    json!({ "type": "image", "mimeType": kind, "data": data, "uri": name })
}

fn with_content(mut request: Value, blocks: &[Value]) -> Value {
    let content: Vec<_> = blocks.iter().map(|block| json!({ "type": "content", "content": block })).collect();
    request["params"]["toolCall"]["content"] = content.into();
    request
}

impl Browser {
    /// Returns an image that the browser itself makes, as Base64: a screenshot of a page with this name.
    async fn paints(&self, kind: &str, width: u32, height: u32) -> String {
        let paint = "const [kind, width, height] = arguments;
            const canvas = Object.assign(document.createElement('canvas'), { width, height });
            const context = canvas.getContext('2d');
            context.fillStyle = '#20418f'; context.fillRect(0, 0, width, height);
            context.fillStyle = '#fff'; context.fillRect(width / 10, height / 4, width * 0.8, height * 0.6);
            context.fillStyle = '#16181d'; context.font = `${height / 8}px sans-serif`;
            context.fillText('Sign in to the shop', width / 7, height / 2);
            return canvas.toDataURL(kind, 0.9).split(',')[1];";
        let data = self.run(paint, &[kind.into(), width.into(), height.into()]).await;
        data.as_str().expect("Base64").to_owned()
    }

    /// Returns the colour of the upper left pixel of each image that is shown, as `[red, green, blue]`.
    async fn colours(&self, count: usize) -> Value {
        let drawn = "(() => { const drawn = all('.image canvas', card()).map((canvas) => {
                const copy = document.createElement('canvas');
                const context = copy.getContext('2d');
                context.drawImage(canvas, 0, 0);
                return [...context.getImageData(0, 0, 1, 1).data];
            });
            return drawn.length == arguments[0] && drawn.every(([,,, alpha]) => alpha == 255) && drawn.map((it) => it.slice(0, 3)); })()";
        self.until("the images", drawn, &[count.into()]).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_images_of_a_permission_are_small_in_place_and_large_in_a_dialog() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    // More than one piece.
    let png = browser.paints("image/png", 1600, 1000).await;
    let jpeg = browser.paints("image/jpeg", 640, 400).await;
    let webp = browser.paints("image/webp", 300, 500).await;
    let blocks = [
        json!({ "type": "text", "text": "The page as it is now" }),
        block("image/png", &png, "shots/sign-in.png"),
        block("image/jpeg", &jpeg, "file:///shots/sign-in.jpg"),
        block("image/webp", &webp, "<b>tall</b>"),
        block("image/gif", &blinking(), "blinking"),
    ];
    let _agent = world.agent(&[with_content(permission(1, "Publish this", "other", &json!({})), &blocks)]);
    browser.select("Publish this").await;
    let colours = browser.colours(4).await;
    for (place, [red, blue]) in [[32, 143], [32, 143], [32, 143], [255, 0]].into_iter().enumerate() {
        let near = |at: usize, wanted: i64| (colours[place][at].as_i64().unwrap() - wanted).abs() < 12;
        assert!(near(0, red) && near(2, blue), "{colours}");
    }
    let names = browser
        .run("return all('.image', card()).map((it) => it.ariaLabel.replace(/[0-9.]+ (K?B)/, 'SIZE'));", &[])
        .await;
    assert_eq!(
        names,
        json!([
            "Image 1: shots/sign-in.png. PNG, 1600×1000, SIZE. Show it large",
            "Image 2: file:///shots/sign-in.jpg. JPEG, 640×400, SIZE. Show it large",
            "Image 3: <b>tall</b>. WebP, 300×500, SIZE. Show it large",
            "Image 4: blinking. GIF, 1×1, SIZE. Show it large"
        ])
    );
    browser.is_accessible("the images of a permission").await;
    browser.look("images", 1280, 900).await;
    browser.look("images", 390, 844).await;

    browser.run("all('.image', card())[0].focus();", &[]).await;
    browser.key(Key::Enter).await;
    let large = "(() => { const it = all('dialog[open] canvas', card())[0]; return it && it.width > 700 && [it.width, it.height, it.ariaLabel]; })()";
    assert_eq!(
        browser.until("the dialog", large, &[]).await,
        json!([1600, 1000, "Image 1: shots/sign-in.png"])
    );
    browser.is_accessible("a large image").await;
    browser.look("image-large", 1280, 900).await;
    browser.look("image-large", 390, 844).await;
    // Neither the keys of the page nor those of the question count there.
    browser.keys("jr").await;
    browser.key(Key::Escape).await;
    browser.until("no dialog", "!all('dialog[open]', card()).length", &[]).await;
    browser.until("the focus is back", "focused().matches('.image')", &[]).await;
    browser.shows("Publish this").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_images_are_named_and_load_nothing() {
    let (world, browser, leak) = (World::start(), Browser::start().await, Listener::start(""));
    let address = format!("http://127.0.0.1:{}/a.png", leak.port);
    let html =
        BASE64_STANDARD.encode(format!("<!doctype html><img src='{address}'><script>top.leaked=1</script>"));
    let svg = BASE64_STANDARD
        .encode(format!("<svg xmlns='http://www.w3.org/2000/svg'><image href='{address}'/></svg>"));
    let blocks = [
        block("image/png", &header(10_000, 10_000), "100 megapixels"),
        block("image/png", &html, "page.png"),
        block("image/svg+xml", &svg, "drawing.svg"),
        block("image/png", "", "nothing"),
        json!({ "type": "image", "mimeType": "image/png", "uri": address }),
        // Its header is right, and nothing follows.
        block("image/png", &header(640, 480), "cut"),
    ];
    let _agent = world.agent(&[with_content(permission(1, "Publish this", "other", &json!({})), &blocks)]);
    let image = format!("data:image/gif;base64,{}", blinking());
    let options =
        json!([{ "value": "a", "label": "Red", "image": image }, { "value": "b", "label": "Blue" }]);
    let which = json!([{ "name": "go", "label": "Which?", "kind": "choice", "options": options }]);
    let mut asked = asks(2, "Which colour?", &which);
    asked["params"]["images"] = json!([image]);
    let _other = world.agent(&[asked]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("Publish this").await;
    for said in [
        "1 image (image/png) is not shown: 10000×10000 pixels, which is too large to be shown",
        "1 image (image/png) is not shown: data that is no PNG, JPEG, WebP or GIF",
        "1 image (image/svg+xml) is not shown: data that is no PNG, JPEG, WebP or GIF",
        "is not shown: only its address was sent",
        "This browser cannot decode it: it is damaged.",
    ] {
        browser.shows(said).await;
    }
    assert_eq!(browser.run("return all('.image', card()).length;", &[]).await, 1);
    browser.is_accessible("a damaged image").await;
    browser.select("Which colour?").await;
    // One belongs to an option.
    assert_eq!(browser.colours(2).await, json!([[255, 0, 0], [255, 0, 0]]));
    assert_eq!(leak.requests(), [""; 0]);
    assert_eq!(browser.run("return typeof top.leaked;", &[]).await, "undefined");
}
