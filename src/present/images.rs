//! The images of a question in words, for terminals that show none. Their data is left to `command/show.rs`.

use askbridge_core::question::{Image, ImageFormat, Question};
use askbridge_os::terminal::printable_line;

/// Returns what each image is, on a line of its own: `image 1: PNG, 640×480, 12 KB`.
pub fn lines(question: &Question) -> impl Iterator<Item = String> + '_ {
    question
        .images
        .iter()
        .zip(1..)
        .map(|(image, number): (_, usize)| format!("image {number}: {}", facts(image)))
}

/// Returns the same in one sentence, where nothing leads to the images.
pub fn in_short(question: &Question) -> Option<String> {
    match question.images.len() {
        0 => None,
        1 => Some("1 image is not shown here".to_owned()),
        count => Some(format!("{count} images are not shown here")),
    }
}

fn facts(image: &Image) -> String {
    let Image { format, bytes, width, height, description, .. } = image;
    let size = match bytes {
        ..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} KB", (bytes + 500) / 1000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    };
    let about = description.as_deref().map(|text| format!(", {}", printable_line(text))).unwrap_or_default();
    format!("{}, {width}×{height}, {size}{about}", name(*format))
}

fn name(format: ImageFormat) -> String {
    match format {
        ImageFormat::Png => "PNG".to_owned(),
        ImageFormat::Jpeg => "JPEG".to_owned(),
        ImageFormat::Webp => "WebP".to_owned(),
        ImageFormat::Gif => "GIF".to_owned(),
        ImageFormat::Other(name) => printable_line(name.as_str()).into_owned(),
    }
}

/// Returns the ending of a file with an image of this format.
pub fn ending(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Jpeg => "jpg",
        ImageFormat::Webp => "webp",
        ImageFormat::Gif => "gif",
        ImageFormat::Png | ImageFormat::Other(_) => "png",
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Origin;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_image_is_a_line_of_facts() {
        let mut question = Question::new(Origin::Program, "q", Vec::new());
        for (kind, bytes, description) in [
            ("image/png", 999, json!(null)),
            ("image/jpeg", 12_400, json!("shots/login.jpg")),
            ("image/webp", 2_560_000, json!("a\u{1b}[31m\nb")),
            ("image/avif", 1000, json!(null)),
        ] {
            let image = json!({ "type": kind, "bytes": bytes, "width": 640, "height": 480, "description": description });
            question.images.push(serde_json::from_value(image).expect("an image"));
        }
        let lines: Vec<_> = lines(&question).collect();
        assert_eq!(
            lines[..2],
            ["image 1: PNG, 640×480, 999 B", "image 2: JPEG, 640×480, 12 KB, shots/login.jpg"]
        );
        assert!(
            lines[2].starts_with("image 3: WebP, 640×480, 2.5 MB, a") && !lines[2].contains(['\u{1b}', '\n'])
        );
        assert_eq!(lines[3], "image 4: image/avif, 640×480, 1 KB");
        assert_eq!(in_short(&question).as_deref(), Some("4 images are not shown here"));
    }
}
