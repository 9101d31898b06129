//! The results in the XML of JUnit, which CI systems read.

use crate::{
    suite::{Outcome, Settings},
    verdict::Verdict,
};

use super::{counts::Counts, detail::failure, paint::put};

/// Returns the results as a document of JUnit: a suite for each group, a test case for each case.
pub fn junit(settings: &Settings, outcomes: &[Outcome]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let kind = settings.kind.name();
    let counts = Counts::of(outcomes);
    let time: f64 = outcomes.iter().map(|outcome| outcome.time.as_secs_f64()).sum();
    let unexpected = outcomes.iter().filter(|outcome| outcome.is_unexpected).count();
    put(
        &mut xml,
        &format!(
            "<testsuites name=\"askbridge check {kind}\" tests=\"{}\" failures=\"{unexpected}\" time=\"{time:.3}\">",
            counts.total(),
        ),
    );
    for group in outcomes.chunk_by(|one, other| one.case.group() == other.case.group()) {
        suite(&mut xml, group);
    }
    put(&mut xml, "</testsuites>");
    xml
}

fn suite(xml: &mut String, group: &[Outcome]) {
    let name = group.first().map_or("", |outcome| outcome.case.group());
    let count = |fits: fn(&Outcome) -> bool| group.iter().filter(|outcome| fits(outcome)).count();
    let skipped = count(is_skipped);
    let failures = count(|outcome| outcome.is_unexpected);
    let tests = group.len();
    put(
        xml,
        &format!(
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">",
            escaped(name)
        ),
    );
    for outcome in group {
        let name = outcome.case.id.rsplit('/').next().unwrap_or_default();
        let (class, name) = (escaped(outcome.case.group()), escaped(name));
        let time = outcome.time.as_secs_f64();
        let head = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time:.3}\"");
        match body(outcome) {
            Some(body) => put(xml, &format!("{head}>{body}</testcase>")),
            None => put(xml, &format!("{head}/>")),
        }
    }
    put(xml, "  </testsuite>");
}

/// Whether nothing was shown, without making the run fail.
fn is_skipped(outcome: &Outcome) -> bool {
    !outcome.is_unexpected && outcome.verdict != Verdict::Passed
}

fn body(outcome: &Outcome) -> Option<String> {
    let message = match &outcome.verdict {
        Verdict::Passed if outcome.expected => "it passed, although it was expected to fail".to_owned(),
        Verdict::Passed => return None,
        Verdict::Failed(failure) => failure.what.clone(),
        Verdict::Inconclusive(why) => format!("inconclusive: {why}"),
        Verdict::Skipped(why) => why.clone(),
    };
    let message = escaped(&message);
    // JUnit has no verdict for an expected failure. A CI system must not report one as failed, so it is listed as
    // skipped.
    Some(match outcome.is_unexpected {
        true => format!("<failure message=\"{message}\">{}</failure>", escaped(&failure(outcome))),
        false => format!("<skipped message=\"{message}\"/>"),
    })
}

/// Escapes what XML reads as markup. Control characters, which XML does not have, are replaced; printable texts have none.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(char),
            char if char.is_control() || matches!(char, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(escaped("a<b>&\"\u{1b}\u{0}\n"), "a&lt;b&gt;&amp;&quot;\u{fffd}\u{fffd}\n");
    }
}
