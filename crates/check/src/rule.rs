//! The names of the rules that every line of a command must keep, whatever the case is about that it comes in.
//! Who is blamed for a line that breaks one is left to `breach.rs`.

/// Declares the rules, each with its name in the heads of cases.
macro_rules! rules {
    ($($(#[$doc:meta])+ $rule:ident $name:literal of $($kind:literal)+,)+) => {
        /// A rule for every line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[$doc])+ $rule,)+
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$rule,)+];

            /// Returns its name in the head of a case.
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }

            /// Returns the names of the kinds of programs that it is for.
            pub fn kinds(self) -> &'static [&'static str] {
                match self { $(Self::$rule => &[$($kind),+],)+ }
            }
        }
    };
}

rules! {
    /// Each line is a message.
    Stdout "stdout" of "agent" "client" "bridge" "mcp",
    /// Each line is UTF-8.
    Utf8 "utf-8" of "agent",
    /// Each message has the version of JSON-RPC.
    Version "version" of "agent" "client",
    /// Each message is a request, a notification or a response.
    Envelope "envelope" of "agent" "client",
    /// Each message fits the schema.
    Schema "schema" of "agent" "client",
    /// A request gets no second response.
    OneResponse "one-response" of "agent" "client",
    /// A notification gets no response.
    NoResponse "no-response" of "agent" "client",
    /// A response has the ID of a request.
    ResponseIds "response-ids" of "agent" "client",
    /// Two open requests have two IDs.
    RequestIds "request-ids" of "agent",
    /// Each session has an ID of its own.
    SessionIds "session-ids" of "agent",
    /// The agent uses no files and terminals that were not promised.
    Promises "promises" of "agent",
    /// The agent shows no forms that were not promised.
    Forms "forms" of "agent",
    /// An update is of a session that the client has.
    UpdateSession "update-session" of "agent",
    /// A question is of a session that the client has.
    QuestionSession "question-session" of "agent",
    /// A permission is of a session that the client has.
    PermissionSession "permission-session" of "agent",
    /// A question can be read.
    Questions "questions" of "agent",
    /// The options of a permission have different IDs.
    OptionIds "option-ids" of "agent",
    /// A permission names its tool call.
    PermissionCall "permission-call" of "agent",
    /// The tool call of a permission is known, or described in the request.
    KnownCall "known-call" of "agent",
    /// A tool call is announced before it is updated.
    CallAnnounced "call-announced" of "agent",
    /// Each tool call of a session has an ID of its own.
    CallIds "call-ids" of "agent",
    /// The status of a tool call goes forward.
    CallOrder "call-order" of "agent",
    /// A tool call that has ended stays so.
    CallEnded "call-ended" of "agent",
    /// A turn ends after its tool calls.
    CallLeft "call-left" of "agent",
    /// The paths of files are absolute.
    Paths "paths" of "agent",
    /// Terminals are those that were created, and are released.
    Terminals "terminals" of "agent",
    /// A client does not prompt while a turn runs.
    Turns "turns" of "client",
    /// A client does not answer a permission with an error.
    PermissionErrors "permission-errors" of "client",
    /// A client that promised forms does not answer them with an error.
    FormErrors "form-errors" of "client",
    /// The option of a permission that a client answers was offered.
    Options "options" of "client",
}

impl Rule {
    /// Returns the rule of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}
