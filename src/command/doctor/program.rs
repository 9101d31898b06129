//! Which askbridge this is, and whether others find the same.

use std::env;

use crate::{
    command::setup::around::Environment,
    present::doctor::{Level, Report},
};

const PROGRAM: &str = "program";

/// Looks at the program itself.
pub(super) fn look_at_program(around: &Environment, report: &mut Report) {
    let own = env::current_exe().ok();
    let path =
        own.as_ref().map_or_else(|| "its path is not known".to_owned(), |path| path.display().to_string());
    report.add(PROGRAM, Level::Ok, format!("askbridge {}: {path}", env!("CARGO_PKG_VERSION")), None);
    let real = own.and_then(|own| own.canonicalize().ok());
    match around.program(env!("CARGO_PKG_NAME")) {
        None => report.add(
            PROGRAM,
            Level::Warning,
            "askbridge is not on PATH",
            Some("settings of editors need the whole path: `askbridge setup` writes it"),
        ),
        Some(other) if other.canonicalize().ok() != real => report.add(
            PROGRAM,
            Level::Warning,
            format!("PATH has another askbridge first: {}", other.display()),
            Some("remove one of them, so that commands and editors run the same"),
        ),
        Some(_) => {}
    }
    if !cfg!(target_os = "linux") {
        report.add(PROGRAM, Level::Note, "that an agent cannot answer itself is only checked on Linux", None);
    }
}
