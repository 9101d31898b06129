//! A recording of a terminal as an animated SVG, whose times are those of the script and not of the run. The text of each
//! line is drawn once, and a frame is a list of lines.
//! What is recorded is left to `pictures.rs`.

use std::{collections::BTreeMap, fmt::Write as _};

use vt100::{Color, Screen};

/// The size of a character in pixels. Every text is stretched to it, whatever font a browser has.
const CELL: (f64, f64) = (8.4, 19.0);
const MARGIN: f64 = 16.0;

/// The colours of a terminal: the background, the text, and those with a number.
pub(crate) struct Palette {
    pub(crate) background: &'static str,
    pub(crate) text: &'static str,
    pub(crate) numbered: [&'static str; 16],
}

/// What the screen showed, and for how many milliseconds.
#[derive(Default)]
pub(crate) struct Recording {
    frames: Vec<(Vec<Line>, u32)>,
}

/// The characters of a line in runs of one look.
type Line = Vec<Run>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    column: u16,
    text: String,
    look: Look,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    color: Option<u8>,
    is_bold: bool,
    is_dim: bool,
    is_inverse: bool,
}

impl Recording {
    /// Adds what the screen shows now, for so long.
    pub(crate) fn add(&mut self, screen: &Screen, milliseconds: u32) {
        let lines: Vec<_> = (0..screen.size().0.get()).map(|row| line(screen, row)).collect();
        match self.frames.last_mut() {
            Some((shown, time)) if *shown == lines => *time += milliseconds,
            _ => self.frames.push((lines, milliseconds)),
        }
    }

    /// Returns the recording, which runs again from its beginning. Who prefers no motion sees its end.
    pub(crate) fn svg(&self, palette: &Palette, title: &str) -> String {
        let mut numbers = BTreeMap::new();
        let (mut drawn, mut frames, mut styles) = (String::new(), String::new(), String::new());
        let whole: u32 = self.frames.iter().map(|(_, time)| time).sum();
        let mut from = 0;
        for (place, (lines, time)) in self.frames.iter().enumerate() {
            let is_last = place + 1 == self.frames.len();
            let percent = |at: u32| f64::from(at) * 100.0 / f64::from(whole);
            let mut steps = format!("{:.3}%{{visibility:visible}}", percent(from));
            from += time;
            if !is_last {
                write!(steps, "{:.3}%{{visibility:hidden}}", percent(from)).unwrap();
            }
            writeln!(styles, "@keyframes f{place}{{{steps}}}#f{place}{{animation-name:f{place}}}").unwrap();
            write!(frames, r#"<g id="f{place}" class="{}">"#, if is_last { "last" } else { "" }).unwrap();
            for (row, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                let next = numbers.len();
                let number = *numbers.entry(line).or_insert_with(|| {
                    writeln!(drawn, r#"<g id="l{next}">{}</g>"#, draw(line, palette)).unwrap();
                    next
                });
                write!(frames, r##"<use href="#l{number}" y="{}"/>"##, row_y(row)).unwrap();
            }
            frames += "</g>\n";
        }
        let (width, height) = self.size();
        let Palette { background, text, .. } = palette;
        let seconds = f64::from(whole) / 1000.0;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{title}</title>
<style>
text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:{text};white-space:pre}}
.bold{{font-weight:700}}.dim{{opacity:.65}}
g[class]{{visibility:hidden;animation:{seconds}s step-end infinite}}
@media (prefers-reduced-motion){{g[class]{{animation:none}}.last{{visibility:visible}}}}
{styles}</style>
<rect width="100%" height="100%" rx="8" fill="{background}"/>
<defs>
{drawn}</defs>
{frames}</svg>
"#
        )
    }

    fn size(&self) -> (f64, f64) {
        let lines = self.frames.iter().flat_map(|(lines, _)| lines);
        let columns = lines.flatten().map(|run| f64::from(run.column) + width(&run.text)).fold(0.0, f64::max);
        let rows = self.frames.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
        ((columns * CELL.0 + 2.0 * MARGIN).ceil(), (row_y(rows) + MARGIN).ceil())
    }
}

/// Returns the runs of a row, without the blanks at its end.
fn line(screen: &Screen, row: u16) -> Line {
    let (_, columns) = screen.size();
    let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
    let mut line: Line = Vec::new();
    for column in 0..columns.get() {
        let Some(cell) = screen.cell(row, column) else { continue };
        if cell.is_wide_continuation() {
            continue;
        }
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let look = Look {
            color: numbered(cell.fgcolor()),
            is_bold: cell.bold(),
            is_dim: cell.dim(),
            is_inverse: cell.inverse() != (cursor == Some((row, column))),
        };
        match line.last_mut() {
            Some(run) if run.look == look => run.text += text,
            _ => line.push(Run { column, text: text.to_owned(), look }),
        }
    }
    while line.last().is_some_and(|run| !run.look.is_inverse && run.text.trim().is_empty()) {
        line.pop();
    }
    line
}

fn numbered(color: Color) -> Option<u8> {
    match color {
        Color::Idx(number) if number < 16 => Some(number),
        Color::Idx(_) | Color::Rgb(..) | Color::Default => None,
    }
}

fn draw(line: &Line, palette: &Palette) -> String {
    let mut drawn = String::new();
    for Run { column, text, look } in line {
        let x = MARGIN + f64::from(*column) * CELL.0;
        let length = width(text) * CELL.0;
        let color = look.color.map_or(palette.text, |number| palette.numbered[usize::from(number)]);
        let fill = if look.is_inverse { palette.background } else { color };
        if look.is_inverse {
            write!(drawn, r#"<rect x="{x:.1}" width="{length:.1}" height="{}" fill="{color}"/>"#, CELL.1)
                .unwrap();
        }
        if text.trim().is_empty() {
            continue;
        }
        let class = [("bold", look.is_bold), ("dim", look.is_dim)];
        let class: Vec<_> = class.into_iter().filter_map(|(name, is)| is.then_some(name)).collect();
        write!(
            drawn,
            r#"<text x="{x:.1}" y="14" textLength="{length:.1}" lengthAdjust="spacingAndGlyphs" class="{}" fill="{fill}" style="fill:{fill}">{}</text>"#,
            class.join(" "),
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
        )
        .unwrap();
    }
    drawn
}

fn row_y(row: usize) -> f64 {
    MARGIN + f64::from(u16::try_from(row).unwrap()) * CELL.1
}

/// Returns how many columns a text has. What is recorded has no wide characters.
fn width(text: &str) -> f64 {
    f64::from(u16::try_from(text.chars().count()).unwrap())
}
