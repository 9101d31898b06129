//! The cases, as files of the folder `cases`: in the program, or in a debug build from the source folder.
//! Each file below `cases/KIND` is a case. Each line of `lines.rs` makes a case as well: a bridge must forward it unchanged.

use std::borrow::Cow;

use rust_embed::{Embed, EmbeddedFile};

use crate::{
    case::{Case, CaseError},
    kind::Kind,
    lines::{line, names},
    step::Side,
};

/// The cases, and the steps that cases begin with.
#[derive(Embed)]
#[folder = "cases"]
struct Cases;

/// The folder of the steps that cases begin with.
pub(crate) const GIVEN: &str = "given";
/// The group of the cases that the files of `lines` make.
const LINES: &str = "lines";
/// The lines that a bridge of MCP with an inbox takes: what a server asks its person.
const CHANGED_BY_AN_INBOX: [&str; 1] = ["elicitation"];

/// The steps of a hostile line.
const TERMINATED: &str = "\
ONE>@ LINE
OTHER<@ LINE
ONE! fence
OTHER>@ LINE
ONE<@ LINE
OTHER! fence
";
/// The steps of a hostile line without line feed.
const LAST: &str = "\
ONE>@ LINE
ONE! closes stdin
OTHER<@ LINE
OTHER< end
OTHER>@ LINE
OTHER! closes stdout
ONE<@ LINE
ONE< end
";

/// Returns all cases of a kind, in the order of their IDs.
///
/// # Errors
/// If a case cannot be read. A test of this crate reads all of them.
pub fn cases(kind: Kind) -> Result<Vec<Case>, CaseError> {
    let folder = format!("{}/", kind.name());
    let mut cases = Vec::new();
    for path in Cases::iter().filter(|path| path.starts_with(&folder)) {
        let Some(id) = path.strip_suffix(".txt") else { continue };
        cases.push(Case::read(id, &text(Cases::get(&path)), given)?);
    }
    if kind.is_between() {
        for name in names() {
            cases.push(Case::read(&format!("{folder}{LINES}/{name}"), &line_case(kind, &name), given)?);
        }
    }
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(cases)
}

/// Returns the case that every command of this kind must pass, because all others begin with its steps.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn probe(kind: Kind) -> Result<Case, CaseError> {
    let head = format!(
        "# The command takes part\nlevel: must\nsource: {}, initialization\ngiven: {}\n",
        kind.protocol(),
        kind.name()
    );
    Case::read("probe", &head, given)
}

fn given(name: &str) -> Option<String> {
    let file = Cases::get(&format!("{GIVEN}/{name}.txt"));
    file.is_some().then(|| text(file))
}

fn text(file: Option<EmbeddedFile>) -> String {
    let bytes = file.map_or(Cow::Borrowed(&b""[..]), |file| file.data);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the case of a hostile line. One without line feed can only be the last.
fn line_case(kind: Kind, name: &str) -> String {
    let is_terminated = line(name).is_some_and(|line| line.ends_with(b"\n"));
    let (remark, steps) =
        if is_terminated { ("", TERMINATED) } else { (", as the last bytes of a stream", LAST) };
    let needs =
        if kind == Kind::Mcp && CHANGED_BY_AN_INBOX.contains(&name) { "needs: no inbox\n" } else { "" };
    let [one, other] = [Side::Client, Side::Agent].map(|side| side.name(kind));
    let steps = steps.replace("LINE", name).replace("ONE", one).replace("OTHER", other);
    format!(
        "# A bridge forwards the line `{name}` unchanged, in both directions{remark}\n\
         level: ours\nsource: askbridge, docs/design/bytes.md\nfault: changes-bytes\nmatch: bytes\n{needs}\n{steps}",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_read_and_names_a_fault() {
        for kind in Kind::ALL {
            let cases = cases(kind).unwrap_or_else(|error| panic!("{error}"));
            for case in &cases {
                assert!(!case.faults.is_empty(), "{case}: add a `fault:` under which it must fail");
                assert!(!case.steps.is_empty(), "{case} has no steps");
                assert!(!case.rule.ends_with('.'), "{case}: the rule is a sentence without a full stop");
            }
        }
        for kind in [Kind::Bridge, Kind::Mcp] {
            assert!(cases(kind).is_ok_and(|cases| cases.len() > 80));
        }
    }

    #[test]
    fn a_case_with_a_mistake_is_refused() {
        let read = |text: &str| Case::read("a/b", text, |_| None).unwrap_err().to_string();
        let head = "# A rule\nlevel: must\nsource: x\n";
        assert_eq!(read("# A rule\nlevel: must\n\n"), "a/b.txt:1: the head has no `source:`");
        assert_eq!(
            read("# A rule\nlevel: high\n\n"),
            "a/b.txt:2: `high` is not a level: must, should or ours"
        );
        assert_eq!(read(&format!("{head}colour: red\n")), "a/b.txt:4: a head has no `colour`");
        assert_eq!(read(&format!("{head}given: x\n")), "a/b.txt:1: no steps are named `x`");
        for (step, why) in [
            ("client? x", "no step begins with `client?`"),
            ("client! exit 7", "a client has no step `exit 7`"),
            ("agent! exit x", "`x` is not an exit code"),
            ("agent>@ none", "no line is named `none`"),
            ("agent>| \\q", "an escape is `\\n`, `\\r`, `\\t`, `\\\\` or `\\xHH`"),
            ("peer! SIGFUN", "the command has no step `SIGFUN`"),
            ("nothing", "not a step"),
        ] {
            assert_eq!(read(&format!("{head}\n# A remark\n{step}\n")), format!("a/b.txt:6: {why}"));
        }
    }
}
