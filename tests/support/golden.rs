//! Files and parts of pages that a test writes: what is kept is compared with what came out, and with `UPDATE` in the
//! environment, it is written. The test fails nevertheless, so that nobody takes what it wrote for right unread.

use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// How many lines of a difference are shown.
const SHOWN: usize = 5;

/// Compares a file with what came out. Returns where they differ, if they do.
pub(crate) fn difference(path: &Path, actual: &str) -> Option<String> {
    let written = fs::read_to_string(path).unwrap_or_default();
    if written == actual {
        return None;
    }
    if std::env::var_os("UPDATE").is_some() {
        path.parent().map_or(Ok(()), fs::create_dir_all).expect("a folder for the file");
        fs::write(path, actual).expect("a writable file");
    }
    let place = written.lines().zip(actual.lines()).take_while(|(one, other)| one == other).count();
    let from = |text: &str| text.lines().skip(place).take(SHOWN).collect::<Vec<_>>().join("\n  ");
    Some(format!(
        "{}:{} has\n  {}\nbut this came out:\n  {}\nThe same command with UPDATE=1 writes it.",
        path.display(),
        place + 1,
        from(&written),
        from(actual)
    ))
}

/// Fails if a file is not what came out.
#[track_caller]
pub(crate) fn is(path: &Path, actual: &str) {
    if let Some(difference) = difference(path, actual) {
        panic!("{difference}");
    }
}

/// Fails if what stands in a file between two marks is not what came out.
#[track_caller]
pub(crate) fn is_between(path: &Path, begin: &str, end: &str, actual: &str) {
    // The tests of one process may write parts of one page at the same time.
    static PAGES: Mutex<()> = Mutex::new(());
    let _pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let page = fs::read_to_string(path).expect("the page");
    let (before, rest) = page.split_once(begin).expect("where the part begins");
    let (_, after) = rest.split_once(end).expect("where the part ends");
    is(path, &format!("{before}{begin}{actual}{end}{after}"));
}
