//! The texts below the options in `--help`: exit codes, and what concerns more than one option.
//! The exit codes themselves are in `exit`.

/// Where the options of the log are listed, for the help of the other commands.
pub(super) const LOGGING: &str = "Logging: --log, --log-file and --log-format, as in `askbridge run --help`.";

/// The commands that a user needs first, in this order.
const FIRST: [(&str, &str); 6] = [
    ("setup", "Connect your editors and agents"),
    ("doctor", "Check that questions reach you"),
    ("list", "List the questions that wait"),
    ("next", "Answer the oldest question, step by step"),
    ("open", "Answer in the browser"),
    ("history", "Look up past questions and decisions"),
];

/// The other commands, by purpose.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Answer", &["answer", "allow", "reject", "extend", "show", "tui"]),
    ("Set up", &["config", "rules", "status", "inbox", "machine", "fleet", "attach"]),
    ("Run agents", &["run", "proxy", "demo"]),
    ("Ask", &["ask", "mcp"]),
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

/// The exit codes of `askbridge run`.
pub(super) const RUN: &str = "\
Options for all bridges belong in the settings: see `askbridge config --help`.

Exit codes of `askbridge run`:
  the agent's own   the agent ended by itself, or because it was asked to
  128 + N           signal N ended the agent
  2                 the command line was not understood
  9                 with `--unattended fail`: no person could answer a question
  125               the bridge itself failed
  126               the agent's command could not be executed
  127               the agent's command was not found";

/// How a conductor starts `askbridge proxy`, and its exit codes.
pub(super) const PROXY: &str = "\
The conductor starts it:
  agent-client-protocol-conductor agent \"askbridge proxy\" \"AGENT ARGS\"

Exit codes of `askbridge proxy`:
  0    the conductor closed stdin, or a signal ended the proxy
  2    the command line was not understood, or the peer is no conductor, but a
       client that sent `initialize`
  125  the bridge itself failed";

/// How long `askbridge attach` runs, and its exit codes.
pub(super) const ATTACH: &str = "\
It runs until a signal ends it, and finds agents as they start. Their own dialogs
stay usable: the first answer counts. A question that is open when `attach` ends
stays open in its agent.

Exit codes:
  2        the command line was not understood
  125      the command itself failed
  128 + N  signal N ended it";

/// The columns of `askbridge list`, and its exit codes.
pub(super) const LIST: &str = "\
Columns:
  ID        what `show`, `answer`, `allow`, `reject` and `extend` take
  AGENT     the agent that asks
  PROJECT   the folder that it works in
  AGE       how long ago it asked
  ENDS      the time until the question is rejected; `sent` once its answer is on
            the way to the agent
  SHOWN     `client` if the agent's client (an editor, or its own terminal) shows
            the question, `elsewhere` if you answer it by a command, on the page
            or in `tui`, `delivering` while its answer is on the way
  KIND      `question`, or `permission` if the agent asks for one
  QUESTION  what is asked; `!` before it marks what can do harm
A narrow terminal shows fewer columns; a pipe gets all of them.

Exit codes:
  0        all open questions were listed, or none is open
  2        the command line was not understood
  6        the list is incomplete: stderr says why, and names each bridge that
           did not reply
  125      the command itself failed
  128 + N  signal N ended `--watch`";

/// What `askbridge dial` is for, and its exit codes.
pub(super) const DIAL: &str = "\
The askbridge of another machine runs this, by ssh or by any command, and shows
the questions of this machine there: `askbridge machine --help`, there.

Exit codes:
  0        stdin ended
  2        the command line was not understood, or stdin is a terminal
  125      the command itself failed";

/// The columns of `askbridge status`, and its exit codes.
pub(super) const STATUS: &str = "\
Columns:
  BRIDGE   the name that the IDs of its questions begin with
  PID      its process ID
  VERSION  the version of askbridge that it runs
  AGENT    the program that it wraps
  OPEN     how many of its questions are open
  UP       how long it has run
  FOLDER   the folder that it was started in
`askbridge ask` and `askbridge inbox` count as bridges. Below the table: where
askbridge looked for bridges, which of them did not reply, and which run another
version than this command.

Exit codes:
  0    the status was shown
  2    the command line was not understood
  6    the status is incomplete: it names each bridge that did not reply
  125  the command itself failed";

/// How an ID may be shortened for `askbridge show`, and its exit codes.
pub(super) const SHOW: &str = "\
An ID may be shortened: k3f9q2-1 to k3-1, and to k3 while only one question of that bridge is open. The agent's own \
ID of an open question works as well, if it is unique.

Exit codes:
  0    the question was shown
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  6    the bridge does not reply
  125  the command itself failed";

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

/// The words that `askbridge next` knows, and its exit codes.
pub(super) const NEXT: &str = "\
Asks in plain lines, as `askbridge answer ID` does at a terminal: type `?` for help. Nothing is sent \
before the last field, and Ctrl-C leaves the question open.

Exit codes:
  0    the question was answered, or rejected on request
  2    the command line was not understood, or there is no terminal
  3    no question waits
  4    the question was settled elsewhere meanwhile
  6    no question waits in the bridges that replied, or a bridge does not reply:
       unknown whether the agent received it
  8    the agent that asked started this command: it cannot answer itself
  125  the command itself failed
  130  you left the question open, by Ctrl-C, Ctrl-D or /quit";

/// The keys of `askbridge tui`, and its exit codes.
#[cfg(feature = "tui")]
pub(super) const TUI: &str = "\
Keys: j and k move between questions, Enter opens one, digits choose, Ctrl+S sends, r rejects, Esc \
goes back, q quits, and ? shows all of them. NO_COLOR switches colours off.

Exit codes:
  0        you quit
  2        the command line was not understood, or there is no terminal
  125      the command itself failed
  128 + N  signal N ended the command";

/// Which layers there are, and the exit codes of `askbridge config`.
pub(super) const CONFIG: &str = "\
A later layer wins:
  default
  your own file         config.toml in XDG_CONFIG_HOME/askbridge or
                        ~/.config/askbridge: see `askbridge config path`
  the project's file    .askbridge.toml, in this folder or above it, up to the
                        repository's root or your home; it cannot run commands,
                        set addresses, answer, or widen what leaves the machine
  the environment       such as ASKBRIDGE_NOTIFY_DELAY=1m
  options of a command  such as --timeout
An unknown setting or a bad value is reported with its place; all others apply.

  askbridge config set notify.delay 1m
  askbridge config set notify.sound.command paplay bell.ogg

Exit codes:
  0    done
  1    with `get`, the setting has no value; with `edit`, the file has mistakes
  2    the command line was not understood
  125  the file cannot be read or written, or the command itself failed";

/// How rules are written, and the exit codes of `askbridge rules`.
pub(super) const RULES: &str = "\
Rules are in your own settings, one [[rule]] each; the first that applies to a question decides:
  [[rule]]
  name = \"tests\"
  command = \"cargo test *\"
  dangerous = true
  then = \"allow\"
A new rule applies to questions that open from then on.

Exit codes:
  0    done; or no rule applies
  1    with `check`, there are mistakes; with `apply`, nothing was done
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  4    with `apply`, a question was settled already
  6    the bridge does not reply
  8    the agent that asked started this command: it cannot answer itself
  125  the command itself failed";

/// Exit codes of `askbridge history`.
#[cfg(feature = "journal")]
pub(super) const HISTORY: &str = "\
The journal is in $XDG_STATE_HOME/askbridge/journal.db. What it keeps, and for how long, are the
settings journal.enabled, journal.texts, journal.keep and journal.size.
It never contains secret values.

Exit codes:
  0    done
  1    with `verify`, records were changed, cut off or left out
  2    the command line was not understood
  3    no such question
  125  the command itself failed";

/// The output of `askbridge ask`, and its exit codes.
pub(super) const ASK: &str = "\
Prints the answer, one value a line; with --confirm, yes or no. The other commands find the \
question like an agent's. It is withdrawn when this command is interrupted.

  askbridge ask --confirm 'Deploy?' && ./deploy
  where=$(askbridge ask 'Where?' --option eu=Europe --option us=America) &&
    ./deploy --region \"$where\"

Exit codes:
  0        the question was answered; with --confirm, with yes
  1        the question was rejected; with --confirm, it was answered with no
  2        the command line was not understood
  7        with --confirm, the question was rejected: neither yes nor no
  124      no answer came in time
  125      the question could not be asked
  128 + N  signal N interrupted the command";

/// The tools and the exit codes of `askbridge mcp`.
#[cfg(feature = "mcp")]
pub(super) const MCP: &str = "\
An agent starts it, and speaks MCP to it on stdin. Its tool ask_user_question asks you, and waits; after a time \
it returns a ticket, and the tool wait_for_answer takes the ticket and waits further. The question is withdrawn \
when the agent cancels the call or ends.

  claude mcp add --scope user askbridge -- askbridge mcp
  codex mcp add askbridge -- askbridge mcp

Exit codes:
  0        the agent closed stdin
  2        the command line was not understood
  125      the server could not be started
  128 + N  signal N ended the server";

/// The files that `askbridge setup` writes, and its exit codes.
pub(super) const SETUP: &str = "\
Sets up an editor, or an agent that you run in a terminal; without a name, all that are installed. It shows the \
change, and writes it once you confirm; comments and order are kept. A second run changes nothing.

  askbridge setup                 all that is installed
  askbridge setup claude          Claude Code in a terminal: a plugin
  askbridge setup codex           Codex in a terminal: the inbox attaches to it; so do opencode and copilot
  askbridge setup zed             an editor: all agents in its settings, and those on PATH
  askbridge setup zed claude      an editor, and one of its agents: run by npx if it is not installed
  askbridge setup emacs codex     print what to put into init.el
  askbridge setup zed --undo      undo what `askbridge setup zed` changed

Editors: zed, jetbrains, vscode (the extension ACP Client), emacs (agent-shell), neovim (CodeCompanion).
Their agents: claude, codex, gemini, qwen, opencode, kimi, copilot, cursor, grok, kiro, goose, auggie, pi, or \
the name of one in the settings. For any other agent, `askbridge mcp --help`.

Exit codes:
  0    done, or there was nothing to change
  1    nothing was written: the answer was no, or stdin is not a terminal
  2    the command line was not understood, or no such editor or agent
  125  the settings cannot be read or written; nothing was changed";

/// The checks of `askbridge doctor`, and its exit codes.
pub(super) const DOCTOR: &str = "\
Looks at this program, the folder of the sockets, the bridges that run, the HTTP server, the desktop, the settings \
of editors, and the agents on PATH. It changes nothing, but for removing the sockets of bridges that were killed.

Exit codes:
  0    nothing is wrong; there may be warnings
  1    something does not work
  2    the command line was not understood
  125  the command itself failed";

/// The purpose of `askbridge hook`, and its exit code.
pub(super) const HOOK: &str = "\
Claude Code runs it when it asks a question: the plugin that `askbridge setup claude` installs tells it to. Its \
dialog in the terminal stays usable, and the first answer counts. The hook reads the call as JSON on stdin, and \
prints the decision if there is one. If anything fails, it prints nothing, and the dialog decides.

Exit codes:
  0    always, since Claude Code would take another code for a decision";

/// The notifiers, and the exit codes of `askbridge notify`.
#[cfg(feature = "notify")]
pub(super) const NOTIFY: &str = "\
A bridge starts it for each question that waits longer than the delay. It ends when the question is settled, and \
withdraws its notifications. The table [notify] of the settings says how you are notified: on the desktop, by a \
sound, a command, a webhook, your phone by ntfy, the terminal. `askbridge doctor --notify` tries out each of \
them.

  askbridge config set notify.desktop.enabled true
  askbridge notify 3f1c-2 --now

Exit codes:
  0    you were notified, or the question no longer waits
  2    the command line was not understood
  3    there is no such question, or the ID is ambiguous
  6    the bridge cannot be reached
  125  no notification could be sent";

/// The background mode, and the exit codes of `askbridge inbox`.
pub(super) const INBOX: &str = "\
With --detach, the inbox survives the terminal. If it runs already, a second --detach prints its address.

Exit codes:
  0        with --detach, the inbox runs; with --stop, no inbox runs
  128 + N  signal N ended the server
  2        the command line was not understood
  125      the server could not be set up, or failed";

/// How the browser is signed in, and the exit codes of `askbridge open`.
pub(super) const OPEN: &str = "\
The address has a code that signs in one browser, once, within 5 minutes. The browser stays signed in \
until the token is replaced: remove the token file and start the inbox again. Where no browser can be \
started, the address is printed.

Exit codes:
  0    a browser was started, or the address was printed
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  6    the bridge does not reply
  125  the inbox could not be started, or the command itself failed";

/// Where the scripts of `askbridge completions` belong.
pub(super) const COMPLETIONS: &str = "\
Completes commands and options, the IDs of open questions, their options, and the agent's command \
behind `--`.

Where a script belongs, for one user:
  bash  ~/.local/share/bash-completion/completions/askbridge
  zsh   _askbridge in a directory of $fpath
  fish  ~/.config/fish/completions/askbridge.fish
such as
  askbridge completions fish > ~/.config/fish/completions/askbridge.fish
For all users, packages put it into bash-completion/completions, zsh/site-functions and \
fish/vendor_completions.d below /usr/share.";

/// Where the pages of `askbridge man` belong.
pub(super) const MAN: &str = "\
Writes askbridge.1, and one page for each command, such as askbridge-run.1. `man` finds them in \
~/.local/share/man/man1 or /usr/local/share/man/man1.";
