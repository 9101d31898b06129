//! An image of a question as a terminal shows it: decoded within bounds, fitted to the screen, and encoded again. No byte of
//! an agent's image reaches the terminal. Which way a terminal takes is left to `graphics.rs`, sixels to `sixel.rs`.

use std::{fmt, io::Cursor, sync::Arc};

use askbridge_core::{desk::Record, question::ImageFormat};
use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, ImageResult, Limits, Rgba, RgbaImage};
use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::{Color, Style},
};

use super::{
    graphics::{Cell, Graphics},
    sixel::{is_seen, sixels},
};
use crate::limits;

/// The image's number in the memory of a terminal of kitty's protocol. A new image takes the place of the one before.
const FORGET: &str = "\x1b_Ga=d,d=I,i=31,q=2\x1b\\";
/// Bytes of a part of an image in kitty's protocol.
const PART: usize = 4096;

/// An image of a question that is to be shown in this many columns and lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    pub(super) record: Arc<Record>,
    /// Its number, from 1 on.
    pub(super) number: usize,
    pub(super) columns: u16,
    pub(super) lines: u16,
}

/// An image that is ready to be shown.
#[derive(Clone)]
pub struct Picture(Arc<Encoded>);

struct Encoded {
    /// The columns and lines that it takes.
    size: Size,
    drawn: Drawn,
}

/// How an image is drawn.
enum Drawn {
    /// By an escape sequence, where its top left corner is to be; and what removes it from the terminal's memory.
    Sequence(String, &'static str),
    /// By characters, one row after the other, each with its colours.
    Characters(Vec<(char, Style)>),
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Picture").field(&self.0.size).finish()
    }
}

/// Two are equal if they are the same one.
impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Picture {
    /// Makes one of the data of an image, to be shown in an area of this size.
    ///
    /// # Errors
    /// Why it cannot be shown, as the end of a sentence.
    pub(super) fn new(
        data: &[u8],
        format: ImageFormat,
        graphics: Graphics,
        room: Size,
    ) -> Result<Self, String> {
        if graphics == Graphics::Nothing {
            return Err("this terminal shows none".to_owned());
        }
        let image = decoded(data, format)?;
        let (size, (width, height)) = fitted((image.width(), image.height()), graphics.cell(), room);
        let is_fit = (image.width(), image.height()) == (width, height);
        let image = if is_fit { image } else { image.thumbnail_exact(width, height) }.into_rgba8();
        let drawn = match graphics {
            Graphics::Kitty(_) => kitty(&image, size).map(|sequence| Drawn::Sequence(sequence, FORGET)),
            Graphics::Iterm2(_) => iterm2(&image, size).map(|sequence| Drawn::Sequence(sequence, "")),
            Graphics::Sixel(_) => Ok(Drawn::Sequence(sixels(&image), "")),
            Graphics::Blocks { is_true } => Ok(Drawn::Characters(blocks(&image, is_true))),
            Graphics::Nothing => Ok(Drawn::Characters(Vec::new())),
        };
        let drawn = drawn.map_err(|_| "it cannot be encoded for this terminal".to_owned())?;
        Ok(Picture(Arc::new(Encoded { size, drawn })))
    }

    /// Returns where it is in an area: at the top, in the middle.
    fn place(&self, room: Rect) -> Rect {
        let Size { width, height } = self.0.size;
        Rect { x: room.x + room.width.saturating_sub(width) / 2, width, height, ..room }.intersection(room)
    }

    /// Draws its characters, if it has any.
    pub(super) fn draw(&self, room: Rect, buffer: &mut Buffer) {
        let Drawn::Characters(characters) = &self.0.drawn else { return };
        for (at, (c, style)) in self.place(room).positions().zip(characters) {
            if let Some(cell) = buffer.cell_mut(at) {
                cell.set_char(*c).set_style(*style);
            }
        }
    }

    /// Returns what draws the rest of it, once the frame is on the screen.
    pub(super) fn sequence(&self, room: Rect) -> String {
        let Rect { x, y, .. } = self.place(room);
        match &self.0.drawn {
            Drawn::Sequence(sequence, _) => format!("\x1b[{};{}H{sequence}", y + 1, x + 1),
            Drawn::Characters(_) => String::new(),
        }
    }

    /// Returns what removes it from the terminal's memory.
    pub(super) fn forget(&self) -> &'static str {
        match self.0.drawn {
            Drawn::Sequence(_, forget) => forget,
            Drawn::Characters(_) => "",
        }
    }
}

/// Returns the size of an image in cells and in pixels, so that it fits into a room of cells. It is never enlarged.
fn fitted((width, height): (u32, u32), cell: Cell, room: Size) -> (Size, (u32, u32)) {
    let [width, height] = [width, height].map(|side| u64::from(side.max(1)));
    let [across, down] = [(room.width, cell.width), (room.height, cell.height)]
        .map(|(cells, side)| u64::from(cells.max(1)) * u64::from(side));
    // The side that is too long by more decides.
    let (part, whole) = if width * down > height * across { (across, width) } else { (down, height) };
    let scaled = |side: u64| (side * part.min(whole) / whole).max(1);
    let (width, height) = (scaled(width), scaled(height));
    let cells = |side: u64, of: u16| u16::try_from(side.div_ceil(u64::from(of))).unwrap_or(u16::MAX);
    let pixels = [width, height].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
    (Size::new(cells(width, cell.width), cells(height, cell.height)), pixels.into())
}

fn png(image: &RgbaImage) -> ImageResult<Vec<u8>> {
    let mut png = Vec::new();
    image.write_to(&mut Cursor::new(&mut png), image::ImageFormat::Png)?;
    Ok(png)
}

/// Returns an image in kitty's protocol: a PNG in parts, shown in this many cells. The terminal does not reply, and leaves the
/// cursor where it is.
fn kitty(image: &RgbaImage, Size { width, height }: Size) -> ImageResult<String> {
    let data = BASE64_STANDARD.encode(png(image)?);
    let last = data.len().saturating_sub(1) / PART;
    let mut sequence = String::with_capacity(data.len() + (last + 1) * 16);
    for (number, part) in data.as_bytes().chunks(PART).enumerate() {
        sequence += "\x1b_G";
        if number == 0 {
            sequence += &format!("a=T,f=100,i=31,p=1,C=1,c={width},r={height},");
        }
        sequence += &format!("q=2,m={};", u8::from(number < last));
        sequence += &String::from_utf8_lossy(part);
        sequence += "\x1b\\";
    }
    Ok(sequence)
}

/// Returns an image in the sequence of iTerm2: a PNG, shown in this many cells.
fn iterm2(image: &RgbaImage, Size { width, height }: Size) -> ImageResult<String> {
    let png = png(image)?;
    let data = BASE64_STANDARD.encode(&png);
    Ok(format!(
        "\x1b]1337;File=inline=1;size={};width={width};height={height};preserveAspectRatio=0;doNotMoveCursor=1:{data}\x07",
        png.len()
    ))
}

/// Returns an image as characters, each for one pixel above another. Where it is transparent, the terminal's background is
/// seen.
fn blocks(image: &RgbaImage, is_true: bool) -> Vec<(char, Style)> {
    let colour = |pixel: Option<&Rgba<u8>>| {
        let Rgba([red, green, blue, _]) = pixel.filter(|pixel| is_seen(pixel))?;
        let colour = Color::Rgb(*red, *green, *blue);
        Some(if is_true { colour } else { of_palette(colour) })
    };
    let rows = (0..image.height()).step_by(2);
    let pairs = rows.flat_map(|y| (0..image.width()).map(move |x| (x, y)));
    let drawn = pairs.map(|(x, y)| {
        match (colour(image.get_pixel_checked(x, y)), colour(image.get_pixel_checked(x, y + 1))) {
            (Some(above), Some(below)) => ('▀', Style::new().fg(above).bg(below)),
            (Some(above), None) => ('▀', Style::new().fg(above)),
            (None, Some(below)) => ('▄', Style::new().fg(below)),
            (None, None) => (' ', Style::new()),
        }
    });
    drawn.collect()
}

/// Decodes an image, and turns it as its camera was held.
fn decoded(data: &[u8], format: ImageFormat) -> Result<DynamicImage, String> {
    let format = match format {
        ImageFormat::Png => image::ImageFormat::Png,
        ImageFormat::Jpeg => image::ImageFormat::Jpeg,
        ImageFormat::Webp => image::ImageFormat::WebP,
        ImageFormat::Gif => image::ImageFormat::Gif,
        ImageFormat::Other(_) => return Err("its format is not known".to_owned()),
    };
    let decode = || {
        let mut limits = Limits::no_limits();
        limits.max_image_width = Some(limits::IMAGE_SIDE);
        limits.max_image_height = Some(limits::IMAGE_SIDE);
        limits.max_alloc = Some(limits::PICTURE);
        let mut reader = ImageReader::with_format(Cursor::new(data), format);
        reader.limits(limits.clone());
        let mut decoder = reader.into_decoder()?;
        limits.reserve(decoder.total_bytes())?;
        // What is not readable there turns nothing.
        let turned = decoder.orientation().ok();
        let mut image = DynamicImage::from_decoder(decoder)?;
        turned.into_iter().for_each(|turned| image.apply_orientation(turned));
        Ok(image)
    };
    decode().map_err(|error| match error {
        ImageError::Limits(_) => "it takes too much memory".to_owned(),
        ImageError::Unsupported(_) => "it uses a part of its format that is not known here".to_owned(),
        _ => "its data is damaged".to_owned(),
    })
}

/// Returns the nearest colour of the palette of 256 colours: of its cube, whose steps are not even, or of its greys.
fn of_palette(colour: Color) -> Color {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let near =
        |side: u8| (0..6).min_by_key(|step| STEPS[usize::from(*step)].abs_diff(side)).unwrap_or_default();
    let far = |of: [u8; 3]| -> u32 {
        of.into_iter().zip([red, green, blue]).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let steps = [red, green, blue].map(near);
    let mean = (u16::from(red) + u16::from(green) + u16::from(blue)) / 3;
    let grey = u8::try_from(mean.saturating_sub(3) / 10).unwrap_or_default().min(23);
    let [red, green, blue] = steps;
    match far([8 + 10 * grey; 3]) < far(steps.map(|step| STEPS[usize::from(step)])) {
        true => Color::Indexed(232 + grey),
        false => Color::Indexed(16 + 36 * red + 6 * green + blue),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use image::{ImageEncoder, codecs::jpeg::JpegEncoder};

    use super::*;

    const CELL: Cell = Cell { width: 10, height: 20 };

    fn encoded(width: u32, height: u32, format: image::ImageFormat) -> Vec<u8> {
        let image = RgbaImage::from_fn(width, height, |x, _| Rgba([if x == 0 { 255 } else { 0 }, 0, 0, 255]));
        let image = DynamicImage::from(image);
        let image = if format == image::ImageFormat::Jpeg { image.into_rgb8().into() } else { image };
        let mut data = Vec::new();
        image.write_to(&mut Cursor::new(&mut data), format).unwrap();
        data
    }

    /// Sets the size in the header of a PNG, without its checksum.
    fn bomb(width: u32, height: u32) -> Vec<u8> {
        let mut data = encoded(1, 1, image::ImageFormat::Png);
        data[16..20].copy_from_slice(&width.to_be_bytes());
        data[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc(&data[12..29]);
        data[29..33].copy_from_slice(&sum.to_be_bytes());
        data
    }

    fn crc(data: &[u8]) -> u32 {
        let step = |crc: u32| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        !data.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
    }

    fn made(data: &[u8], format: ImageFormat, graphics: Graphics) -> Result<Picture, String> {
        Picture::new(data, format, graphics, Size::new(40, 10))
    }

    #[test]
    fn an_image_fits_into_its_room_and_is_never_enlarged() {
        for ((width, height), expected) in [
            ((1, 1), ((1, 1), (1, 1))),
            ((400, 200), ((40, 10), (400, 200))),
            ((401, 200), ((40, 10), (400, 199))),
            ((4000, 200), ((40, 1), (400, 20))),
            ((400, 4000), ((2, 10), (20, 200))),
            ((16_384, 1), ((40, 1), (400, 1))),
            ((1, 16_384), ((1, 10), (1, 200))),
            ((0, 0), ((1, 1), (1, 1))),
        ] {
            let (size, pixels) = fitted((width, height), CELL, Size::new(40, 10));
            assert_eq!(((size.width, size.height), pixels), expected, "{width}×{height}");
        }
        assert_eq!(fitted((100, 100), CELL, Size::new(0, 0)).0, Size::new(1, 1));
    }

    #[test]
    fn each_terminal_gets_what_it_takes_and_no_byte_of_the_agent() {
        let kinds = [
            (ImageFormat::Png, image::ImageFormat::Png),
            (ImageFormat::Jpeg, image::ImageFormat::Jpeg),
            (ImageFormat::Gif, image::ImageFormat::Gif),
            (ImageFormat::Webp, image::ImageFormat::WebP),
        ];
        for (format, kind) in kinds {
            let mut data = encoded(35, 50, kind);
            data.extend(b"\x1b[2Jhidden");
            let sequence =
                |graphics| made(&data, format, graphics).unwrap().sequence(Rect::new(0, 1, 40, 10));
            // Four of 40 columns.
            let (kitty, iterm2) = (sequence(Graphics::Kitty(CELL)), sequence(Graphics::Iterm2(CELL)));
            assert!(
                kitty.starts_with("\x1b[2;19H\x1b_Ga=T,f=100,i=31,p=1,C=1,c=4,r=3,q=2,m=0;"),
                "{kitty:?}"
            );
            assert!(kitty.ends_with("\x1b\\"));
            let base64 = kitty.split(';').nth(2).unwrap().trim_end_matches("\x1b\\");
            let png = BASE64_STANDARD.decode(base64).unwrap();
            let again = decoded(&png, ImageFormat::Png).unwrap();
            assert_eq!((again.width(), again.height()), (35, 50));
            let named = format!("\x1b[2;19H\x1b]1337;File=inline=1;size={};width=4;height=3;", png.len());
            assert!(
                iterm2.starts_with(&named) && iterm2.ends_with(&format!("doNotMoveCursor=1:{base64}\x07"))
            );
            assert!(sequence(Graphics::Sixel(CELL)).starts_with("\x1b[2;19H\x1bP0;1;0q\"1;1;35;50#0;2;"));
            assert_eq!(sequence(Graphics::Blocks { is_true: true }), "");
            assert_eq!(made(&data, format, Graphics::Nothing).unwrap_err(), "this terminal shows none");
        }
        let large = RgbaImage::from_fn(90, 90, |x, y| {
            Rgba([(x * y % 251) as u8, (x * 7 % 253) as u8, (y * 3 % 255) as u8, 255])
        });
        let parts = kitty(&large, Size::new(9, 5)).unwrap();
        let parts: Vec<_> = parts.split_inclusive("\x1b\\").collect();
        assert!(parts.len() > 2);
        let (last, before) = parts.split_last().unwrap();
        assert!(
            last.starts_with("\x1b_Gq=2,m=0;")
                && before[1..].iter().all(|part| part.starts_with("\x1b_Gq=2,m=1;"))
        );
        assert!(before.iter().all(|part| part.len() <= PART + 60));
    }

    #[test]
    fn blocks_have_two_pixels_each_and_the_colours_that_the_terminal_has() {
        let pixels = [
            [255, 0, 0, 255],
            [0, 0, 0, 0],
            [0, 0, 254, 255],
            [7, 7, 7, 255],
            [1, 2, 3, 9],
            [118, 118, 118, 255],
        ];
        let image = RgbaImage::from_fn(2, 3, |x, y| Rgba(pixels[usize::try_from(y * 2 + x).unwrap()]));
        let (red, blue, dark, grey) =
            (Color::Rgb(255, 0, 0), Color::Rgb(0, 0, 254), Color::Rgb(7, 7, 7), Color::Rgb(118, 118, 118));
        let fg = |c, colour| (c, Style::new().fg(colour));
        let expected =
            [('▀', Style::new().fg(red).bg(blue)), fg('▄', dark), (' ', Style::new()), fg('▀', grey)];
        assert_eq!(blocks(&image, true), expected);
        let few = |number| Color::Indexed(number);
        let expected = [
            ('▀', Style::new().fg(few(196)).bg(few(21))),
            fg('▄', few(232)),
            (' ', Style::new()),
            fg('▀', few(243)),
        ];
        assert_eq!(blocks(&image, false), expected);
        assert_eq!(
            [of_palette(Color::Rgb(255, 255, 255)), of_palette(Color::Reset)],
            [few(231), Color::Reset]
        );
    }

    #[test]
    fn a_hostile_image_is_refused_at_once() {
        let png = encoded(35, 50, image::ImageFormat::Png);
        let jpeg = encoded(35, 50, image::ImageFormat::Jpeg);
        let began = std::time::Instant::now();
        for (data, format, why) in [
            (bomb(16_384, 16_384), ImageFormat::Png, "it takes too much memory"),
            (bomb(20_000, 10), ImageFormat::Png, "it takes too much memory"),
            (bomb(4000, 4000), ImageFormat::Png, "its data is damaged"),
            (png[..png.len() / 2].to_vec(), ImageFormat::Png, "its data is damaged"),
            (png.clone(), ImageFormat::Jpeg, "its data is damaged"),
            (b"GIF89a\xff\xff\xff\xff\0\0\0,".to_vec(), ImageFormat::Gif, "its data is damaged"),
            (b"RIFF\x10\0\0\0WEBPVP8 ".to_vec(), ImageFormat::Webp, "its data is damaged"),
            (Vec::new(), ImageFormat::Jpeg, "its data is damaged"),
        ] {
            let refused = made(&data, format, Graphics::Kitty(CELL)).map(drop);
            assert_eq!(refused, Err(why.to_owned()), "{format:?}, {} bytes", data.len());
        }
        // What is there of a JPEG may be shown, but nothing may fail.
        for end in 0..jpeg.len() {
            drop(made(&jpeg[..end], ImageFormat::Jpeg, Graphics::Sixel(CELL)));
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }

    #[test]
    fn an_image_is_turned_as_its_camera_was_held() {
        // A TIFF with the orientation 6: its top is at the right.
        let exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let mut data = Vec::new();
        let mut encoder = JpegEncoder::new(&mut data);
        encoder.set_exif_metadata(exif.to_vec()).unwrap();
        encoder.write_image(&[255; 16 * 8 * 3], 16, 8, image::ExtendedColorType::Rgb8).unwrap();
        let image = decoded(&data, ImageFormat::Jpeg).unwrap();
        assert_eq!((image.width(), image.height()), (8, 16));
        assert!(!kitty(&image.into_rgba8(), Size::new(1, 1)).unwrap().contains("Exif"));
    }
}
