//! An image of a question: a PNG, JPEG, WebP or GIF that its asker sent as data. Lists, events and the journal have what it
//! is; its data is asked for. The desk keeps the data of open questions. Reading the size is left to `image_header.rs`,
//! where images stand in a request to the dialects.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::{
    image_header::{self, ImageFormat},
    subject::cut,
};
use crate::limits;

/// An image of a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Image {
    /// Its format, by its own first bytes and not by what its asker says.
    #[serde(rename = "type")]
    pub format: ImageFormat,
    /// The size of its data, in bytes.
    pub bytes: u32,
    /// Its width, in pixels.
    pub width: u32,
    /// Its height, in pixels.
    pub height: u32,
    /// The SHA-256 of its data.
    pub digest: String,
    /// What its asker says of it: a description, the name of its file, the option that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its data as Base64. Only what is asked has it: a question that is open tells it by request.
    #[serde(skip_serializing_if = "ImageData::is_elsewhere")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub data: ImageData,
}

/// An image as JSON. One that is asked needs its data alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImageInput {
    #[serde(rename = "type")]
    format: Option<ImageFormat>,
    #[serde(default)]
    bytes: u32,
    #[serde(default)]
    width: u32,
    #[serde(default)]
    height: u32,
    #[serde(default)]
    digest: String,
    description: Option<String>,
    data: Option<String>,
}

impl<'de> Deserialize<'de> for Image {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = <D::Error as serde::de::Error>::custom::<String>;
        let ImageInput { format, bytes, width, height, digest, description, data } =
            ImageInput::deserialize(deserializer)?;
        if let Some(data) = data {
            return Image::read(&data, description).map_err(|why| wrong(format!("an image has {why}")));
        }
        let format = format.ok_or_else(|| wrong("an image has neither `data` nor `type`".to_owned()))?;
        let data = ImageData::default();
        Ok(Image { format, bytes, width, height, digest, description, data })
    }
}

/// An image as it is added to an answer.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(title = "AddedImage", rename = "AddedImage")]
#[expect(dead_code, reason = "it is the shape of what is read as an image")]
pub(super) struct AddedImage {
    /// The PNG, JPEG, WebP or GIF, as Base64.
    data: String,
    /// What it is, for the record.
    description: Option<String>,
}

/// Writes bytes as Base64.
pub fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Reads Base64.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

/// Bytes of Base64 for so many bytes.
const fn encoded(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Base64 with or without its padding: askers write both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Image {
    /// Reads an image from its data as Base64, with what its asker says of it.
    ///
    /// # Errors
    /// What is wrong with it, as an object without an article: `no data`.
    pub fn read(base64: &str, description: Option<String>) -> Result<Self, String> {
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let digits = base64.len() - base64.bytes().filter(is_space).count();
        if digits > encoded(limits::IMAGE) {
            return Err(too_large());
        }
        let bytes = match digits == base64.len() {
            true => BASE64.decode(base64),
            false => BASE64.decode(base64.split_ascii_whitespace().collect::<String>()),
        };
        Image::of(bytes.map_err(|_| "data that is not Base64".to_owned())?, description)
    }

    /// Returns the image that these bytes are.
    ///
    /// # Errors
    /// As those of [`Image::read`].
    pub fn of(data: Vec<u8>, description: Option<String>) -> Result<Self, String> {
        if data.is_empty() {
            return Err("no data".to_owned());
        }
        if data.len() > limits::IMAGE {
            return Err(too_large());
        }
        let read = image_header::read(&data);
        let (format, width, height) = read.ok_or("data that is no PNG, JPEG, WebP or GIF")?;
        let is_large = width > limits::IMAGE_SIDE
            || height > limits::IMAGE_SIDE
            || u64::from(width) * u64::from(height) > limits::IMAGE_PIXELS;
        if is_large {
            return Err(format!("{width}×{height} pixels, which is too large to be shown"));
        }
        let digest =
            Sha256::digest(&data).iter().fold("sha256:".to_owned(), |hex, byte| hex + &format!("{byte:02x}"));
        let description = description.map(|text| cut(text.trim(), limits::IMAGE_DESCRIPTION));
        Ok(Image {
            format,
            bytes: u32::try_from(data.len()).unwrap_or(u32::MAX),
            width,
            height,
            digest,
            description: description.filter(|text| !text.is_empty()),
            data: ImageData::Held(Arc::new(data)),
        })
    }

    /// Returns how many bytes of its question's JSON are its data, where this process read them.
    pub fn encoded(&self) -> usize {
        match &self.data {
            ImageData::Held(bytes) => encoded(bytes.len()),
            ImageData::Lent(_) | ImageData::Elsewhere => 0,
        }
    }
}

fn too_large() -> String {
    format!("more than {} MiB", limits::IMAGE >> 20)
}

/// The data of an image. Two images are compared by their digests: whoever has the data of one does not matter.
#[derive(Clone, Default)]
pub enum ImageData {
    /// Another process has it, or nobody has it any more.
    #[default]
    Elsewhere,
    /// The question has it, which is not open yet.
    Held(Arc<Vec<u8>>),
    /// The desk has it for as long as the question is open, however long a record of the question is kept.
    Lent(Weak<Vec<u8>>),
}

impl ImageData {
    /// Returns the data, if this process has it.
    pub fn get(&self) -> Option<Arc<Vec<u8>>> {
        match self {
            ImageData::Elsewhere => None,
            ImageData::Held(data) => Some(Arc::clone(data)),
            ImageData::Lent(data) => data.upgrade(),
        }
    }

    /// Returns how many bytes of data this process has.
    pub(super) fn len(&self) -> usize {
        self.get().map_or(0, |data| data.len())
    }

    /// Gives the data away, to the one who keeps it from now on.
    pub fn lend(&mut self) -> Option<Arc<Vec<u8>>> {
        let ImageData::Held(data) = self else { return None };
        let data = Arc::clone(data);
        *self = ImageData::Lent(Arc::downgrade(&data));
        Some(data)
    }

    /// Returns whether no question on its way has it.
    fn is_elsewhere(&self) -> bool {
        !matches!(self, ImageData::Held(_))
    }
}

impl PartialEq for ImageData {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Images stand in no log.
impl fmt::Debug for ImageData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageData::Elsewhere => formatter.write_str("elsewhere"),
            ImageData::Held(data) => write!(formatter, "{} bytes", data.len()),
            ImageData::Lent(_) => formatter.write_str("lent"),
        }
    }
}

impl Serialize for ImageData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ImageData::Held(data) => serializer.serialize_some(&BASE64.encode(&**data)),
            ImageData::Elsewhere | ImageData::Lent(_) => serializer.serialize_none(),
        }
    }
}

/// Writes what images are, without their data.
pub(super) fn without_data<S: Serializer>(images: &[Image], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(images.iter().map(|image| Image { data: ImageData::Elsewhere, ..image.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG's header that claims this size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
        [&head[..], &width.to_be_bytes(), &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat()
    }

    fn gif(screen: [u8; 4], frame: [u8; 4]) -> Vec<u8> {
        let extension = [0x21, 0xf9, 4, 0, 0, 0, 0, 0];
        let parts: [&[u8]; 7] =
            [b"GIF89a", &screen, &[0x80, 0, 0], &[0; 6], &extension, &[0x2c, 0, 0, 0, 0], &frame];
        parts.concat()
    }

    /// A JPEG with this segment before the one that has its size.
    fn jpeg(before: &[u8], [width, height]: [u16; 2]) -> Vec<u8> {
        let frame = [0xff, 0xc0, 0, 17, 8];
        [&[0xff, 0xd8], before, &frame, &height.to_be_bytes(), &width.to_be_bytes(), &[3]].concat()
    }

    fn webp(chunk: &[u8]) -> Vec<u8> {
        [b"RIFF\x40\0\0\0WEBP", chunk].concat()
    }

    #[test]
    fn the_header_says_what_an_image_is() {
        let exif = [&[0xff, 0xe1, 0, 8][..], b"Exif\0\0"].concat();
        for (bytes, expected) in [
            (png(640, 480), "image/png 640x480"),
            (gif([2, 0, 3, 0], [2, 0, 3, 0]), "image/gif 2x3"),
            (gif([1, 0, 1, 0], [0, 1, 3, 0]), "image/gif 256x3"),
            (jpeg(&exif, [300, 200]), "image/jpeg 300x200"),
            (webp(b"VP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0"), "image/webp 16x32"),
            (webp(b"VP8L\x0a\0\0\0\x2f\x0f\xc0\x07\0"), "image/webp 16x32"),
            (webp(b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x10\0\x20\0"), "image/webp 16x32"),
        ] {
            let image = Image::of(bytes, None).expect(expected);
            assert_eq!(format!("{} {}x{}", image.format, image.width, image.height), expected);
        }
    }

    #[test]
    fn what_is_hostile_or_no_image_is_refused() {
        let kind = "data that is no PNG, JPEG, WebP or GIF";
        let large = |size: &str| format!("{size} pixels, which is too large to be shown");
        let longest = |bytes| [png(1, 1), vec![0; bytes - png(1, 1).len()]].concat();
        assert!(Image::of(longest(limits::IMAGE), None).is_ok());
        for (bytes, why) in [
            (Vec::new(), "no data".to_owned()),
            (longest(limits::IMAGE + 1), "more than 3 MiB".to_owned()),
            (png(10_000, 10_000), large("10000×10000")),
            (png(u32::MAX, u32::MAX), large("4294967295×4294967295")),
            (png(1, 16_385), large("1×16385")),
            (png(0, 5), kind.to_owned()),
            // A screen of one pixel, and a frame of 4 billion.
            (gif([1, 0, 1, 0], [255, 255, 255, 255]), large("65535×65535")),
            (jpeg(&[], [65_535, 65_535]), large("65535×65535")),
            // What a decoder skips, and what ends the image before its frame.
            (jpeg(&[0xff], [1, 1]), kind.to_owned()),
            (jpeg(&[0, 0], [1, 1]), kind.to_owned()),
            (jpeg(&[0xff, 0xd9, 0, 2], [1, 1]), kind.to_owned()),
            (jpeg(&[0xff, 0xe1, 0, 1], [1, 1]), kind.to_owned()),
            (jpeg(&[0xff, 0xe1, 0xff, 0xff], [1, 1]), kind.to_owned()),
            (png(640, 480)[..20].to_vec(), kind.to_owned()),
            (b"\x89PNG\r\n\x1a\n".to_vec(), kind.to_owned()),
            (b"\xff\xd8\xff".to_vec(), kind.to_owned()),
            (b"GIF89a".to_vec(), kind.to_owned()),
            (webp(b"VP8X"), kind.to_owned()),
            (webp(b"VP9 "), kind.to_owned()),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), kind.to_owned()),
            (b"<!doctype html><script>alert(1)</script>".to_vec(), kind.to_owned()),
            (b"BM\x46\0\0\0\0\0".to_vec(), kind.to_owned()),
            (b"II*\0\x08\0\0\0".to_vec(), kind.to_owned()),
            (b"\0\0\0\x20ftypavif".to_vec(), kind.to_owned()),
        ] {
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned();
            assert_eq!(Image::of(bytes, None).map(|_| ()), Err(why), "{head:?}");
        }
    }

    #[test]
    fn data_is_read_as_askers_write_it() {
        let base64 = BASE64.encode(png(3, 4));
        let bare = base64.trim_end_matches('=').to_owned();
        let lines = format!("{}\r\n {}\n", &base64[..8], &base64[8..]);
        for written in [base64.clone(), bare, lines] {
            let image = Image::read(&written, Some("  a plan ".to_owned())).expect(&written);
            assert_eq!((image.width, image.height, image.description.as_deref()), (3, 4, Some("a plan")));
        }
        let refused = |text: &str| Image::read(text, None).map(|_| ()).expect_err(text);
        assert_eq!(refused("not base64!"), "data that is not Base64");
        assert_eq!(refused(""), "no data");
        assert_eq!(refused(&"A".repeat(encoded(limits::IMAGE) + 4)), "more than 3 MiB");
    }

    #[test]
    fn only_a_question_that_is_asked_has_the_data() {
        let mut image = Image::of(png(3, 4), None).expect("an image");
        let asked = serde_json::to_string(&image).expect("JSON");
        let read: Image = serde_json::from_str(&asked).expect("an image");
        assert_eq!((read.data.get(), &read), (image.data.get(), &image));
        let kept = image.data.lend().expect("data");
        let listed = serde_json::to_string(&image).expect("JSON");
        assert!(!listed.contains("data"), "{listed}");
        assert!(image.data.get().is_some() && image.data.lend().is_none());
        drop(kept);
        assert!(image.data.get().is_none(), "the desk has let it go");
        let read: Image = serde_json::from_str(&listed).expect("an image");
        assert_eq!(read, image);
        let claimed = asked.replace("\"width\":3", "\"width\":9");
        let read: Image = serde_json::from_str(&claimed).expect("an image");
        assert_eq!(read.width, 3, "its own header counts");
        assert!(serde_json::from_str::<Image>(r#"{"data":"PHN2Zz4="}"#).is_err());
        assert!(serde_json::from_str::<Image>("{}").is_err());
    }
}
