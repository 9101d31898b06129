//! The settings of `[journal]`, `[permission]` and `[unattended]`: how long a question is kept, which permissions take
//! a second step, and the action for unattended questions; and the types of values that only they have.
//! `guard` decides the risk of a permission.

use std::time::Duration;

use askbridge_core::question::Risk;
use serde_json::{Value, json};

use super::{
    key::{EffectTime, Key, Setting, list, quoted, span, text, typed_list},
    resolved::{UnattendedAction, UnattendedConditions},
    words::Word,
};
use crate::limits;

/// Why a project must not set any of them: a cloned repository could hide past decisions.
const KEEPS: &str = "it decides what is kept of what you decided";

/// `journal.enabled`
pub static JOURNAL_ENABLED: Key<bool> = Key::own(
    "journal.enabled",
    EffectTime::NextBridge,
    KEEPS,
    || true,
    "Keep questions and answers in a file of this machine, so that a crash loses none; secret values are never kept",
);
/// `journal.texts`
pub static JOURNAL_TEXTS: Key<bool> = Key::own(
    "journal.texts",
    EffectTime::NextBridge,
    KEEPS,
    || true,
    "Keep their texts; otherwise no answer survives, but when which kind of question was settled by which responder",
);
/// `journal.keep`
pub static JOURNAL_KEEP: Key<Age> = Key::own(
    "journal.keep",
    EffectTime::NextBridge,
    KEEPS,
    || Age(limits::journal::KEEP),
    "Remove what is older than this",
);
/// `journal.size`
pub static JOURNAL_SIZE: Key<Size> = Key::own(
    "journal.size",
    EffectTime::NextBridge,
    KEEPS,
    || Size(limits::journal::SIZE),
    "Remove the oldest questions once the file is larger than this",
);

/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// A time span that is written in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(pub Duration);

impl Setting for Age {
    fn read(value: &Value) -> Result<Self, String> {
        span(value).map(Age)
    }

    fn to_value(&self) -> Value {
        let seconds = self.0.as_secs();
        // Months have no fixed number of days.
        if self.0.subsec_nanos() == 0 && seconds > 0 && seconds.is_multiple_of(DAY) {
            format!("{}days", seconds / DAY).into()
        } else {
            self.0.to_value()
        }
    }

    fn schema() -> Value {
        Duration::schema()
    }
}

/// The units of a size, the largest first.
const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
/// The least size: a journal that holds some questions.
const LEAST: u64 = 1 << 20;

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Setting for Size {
    fn read(value: &Value) -> Result<Self, String> {
        let bytes = value.as_str().and_then(|text| {
            let (unit, bytes) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
            let count = text.strip_suffix(unit)?.trim_end();
            let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then_some(count)?.parse::<u64>().ok()?.checked_mul(*bytes)
        });
        match bytes {
            Some(bytes) if bytes >= LEAST => Ok(Size(bytes)),
            Some(_) => Err("it must be at least \"1MiB\"".to_owned()),
            None => Err(format!("{} is not a size such as \"64MiB\" or \"1GiB\"", quoted(value))),
        }
    }

    fn to_value(&self) -> Value {
        let unit = UNITS.iter().find(|(_, bytes)| self.0.is_multiple_of(*bytes));
        unit.map_or_else(
            || self.0.to_string().into(),
            |(unit, bytes)| format!("{}{unit}", self.0 / bytes).into(),
        )
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[0-9]+ *(KiB|MiB|GiB)$", "examples": ["64MiB", "1GiB"] })
    }
}

const GUARDS: &str = "it decides what you are asked twice";

/// The least risk that takes a second step before it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmRisk(pub Risk);

impl Default for ConfirmRisk {
    fn default() -> Self {
        ConfirmRisk(Risk::Dangerous)
    }
}

impl Word for ConfirmRisk {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("dangerous", ConfirmRisk(Risk::Dangerous), "Dangerous permissions"),
        ("acts", ConfirmRisk(Risk::Acts), "Every permission that changes something"),
    ];
}

/// The highest risk that one tap on a notification allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneTapRisk(pub Risk);

impl Default for OneTapRisk {
    fn default() -> Self {
        OneTapRisk(Risk::Plain)
    }
}

impl Word for OneTapRisk {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("plain", OneTapRisk(Risk::Plain), "Permissions that change nothing"),
        ("acts", OneTapRisk(Risk::Acts), "Permissions that change something, unless they are dangerous"),
    ];
}

/// `permission.confirm`
pub static PERMISSION_CONFIRM: Key<ConfirmRisk> = Key::own(
    "permission.confirm",
    EffectTime::NextBridge,
    GUARDS,
    ConfirmRisk::default,
    "Take a second step, such as the word yes, before you allow what is `dangerous`, or all that `acts`",
);
/// `permission.one-tap`
pub static PERMISSION_ONE_TAP: Key<OneTapRisk> = Key::own(
    "permission.one-tap",
    EffectTime::NextQuestion,
    GUARDS,
    OneTapRisk::default,
    "Offer to allow with one tap on a notification what is `plain`, or also what `acts` where its whole text is sent",
);

/// Why a project must not set any of them: a cloned repository could reject what you would answer.
const DECIDES: &str = "it decides in your place";

/// `unattended.then`
pub static UNATTENDED_THEN: Key<UnattendedAction> = Key::own(
    "unattended.then",
    EffectTime::NextQuestion,
    DECIDES,
    UnattendedAction::default,
    "What to do with a question that nobody can answer: let it wait, reject it, or end the agent",
);
/// `unattended.when`
pub static UNATTENDED_WHEN: Key<UnattendedConditions> = Key::own(
    "unattended.when",
    EffectTime::NextQuestion,
    DECIDES,
    UnattendedConditions::default,
    "When no person can answer: all of these hold, of [\"no-client\", \"no-terminal\", \"ci\"]",
);

/// The conditions that `when` can name: no client shows the question, no terminal is there, the variable CI is set.
const CONDITIONS: [&str; 3] = ["no-client", "no-terminal", "ci"];

impl Setting for UnattendedConditions {
    fn read(value: &Value) -> Result<Self, String> {
        let condition = |value: &Value| {
            let name = text(value, "a condition")?;
            let known = CONDITIONS.into_iter().find(|known| *known == name);
            known.ok_or_else(|| {
                format!("{} is not one of {}", quoted(value), Value::from(CONDITIONS.to_vec()))
            })
        };
        let names = list(value, "a list of conditions such as [\"no-client\", \"ci\"]", condition)?;
        if names.is_empty() {
            // Otherwise every question would be rejected, however many people wait for it.
            return Err("it names no condition".to_owned());
        }
        let has = |name| names.contains(&name);
        Ok(UnattendedConditions {
            no_client: has("no-client"),
            no_terminal: has("no-terminal"),
            ci: has("ci"),
        })
    }

    fn to_value(&self) -> Value {
        let UnattendedConditions { no_client, no_terminal, ci } = *self;
        let named = CONDITIONS.into_iter().zip([no_client, no_terminal, ci]);
        json!(named.filter_map(|(name, is_named)| is_named.then_some(name)).collect::<Vec<_>>())
    }

    fn typed(text: &str) -> Value {
        typed_list(text)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "enum": CONDITIONS }, "uniqueItems": true, "minItems": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_are_written_as_they_are_read() {
        for (text, bytes, written) in [
            ("64MiB", 64 << 20, "64MiB"),
            ("1 GiB", 1 << 30, "1GiB"),
            ("2048KiB", 2 << 20, "2MiB"),
            ("1025KiB", 1025 << 10, "1025KiB"),
        ] {
            let size = Size::read(&json!(text)).expect(text);
            assert_eq!((size, size.to_value()), (Size(bytes), json!(written)));
        }
        for (text, written) in [("90days", "90days"), ("48h", "2days"), ("36h", "1day 12h"), ("0s", "0s")] {
            assert_eq!(Age::read(&json!(text)).expect(text).to_value(), json!(written));
        }
    }

    #[test]
    fn other_sizes_are_refused() {
        for value in [json!("64"), json!("MiB"), json!("-1MiB"), json!("64 MB"), json!(64), json!("1023KiB")]
        {
            assert!(Size::read(&value).is_err(), "{value}");
        }
        assert!(Size::read(&json!("99999999999999GiB")).is_err());
    }

    #[test]
    fn conditions_are_named_one_by_one() {
        let read = |text: &str| {
            UnattendedConditions::read(&UnattendedConditions::typed(text)).map(|when| when.to_value())
        };
        assert_eq!(read("no-client"), Ok(json!(["no-client"])));
        assert_eq!(UnattendedConditions::default().to_value(), json!(["no-client"]));
        let both = UnattendedConditions::read(&json!(["ci", "no-client"])).expect("conditions");
        assert_eq!(both, UnattendedConditions { no_client: true, no_terminal: false, ci: true });
        assert!(read("never").is_err_and(|error| error.contains("no-terminal")));
        assert!(UnattendedConditions::read(&json!([])).is_err());
        assert!(UnattendedConditions::read(&json!(true)).is_err());
    }
}
