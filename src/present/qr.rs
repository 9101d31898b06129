//! A text as a QR code for a terminal, two rows of it in each line.

use qrcode::{EcLevel, QrCode, render::unicode::Dense1x2};

/// Black on white, whatever the colours of the terminal: many readers do not know an inverted code.
const BLACK_ON_WHITE: anstyle::Style = anstyle::Style::new()
    .fg_color(Some(anstyle::Color::Ansi256(anstyle::Ansi256Color(16))))
    .bg_color(Some(anstyle::Color::Ansi256(anstyle::Ansi256Color(231))));

/// Returns the QR code; `None` for a text that is too long for one.
pub fn code(text: &str) -> Option<String> {
    // The screen is near and clean, so that the least correction is enough, and the code is small.
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let drawn = code.render::<Dense1x2>().build();
    let style = BLACK_ON_WHITE;
    Some(drawn.lines().map(|line| format!("{style}{line}{style:#}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_an_address_fits_a_small_terminal() {
        let address = format!(
            "http://192.168.100.100:8421/#token=69218a00.{}.{}&question=k3f9q2-1",
            "0".repeat(16),
            "f".repeat(32)
        );
        let code = code(&address).expect("it is short");
        let plain = anstream::adapter::strip_str(&code).to_string();
        assert!(plain.lines().count() <= 30, "{plain}");
        assert!(plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
        assert!(super::code(&"x".repeat(4000)).is_none());
    }
}
