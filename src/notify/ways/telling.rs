//! The interface between a notifier and a way: the question to notify of, and the reports.

use std::{path::PathBuf, sync::Arc};

use askbridge_core::desk::{Record, Refusal, Submission};
use askbridge_settings::{NotifySettings, words::Disclosure};
use tokio::sync::{mpsc, oneshot, watch};

use crate::notify::{Message, Way};

/// A question to notify of.
#[derive(Clone, Debug)]
pub(super) struct NotifiedQuestion {
    /// The question.
    pub(super) record: Arc<Record>,
    /// The folder that its bridge was started in.
    pub(super) folder: String,
    /// How the user is notified.
    pub(super) settings: Arc<NotifySettings>,
    /// The terminal that may be written to.
    pub(super) terminal: Option<PathBuf>,
    /// How the question was settled; `None` while it is open.
    pub(super) over: watch::Receiver<Option<String>>,
    /// Where a way reports what it did.
    pub(super) said: mpsc::Sender<WayReport>,
}

/// A report of a way to its notifier.
#[derive(Debug)]
pub(super) enum WayReport {
    /// The user was notified.
    Told(Way),
    /// The user could not be notified, for this reason.
    Failed(Way, String),
    /// The user chose an answer.
    Chosen(TappedAnswer),
    /// The heartbeat command has ended.
    Beaten,
}

/// An answer that the user chose.
#[derive(Debug)]
pub(super) struct TappedAnswer {
    /// The way that showed the button.
    pub(super) way: Way,
    /// The user's choice.
    pub(super) submission: Submission,
    /// Where the notifier sends the verdict of the bridge.
    pub(super) verdict: oneshot::Sender<Result<(), Refusal>>,
}

impl NotifiedQuestion {
    /// Returns the message, with the parts of the question that the settings disclose.
    pub(super) fn message(&self, text: Disclosure) -> Message {
        Message::new(&self.record, &self.folder, text, self.settings.one_tap)
    }

    /// Sends a report. If the notifier does not listen any more, the process is ending: ignore the error.
    pub(super) async fn say(&self, said: WayReport) {
        self.said.send(said).await.unwrap_or_default();
    }

    /// Waits until the question is settled, and returns how.
    pub(super) async fn ended(&self) -> String {
        let mut over = self.over.clone();
        match over.wait_for(Option::is_some).await {
            Ok(ended) => ended.clone().unwrap_or_default(),
            // The process is ending.
            Err(_) => String::new(),
        }
    }

    /// Submits what the user chose, and returns the verdict of the bridge. `None` if the process is ending.
    pub(super) async fn choose(&self, way: Way, submission: Submission) -> Option<Result<(), Refusal>> {
        let (verdict, judged) = oneshot::channel();
        self.say(WayReport::Chosen(TappedAnswer { way, submission, verdict })).await;
        judged.await.ok()
    }
}

/// Returns the message for a user whose choice changed nothing.
pub(super) fn too_late(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Conflict(_) | Refusal::Gone(_) | Refusal::NotFound => {
            "Too late: the question was answered already".to_owned()
        }
        Refusal::Changed(_) => "Not sent: the question has changed, look at it again".to_owned(),
        refusal => format!("The answer was not taken: {refusal}"),
    }
}
