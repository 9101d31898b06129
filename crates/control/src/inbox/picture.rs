//! The images that a person adds to an answer, written anew: what a camera or a program wrote beside the pixels, such as
//! the place of a photo, stays here. They are decoded within limits, turned as they are to be seen, and scaled down.

use std::{io::Cursor, sync::Arc};

use askbridge_core::question::{FieldError, Image, check::IMAGES, image::ImageData};
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits, Rgb, RgbImage,
    Rgba,
    codecs::{
        jpeg::JpegEncoder,
        png::{CompressionType, FilterType as PngFilter, PngEncoder},
    },
    imageops::FilterType,
};
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::limits;

/// The most bytes of memory that decoding an image may take: eight for each pixel of the largest one, which has 16 bits a
/// channel.
const MEMORY: u64 = 8 * limits::IMAGE_PIXELS;

/// The sides and qualities of the JPEG that are tried until it is small enough.
const STEPS: [(u32, u8); 5] =
    [(limits::ANSWER_SIDE, 85), (limits::ANSWER_SIDE, 70), (1120, 75), (800, 70), (320, 60)];

/// Decoding one may take much memory, so that all wait for their turn.
static TURN: Semaphore = Semaphore::const_new(1);

/// Replaces the data of the images of an answer by what is to be seen in them. It is called in the process that has the
/// asker, whoever answers. What the record says of an image stays as it was given, so that the same answer given again is
/// the same.
pub(crate) async fn write_anew(images: &mut [Image]) -> Result<(), Vec<FieldError>> {
    let share = limits::ANSWER_IMAGES_BYTES / images.len().max(1);
    for (number, image) in (1..).zip(images) {
        // An image without data was refused by the check of the answer.
        let Some(data) = image.data.get() else { continue };
        let _turn = TURN.acquire().await;
        let made = spawn_blocking(move || anew(&data, share)).await;
        let made = made.unwrap_or_else(|_| Err("it cannot be read as an image".to_owned()));
        let refused = |why| FieldError {
            field: IMAGES.to_owned(),
            message: format!("cannot be sent: image {number}: {why}"),
        };
        image.data = ImageData::Held(Arc::new(made.map_err(|why| vec![refused(why)])?));
    }
    Ok(())
}

/// Returns an image that looks like this one, as a PNG or JPEG of at most this many bytes that has the pixels alone. Of an
/// animation, it is the first frame.
///
/// # Errors
/// Why there is none, in a few words that begin with "it".
pub fn anew(data: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let (format, picture) = decode(data).map_err(|error| said(&error))?;
    smallest(format, &picture, most)
        .map_err(|error| said(&error))?
        .ok_or_else(|| format!("it does not fit into {} KiB", most >> 10))
}

fn said(error: &ImageError) -> String {
    match error {
        ImageError::Unsupported(_) => "it is no PNG, JPEG, WebP or GIF".to_owned(),
        ImageError::Limits(_) => format!("it has more than {} megapixels", limits::IMAGE_PIXELS / 1_000_000),
        error => format!("it cannot be read as an image: {error}"),
    }
}

/// Reads an image, scales it down and turns it as its camera says.
fn decode(data: &[u8]) -> ImageResult<(ImageFormat, DynamicImage)> {
    let mut reader = ImageReader::new(Cursor::new(data)).with_guessed_format()?;
    let mut bounds = Limits::default();
    bounds.max_image_width = Some(limits::IMAGE_SIDE);
    bounds.max_image_height = Some(limits::IMAGE_SIDE);
    bounds.max_alloc = Some(MEMORY);
    reader.limits(bounds.clone());
    let format = reader.format().unwrap_or(ImageFormat::Png);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // An image of few bits a pixel would be a large one within the same memory.
    bounds.reserve(8 * u64::from(width) * u64::from(height))?;
    bounds.max_alloc = Some(MEMORY);
    decoder.set_limits(bounds)?;
    let orientation = decoder.orientation()?;
    let mut picture = within(DynamicImage::from_decoder(decoder)?, limits::ANSWER_SIDE);
    picture.apply_orientation(orientation);
    Ok((format, picture))
}

/// Scales a picture down to this side, unless it is small enough.
fn within(mut picture: DynamicImage, side: u32) -> DynamicImage {
    let is_beyond = |picture: &DynamicImage, side| picture.width().max(picture.height()) > side;
    // A filter takes 16 bytes for each pixel of a row, and most photos are far larger: a coarse step comes first.
    if is_beyond(&picture, 2 * side) {
        picture = picture.thumbnail(2 * side, 2 * side);
    }
    match is_beyond(&picture, side) {
        true => picture.resize(side, side, FilterType::Triangle),
        false => picture,
    }
}

/// Writes the pixels. What is drawn, as screenshots are, stays sharp and transparent in a PNG, if that is small enough.
fn smallest(format: ImageFormat, picture: &DynamicImage, most: usize) -> ImageResult<Option<Vec<u8>>> {
    if format != ImageFormat::Jpeg {
        let mut png = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, PngFilter::Adaptive);
        match picture.color().has_alpha() {
            true => picture.to_rgba8().write_with_encoder(encoder)?,
            false => picture.to_rgb8().write_with_encoder(encoder)?,
        }
        if png.len() <= most {
            return Ok(Some(png));
        }
    }
    let mut opaque = DynamicImage::from(on_white(picture));
    for (side, quality) in STEPS {
        opaque = within(opaque, side);
        let mut jpeg = Vec::new();
        opaque.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, quality))?;
        if jpeg.len() <= most {
            return Ok(Some(jpeg));
        }
    }
    Ok(None)
}

fn on_white(picture: &DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.to_rgb8();
    }
    let pixels = picture.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *pixels.get_pixel(x, y);
        let alpha = u16::from(alpha);
        let over = |colour: u8| {
            let mixed = (u16::from(colour) * alpha + 255 * (255 - alpha)) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        };
        Rgb([red, green, blue].map(over))
    })
}

#[cfg(test)]
mod tests {
    use image::{Frame, RgbaImage, codecs::gif::GifEncoder};

    use super::*;

    const MOST: usize = 160 * 1024;

    fn written(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).expect("an image");
        bytes.into_inner()
    }

    fn read(bytes: &[u8]) -> DynamicImage {
        image::load_from_memory(bytes).expect("an image")
    }

    fn has(bytes: &[u8], text: &str) -> bool {
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    }

    /// Red on the left, blue on the right.
    fn halves(width: u32, height: u32) -> DynamicImage {
        RgbImage::from_fn(
            width,
            height,
            |x, _| if x < width / 2 { Rgb([200, 0, 0]) } else { Rgb([0, 0, 200]) },
        )
        .into()
    }

    /// A photo with what a camera writes into it: how it is to be turned, and where it was taken.
    fn photo(orientation: u8) -> Vec<u8> {
        let jpeg = written(&halves(60, 40), ImageFormat::Jpeg);
        let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
        let exif =
            [&b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01"[..], &entry, b"\0\0\0\0GPS 52.5200N 13.4050E"].concat();
        let length = u16::try_from(exif.len() + 2).expect("a length").to_be_bytes();
        let comment = [&[0xff, 0xfe, 0, 13][..], b"Ada at home"].concat();
        [&jpeg[..2], &[0xff, 0xe1], &length, &exif, &comment, &jpeg[2..]].concat()
    }

    /// A chunk of a PNG.
    fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let step = |sum: u32, byte: &u8| {
            (0..8)
                .fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
        };
        let named = [&name[..], data].concat();
        let sum = !named.iter().fold(!0, step);
        let length = u32::try_from(data.len()).expect("a length");
        [&length.to_be_bytes()[..], &named, &sum.to_be_bytes()].concat()
    }

    /// A PNG of this size, of which the pixels are missing.
    fn head(width: u32, height: u32) -> Vec<u8> {
        let size = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
        [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &size), &chunk(b"IDAT", &[])].concat()
    }

    #[test]
    fn what_stands_beside_the_pixels_is_gone() {
        let png = written(&halves(8, 8), ImageFormat::Png);
        // Behind the signature and the header.
        let named = [
            &png[..33],
            &chunk(b"tEXt", b"Author\0Ada at home"),
            &chunk(b"eXIf", b"MM\0\x2a GPS"),
            &png[33..],
        ];
        for (bytes, words) in
            [(photo(1), &["Exif", "GPS", "Ada"][..]), (named.concat(), &["tEXt", "eXIf", "GPS", "Ada"][..])]
        {
            let made = anew(&bytes, MOST).expect("an image");
            for word in words {
                assert!(has(&bytes, word) && !has(&made, word), "{word}");
            }
        }
    }

    #[test]
    fn a_photo_is_turned_as_its_camera_says() {
        let is_red = |picture: &RgbImage, x, y| picture.get_pixel(x, y)[0] > 150;
        for (orientation, size, red, blue) in [
            (1, (60, 40), (5, 20), (55, 20)),
            (2, (60, 40), (55, 20), (5, 20)),
            (3, (60, 40), (55, 20), (5, 20)),
            (6, (40, 60), (20, 5), (20, 55)),
            (8, (40, 60), (20, 55), (20, 5)),
        ] {
            let made = read(&anew(&photo(orientation), MOST).expect("an image")).to_rgb8();
            assert_eq!(made.dimensions(), size, "{orientation}");
            assert!(is_red(&made, red.0, red.1) && !is_red(&made, blue.0, blue.1), "{orientation}");
        }
    }

    #[test]
    fn each_format_is_read_and_what_is_drawn_stays_exact() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
            let small = DynamicImage::from(RgbaImage::from_pixel(20, 10, Rgba([0, 120, 0, 255])));
            let small = if format == ImageFormat::Jpeg { small.to_rgb8().into() } else { small };
            let made = anew(&written(&small, format), MOST).expect("an image");
            let (is_png, made) = (made.starts_with(b"\x89PNG"), read(&made));
            assert_eq!(
                ((made.width(), made.height()), is_png),
                ((20, 10), format != ImageFormat::Jpeg),
                "{format:?}"
            );
            assert!(made.to_rgb8().get_pixel(5, 5)[1].abs_diff(120) < 6, "{format:?}");
        }
        let clear = RgbaImage::from_fn(20, 20, |x, _| Rgba([255, 0, 0, if x < 10 { 0 } else { 255 }])).into();
        let made = read(&anew(&written(&clear, ImageFormat::Png), MOST).expect("an image"));
        assert_eq!(made.to_rgba8().get_pixel(2, 2)[3], 0, "what is transparent stays so");
    }

    #[test]
    fn the_first_frame_of_an_animation_is_what_is_sent() {
        let mut gif = Vec::new();
        let mut encoder = GifEncoder::new(&mut gif);
        let frames = [[200, 0, 0, 255], [0, 0, 200, 255]]
            .map(|colour| Frame::new(RgbaImage::from_pixel(9, 9, Rgba(colour))));
        encoder.encode_frames(frames).expect("two frames");
        drop(encoder);
        let made = read(&anew(&gif, MOST).expect("an image")).to_rgb8();
        assert!(made.get_pixel(4, 4)[0] > 150, "{:?}", made.get_pixel(4, 4));
    }

    #[test]
    fn a_large_image_is_scaled_until_it_fits() {
        let side = limits::ANSWER_SIDE;
        let made = read(&anew(&written(&halves(2 * side + 4, 200), ImageFormat::Png), MOST).expect("drawn"));
        assert_eq!(made.width(), side);
        // Nothing takes more bytes than noise.
        let noise = |x: u32, y: u32| {
            let mixed = x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca6b);
            (mixed ^ mixed >> 15).wrapping_mul(0xc2b2_ae35).to_be_bytes()
        };
        let noise =
            RgbImage::from_fn(600, 600, |x, y| Rgb([noise(x, y)[0], noise(x, y)[1], noise(y, x)[0]])).into();
        let noise = written(&noise, ImageFormat::Png);
        for (most, is_whole) in [(640, true), (160, false)] {
            let made = anew(&noise, most << 10).expect("it fits");
            assert!(made.len() <= most << 10, "{} in {most} KiB", made.len());
            assert_eq!(read(&made).width() == 600, is_whole, "{most} KiB");
        }
        assert_eq!(anew(&noise, 1 << 10).expect_err("no room"), "it does not fit into 1 KiB");
    }

    #[test]
    fn what_is_hostile_is_refused_before_it_takes_memory() {
        let photo = photo(1);
        for (what, bytes, why) in [
            ("nothing", Vec::new(), "it is no PNG, JPEG, WebP or GIF"),
            (
                "a drawing",
                b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
                "it is no PNG, JPEG, WebP or GIF",
            ),
            ("a format of others", b"BM\x46\0\0\0\0\0".to_vec(), "it is no PNG, JPEG, WebP or GIF"),
            ("4 billion pixels", head(65_000, 65_000), "it has more than 40 megapixels"),
            ("a long row", head(16_385, 1), "it has more than 40 megapixels"),
            ("256 megapixels", head(16_000, 16_000), "it has more than 40 megapixels"),
            ("a header alone", head(64, 64), "it cannot be read as an image"),
            ("half of a photo", photo[..photo.len() / 2].to_vec(), "it cannot be read as an image"),
        ] {
            let refused = anew(&bytes, MOST).expect_err(what);
            assert!(refused.starts_with(why), "{what}: {refused}");
        }
    }
}
