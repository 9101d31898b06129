//! Whether the ways in which the person is told can work at all: their programs, the session bus, what has to be set.
//! Trying them out is left to `notifiers`.

use std::env;

use super::desktop;
use crate::{
    command::setup::around::Environment,
    present::doctor::{Level, Report},
    settings::{Key, Layer, NotifySettings, Settings, key::AnyKey, keys, kinds::Command},
};

const AREA: &str = "notifiers";
/// A topic that nobody guesses.
const TOPIC: &str = "`askbridge config set notify.ntfy.topic \
                     \"$(head -c 16 /dev/urandom | base64 | tr -dc 'A-Za-z0-9')\"`, and subscribe to it on your phone";

/// The commands that a person sets, with their sections.
static COMMANDS: [(&str, &Key<Option<Command>>); 3] = [
    ("sound", &keys::NOTIFY_SOUND_COMMAND),
    ("command", &keys::NOTIFY_COMMAND_COMMAND),
    ("heartbeat", &keys::NOTIFY_HEARTBEAT_COMMAND),
];

/// Looks at each way that is set.
pub(super) fn look(around: &Environment, settings: &Settings, report: &mut Report) {
    let before = report.findings.len();
    if cfg!(not(feature = "notify")) {
        return report.add(AREA, Level::Note, "this askbridge was built without notifiers", None);
    }
    if settings.get(&keys::NOTIFY_DESKTOP_ENABLED) {
        match desktop::bus() {
            Err(why) if cfg!(target_os = "linux") => report.add(
                AREA,
                Level::Problem,
                format!("desktop: {why}, so that no notification is shown"),
                Some("start it within a desktop session, or `askbridge config unset notify.desktop.enabled`"),
            ),
            _ => report.add(AREA, Level::Ok, "desktop: notifications are on", None),
        }
    }
    for (name, key) in COMMANDS {
        command(around, name, key, settings, report);
    }
    ntfy(settings, report);
    webhook(settings, report);
    let folder = env::current_dir().ok();
    if NotifySettings::of(settings, folder.as_deref()).is_none() {
        let advice = "`askbridge config edit`: [[notify.project]] with `enabled = false`";
        report.add(AREA, Level::Note, "nothing is told of the project in this folder", Some(advice));
    }
    if report.findings.len() == before {
        let text = "none is set: a question waits in its client and in `askbridge list` until you look";
        let desktop = "`askbridge config set notify.desktop.enabled true`";
        let advice = if desktop::bus().is_ok() { desktop } else { TOPIC };
        report.add(AREA, Level::Note, text, Some(advice));
    }
}

fn command(
    around: &Environment,
    name: &str,
    key: &Key<Option<Command>>,
    settings: &Settings,
    report: &mut Report,
) {
    let Some(Command(words)) = settings.get(key) else { return };
    let program = words.first().map(String::as_str).unwrap_or_default();
    if around.has_program(program) {
        return report.add(AREA, Level::Ok, format!("{name}: by {program}"), None);
    }
    let advice = format!("install it, or `askbridge config unset {}`", key.path());
    report.add(AREA, Level::Problem, format!("{name}: there is no program {program}"), Some(&advice));
}

fn ntfy(settings: &Settings, report: &mut Report) {
    if settings.get(&keys::NOTIFY_NTFY_TOPIC).is_some() {
        let text = format!("ntfy: by {}", settings.get(&keys::NOTIFY_NTFY_SERVER).0);
        return report.add(AREA, Level::Ok, text, None);
    }
    let others: [&dyn AnyKey; 4] = [
        &keys::NOTIFY_NTFY_SERVER,
        &keys::NOTIFY_NTFY_TOKEN,
        &keys::NOTIFY_NTFY_TEXT,
        &keys::NOTIFY_NTFY_DELAY,
    ];
    if others.iter().any(|key| is_own(settings, *key)) {
        let text = "ntfy: no topic is set, so that nothing is sent";
        report.add(AREA, Level::Problem, text, Some(TOPIC));
    }
}

fn webhook(settings: &Settings, report: &mut Report) {
    if settings.get(&keys::NOTIFY_WEBHOOK_URL).is_some() {
        return report.add(AREA, Level::Ok, "webhook: a server of yours", None);
    }
    let others: [&dyn AnyKey; 2] = [&keys::NOTIFY_WEBHOOK_TEXT, &keys::NOTIFY_WEBHOOK_DELAY];
    if others.iter().any(|key| is_own(settings, *key)) {
        let advice = "`askbridge config edit`: set `url` in [notify.webhook]";
        report.add(AREA, Level::Problem, "webhook: no url is set, so that nothing is sent", Some(advice));
    }
}

/// Returns whether the person set it. A project may set some of them for people who have the way set up.
fn is_own(settings: &Settings, key: &dyn AnyKey) -> bool {
    matches!(settings.stored(key).origin, Layer::User(_) | Layer::Environment(_))
}
