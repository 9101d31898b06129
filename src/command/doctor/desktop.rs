//! What a desktop offers for telling the person: a browser, and the session bus for notifications.

use std::{
    env,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use crate::{
    command::setup::around::{Around, is_program},
    present::doctor::{Level, Report},
};

const AREA: &str = "desktop";

/// Looks at the browser and the session bus.
pub(super) fn look(around: &Around, report: &mut Report) {
    browser(around, report);
    if cfg!(target_os = "linux") {
        bus(report);
    }
}

fn browser(around: &Around, report: &mut Report) {
    let named = set("BROWSER");
    let opener = ["xdg-open", "open", "wslview"].iter().find_map(|name| around.program(name));
    let has_display =
        cfg!(target_os = "macos") || set("DISPLAY").is_some() || set("WAYLAND_DISPLAY").is_some();
    if let Some(named) = named {
        // It may be a list, and each of it a command with arguments.
        let first = named.split(':').next().unwrap_or_default();
        let program = first.split_whitespace().next().unwrap_or_default();
        let exists = match program.contains('/') {
            true => is_program(Path::new(program)),
            false => around.program(program).is_some(),
        };
        return match exists {
            true => report.add(AREA, Level::Ok, format!("browser: {named}, from BROWSER"), None),
            false => report.add(
                AREA,
                Level::Warning,
                format!("BROWSER is {named}, which is not a program"),
                Some("correct it, or unset it"),
            ),
        };
    }
    match opener {
        Some(opener) if has_display => {
            report.add(AREA, Level::Ok, format!("browser: by {}", opener.display()), None);
        }
        _ => {
            let advice = "from another machine, `ssh -L 8421:127.0.0.1:8421` reaches `askbridge inbox`";
            report.add(AREA, Level::Note, "no browser can be opened here", Some(advice));
        }
    }
}

fn bus(report: &mut Report) {
    let missing = |report: &mut Report, text: String| {
        let advice = "there are no desktop notifications without it";
        report.add(AREA, Level::Note, text, Some(advice));
    };
    let address = set("DBUS_SESSION_BUS_ADDRESS");
    let socket = match &address {
        Some(address) => match socket(address) {
            Some(socket) => socket,
            // A socket that is no file cannot be looked at from here.
            None => return report.add(AREA, Level::Ok, format!("session bus: {address}"), None),
        },
        None => match set("XDG_RUNTIME_DIR") {
            Some(folder) => PathBuf::from(folder).join("bus"),
            None => return missing(report, "there is no session bus (D-Bus)".to_owned()),
        },
    };
    match UnixStream::connect(&socket) {
        Ok(_) => report.add(AREA, Level::Ok, format!("session bus: {}", socket.display()), None),
        Err(_) if address.is_none() => missing(report, "there is no session bus (D-Bus)".to_owned()),
        Err(_) => missing(report, format!("the session bus does not reply at {}", socket.display())),
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
