//! The rules that the mock agent can break: the name of each fault, and the behaviour under it.

use crate::faults::faults;

faults! {
    /// A rule that the mock agent breaks.
    pub enum AgentFault {
        // Its life.
        VersionAsText "version-as-text" "Says the protocol version as a text"
        EchoesVersion "echoes-version" "Takes any protocol version for one that it has"
        UntypedCapabilities "untyped-capabilities" "Says `yes` where a capability is true"
        NoSessionId "no-session-id" "Opens a session without an ID"
        OneSessionId "one-session-id" "Gives all sessions one ID"
        TakesAnySession "takes-any-session" "Takes an unknown session for its first one"
        MixesSessions "mixes-sessions" "Sends the updates of all sessions to the first one"
        OutlivesStdin "outlives-stdin" "Does not end with its stdin"
        // Its lines.
        Noise "noise" "Greets on stdout"
        Latin1 "latin-1" "Writes other characters than ASCII as one byte"
        DiesOnBadJson "dies-on-bad-json" "Exits when a line is not JSON"
        OneSpelling "one-spelling" "Drops lines that begin with a space in the object"
        LimitsLines "limits-lines" "Drops lines of more than 64 KiB"
        IgnoresUnknown "ignores-unknown" "Does not answer a request whose method it does not know"
        WrongCode "wrong-code" "Answers an unknown method with another error"
        AnswersNotifications "answers-notifications" "Responds to notifications"
        ChangesStringIds "changes-string-ids" "Responds with `null` to a request whose ID is a text"
        WrapsIds "wraps-ids" "Cuts IDs to 32 bits"
        RoundsIds "rounds-ids" "Rounds IDs to the precision of a double"
        // Its turns.
        EndsTurnTwice "ends-turn-twice" "Responds twice to a prompt"
        LateUpdates "late-updates" "Says something after the end of the turn"
        IgnoresCancel "ignores-cancel" "Goes on with a turn that was cancelled"
        EndsTurnOnCancel "ends-turn-on-cancel" "Ends a turn that was cancelled as one that was not"
        CancelsNext "cancels-next" "Applies a cancellation without a turn to the next turn"
        ReadsFiles "reads-files" "Reads a file by a client that did not promise it"
        StartsTerminals "starts-terminals" "Starts a terminal at a client that did not promise it"
        // What it asks.
        InvalidQuestion "invalid-question" "Asks by a form without a schema"
        OtherSession "other-session" "Asks in a session that the client does not have"
        AsksWithoutPromise "asks-without-promise" "Asks by a form though the client promised none"
        AsksAgain "asks-again" "Asks a question that was answered once more"
        MistakesChoice "mistakes-choice" "Takes the second option for the first one"
        RefusesChoices "refuses-choices" "Fails when an option was chosen"
        RefusesLists "refuses-lists" "Fails when several options were chosen"
        RefusesTexts "refuses-texts" "Fails when a text was written"
        RefusesBooleans "refuses-booleans" "Fails when a value is true or false"
        RefusesNumbers "refuses-numbers" "Fails when a value is a number"
        RefusesForms "refuses-forms" "Fails when an answer has several values"
        RefusesDeclined "refuses-declined" "Fails when a question was declined"
        RefusesCancelled "refuses-cancelled" "Fails when a question was cancelled"
        HangsOnError "hangs-on-error" "Does not end the turn when a question got an error"
        // Permissions.
        OnlyAllows "only-allows" "Offers no option that refuses"
        SameOptionIds "same-option-ids" "Gives all options of a permission one ID"
        NoToolCall "no-tool-call" "Does not say for which tool call it needs a permission"
        FailsWhenAllowed "fails-when-allowed" "Lets a tool call fail that was allowed"
        RemembersOnce "remembers-once" "Does not ask again after it was allowed once"
        ActsEarly "acts-early" "Acts before the permission has an answer"
        CompletesEarly "completes-early" "Completes the tool call before the permission has an answer"
        ActsWhenRejected "acts-when-rejected" "Acts though the permission was refused"
        CompletesWhenRejected "completes-when-rejected" "Completes the tool call though the permission was refused"
        ActsWhenCancelled "acts-when-cancelled" "Acts though the permission was cancelled"
        UnknownIsYes "unknown-is-yes" "Takes an unknown option for one that allows"
        ErrorIsYes "error-is-yes" "Takes an error for an option that allows"
        // What goes wrong.
        DiesOnStrayResponse "dies-on-stray-response" "Exits when a response is to no request of its own"
        DiesOnSecondAnswer "dies-on-second-answer" "Exits when a question is answered twice"
        LosesSecondAnswer "loses-second-answer" "Drops an answer while an older question is open"
        SharesIds "shares-ids" "Keeps one table of IDs for both directions"
        BlocksWhileAsking "blocks-while-asking" "Answers no request while a question is open"
        StaysWhileAsking "stays-while-asking" "Does not end with its stdin while a question is open"
    }
}
