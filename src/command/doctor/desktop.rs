//! What a desktop offers for telling the person: a browser, and the session bus for notifications.

use std::{env, os::unix::net::UnixStream, path::PathBuf};

use super::server::{Inbox, reached};
use crate::{
    command::setup::around::Environment,
    present::doctor::{Level, Report},
};

const DESKTOP: &str = "desktop";

/// Looks at the browser and the session bus.
pub(super) fn look_at_desktop(around: &Environment, inbox: &Inbox, report: &mut Report) {
    browser(around, inbox, report);
    if cfg!(target_os = "linux") {
        match bus() {
            Ok(found) => report.add(DESKTOP, Level::Ok, format!("session bus: {found}"), None),
            Err(why) => {
                let advice = "there are no desktop notifications without it";
                report.add(DESKTOP, Level::Note, why, Some(advice));
            }
        }
    }
}

fn browser(around: &Environment, inbox: &Inbox, report: &mut Report) {
    let named = set("BROWSER");
    let opener = ["xdg-open", "open", "wslview"].iter().find_map(|name| around.program(name));
    let has_display =
        cfg!(target_os = "macos") || set("DISPLAY").is_some() || set("WAYLAND_DISPLAY").is_some();
    if let Some(named) = named {
        // It may be a list, and each of it a command with arguments.
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
            // A port that is any free one is known once the inbox runs.
            let tunnel = format!("from another machine, `ssh -L {port}:{at} HOST` reaches `askbridge inbox`");
            let advice = if port == 0 { None } else { Some(&*tunnel) };
            report.add(DESKTOP, Level::Note, "no browser can be opened here", advice);
        }
    }
}

/// Finds the session bus, by which notifications are shown.
///
/// # Errors
/// Why there is none.
pub(super) fn bus() -> Result<String, String> {
    let none = || "there is no session bus (D-Bus)".to_owned();
    let address = set("DBUS_SESSION_BUS_ADDRESS");
    let socket = match &address {
        // A socket that is no file cannot be looked at from here.
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
