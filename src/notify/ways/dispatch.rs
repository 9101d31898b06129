//! Every way behind one interface: it notifies the user, handles what the user does, and withdraws the message. Also
//! sends a test through each way, for `askbridge doctor --notify`.
//! When a way is due is left to `plan.rs`.

use std::{path::PathBuf, sync::Arc};

use askbridge_core::{
    desk::{QuestionId, Record, Timestamp},
    question::{Field, Kind, Origin, Question},
};
use askbridge_settings::{NotifySettings, words::Disclosure};
use tokio::sync::{mpsc, watch};

use super::{
    desktop, http, ntfy, programs,
    telling::{NotifiedQuestion, WayReport},
};
use crate::notify::{Message, Way};

/// Notifies the user in this way, and returns when the way has nothing left to do for the question.
pub(super) async fn tell(way: Way, telling: NotifiedQuestion) {
    let message = telling.message(text(way, &telling.settings));
    match way {
        Way::Terminal => ring(&telling, &message).await,
        Way::Sound => run(way, &telling, programs::play_sound(&telling, &message)).await,
        Way::Command => run(way, &telling, programs::run_command(&telling, &message)).await,
        Way::Webhook => post(&telling, &message).await,
        Way::Ntfy => send(&telling, &message).await,
        Way::Desktop => show(&telling, &message).await,
    }
}

/// Reports whether the notification succeeded. Returns its result, or `None` on failure.
async fn told<T>(way: Way, telling: &NotifiedQuestion, done: Result<T, String>) -> Option<T> {
    let (said, done) = match done {
        Ok(done) => (WayReport::Told(way), Some(done)),
        Err(error) => (WayReport::Failed(way, error), None),
    };
    telling.say(said).await;
    done
}

async fn ring(telling: &NotifiedQuestion, message: &Message) {
    let Some(terminal) = telling.terminal.as_deref() else { return };
    let rung = desktop::ring_terminal(terminal, message).map_err(|error| error.to_string());
    if told(Way::Terminal, telling, rung).await.is_some() {
        telling.ended().await;
        // A terminal that is gone needs no title: ignore the error.
        desktop::restore_title(terminal).unwrap_or_default();
    }
}

/// Waits for a program. Kills it if the question is settled first.
async fn run(way: Way, telling: &NotifiedQuestion, program: impl Future<Output = Result<(), String>>) {
    tokio::select! {
        done = program => drop(told(way, telling, done).await),
        _ = telling.ended() => {}
    }
}

async fn post(telling: &NotifiedQuestion, message: &Message) {
    if told(Way::Webhook, telling, http::send_opened(telling, message).await).await.is_some() {
        telling.ended().await;
        if let Err(error) = http::send_settled(telling, message).await {
            telling.say(WayReport::Failed(Way::Webhook, error)).await;
        }
    }
}

async fn send(telling: &NotifiedQuestion, message: &Message) {
    let Some(settings) = &telling.settings.ntfy else { return };
    if let Some(sent) = told(Way::Ntfy, telling, ntfy::tell(settings, message).await).await {
        ntfy::attend(telling, settings, message, sent).await;
    }
}

async fn show(telling: &NotifiedQuestion, message: &Message) {
    if let Some(shown) = told(Way::Desktop, telling, desktop::show(message).await).await {
        desktop::attend(telling, message, shown).await;
    }
}

/// Sends a message that belongs to no question, in the ways that show text.
pub(super) async fn say(way: Way, telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    match way {
        Way::Terminal => match telling.terminal.as_deref() {
            Some(terminal) => desktop::ring_briefly(terminal, message).map_err(|error| error.to_string()),
            None => Ok(()),
        },
        Way::Sound | Way::Command => Ok(()),
        Way::Webhook => match &telling.settings.webhook {
            Some(webhook) => http::send_text(webhook, message).await,
            None => Ok(()),
        },
        Way::Ntfy => match &telling.settings.ntfy {
            Some(settings) => ntfy::say(settings, message).await,
            None => Ok(()),
        },
        Way::Desktop => desktop::say(message).await,
    }
}

/// Returns how much of a question this way discloses. A way that stays on the machine may disclose all.
pub(super) fn text(way: Way, settings: &NotifySettings) -> Disclosure {
    match way {
        Way::Terminal | Way::Sound => Disclosure::Title,
        Way::Desktop | Way::Command => Disclosure::All,
        Way::Webhook => settings.webhook.as_ref().map_or(Disclosure::None, |webhook| webhook.text),
        Way::Ntfy => settings.ntfy.as_ref().map_or(Disclosure::None, |ntfy| ntfy.text),
    }
}

/// The result of a test.
#[derive(Debug)]
pub struct Trial {
    /// The way.
    pub way: Way,
    /// Whether the user was notified, or why not.
    pub told: Result<(), String>,
}

/// Sends a test through each way that is set up.
pub async fn try_out(settings: NotifySettings, terminal: Option<PathBuf>) -> Vec<Trial> {
    let message = Message::trial();
    let Some(record) = sample(&message) else { return Vec::new() };
    let (_ended, over) = watch::channel(None);
    // No question waits, so reports go nowhere. The receiver lives so that sending one does not fail.
    let (said, _heard) = mpsc::channel(1);
    let settings = Arc::new(settings);
    let telling = NotifiedQuestion { record, folder: String::new(), settings, terminal, over, said };
    let mut trials = Vec::new();
    for way in Way::set(&telling.settings, telling.terminal.is_some()) {
        let told = match way {
            Way::Sound => programs::play_sound(&telling, &message).await,
            Way::Command => programs::run_command(&telling, &message).await,
            way => say(way, &telling, &message).await,
        };
        trials.push(Trial { way, told });
    }
    trials
}

/// Returns a sample question, for a command that reads the question's file.
fn sample(message: &Message) -> Option<Arc<Record>> {
    let id: QuestionId = "test-1".parse().ok()?;
    let field = Field::at(0, message.title.clone(), None, Kind::Boolean { default: None });
    let question =
        Question { message: message.text(), ..Question::new(Origin::Program, "test", vec![field]) };
    Some(Arc::new(Record::new(id, Arc::new(question), Timestamp::from(std::time::SystemTime::now()))))
}
