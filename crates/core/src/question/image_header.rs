//! The format and the size of an image, by its first bytes. Nothing is decoded. Each reader refuses what a decoder would
//! have to skip or to mend: two programs that mend a file in different ways see images of different sizes.
//!
//! Source: the specifications of PNG (third edition), JPEG (ITU T.81), GIF 89a, and WebP (RFC 9649).

use super::encoding::open_enum;

open_enum! {
    /// The format of an image, as a MIME type.
    pub enum ImageFormat {
        /// PNG.
        Png = "image/png",
        /// JPEG.
        Jpeg = "image/jpeg",
        /// WebP.
        Webp = "image/webp",
        /// GIF, of which the first frame counts.
        Gif = "image/gif",
    }
}

/// Returns the format, the width and the height of an image. `None` if it is no image of these formats, or its header is
/// damaged.
pub(super) fn read(bytes: &[u8]) -> Option<(ImageFormat, u32, u32)> {
    let (format, (width, height)) = match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', rest @ ..] => (ImageFormat::Png, png(rest)?),
        [0xff, 0xd8, rest @ ..] => (ImageFormat::Jpeg, jpeg(rest)?),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', rest @ ..] => (ImageFormat::Gif, gif(rest)?),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', rest @ ..] => {
            (ImageFormat::Webp, webp(rest)?)
        }
        _ => return None,
    };
    (width > 0 && height > 0).then_some((format, width, height))
}

/// The first chunk has the size.
fn png(rest: &[u8]) -> Option<(u32, u32)> {
    let [0, 0, 0, 13, b'I', b'H', b'D', b'R', a, b, c, d, e, f, g, h, ..] = *rest else { return None };
    Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])))
}

/// The segment that begins the frame has the size. Those before it have their lengths.
fn jpeg(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        let [0xff, marker, high, low, after @ ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low])).checked_sub(2)?;
        match marker {
            // Neither tables nor a reserved marker, which lie between those of frames.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                let [_, a, b, c, d, ..] = *after else { return None };
                return Some((u16::from_be_bytes([c, d]).into(), u16::from_be_bytes([a, b]).into()));
            }
            0xc4 | 0xcc | 0xdb | 0xdd | 0xe0..=0xef | 0xfe => rest = after.get(length..)?,
            _ => return None,
        }
    }
}

/// The first frame may be larger than the screen that the header names: browsers then draw all of the frame.
fn gif(rest: &[u8]) -> Option<(u32, u32)> {
    let table = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let number = |low: u8, high: u8| u32::from(u16::from_le_bytes([low, high]));
    let [a, b, c, d, flags, _, _, after @ ..] = rest else { return None };
    let screen = (number(*a, *b), number(*c, *d));
    let mut rest = after.get(table(*flags)..)?;
    loop {
        match rest {
            [0x21, _, blocks @ ..] => rest = behind_blocks(blocks)?,
            [0x2c, x, x2, y, y2, width, width2, height, height2, ..] => {
                let right = number(*x, *x2) + number(*width, *width2);
                let bottom = number(*y, *y2) + number(*height, *height2);
                return Some((screen.0.max(right), screen.1.max(bottom)));
            }
            _ => return None,
        }
    }
}

/// Returns what stands behind the blocks of an extension of a GIF. The last of them is empty.
fn behind_blocks(mut blocks: &[u8]) -> Option<&[u8]> {
    loop {
        let (length, rest) = blocks.split_first()?;
        blocks = rest.get(usize::from(*length)..)?;
        if *length == 0 {
            return Some(blocks);
        }
    }
}

/// Each of the three kinds of files has its own first chunk.
fn webp(rest: &[u8]) -> Option<(u32, u32)> {
    match rest {
        [b'V', b'P', b'8', b'X', _, _, _, _, _, _, _, _, a, b, c, d, e, f, ..] => {
            let side = |a: u8, b: u8, c: u8| u32::from_le_bytes([a, b, c, 0]) + 1;
            Some((side(*a, *b, *c), side(*d, *e, *f)))
        }
        [b'V', b'P', b'8', b'L', _, _, _, _, 0x2f, a, b, c, d, ..] => {
            let bits = u32::from_le_bytes([*a, *b, *c, *d]);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        [b'V', b'P', b'8', b' ', _, _, _, _, _, _, _, 0x9d, 0x01, 0x2a, a, b, c, d, ..] => {
            // The two bits above each side scale it, which no browser does.
            let side = |a: u8, b: u8| u32::from(u16::from_le_bytes([a, b]) & 0x3fff);
            Some((side(*a, *b), side(*c, *d)))
        }
        _ => None,
    }
}
