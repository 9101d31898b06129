//! The images that a person adds to an answer: pasted, dropped, seen, taken away again, and sent without what stands beside
//! their pixels; and what is said where an agent takes none.

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{ImageFormat, RgbImage};
use memchr::memmem;
use serde_json::json;

use crate::{
    browser::Browser,
    world::{World, asks},
};

/// A green photo with the place where it was taken, or a screenshot, as Base64.
fn green(format: ImageFormat) -> String {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixels = RgbImage::from_pixel(2000, 1000, image::Rgb([12, 90, 49]));
    pixels.write_to(&mut bytes, format).expect("an image");
    let mut bytes = bytes.into_inner();
    if format == ImageFormat::Jpeg {
        let exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\0\0\0\0\0GPS 52.5200N 13.4050E";
        let length = u16::try_from(exif.len() + 2).expect("a length").to_be_bytes();
        bytes.splice(2..2, [&[0xff, 0xe1], &length[..], exif].concat());
    }
    BASE64_STANDARD.encode(bytes)
}

impl Browser {
    /// Pastes or drops a file, with this text beside it, and returns whether that was taken.
    async fn brings(&self, how: &str, name: &str, data: &str, text: &str) -> bool {
        let bring = "const [how, file, base64, words] = arguments;
            const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], file, { type: file.endsWith('.jpg') ? 'image/jpeg' : 'image/png' }));
            if (words) data.setData('text/plain', words);
            const init = { bubbles: true, composed: true, cancelable: true, clipboardData: data, dataTransfer: data };
            const event = how == 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('drop', init);
            all('#title', card())[0].dispatchEvent(event);
            return event.defaultPrevented;";
        let taken = self.run(bring, &[how.into(), name.into(), data.into(), text.into()]).await;
        taken.as_bool().expect("whether it was taken")
    }

    async fn has_added(&self, count: usize) {
        let drawn = "all('.attach canvas', card()).length == arguments[0]";
        self.until("added images", drawn, &[count.into()]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn images_are_added_to_an_answer_and_reach_the_agent() {
    let (world, browser) = (World::start(), Browser::start().await);
    let option = |label: &str| json!({ "label": label, "description": "" });
    let which = json!([{ "question": "How should it look?", "header": "Look", "multiSelect": false,
        "options": [option("Like this"), option("As it was")] }]);
    let mut agent = world.mcp(&which);
    world.until_open(1).await;
    browser.sign_in(&world).await;
    browser.select("How should it look?").await;
    browser.shows("Images (optional)").await;
    let (png, jpeg) = (green(ImageFormat::Png), green(ImageFormat::Jpeg));
    assert!(browser.brings("paste", "pasted.png", &png, "").await);
    browser.has_added(1).await;
    browser.shows("1 image goes with your answer.").await;
    assert!(browser.brings("drop", "photo.jpg", &jpeg, "").await);
    browser.has_added(2).await;
    browser.is_accessible("images that are added").await;
    browser.look("images-added", 1280, 900).await;
    browser.look("images-added", 390, 1200).await;
    // A text of a document comes with its picture.
    browser.brings("paste", "text.png", &png, "a text").await;
    assert!(browser.brings("paste", "broken.png", &BASE64_STANDARD.encode("<svg/>"), "").await);
    browser.shows("“broken.png” was not added: this browser cannot read it as an image.").await;
    browser.has_added(2).await;
    for count in [3, 4] {
        browser.brings("drop", "more.png", &png, "").await;
        browser.has_added(count).await;
    }
    browser.brings("drop", "more.png", &png, "").await;
    browser.shows("An answer has at most 4 images.").await;
    for name in ["Remove image 4, more.png", "Remove image 3, more.png", "Remove image 1, pasted.png"] {
        browser.press(name).await;
    }
    browser.has_added(1).await;
    browser.shows("1 image goes with your answer.").await;
    browser.choose("Like this").await;
    browser.send().await;
    let result = agent.returned(1);
    let [text, image] = &result["content"].as_array().expect("blocks")[..] else { panic!("{result}") };
    let text = text["text"].as_str().expect("a text");
    assert!(text.ends_with("Answer: Like this\nThe person added an image, which follows."), "{text}");
    let data = BASE64_STANDARD.decode(image["data"].as_str().expect("data")).expect("Base64");
    assert!(memmem::find(&data, b"Exif").is_none() && memmem::find(&data, b"GPS").is_none());
    let seen = image::load_from_memory(&data).expect("an image").to_rgb8();
    assert_eq!(seen.dimensions(), (1568, 784));
    let [red, green, blue] = seen.get_pixel(700, 300).0;
    let is_near = red.abs_diff(12) < 12 && green.abs_diff(90) < 12 && blue.abs_diff(49) < 12;
    assert!(is_near, "{red} {green} {blue}");
    browser.shows("1 image").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_takes_no_image_is_said_to_take_none() {
    let (world, browser) = (World::start(), Browser::start().await);
    let why = json!([{ "name": "why", "label": "Why?", "kind": "text" }]);
    let _agent = world.agent(&[asks(1, "Why is that?", &why)]);
    world.until_open(1).await;
    browser.sign_in(&world).await;
    browser.select("Why is that?").await;
    browser.hides("Images (optional)").await;
    for how in ["paste", "drop"] {
        browser.refresh().await;
        browser.shows("Why is that?").await;
        browser.settle_in().await;
        assert!(browser.brings(how, "a.png", &green(ImageFormat::Png), "").await, "{how}");
        browser.shows("This agent takes no image in an answer.").await;
    }
    browser.look("images-refused", 1280, 900).await;
    browser.look("images-refused", 390, 844).await;
    assert_eq!(world.open().await.len(), 1);
}
