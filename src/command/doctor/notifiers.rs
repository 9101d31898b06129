//! A test in each way in which the person is told.

use std::env;

use crate::{
    command::notify::own_terminal,
    notifier,
    present::doctor::{Level, Report},
    settings::NotifySettings,
    settings_files,
};

const NOTIFIERS: &str = "notifiers";

/// Sends the tests, and says what came of each.
pub(super) async fn try_out(report: &mut Report) {
    let folder = env::current_dir().ok();
    let settings = NotifySettings::of(&settings_files::read(folder.as_deref()), folder.as_deref());
    let Some(settings) = settings else {
        return report.add(NOTIFIERS, Level::Note, "nothing is told of this project", None);
    };
    let trials = notifier::try_out(settings, own_terminal()).await;
    if trials.is_empty() {
        report.add(NOTIFIERS, Level::Note, "no notifier is set, so that no test was sent", None);
    }
    for trial in trials {
        match trial.told {
            Ok(()) => report.add(NOTIFIERS, Level::Ok, format!("{}: the test was sent", trial.way), None),
            Err(error) => {
                let advice = format!("correct it in [notify.{}]: `askbridge config edit`", trial.way);
                report.add(NOTIFIERS, Level::Problem, format!("{}: {error}", trial.way), Some(&advice));
            }
        }
    }
}
