//! What a rule says about how a person is told of a question.

use crate::{
    desk::Record,
    guard::Files,
    rule::{Rule, RuleEffect, decide},
    settings::NotifySettings,
};

/// Returns the settings for one question: where a rule names the ways in which its person is told, with these alone.
pub fn ruled(settings: NotifySettings, rules: &[Rule], record: &Record, files: &dyn Files) -> NotifySettings {
    match decide(rules, record, files).map(|decision| decision.what) {
        Some(RuleEffect::Notify(ways)) => settings.only(&ways),
        _ => settings,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        notify::Way,
        settings::{Settings, SettingsFile, Sources},
    };

    struct NoFiles;

    impl Files for NoFiles {
        fn resolve(&self, _: &std::path::Path) -> Option<std::path::PathBuf> {
            None
        }
    }

    #[test]
    fn a_rule_names_the_ways_for_its_questions() {
        let text = "[notify.desktop]\nenabled = true\n[notify.ntfy]\ntopic = 't'\n\
                    [[rule]]\nname = 'phone'\nagent = 'Codex'\nthen = 'notify'\nby = ['ntfy', 'sound']\n";
        let user = Some(SettingsFile {
            path: "config.toml".into(),
            text: text.to_owned(),
            is_readable_by_others: false,
        });
        let all = Settings::of(Sources { user, ..Sources::default() });
        assert_eq!(all.problems(), []);
        let ways = |agent: &str| {
            let question = json!({
                "questionId": "q", "message": "Why?", "origin": "program", "dangerous": false, "blocking": true,
                "agent": agent, "fields": [{ "name": "f", "label": "F", "kind": "text" }],
            });
            let question = serde_json::from_value(question).expect("a question");
            let record =
                Record::new("b-1".parse().expect("an ID"), std::sync::Arc::new(question), Default::default());
            let settings = NotifySettings::of(&all, None).expect("settings");
            Way::set(&ruled(settings, all.rules(), &record, &NoFiles), true)
        };
        assert_eq!(ways("Codex"), [Way::Ntfy], "a way that is not set up stays away");
        assert_eq!(ways("Claude"), [Way::Terminal, Way::Desktop, Way::Ntfy]);
    }

    #[test]
    fn the_ways_of_rules_are_those_of_the_settings() {
        let all = [Way::Terminal, Way::Sound, Way::Desktop, Way::Command, Way::Webhook, Way::Ntfy];
        assert_eq!(crate::rule::keys::WAYS, all.map(Way::name));
    }
}
