//! The tables of `docs/compatibility.md`: each group and each case that they name exists.

use std::{collections::BTreeSet, fs, path::Path};

use askbridge_check::kind::Kind;

use crate::check::faults::cases;

/// The columns before those of the groups: the name, the version and the date.
const OTHERS: usize = 3;

#[test]
fn the_tables_name_the_groups_and_cases_that_there_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compatibility.md");
    let page = fs::read_to_string(page).unwrap();
    for kind in [Kind::Agent, Kind::Client, Kind::Bridge] {
        let cases = cases(kind);
        let group = |id: &str| id.split('/').nth(1).unwrap_or_default().to_owned();
        let groups: BTreeSet<_> = cases.iter().map(|case| group(&case.id)).collect();
        let head = page.lines().find_map(|line| line.strip_prefix(&format!("| {} | ", kind.name())));
        let head = head.unwrap_or_else(|| panic!("no table of a {}", kind.name()));
        let columns = head.trim_end_matches(" |").split(" | ").skip(OTHERS - 1).map(str::to_owned);
        assert_eq!(columns.collect::<BTreeSet<_>>(), groups, "run tests/compatibility/run");
        let begin = format!("- `{}/", kind.name());
        let named = page.lines().filter(|line| line.starts_with(&begin));
        let unknown: Vec<_> = named
            .filter(|line| !cases.iter().any(|case| line.starts_with(&format!("- `{}` (", case.id))))
            .collect();
        assert!(unknown.is_empty(), "no case is named so any more: {unknown:#?}");
    }
}
