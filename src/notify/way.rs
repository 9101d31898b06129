//! The ways in which a person is told. What each does is left to `notifier`.

use std::fmt;

use crate::{question::Question, settings::NotifySettings};

/// One way in which a person is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Sequences to the terminal that the bridge was started in.
    Terminal,
    /// A program that plays or speaks.
    Sound,
    /// A notification of the desktop.
    Desktop,
    /// A program of the person's own.
    Command,
    /// A request to the person's own server.
    Webhook,
    /// A message by an ntfy server.
    Ntfy,
}

impl Way {
    /// Returns the ways that are set up, in the order in which they are taken. `has_terminal` says whether there is a
    /// terminal to write to.
    pub fn set(settings: &NotifySettings, has_terminal: bool) -> Vec<Way> {
        let all = [
            (Way::Terminal, settings.terminal && has_terminal),
            (Way::Sound, settings.sound.is_some()),
            (Way::Desktop, settings.desktop),
            (Way::Command, settings.command.is_some()),
            (Way::Webhook, settings.webhook.is_some()),
            (Way::Ntfy, settings.ntfy.is_some()),
        ];
        all.into_iter().filter(|(_, is_set)| *is_set).map(|(way, _)| way).collect()
    }

    /// Returns its name, which is that of its table in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Way::Terminal => "terminal",
            Way::Sound => "sound",
            Way::Desktop => "desktop",
            Way::Command => "command",
            Way::Webhook => "webhook",
            Way::Ntfy => "ntfy",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Returns whether the settings name the purpose of a question. One that this version does not know is told: it is
/// better to be told too much than to miss a question.
pub(super) fn is_told(settings: &NotifySettings, question: &Question) -> bool {
    use crate::question::Purpose;
    matches!(question.purpose, Purpose::Other(_)) || settings.purposes.contains(&question.purpose)
}
