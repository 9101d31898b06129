//! The table of limits in `docs/behaviour.md`: each row names the values of the constants that it is about.

use std::{fs, time::Duration};

use askbridge::limits as of;

use crate::tidy::source::root;

/// Returns a number as the page writes it, with a comma before each three digits.
fn number(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

fn size(bytes: usize) -> String {
    match (bytes >> 10, bytes % 1024, bytes % (1024 * 1024)) {
        (kib, _, 0) => format!("{} MiB", number(kib >> 10)),
        (kib, 0, _) => format!("{} KiB", number(kib)),
        _ => format!("{} bytes", number(bytes)),
    }
}

fn time(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

fn of_added_images() -> String {
    let (most, file) = (of::ANSWER_IMAGES_BYTES, usize::try_from(of::IMAGE_FILE).expect("a number"));
    let pixels = number(usize::try_from(of::IMAGE_PIXELS).expect("a number"));
    let (count, most, file) = (of::ANSWER_IMAGES, size(most), size(file));
    format!("{count}, {most} together, {pixels} pixels each; a file of `answer --image`: {file}")
}

/// Returns the column with the limits, row by row.
fn limits() -> [String; 18] {
    [
        format!("{}; {}", size(of::HOLD), size(of::HOLD_QUESTION)),
        format!(
            "{}, {} fields, {} options per field, {} characters per text",
            size(of::QUESTION),
            of::FIELDS,
            of::OPTIONS,
            number(of::TEXT)
        ),
        format!(
            "{} and {} pixels, {} and {}, {}",
            size(of::IMAGE),
            number(usize::try_from(of::IMAGE_PIXELS).expect("a number")),
            of::IMAGES,
            size(of::IMAGES_OF_QUESTION),
            size(of::IMAGES_BYTES)
        ),
        of_added_images(),
        size(of::ID),
        format!("{} each once compiled, {} bytes of text per answer", size(of::PATTERN), number(of::TEXT)),
        format!(
            "{} per session, {} and about {}",
            of::OPEN_PER_SESSION,
            number(of::OPEN),
            size(of::OPEN_BYTES)
        ),
        number(of::SETTLED),
        format!("{}, each counted as at least {}", size(of::WAITING_BYTES), size(of::SUBMISSION)),
        format!("{}; {} of a connection, and {}", of::CONNECTIONS, of::CALLS_PER_CONNECTION, of::CALLS),
        format!("{}, and {}", of::REMEMBERED, size(of::REMEMBERED_BYTES)),
        number(of::TURNS),
        format!(
            "{}, {}, {}, {}",
            size(of::REQUEST),
            number(of::HTTP_CONNECTIONS),
            of::SUBSCRIBERS,
            number(of::REQUESTS_PER_SECOND as usize)
        ),
        format!("{}, {}, {}", time(of::BODY), time(of::HEAD), time(of::HEAD)),
        format!("{}, and {}", of::EVENTS, size(of::EVENTS_BYTES)),
        format!(
            "{} of words and {} tool calls, {}",
            size(of::CONTEXT_WORDS),
            of::CONTEXT_CALLS,
            size(of::CONTEXT_SESSIONS_BYTES + of::CONTEXTS_BYTES)
        ),
        format!("{}, and {}", of::HELD_PROMPTS, size(of::HELD_BYTES)),
        format!(
            "{}, {} and {}, {}",
            size(of::remote::MESSAGE),
            number(of::LISTED),
            size(of::remote::QUESTIONS),
            size(of::remote::HELD)
        ),
    ]
}

#[test]
fn the_page_gives_the_limits_that_the_program_has() {
    let page = fs::read_to_string(root().join("docs/behaviour.md")).expect("the page");
    let (_, table) = page.split_once("| what | limit | beyond it |\n").expect("the table");
    let rows: Vec<_> = table.lines().skip(1).map_while(|row| row.strip_prefix("| ")).collect();
    let expected = limits();
    assert_eq!(rows.len(), expected.len(), "each row has its line here: {rows:#?}");
    for (row, limit) in rows.into_iter().zip(expected) {
        assert_eq!(row.split(" | ").nth(1), Some(&*limit), "{row}");
    }
}

#[test]
fn the_script_of_the_page_fits_images_into_an_answer() {
    let script = fs::read_to_string(root().join("crates/web/src/page/web/attach.js")).expect("the script");
    for line in [
        format!("const MOST = {};", of::ANSWER_IMAGES),
        format!("const BYTES = {} * 1024;", of::ANSWER_IMAGES_BYTES / 1024),
        format!("const STEPS = [[{}],", of::ANSWER_SIDE),
    ] {
        assert!(script.contains(&line), "{line}");
    }
}
