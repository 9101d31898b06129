//! `askbridge show`: one question, and how it can be answered.

use super::{
    CommandError,
    run::{self, join, look_up, print},
};
use crate::{
    control::old::Source,
    present::{question::Shown, text},
};

/// What `show` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShowOptions {
    /// The ID of the question, or the beginning of it.
    pub id: String,
    /// Prints JSON.
    pub json: bool,
}

/// Shows a question.
pub async fn show(options: &ShowOptions) -> Result<u8, CommandError> {
    let joined = join().await?;
    let view = look_up(&joined, &options.id).await?;
    let status = joined.status().into_iter().find(|status| status.bridge == view.bridge);
    let text = if options.json {
        text::json(&*view)?
    } else {
        Shown { view: &view, status: status.as_ref() }.to_string()
    };
    run::shown(print(&text))
}
