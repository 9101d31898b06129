//! A program that plays a sound or speaks, and the heartbeat. They get what is told on stdin and in the environment,
//! never as a part of a command line.

use std::time::Duration;

use super::{
    programs::{ProgramInput, run},
    telling::NotifiedQuestion,
};
use crate::{limits, notify::Message, present::text::headline, settings::kinds::Disclosure};

/// Plays or speaks.
pub(super) async fn play_sound(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let words = telling.settings.sound.as_deref().unwrap_or_default();
    run(words, given(telling, message), limits::NOTIFY_COMMAND).await
}

/// Runs the heartbeat command, for no longer than its interval.
pub(super) async fn beat(telling: &NotifiedQuestion) -> Result<(), String> {
    let Some(heartbeat) = &telling.settings.heartbeat else { return Ok(()) };
    let most: Duration = heartbeat.every.min(limits::NOTIFY_COMMAND);
    run(&heartbeat.command, given(telling, &telling.message(Disclosure::Title)), most).await
}

/// Returns what such a program is given: it stays on this machine. The title is that of the question, on one line.
pub(super) fn given(telling: &NotifiedQuestion, message: &Message) -> ProgramInput {
    ProgramInput {
        arguments: Vec::new(),
        variables: vec![
            ("QUESTION_ID", telling.record.id.to_string().into()),
            ("QUESTION_TITLE", headline(&telling.record).into()),
        ],
        stdin: message.text() + "\n",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{mpsc, watch};

    use super::*;
    use crate::{
        control::played::question,
        desk::{Record, Timestamp},
        notifier::command,
        settings::{NotifySettings, Settings, SettingsFile, Sources},
    };

    fn telling(text: &str) -> NotifiedQuestion {
        let user = SettingsFile { path: "c".into(), text: text.to_owned(), is_readable_by_others: false };
        let settings = Settings::of(Sources { user: Some(user), ..Sources::default() });
        let settings = Arc::new(NotifySettings::of(&settings, None).expect("it is told"));
        let id = "b-1".parse().expect("an ID");
        let record = Arc::new(Record::new(id, Arc::new(question("Go?")), Timestamp::default()));
        let ((_, over), (said, _)) = (watch::channel(None), mpsc::channel(1));
        NotifiedQuestion { record, folder: String::new(), settings, terminal: None, over, said }
    }

    // The clock of the runtime stands still, and jumps to the next deadline while all programs sleep.
    #[tokio::test(start_paused = true)]
    async fn programs_that_hang_are_killed_when_their_time_is_over() {
        let hangs = "command = [\"sh\", \"-c\", \"sleep 600\"]\n";
        let telling = telling(&format!(
            "[notify.sound]\n{hangs}[notify.command]\n{hangs}[notify.heartbeat]\nevery = \"7s\"\n{hangs}"
        ));
        let message = telling.message(Disclosure::Title);
        let killed = |seconds| Err(format!("sh did not end within {seconds} s, and was killed"));
        assert_eq!(play_sound(&telling, &message).await, killed(60));
        assert_eq!(command::run_command(&telling, &message).await, killed(60));
        assert_eq!(beat(&telling).await, killed(7));
    }
}
