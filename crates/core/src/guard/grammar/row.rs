//! What a table says of one program, or of one of its subcommands.

/// A program or a subcommand.
#[derive(Debug, Default)]
pub(in crate::guard) struct Row {
    pub names: Vec<&'static str>,
    /// What it does, as it follows its name: "`bash` runs what its arguments say".
    pub does: &'static str,
    /// Why it is dangerous whatever its words are, unless one of them says otherwise.
    pub harm: Option<&'static str>,
    /// It only looks, if at most so many of its words are no options.
    pub looks: Option<usize>,
    /// It does no harm, if at most so many of its words are no options.
    pub unless_most: Option<usize>,
    pub options: Vec<OptionRow>,
    /// What words that are no options mean, by patterns.
    pub words: Vec<OptionRow>,
    pub subs: Vec<Row>,
    pub rest: Rest,
    pub by: Option<By>,
    /// The files that it writes are the last of its words, or all of them.
    pub writes: Writes,
    pub open: Open,
    /// What it does with an input that another program fetches.
    pub reads: Option<&'static str>,
    pub flags: Flags,
}

/// What else is true of a row.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the tables")]
pub(in crate::guard) struct Flags {
    /// Its options may come behind its subcommands.
    pub inherits: bool,
    /// Its words are no paths.
    pub texts: bool,
    /// The first of its words is no path.
    pub has_pattern: bool,
    /// It computes what its words say.
    pub evaluates: bool,
    /// Its options have one dash and many letters.
    pub is_long: bool,
    /// A word that begins with `+` is an option.
    pub has_plus: bool,
    /// Words that assign variables come before its other words.
    pub assigns: bool,
    /// It is dangerous even if it is only asked for its version.
    pub always: bool,
    /// The project decides which program it is.
    pub is_local: bool,
    /// It only looks if the command that it runs does.
    pub passes: bool,
    /// Without words, it runs the commands in its input.
    pub is_fed: bool,
    /// It runs what the files of its folder say.
    pub builds: bool,
    /// Its patterns are for the first words that are no options, as subcommands are.
    pub is_early: bool,
}

/// An option, or a pattern of words.
#[derive(Debug)]
pub(in crate::guard) struct OptionRow {
    pub name: &'static str,
    /// The values that are meant. Without a pattern, all are.
    pub pattern: Option<&'static str>,
    pub effect: Effect,
    pub why: &'static str,
}

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::guard) enum Effect {
    /// Nothing that counts here.
    Flag,
    /// It takes a value, which does nothing that counts here.
    Value,
    /// It is dangerous.
    Harm,
    /// It sends data to another machine.
    Send,
    /// It may choose what code runs. A rule that leaves words open does not mean it.
    Hole,
    /// With it, the program only looks.
    Looks,
    /// With it, the program does more than to look.
    Acts,
    /// With it, the program does no harm.
    Unless,
    /// With it, the program only says what it would change or send.
    Dry,
    /// Its value is a file that is written.
    Writes,
    /// Its value is a program that runs. A rule that leaves words open does not mean it.
    Names,
    /// Its value is a folder or a file whose code runs.
    Where,
    /// Its value is the text of a command.
    Text,
    /// Its value is code in this language.
    Code(&'static str),
    /// Its value and the words behind it are a command.
    Runs,
    /// Its value is a program of the language, to which the words behind it belong.
    Module,
    /// With it, the program does not read its input.
    Idle,
}

impl Effect {
    pub(super) fn takes_value(self) -> bool {
        use Effect::{Code, Hole, Module, Names, Runs, Text, Value, Where, Writes};
        matches!(self, Value | Hole | Names | Writes | Where | Text | Code(_) | Runs | Module)
    }
}

/// What the words of a program are that are no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::guard) enum Rest {
    /// What it works on.
    #[default]
    Words,
    /// Behind so many words, a command.
    Command(usize),
    /// Behind so many words, the text of a command, in all words together.
    Text(usize),
    /// Each is the text of a command.
    Texts,
    /// Any of them may begin a command, or be the text of one.
    Anywhere,
    /// The first is a file of code in this language. Without it, the code is in the program's input.
    Script(&'static str),
    /// They are code in this language.
    Code(&'static str),
    /// They are those of this program.
    Of(&'static str),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::guard) enum Writes {
    #[default]
    None,
    Last,
    All,
}

/// Whether a rule that leaves words open would allow any command.
#[derive(Debug, Default)]
pub(in crate::guard) enum Open {
    #[default]
    No,
    /// Whatever the words are.
    Any,
    /// If the first word is open, an option or one of these.
    First(Vec<&'static str>),
}

/// A program whose words have rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::guard) enum By {
    Assignments,
    Awk,
    Cd,
    Checkout,
    Chmod,
    Cp,
    /// The command stands behind `--`.
    Dashes,
    Emulate,
    Find,
    Let,
    Mongo,
    Sed,
    Shell,
    Sql,
    Tar,
    Xargs,
}
