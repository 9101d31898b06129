//! What a wrong answer may lead to. How that is decided is left to `guard`.

use super::names::open_enum;

open_enum! {
    /// What a wrong answer may lead to, in three degrees.
    pub enum Risk {
        /// Nothing that is hard to take back: the agent reads, searches, or changes files of its project that are shown
        /// whole.
        Plain = "plain",
        /// The agent acts: it runs a command, uses the network, or changes what is elsewhere or not shown whole.
        Acts = "acts",
        /// It may do harm: it deletes, publishes, leaves its sandbox, or it is not known what it does.
        Dangerous = "dangerous",
    }
}

impl Risk {
    /// Returns whether more than one key or tap has to say so before it is allowed.
    pub fn is_guarded(self) -> bool {
        self != Risk::Plain
    }

    /// Returns whether it may do harm, which a degree of another version may mean as well.
    pub fn is_dangerous(self) -> bool {
        !matches!(self, Risk::Plain | Risk::Acts)
    }
}
