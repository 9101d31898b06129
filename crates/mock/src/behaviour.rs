//! The words in a prompt that choose the mock agent's behaviour.
//! Carrying it out is left to `turn.rs`.

/// The number of updates of `flood` without a number.
pub(super) const FLOOD: u32 = 40_000;
/// The exit code of `exit` without a number.
pub(super) const EXIT: u8 = 7;

/// The help text on the words of a prompt, for `--help`.
pub const HELP: &str = "\
Words in a prompt, in any case, choose what the agent does. Without one it says the prompt back.
They are the same in every dialect; one that cannot ask in that way asks what it can. An agent that
asks only clients which promised forms, or Kiro's user input, says so where they did not.

  question   ask one question with two options, and say what was answered
             (any word that contains it will do; these change how it is asked:)
    several    ask three at once, and say each answer as it comes
    fields     one question of three fields: a choice, several choices, a free text
    many       one question of which several options may be chosen
    free       one question without options, for a free text
    confirm    one question that is answered with yes or no
    withdraw   cancel the question right after asking it, and still wait; codex-async does not wait,
               as it cancels its question at the end of the turn
    later      end the turn first, and ask then

  permission ask for permission to fetch a page, and say what was answered
  dangerous  ask for permission to run `rm -rf build`
  plan       ask for approval of a plan
  edit       ask for permission to change a line of src/main.rs, with the change as a diff
             (two or more of the last three are asked at once; `several`, `withdraw` and `later`
             work as with `question`; pi asks in the words of a question, as it has no others)

  exit [N]   exit with code N, or 7; with a question or a permission, while it is open
  crash      end as by SIGKILL; with a question or a permission, while it is open
  outlive    from now on, do not end when stdin ends
  flood [N]  write N updates, or 40000, before anything else
  forever    do not end the turn until it is cancelled
  stderr     write a line to stderr

Lines of a --script FILE; all others are ignored:

  agent> TEXT    write TEXT; $id in it is the id of the last request that was read, as it was
                 spelled, and $session the last params.sessionId
  agent< TEXT    wait for a line: for any line where TEXT is *, otherwise for TEXT, or for a
                 message with the same method, or for a response with the same id
  agent! exit N  exit with code N

Exit codes:
  0    stdin ended, or stdout was closed
  1    a line did not match the script, or reading or writing failed
  2    the script could not be read, or the command line was not understood";

/// A word that chooses a behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Act(Act),
    Several,
    Fields,
    Many,
    Free,
    Confirm,
    Withdraw,
    Later,
    Exit,
    Crash,
    Outlive,
    Flood,
    Forever,
    Stderr,
}

/// Every word except `question`, which also counts inside other words.
const WORDS: [(&str, Word); 17] = [
    ("permission", Word::Act(Act::Fetch)),
    ("dangerous", Word::Act(Act::Command)),
    ("plan", Word::Act(Act::Plan)),
    ("edit", Word::Act(Act::Edit)),
    ("several", Word::Several),
    ("fields", Word::Fields),
    ("many", Word::Many),
    ("free", Word::Free),
    ("confirm", Word::Confirm),
    ("withdraw", Word::Withdraw),
    ("later", Word::Later),
    ("exit", Word::Exit),
    ("crash", Word::Crash),
    ("outlive", Word::Outlive),
    ("flood", Word::Flood),
    ("forever", Word::Forever),
    ("stderr", Word::Stderr),
];

/// The shape of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    #[default]
    /// One field with two options.
    Options,
    /// Three fields of different types.
    Fields,
    /// One field of which several options can be taken.
    Many,
    /// One field for a free text.
    Free,
    /// One field with yes and no.
    Confirm,
}

/// What the agent asks permission for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Fetching a page.
    Fetch,
    /// Running a command that deletes files.
    Command,
    /// Carrying out a plan.
    Plan,
    /// Changing a line of a file.
    Edit,
}

/// How the process ends in the middle of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exit(u8),
    Crash,
}

/// All behaviours that a prompt chooses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Behaviour {
    pub(super) question: bool,
    pub(super) shape: Shape,
    /// The permissions that are asked for at once, in order.
    pub(super) acts: Vec<Act>,
    pub(super) several: bool,
    pub(super) withdraw: bool,
    pub(super) later: bool,
    pub(super) end: Option<End>,
    pub(super) outlive: bool,
    pub(super) flood: Option<u32>,
    pub(super) forever: bool,
    pub(super) stderr: bool,
}

impl Behaviour {
    /// Reads the words of a prompt.
    pub(super) fn of(prompt: &str) -> Self {
        let prompt = prompt.to_lowercase();
        let mut behaviour = Self { question: prompt.contains("question"), ..Self::default() };
        let mut words =
            prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        while let Some(word) = words.next() {
            if let Some(&(_, word)) = WORDS.iter().find(|(spelled, _)| *spelled == word) {
                behaviour.choose(word, words.peek().copied());
            }
        }
        if behaviour.acts.len() > 1 {
            // In "a dangerous permission", the word `permission` does not ask for a second permission.
            behaviour.acts.retain(|act| *act != Act::Fetch);
        }
        behaviour
    }

    /// Returns whether no behaviour is chosen. The agent then repeats the prompt.
    pub(super) fn is_echo(&self) -> bool {
        let acts = self.question || !self.acts.is_empty() || self.outlive || self.forever || self.stderr;
        !acts && self.end.is_none() && self.flood.is_none()
    }

    fn choose(&mut self, word: Word, next: Option<&str>) {
        match word {
            Word::Act(act) if self.acts.contains(&act) => {}
            Word::Act(act) => self.acts.push(act),
            Word::Several => self.several = true,
            Word::Fields => self.shape = Shape::Fields,
            Word::Many => self.shape = Shape::Many,
            Word::Free => self.shape = Shape::Free,
            Word::Confirm => self.shape = Shape::Confirm,
            Word::Withdraw => self.withdraw = true,
            Word::Later => self.later = true,
            Word::Exit => self.end = Some(End::Exit(number(next).unwrap_or(EXIT))),
            Word::Crash => self.end = Some(End::Crash),
            Word::Outlive => self.outlive = true,
            Word::Flood => self.flood = Some(number(next).unwrap_or(FLOOD)),
            Word::Forever => self.forever = true,
            Word::Stderr => self.stderr = true,
        }
    }
}

fn number<N: std::str::FromStr>(word: Option<&str>) -> Option<N> {
    word?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_a_line_for_every_word() {
        let first_words: Vec<&str> = HELP.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for (word, _) in WORDS.iter().chain(&[("question", Word::Several)]) {
            assert!(first_words.contains(word), "{word} is not in the help");
        }
        assert!(HELP.contains(&FLOOD.to_string()) && HELP.contains(&format!("or {EXIT};")));
        assert!(HELP.lines().all(|line| line.chars().count() <= 100), "clap would wrap the table");
    }

    #[test]
    fn the_word_question_counts_in_any_case_and_inside_other_words() {
        for prompt in ["Please ask me a question.", "QUESTION", "several questions?", "requestion"] {
            assert!(Behaviour::of(prompt).question, "{prompt}");
        }
        assert!(!Behaviour::of("ask me something").question);
    }

    #[test]
    fn whole_words_combine() {
        let behaviour = Behaviour::of("Flood 12, then ask several questions with many choices; EXIT 3!");
        let expected = Behaviour {
            question: true,
            several: true,
            shape: Shape::Many,
            end: Some(End::Exit(3)),
            flood: Some(12),
            ..Behaviour::default()
        };
        assert_eq!(behaviour, expected);
        assert_eq!(Behaviour::of("severally, laterally, forevermore"), Behaviour::default());
    }

    #[test]
    fn permissions_are_asked_in_order_and_once_each() {
        for (prompt, acts) in [
            ("ask for permission", &[Act::Fetch][..]),
            ("a dangerous permission", &[Act::Command]),
            ("Plan an EDIT, then edit.", &[Act::Plan, Act::Edit]),
            ("permissions, planned and edited", &[]),
        ] {
            assert_eq!(Behaviour::of(prompt).acts, acts, "{prompt}");
        }
    }

    #[test]
    fn an_absent_or_invalid_number_gives_the_default() {
        assert_eq!(Behaviour::of("flood").flood, Some(FLOOD));
        assert_eq!(Behaviour::of("flood it").flood, Some(FLOOD));
        assert_eq!(Behaviour::of("exit").end, Some(End::Exit(EXIT)));
        assert_eq!(Behaviour::of("exit 300").end, Some(End::Exit(EXIT)));
    }

    #[test]
    fn a_prompt_without_behaviour_is_repeated() {
        assert!(Behaviour::of("").is_echo());
        assert!(Behaviour::of("several, later").is_echo(), "these only change a question");
        for prompt in
            ["question", "permission", "edit", "exit", "crash", "outlive", "flood", "forever", "stderr"]
        {
            assert!(!Behaviour::of(prompt).is_echo(), "{prompt}");
        }
    }
}
