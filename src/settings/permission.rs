//! The settings of what it takes to allow something: for which risk a second step, and for which one tap is enough. The risk
//! itself is decided by `guard`.

use super::{
    key::{EffectTime, Key},
    kinds::Word,
};
use crate::question::Risk;

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
    const WORDS: &'static [(&'static str, Self)] =
        &[("dangerous", ConfirmRisk(Risk::Dangerous)), ("acts", ConfirmRisk(Risk::Acts))];
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
    const WORDS: &'static [(&'static str, Self)] =
        &[("plain", OneTapRisk(Risk::Plain)), ("acts", OneTapRisk(Risk::Acts))];
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
