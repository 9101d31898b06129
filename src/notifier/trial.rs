//! Tries out each way that is set, for `askbridge doctor --notify`.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::{mpsc, watch};

use super::{command, sound, telling::NotifiedQuestion, ways};
use crate::{
    desk::{QuestionId, Record, Timestamp},
    notify::{Message, Way},
    question::{Field, Kind, Origin, Question},
    settings::NotifySettings,
};

/// What came of a test.
#[derive(Debug)]
pub struct Trial {
    /// The way.
    pub way: Way,
    /// Whether the person was told, or why not.
    pub told: Result<(), String>,
}

/// Sends a test through each way that is set.
pub async fn try_out(settings: NotifySettings, terminal: Option<PathBuf>) -> Vec<Trial> {
    let message = Message::trial();
    let Some(record) = sample(&message) else { return Vec::new() };
    let (_ended, over) = watch::channel(None);
    // Nothing is said: no question waits.
    let (said, _heard) = mpsc::channel(1);
    let settings = Arc::new(settings);
    let telling = NotifiedQuestion { record, folder: String::new(), settings, terminal, over, said };
    let mut trials = Vec::new();
    for way in Way::set(&telling.settings, telling.terminal.is_some()) {
        let told = match way {
            Way::Sound => sound::play_sound(&telling, &message).await,
            Way::Command => command::run_command(&telling, &message).await,
            way => ways::say(way, &telling, &message).await,
        };
        trials.push(Trial { way, told });
    }
    trials
}

/// Returns a question that no agent asks, for a command that reads one.
fn sample(message: &Message) -> Option<Arc<Record>> {
    let id: QuestionId = "test-1".parse().ok()?;
    let field = Field::at(0, message.title.clone(), None, Kind::Boolean { default: None });
    let question =
        Question { message: message.text(), ..Question::new(Origin::Program, "test", vec![field]) };
    Some(Arc::new(Record::new(id, Arc::new(question), Timestamp::from(std::time::SystemTime::now()))))
}
