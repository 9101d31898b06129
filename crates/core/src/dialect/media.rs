//! What a request has beside texts: its images, which are shown, and all else, of which it is said that no responder can
//! show it. Which blocks of a request those are is left to the readers of its parts.
//!
//! Source: the content blocks of ACP and MCP (`data`, `mimeType`, `resource`), of Anthropic's API (`source`), and of
//! OpenAI's (`image_url`); the parts of opencode (`mime`, `url`).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{
    limits,
    question::{Image, Question},
};

/// The type of a block that has the output of a command.
pub(super) const TERMINAL: &str = "terminal";

/// The type of a block that has an image.
pub(super) const IMAGE: &str = "image";

/// The other types of blocks that have an image.
pub(super) const IMAGE_TYPES: [&str; 3] = ["image_url", "inputImage", "input_image"];

/// The types of blocks that cannot be shown, each with its name for one and for several. An image is shown, if it is sent
/// as data.
const UNSHOWN: [(&str, &str, &str); 7] = [
    (IMAGE, "image", "images"),
    ("audio", "audio recording", "audio recordings"),
    ("video", "video", "videos"),
    ("resource", "resource", "resources"),
    ("resource_link", "linked resource", "linked resources"),
    ("blob", "file", "files"),
    (TERMINAL, "terminal", "terminals"),
];

/// What is counted if the type of a block is not known.
const UNKNOWN: (&str, &str) = ("block of an unknown type", "blocks of an unknown type");

/// The most types of which it is said that they cannot be shown.
const MOST: usize = 8;

/// Returns whether the type of a block is known, and is one that is no text.
pub(super) fn is_known(kind: &str) -> bool {
    UNSHOWN.iter().any(|(name, ..)| *name == kind)
}

/// What a request has beside texts.
#[derive(Debug, Default)]
pub(super) struct Media {
    images: Vec<Image>,
    /// The names of what is not shown, for one and for several, with its number and the reason.
    unshown: BTreeMap<String, (String, usize, String)>,
    /// How many bytes of the request are data of images, shown or not.
    data: usize,
}

impl Media {
    /// Adds a block of this type that cannot be shown, with a few words about it.
    pub(super) fn add(&mut self, kind: &str, about: Option<&str>) {
        self.leave_out(kind, about, "");
    }

    /// Adds what stands where an image belongs. `description` is what the asker says of it.
    pub(super) fn add_image(&mut self, block: &Json, description: Option<&str>) {
        let sent = Sent::of(block);
        let described = ["alt", "caption", "description", "title", "name", "filename", "uri"];
        let described =
            described.into_iter().find_map(|name| block[name].as_str().filter(|text| !is_data(text)));
        let description = described.filter(|text| !text.trim().is_empty()).or(description);
        let (kind, why) = match sent {
            Sent::Data(data, kind) => {
                self.data += data.len();
                match self.read(data, description) {
                    Ok(()) => return,
                    Err(why) => (kind, why),
                }
            }
            Sent::Address(address) => (Some(address), "only its address was sent".to_owned()),
            Sent::Nothing(kind) => (kind, String::new()),
        };
        self.leave_out(IMAGE, kind, &why);
    }

    fn read(&mut self, data: &str, description: Option<&str>) -> Result<(), String> {
        if self.images.len() == limits::IMAGES {
            return Err(format!("more than {} images in one question", limits::IMAGES));
        }
        let image = Image::read(data, description.map(str::to_owned))?;
        let bytes: u32 = self.images.iter().map(|image| image.bytes).sum();
        if bytes as usize + image.bytes as usize > limits::IMAGES_OF_QUESTION {
            return Err(format!(
                "more than {} MiB of images in one question",
                limits::IMAGES_OF_QUESTION >> 20
            ));
        }
        // An update of a tool call repeats what it has.
        if !self.images.contains(&image) {
            self.images.push(image);
        }
        Ok(())
    }

    fn leave_out(&mut self, kind: &str, about: Option<&str>, why: &str) {
        let known = UNSHOWN.iter().find(|(name, ..)| *name == kind);
        let (one, several) = known.map_or(UNKNOWN, |(_, one, several)| (one, several));
        let about = about.filter(|about| !about.is_empty()).or_else(|| known.is_none().then_some(kind));
        let about = about.map(|about| format!(" ({})", about.chars().take(200).collect::<String>()));
        let about = about.unwrap_or_default();
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let name = format!("{one}{about}{why}");
        if self.unshown.len() == MOST && !self.unshown.contains_key(&name) {
            return self.leave_out("", Some("and others"), "");
        }
        let names = (format!("{several}{about}"), 0, why);
        let (_, count, _) = self.unshown.entry(name).or_insert(names);
        *count += 1;
    }

    /// Returns how many bytes of the request are data of images.
    pub(super) fn data(&self) -> usize {
        self.data
    }

    /// Returns the images, and a sentence for each kind of thing that is not shown.
    pub(super) fn finish(self) -> (Vec<Image>, Vec<String>) {
        let sentence = |(one, (several, count, why)): (String, (String, usize, String))| match count {
            1 => format!("1 {} is not shown{why}", one.strip_suffix(&*why).unwrap_or(&one)),
            count => format!("{count} {several} are not shown{why}"),
        };
        (self.images, self.unshown.into_iter().map(sentence).collect())
    }
}

/// Adds the images of another part of the same request, within the limits. What does not fit is said.
pub(super) fn add_images(question: &mut Question, images: Vec<Image>) {
    let mut left_out = 0;
    for image in images.into_iter().filter(|image| !question.images.contains(image)).collect::<Vec<_>>() {
        match question.images.len() < limits::IMAGES {
            true => question.images.push(image),
            false => left_out += 1,
        }
    }
    if left_out > 0 {
        question
            .unshown
            .push(format!("further images are not shown: more than {} in one question", limits::IMAGES));
    }
}

/// How an image was sent.
enum Sent<'a> {
    /// Its data as Base64, with the type that the asker says it has.
    Data(&'a str, Option<&'a str>),
    /// Where it could be fetched from, which a bridge never does.
    Address(&'a str),
    /// Not at all, with the type that the asker says it has.
    Nothing(Option<&'a str>),
}

impl<'a> Sent<'a> {
    /// Reads a block, or the text that stands in place of one.
    fn of(block: &'a Json) -> Self {
        let text = |json: &'a Json| json.as_str().filter(|text| !text.is_empty());
        let kind = ["mimeType", "mime_type", "media_type", "mime", "mediaType"];
        let kind = |json: &'a Json| kind.into_iter().find_map(|name| text(&json[name]));
        let (source, resource) = (&block["source"], &block["resource"]);
        let own = kind(block).or_else(|| kind(source)).or_else(|| kind(resource));
        let data = [&block["data"], &source["data"], &resource["blob"], &block["blob"]];
        let places = ["url", "image_url", "imageUrl", "image", "uri", "file"].map(|name| &block[name]);
        let places = places.into_iter().flat_map(|place| [place, &place["url"]]);
        let places = [block, &source["url"], source].into_iter().chain(places).filter_map(text);
        if let Some(data) = data.into_iter().find_map(text) {
            return Sent::Data(without_head(data).0, own.or(without_head(data).1));
        }
        let mut address = None;
        for place in places {
            match without_head(place) {
                (data, Some(kind)) => return Sent::Data(data, Some(kind)),
                _ => address = address.or(Some(place)),
            }
        }
        match address.or_else(|| text(&resource["uri"])) {
            Some(address) => Sent::Address(address),
            None => Sent::Nothing(own),
        }
    }
}

fn is_data(text: &str) -> bool {
    without_head(text).1.is_some()
}

/// Returns what stands behind the head of an address that has its data in itself, and the type that the head names.
fn without_head(text: &str) -> (&str, Option<&str>) {
    let head = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let Some((head, data)) = head.and_then(|_| text[5..].split_once(',')) else { return (text, None) };
    (data, Some(head.split(';').next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A GIF of one pixel.
    const PIXEL: &str = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==";

    fn read(block: &Json) -> String {
        let mut media = Media::default();
        media.add_image(block, Some("A"));
        let (images, unshown) = media.finish();
        let one =
            |image: &Image| format!("{} {}", image.format, image.description.clone().unwrap_or_default());
        images.iter().map(one).chain(unshown).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn an_image_is_found_in_the_blocks_of_each_protocol() {
        let url = format!("data:image/gif;base64,{PIXEL}");
        for block in [
            json!({ "type": "image", "data": PIXEL, "mimeType": "image/gif" }),
            json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" }),
            json!({ "type": "image", "data": url }),
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/gif", "data": PIXEL } }),
            json!({ "type": "image", "source": { "type": "url", "url": url } }),
            json!({ "type": "resource", "resource": { "uri": "file:///a.gif", "mimeType": "image/gif", "blob": PIXEL } }),
            json!({ "type": "image_url", "image_url": { "url": url } }),
            json!({ "type": "input_image", "image_url": url }),
            json!({ "type": "inputImage", "imageUrl": url }),
            json!({ "type": "file", "mime": "image/gif", "url": url }),
            json!({ "image": url, "url": "https://a.example" }),
            json!({ "url": "https://a.example/i.gif", "data": PIXEL }),
            json!(url.replace("data:", "DATA:")),
        ] {
            assert_eq!(read(&block), "image/gif A", "{block}");
        }
        let named = json!({ "type": "image", "data": PIXEL, "uri": "file:///a.gif", "alt": " " });
        assert_eq!(read(&named), "image/gif A");
        let named = json!({ "type": "image", "data": PIXEL, "uri": "file:///a.gif" });
        assert_eq!(read(&named), "image/gif file:///a.gif");
    }

    #[test]
    fn an_image_that_is_not_shown_is_named_with_the_reason() {
        for (block, said) in [
            (json!({ "type": "image" }), "1 image is not shown"),
            (json!({ "type": "image", "mimeType": "image/png" }), "1 image (image/png) is not shown"),
            (
                json!({ "type": "image", "mimeType": "image/png", "data": "PGh0bWw+" }),
                "1 image (image/png) is not shown: data that is no PNG, JPEG, WebP or GIF",
            ),
            (
                json!("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>"),
                "1 image (image/svg+xml) is not shown: data that is not Base64",
            ),
            (
                json!({ "source": { "type": "url", "url": "https://a.example/b.png" } }),
                "1 image (https://a.example/b.png) is not shown: only its address was sent",
            ),
            (
                json!({ "type": "image", "uri": "file:///a.png" }),
                "1 image (file:///a.png) is not shown: only its address was sent",
            ),
        ] {
            assert_eq!(read(&block), said, "{block}");
        }
    }

    #[test]
    fn a_question_has_so_many_images_and_no_more() {
        let mut media = Media::default();
        let pixel = |place: usize| {
            let mut bytes = b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0".to_vec();
            bytes.push(u8::try_from(place).expect("a byte"));
            json!({ "data": base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes) })
        };
        (0..10).chain(0..2).for_each(|place| media.add_image(&pixel(place), None));
        assert_eq!(media.data(), 12 * 32);
        let (images, unshown) = media.finish();
        assert_eq!(images.len(), limits::IMAGES);
        assert_eq!(unshown, ["4 images are not shown: more than 8 images in one question"]);
    }
}
