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

    /// Returns its place in the order of degrees. One of another version counts as the highest.
    pub fn degree(self) -> u8 {
        match self {
            Risk::Plain => 0,
            Risk::Acts => 1,
            _ => 2,
        }
    }

    /// Returns whether it may do harm, which a degree of another version may mean as well.
    pub fn is_dangerous(self) -> bool {
        self.degree() > Risk::Acts.degree()
    }
}
