//! What is found of a command.

/// What a command does that is not dangerous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Degree {
    /// It only looks at files of the project, and prints what it finds.
    Looks,
    Acts,
}

/// Why a command is dangerous.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Danger {
    pub why: String,
    /// The line that it stands in.
    pub line: Option<usize>,
}

impl From<String> for Danger {
    fn from(why: String) -> Self {
        Danger { why, line: None }
    }
}

pub(super) type Judged = Result<Degree, Danger>;
