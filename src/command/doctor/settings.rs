//! The settings: what does not count in them, and why. Every command reads them, so a mistake is a problem.

use crate::{
    log,
    present::doctor::{Level, Report},
    settings::{Layer, Settings, keys},
    settings_files,
};

const SETTINGS: &str = "settings";

/// Looks at the files and the environment that they come from.
pub(super) fn look_at_settings(settings: &Settings, report: &mut Report) {
    let before = report.findings.len();
    for problem in settings.problems() {
        let advice = match &problem.origin {
            Some(Layer::Project(place)) => format!("edit {}", place.path.display()),
            Some(Layer::Environment(name)) => format!("correct {name}, or unset it"),
            Some(Layer::User(_) | Layer::Default) | None => "`askbridge config edit`".to_owned(),
        };
        report.add(SETTINGS, Level::Problem, problem.to_string(), Some(&advice));
    }
    if let Some(file) = settings.path(&keys::LOG_FILE)
        && let Err(error) = log::open(&file)
    {
        let text = format!("log.file: {}: {error}", file.display());
        report.add(SETTINGS, Level::Problem, text, Some("`askbridge config unset log.file` logs to stderr"));
    }
    if report.findings.len() == before {
        let text = match settings_files::user_file().filter(|file| file.exists()) {
            Some(file) => format!("{}: all of it counts", file.display()),
            None => "no file of your own: the defaults count".to_owned(),
        };
        report.add(SETTINGS, Level::Ok, text, None);
    }
}
