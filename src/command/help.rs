//! The help of the program: its commands in groups, and the text that several commands share. The text of one command
//! is in its own file.

/// The commands that a user needs first, in this order.
const FIRST: [(&str, &str); 6] = [
    ("setup", "Connect your editors and agents"),
    ("doctor", "Check that questions reach you"),
    ("list", "List the questions that wait"),
    ("next", "Answer the first question, step by step"),
    ("open", "Answer in the browser"),
    ("history", "Look up past questions and decisions"),
];

/// The other commands, by purpose.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Answer", &["answer", "allow", "reject", "extend", "later", "show", "tui"]),
    ("Set up", &["config", "rules", "status", "inbox", "machine", "fleet", "attach"]),
    ("Run agents", &["run", "proxy", "mcp-proxy", "demo"]),
    ("Ask", &["ask", "wait", "mcp"]),
    ("For programs", &["hook", "notify", "check", "completions", "man", "mock", "mock-agent", "mock-client"]),
];

/// Returns the help of the program as a template for clap: the commands in groups, since thirty in one list say nothing
/// about where to begin.
pub(super) fn top() -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n\nBegin with:\n".to_owned();
    for (name, about) in FIRST.iter().filter(|(name, _)| is_built(name)) {
        text += &format!("  {name:<10}{about}\n");
    }
    text += "\n";
    for (group, names) in GROUPS {
        let names: Vec<_> = names.iter().copied().filter(|name| is_built(name)).collect();
        text += &format!("{:<14}{}\n", format!("{group}:"), names.join("  "));
    }
    text += "\nOptions:\n{options}\n\n";
    text + "`askbridge COMMAND --help` explains a command, with its exit codes.\n\
            In a terminal, `askbridge` without arguments shows the open questions."
}

/// The commands that need a feature, and whether this build has them.
const OPTIONAL: [(&str, bool); 10] = [
    ("check", cfg!(feature = "check")),
    ("demo", cfg!(feature = "mock")),
    ("fleet", cfg!(feature = "fleet")),
    ("history", cfg!(feature = "journal")),
    ("mcp", cfg!(feature = "mcp")),
    ("mock", cfg!(feature = "mock")),
    ("mock-agent", cfg!(feature = "mock")),
    ("mock-client", cfg!(feature = "mock")),
    ("notify", cfg!(feature = "notify")),
    ("tui", cfg!(feature = "tui")),
];

fn is_built(name: &str) -> bool {
    OPTIONAL.iter().find(|(optional, _)| *optional == name).is_none_or(|(_, is_built)| *is_built)
}

/// How an ID may be shortened, and the exit codes of the commands that answer.
pub(super) const ANSWER: &str = "\
An ID may be shortened: k3f9q2-1 to k3-1. The number is needed, so that a repeated command never hits the \
next question. The agent's own ID of an open question works as well, if it is unique.

Exit codes:
  0    done, or already settled in the same way
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  4    already settled, in another way
  5    invalid answer, or a probable typo; with `extend`, the question has no deadline
  6    the bridge does not reply: unknown whether the agent received it
  8    the agent that asked started this command: it cannot answer itself
  125  the command itself failed
  130  at a terminal: you left the question open, by Ctrl-C, Ctrl-D or /quit";
