//! What `askbridge doctor` looks at, in its order.

use std::io;

use super::{clients, desktop, program, server, sockets};
use crate::{
    command::{
        CommandError,
        run::{print, shown},
        screen::Room,
        setup::around::Around,
    },
    exit,
    present::{
        doctor::{Level, Report},
        text,
    },
};

/// What `doctor` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoctorOptions {
    /// Prints JSON.
    pub json: bool,
    /// Sends a test in each way in which the person is told.
    #[cfg(feature = "notify")]
    pub notify: bool,
}

/// Looks at everything, and says what does not work.
pub async fn doctor(options: &DoctorOptions) -> Result<u8, CommandError> {
    let mut report = Report::new(env!("CARGO_PKG_VERSION"));
    let around = Around::look();
    match &around {
        Some(around) => program::look(around, &mut report),
        None => report.add("program", Level::Problem, "there is no home directory", Some("set HOME")),
    }
    sockets::look(around.as_ref(), &mut report).await;
    server::look(&mut report);
    if let Some(around) = &around {
        desktop::look(around, &mut report);
        clients::look(around, &mut report);
    }
    #[cfg(feature = "notify")]
    if options.notify {
        super::notifiers::try_out(&mut report).await;
    }
    let text = match options.json {
        true => text::json(&report)?,
        false => {
            let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
            report.text(Room::now().map_or(usize::MAX, |room| room.columns), colour)
        }
    };
    shown(print(&text))?;
    Ok(if report.healthy { exit::OK } else { exit::PROBLEM })
}
