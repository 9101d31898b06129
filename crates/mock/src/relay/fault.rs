//! The names of the rules that the relay can break, and what it does then.

/// Declares the faults once: each with its name on the command line, and what it does.
macro_rules! faults {
    ($($fault:ident $name:literal $summary:literal)*) => {
        /// A rule that the relay breaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RelayFault {
            $(#[doc = $summary] $fault,)*
        }

        impl RelayFault {
            /// All faults, in the order of the help text.
            pub const ALL: &[Self] = &[$(Self::$fault,)*];

            /// Returns its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$fault => $name,)* }
            }

            /// Returns what it does.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$fault => $summary,)* }
            }
        }
    };
}

faults! {
    // Bytes.
    ChangesBytes "changes-bytes" "Adds a space to each line"
    ReSerializes "re-serializes" "Parses each message and writes it anew"
    DecodesPieces "decodes-pieces" "Decodes each piece that it reads by itself"
    BreaksUtf8 "breaks-utf8" "Replaces bytes that are not UTF-8"
    StripsControl "strips-control" "Removes control characters, escaped ones as well"
    DropsBlankLines "drops-blank-lines" "Drops lines without text"
    DropsInvalid "drops-invalid" "Drops lines that are not JSON"
    AnswersInvalid "answers-invalid" "Replies to lines that are not JSON"
    DropsBatches "drops-batches" "Drops arrays of messages"
    LimitsLines "limits-lines" "Drops lines of more than 64 KiB"
    LimitsMessages "limits-messages" "Passes on 5,000 lines"
    SplitsLines "splits-lines" "Inserts a line feed after each 64 KiB"
    HoldsLines "holds-lines" "Passes nothing on before the end"
    DropsRest "drops-rest" "Drops a last line without line feed"
    TerminatesRest "terminates-rest" "Adds a line feed to a last line without one"
    // Messages.
    Noise "noise" "Greets on stdout"
    Duplicates "duplicates" "Passes each line on twice"
    DropsNotifications "drops-notifications" "Drops notifications"
    DropsExtensions "drops-extensions" "Drops messages whose method begins with `_`"
    DropsErrors "drops-errors" "Drops responses with an error"
    DropsMeta "drops-meta" "Removes `_meta` from all messages"
    DropsUnknown "drops-unknown" "Drops messages whose method it does not know"
    DropsSecond "drops-second" "Drops every second response"
    DropsCancel "drops-cancel" "Drops cancellations"
    Reorders "reorders" "Lets each message overtake the notification before it"
    RoundsIds "rounds-ids" "Rounds the IDs of messages to the precision of a double"
    StringIds "string-ids" "Turns IDs that are numbers into strings"
    NumberIds "number-ids" "Turns IDs that are strings of digits into numbers"
    SharesIds "shares-ids" "Keeps one table of IDs for both directions"
    RefusesUnknown "refuses-unknown" "Refuses requests whose method it does not know"
    RefusesAgain "refuses-again" "Sends an error after each response"
    Approves "approves" "Allows what the agent asks permission for"
    Answers "answers" "Answers the agent's questions"
    AnswersAsWell "answers-as-well" "Answers the agent's questions, and passes them on"
    AnswersOnCancel "answers-on-cancel" "Answers the agent's open requests when the turn is cancelled, and passes on the client's reply"
    AsksTwice "asks-twice" "Sends each request of the agent twice"
    Acknowledges "acknowledges" "Replies to notifications"
    ChangesVersion "changes-version" "Offers another protocol version"
    DropsCapabilities "drops-capabilities" "Tells neither peer what the other one can do"
    DropsNames "drops-names" "Tells neither peer the name of the other one"
    KeepsObjects "keeps-objects" "Drops results that are no objects"
    AnswersTwice "answers-twice" "Sends the client's replies to the agent twice"
    SwapsIds "swaps-ids" "Gives a response the ID of another open request"
    RemembersIds "remembers-ids" "Drops requests whose ID was used before"
    DropsStrings "drops-strings" "Drops messages whose ID is a string"
    // Values.
    AsciiOnly "ascii-only" "Replaces characters that are not ASCII"
    StripsSeparators "strips-separators" "Removes the line separators of Unicode from texts"
    RoundsNumbers "rounds-numbers" "Rounds numbers to the precision of a double"
    DropsFractions "drops-fractions" "Cuts numbers to integers"
    DropsEmpty "drops-empty" "Drops members without content"
    DropsOddNames "drops-odd-names" "Drops members whose name is not made of letters"
    LimitsDepth "limits-depth" "Drops messages that are nested more than 32 deep"
    // Processes.
    SwallowsExitCode "swallows-exit-code" "Exits with 0"
    SwallowsStderr "swallows-stderr" "Drops what the agent writes to stderr"
    MixesStderr "mixes-stderr" "Writes the agent's stderr to stdout"
    IgnoresEnd "ignores-end" "Does not tell the agent that the client has closed its output"
    KillsAtEnd "kills-at-end" "Kills the agent when the client has closed its output"
    KeepsStdout "keeps-stdout" "Does not tell the client that the agent has closed its output"
    LosesLastWords "loses-last-words" "Exits with the agent, whatever it still has to pass on"
    Stays "stays" "Stays when the agent has exited"
    IgnoresSignals "ignores-signals" "Ignores SIGTERM, SIGINT and SIGHUP"
    LeavesAgent "leaves-agent" "Leaves the agent running when a signal ends the relay"
    LeavesChildren "leaves-children" "Leaves the children of an agent that has exited"
    StartsTwice "starts-twice" "Starts the agent once more"
    BuffersAll "buffers-all" "Reads without bound what nobody takes"
    BlocksBoth "blocks-both" "Passes nothing on in one direction while the other one is blocked"
}

impl RelayFault {
    /// Returns the fault of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}
