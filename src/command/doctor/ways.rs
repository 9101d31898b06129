//! Checks whether the notifiers can work at all: their programs, the browser, the session bus, and the settings that
//! each of them needs.
//! Sending a test through each notifier is left to `command/notify.rs`.

use std::{env, os::unix::net::UnixStream, path::PathBuf};

use askbridge_settings::{AnyKey, Key, Layer, NotifySettings, Settings, keys, kinds::Command};

use super::server::{Inbox, reached};
use crate::{
    command::setup::environment::Environment,
    present::doctor::{Level, Report},
};

const AREA: &str = "notifiers";
/// The advice to set a topic that nobody can guess.
const TOPIC: &str = "`askbridge config set notify.ntfy.topic \
                     \"$(head -c 16 /dev/urandom | base64 | tr -dc 'A-Za-z0-9')\"`, and subscribe to it on your phone";

/// The notifiers that run a command of the user, with the keys of these commands.
static COMMANDS: [(&str, &Key<Option<Command>>); 3] = [
    ("sound", &keys::NOTIFY_SOUND_COMMAND),
    ("command", &keys::NOTIFY_COMMAND_COMMAND),
    ("heartbeat", &keys::NOTIFY_HEARTBEAT_COMMAND),
];

/// Checks each notifier that is set up.
pub(super) fn look(around: &Environment, settings: &Settings, report: &mut Report) {
    let before = report.findings.len();
    if cfg!(not(feature = "notify")) {
        return report.add(AREA, Level::Note, "this askbridge was built without notifiers", None);
    }
    if settings.get(&keys::NOTIFY_DESKTOP_ENABLED) {
        match bus() {
            // Other systems show notifications without D-Bus.
            Err(why) if cfg!(target_os = "linux") => report.add(
                AREA,
                Level::Problem,
                format!("desktop: {why}, so no notification is shown"),
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
        report.add(
            AREA,
            Level::Note,
            "notifications of the project in this folder are switched off",
            Some(advice),
        );
    }
    if report.findings.len() == before {
        let text = "none is set up: a question waits in its client and in `askbridge list` until you look";
        let desktop = "`askbridge config set notify.desktop.enabled true`";
        let advice = if bus().is_ok() { desktop } else { TOPIC };
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
    report.add(AREA, Level::Problem, format!("{name}: the program {program} does not exist"), Some(&advice));
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
        let text = "ntfy: no topic is set, so nothing is sent";
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
        report.add(AREA, Level::Problem, "webhook: no url is set, so nothing is sent", Some(advice));
    }
}

/// Returns whether the user set this key. A project may set some keys for users who have the notifier set up.
fn is_own(settings: &Settings, key: &dyn AnyKey) -> bool {
    matches!(settings.stored(key).origin, Layer::User(_) | Layer::Environment(_))
}

const DESKTOP: &str = "desktop";

/// Checks the browser and the session bus.
pub(super) fn look_at_desktop(around: &Environment, inbox: &Inbox, report: &mut Report) {
    browser(around, inbox, report);
    if cfg!(target_os = "linux") {
        match bus() {
            Ok(found) => report.add(DESKTOP, Level::Ok, format!("session bus: {found}"), None),
            Err(why) => {
                let advice = "desktop notifications need it";
                report.add(DESKTOP, Level::Note, why, Some(advice));
            }
        }
    }
}

fn browser(around: &Environment, inbox: &Inbox, report: &mut Report) {
    let named = set("BROWSER");
    let opener = ["xdg-open", "open", "wslview"].iter().find_map(|name| around.program(name));
    // macOS has neither an X nor a Wayland display, and opens browsers all the same.
    let has_display =
        cfg!(target_os = "macos") || set("DISPLAY").is_some() || set("WAYLAND_DISPLAY").is_some();
    if let Some(named) = named {
        // `BROWSER` may be a list, and each entry a command with arguments.
        let first = named.split(':').next().unwrap_or_default();
        return match around.has_program(first.split_whitespace().next().unwrap_or_default()) {
            true => report.add(DESKTOP, Level::Ok, format!("browser: {named}, from BROWSER"), None),
            false => report.add(
                DESKTOP,
                Level::Warning,
                format!("BROWSER is {named}, which is not a program"),
                Some("correct it, or unset it"),
            ),
        };
    }
    match opener {
        Some(opener) if has_display => {
            report.add(DESKTOP, Level::Ok, format!("browser: by {}", opener.display()), None);
        }
        _ => {
            let (at, port) = (reached(inbox.address), inbox.address.port());
            // Port 0 stands for any free port, which is known only once the inbox runs.
            let tunnel = format!("from another machine, `ssh -L {port}:{at} HOST` reaches `askbridge inbox`");
            let advice = if port == 0 { None } else { Some(&*tunnel) };
            report.add(DESKTOP, Level::Note, "no browser can be opened here", advice);
        }
    }
}

/// Finds the session bus, by which notifications are shown.
///
/// # Errors
/// A sentence that says why no notification can be shown.
pub(super) fn bus() -> Result<String, String> {
    let none = || "there is no session bus (D-Bus)".to_owned();
    let address = set("DBUS_SESSION_BUS_ADDRESS");
    let socket = match &address {
        // The address may name a socket that is not a file, such as an abstract one. This check cannot connect to that.
        Some(address) => match socket(address) {
            Some(socket) => socket,
            None => return Ok(address.clone()),
        },
        None => PathBuf::from(set("XDG_RUNTIME_DIR").ok_or_else(none)?).join("bus"),
    };
    match UnixStream::connect(&socket) {
        Ok(_) => Ok(socket.display().to_string()),
        Err(_) if address.is_none() => Err(none()),
        Err(_) => Err(format!("the session bus does not reply at {}", socket.display())),
    }
}

/// Returns the socket's file in an address of D-Bus.
fn socket(address: &str) -> Option<PathBuf> {
    let options = address.split(';').find_map(|address| address.strip_prefix("unix:"))?;
    options.split(',').find_map(|option| option.strip_prefix("path=")).map(PathBuf::from)
}

fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_is_found_in_an_address_of_the_bus() {
        for (address, path) in [
            ("unix:path=/run/user/1000/bus", Some("/run/user/1000/bus")),
            ("unix:path=/run/bus,guid=0123", Some("/run/bus")),
            ("tcp:host=x;unix:guid=1,path=/b", Some("/b")),
            ("unix:abstract=/run/bus", None),
            ("", None),
        ] {
            assert_eq!(socket(address), path.map(PathBuf::from), "{address}");
        }
    }
}
