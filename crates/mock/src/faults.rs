//! Declares the rules that a mock can break, each with its name on the command line, and what the mock does then.
//! What breaks them is left to the mocks.

/// Declares an enum of faults.
macro_rules! faults {
    ($(#[$doc:meta])* pub enum $name:ident { $($fault:ident $text:literal $summary:literal)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = $summary] $fault,)*
        }

        impl $name {
            /// All faults, in the order of the help text.
            pub const ALL: &[Self] = &[$(Self::$fault,)*];

            /// Returns its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$fault => $text,)* }
            }

            /// Returns what it does.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$fault => $summary,)* }
            }

            /// Returns the fault of this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|fault| fault.name() == name)
            }
        }
    };
}

pub(crate) use faults;
