//! The settings of what it takes to allow something: for which risk a second step, and for which one tap is enough. The risk
//! itself is decided by `guard`.

use super::{
    key::{Counts, Key},
    kinds::Word,
};
use crate::question::Risk;

const GUARDS: &str = "it decides what you are asked twice";

/// The least risk that takes a second step before it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm(pub Risk);

impl Default for Confirm {
    fn default() -> Self {
        Confirm(Risk::Dangerous)
    }
}

impl Word for Confirm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("dangerous", Confirm(Risk::Dangerous)), ("acts", Confirm(Risk::Acts))];
}

/// The highest risk that one tap on a notification allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneTap(pub Risk);

impl Default for OneTap {
    fn default() -> Self {
        OneTap(Risk::Plain)
    }
}

impl Word for OneTap {
    const WORDS: &'static [(&'static str, Self)] =
        &[("plain", OneTap(Risk::Plain)), ("acts", OneTap(Risk::Acts))];
}

/// `permission.confirm`
pub static PERMISSION_CONFIRM: Key<Confirm> = Key::own(
    "permission.confirm",
    Counts::NextBridge,
    GUARDS,
    Confirm::default,
    "Take a second step, such as the word yes, before you allow what is `dangerous`, or all that `acts`",
);
/// `permission.one-tap`
pub static PERMISSION_ONE_TAP: Key<OneTap> = Key::own(
    "permission.one-tap",
    Counts::NextQuestion,
    GUARDS,
    OneTap::default,
    "Offer to allow with one tap on a notification what is `plain`, or also what `acts` where its whole text is sent",
);
