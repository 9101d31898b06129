//! An image as sixels: columns of six pixels, colour by colour.
//! Pure. Decoding and fitting an image is left to `picture.rs`.

use std::collections::{BTreeMap, BTreeSet};

use color_quant::NeuQuant;
use image::{Rgba, RgbaImage};

/// The colours that every terminal with sixels has.
const COLOURS: usize = 256;
/// Pixels that are looked at to find the colours of an image: more is slower, and looks the same.
const SAMPLE: usize = 50_000;

/// Returns whether a pixel covers what is behind it. There is nothing between.
pub(super) fn is_seen(pixel: &Rgba<u8>) -> bool {
    pixel.0[3] >= 128
}

/// Returns the sequence that draws an image. Transparent pixels stay unchanged.
pub(super) fn sixels(image: &RgbaImage) -> String {
    let (width, height) = image.dimensions();
    let palette = Palette::of(image);
    let mut out = format!("\x1bP0;1;0q\"1;1;{width};{height}");
    for (number, [red, green, blue]) in palette.colours.iter().enumerate() {
        let [red, green, blue] = [red, green, blue].map(|side| (u32::from(*side) * 100 + 127) / 255);
        out += &format!("#{number};2;{red};{green};{blue}");
    }
    for top in (0..height).step_by(6) {
        let band: Vec<Vec<Option<usize>>> = (0..width)
            .map(|x| (top..top + 6).map(|y| palette.number(image.get_pixel_checked(x, y)?)).collect())
            .collect();
        let used: BTreeSet<usize> = band.iter().flatten().flatten().copied().collect();
        for (place, colour) in used.into_iter().enumerate() {
            // Each colour begins at the left again.
            out += if place > 0 { "$" } else { "" };
            out += &format!("#{colour}");
            push_row(&mut out, band.iter().map(|column| sixel(column, colour)));
        }
        out.push('-');
    }
    out + "\x1b\\"
}

/// Returns the character for those of six pixels, from above, that have a colour.
fn sixel(column: &[Option<usize>], colour: usize) -> char {
    let has = column.iter().map(|pixel| u8::from(*pixel == Some(colour)));
    char::from(b'?' + has.enumerate().map(|(place, bit)| bit << place).sum::<u8>())
}

/// Writes a row, with repeated characters as a count.
fn push_row(out: &mut String, row: impl Iterator<Item = char>) {
    let mut row = row.peekable();
    while let Some(c) = row.next() {
        let mut count = 1;
        while row.next_if_eq(&c).is_some() {
            count += 1;
        }
        // What is behind the last pixel of a colour is empty.
        match count {
            _ if c == '?' && row.peek().is_none() => {}
            ..=3 => out.extend(std::iter::repeat_n(c, count)),
            _ => *out += &format!("!{count}{c}"),
        }
    }
}

/// The colours of an image.
struct Palette {
    colours: Vec<[u8; 3]>,
    /// What chooses among them, where the image has more.
    chosen: Result<BTreeMap<[u8; 3], usize>, NeuQuant>,
}

impl Palette {
    fn of(image: &RgbaImage) -> Self {
        let mut known = BTreeSet::new();
        for pixel in image.pixels().filter(|pixel| is_seen(pixel)) {
            let [red, green, blue, _] = pixel.0;
            known.insert([red, green, blue]);
            if known.len() > COLOURS {
                let one_in = i32::try_from(image.pixels().len() / SAMPLE).unwrap_or(i32::MAX).clamp(1, 30);
                let chosen = NeuQuant::new(one_in, COLOURS, image.as_raw());
                let colours = chosen.color_map_rgb();
                let colours = colours.chunks_exact(3).map(|it| [it[0], it[1], it[2]]).collect();
                return Palette { colours, chosen: Err(chosen) };
            }
        }
        let colours: Vec<_> = known.into_iter().collect();
        let numbers = colours.iter().copied().zip(0..).collect();
        Palette { colours, chosen: Ok(numbers) }
    }

    /// Returns the number of a pixel's colour; `None` if nothing is seen of it.
    fn number(&self, pixel: &Rgba<u8>) -> Option<usize> {
        let [red, green, blue, _] = Some(pixel).filter(|pixel| is_seen(pixel))?.0;
        match &self.chosen {
            Ok(numbers) => numbers.get(&[red, green, blue]).copied(),
            Err(chosen) => Some(chosen.index_of(&[red, green, blue, 255])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Rgba<u8> = Rgba([255, 0, 0, 255]);
    const BLUE: Rgba<u8> = Rgba([0, 0, 255, 255]);
    const NONE: Rgba<u8> = Rgba([9, 9, 9, 0]);

    fn image(width: u32, pixels: &[Rgba<u8>]) -> RgbaImage {
        let height = u32::try_from(pixels.len()).unwrap() / width;
        RgbaImage::from_fn(width, height, |x, y| pixels[usize::try_from(y * width + x).unwrap()])
    }

    /// Draws sixels, as a terminal does.
    fn drawn(text: &str) -> BTreeMap<(u32, u32), u32> {
        let body = text.split_once("q\"").unwrap().1.strip_suffix("\x1b\\").unwrap();
        let mut rest = body.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        let (mut pixels, mut colour, mut x, mut y, mut count) = (BTreeMap::new(), 0, 0, 0, 1);
        while let Some(c) = rest.chars().next() {
            rest = &rest[1..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(rest.len());
            match c {
                '#' | '!' => {
                    let numbers: Vec<u32> = rest[..end].split(';').map(|it| it.parse().unwrap()).collect();
                    if c == '!' {
                        count = numbers[0]
                    } else {
                        colour = numbers[0]
                    }
                    rest = &rest[end..];
                }
                '$' => x = 0,
                '-' => (x, y) = (0, y + 6),
                c => {
                    let bits = u32::from(c) - 0x3f;
                    for _ in 0..std::mem::replace(&mut count, 1) {
                        pixels.extend(
                            (0..6).filter(|bit| bits >> bit & 1 == 1).map(|bit| ((x, y + bit), colour)),
                        );
                        x += 1;
                    }
                }
            }
        }
        pixels
    }

    #[test]
    fn an_image_is_written_colour_by_colour() {
        for (width, pixels, expected) in [
            (1, &[RED][..], "1;1#0;2;100;0;0#0@-"),
            (2, &[RED, BLUE], "2;1#0;2;0;0;100#1;2;100;0;0#0?@$#1@-"),
            (5, &[RED; 5], "5;1#0;2;100;0;0#0!5@-"),
            (1, &[RED; 7], "1;7#0;2;100;0;0#0~-#0@-"),
            (2, &[NONE, RED], "2;1#0;2;100;0;0#0?@-"),
            (1, &[NONE], "1;1-"),
        ] {
            assert_eq!(sixels(&image(width, pixels)), format!("\x1bP0;1;0q\"1;1;{expected}\x1b\\"));
        }
    }

    #[test]
    fn each_pixel_that_is_seen_is_drawn_once_and_in_its_colour() {
        let few = RgbaImage::from_fn(13, 20, |x, y| match (x + y) % 4 {
            0 => RED,
            1 => BLUE,
            2 => NONE,
            _ => Rgba([0, 255, 0, 200]),
        });
        let many = RgbaImage::from_fn(240, 125, |x, y| {
            Rgba([u8::try_from(x).unwrap(), u8::try_from(y * 2).unwrap(), 77, 255])
        });
        for image in [few, many] {
            let (palette, drawn) = (Palette::of(&image), drawn(&sixels(&image)));
            assert!(palette.colours.len() <= COLOURS);
            for (x, y, pixel) in image.enumerate_pixels() {
                let colour = drawn.get(&(x, y)).map(|colour| usize::try_from(*colour).unwrap());
                assert_eq!(colour, palette.number(pixel), "{x}, {y}");
                // A colour that is chosen is near.
                let far = |colour: usize| {
                    palette.colours[colour].iter().zip(pixel.0).all(|(a, b)| a.abs_diff(b) < 64)
                };
                assert!(colour.is_none_or(far), "{x}, {y}: {pixel:?}");
            }
            assert_eq!(drawn.len(), image.pixels().filter(|pixel| is_seen(pixel)).count());
        }
    }
}
