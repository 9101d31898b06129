//! The bot: what it looks at, submits and says. What the lines of the file mean is left to `answers.rs`.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc, time::Duration};

use askbridge_control::{
    Inbox, JoinedInbox,
    core::{
        desk::{QuestionId, Record, Refusal, State, Submission},
        question::{Answer, Provenance, Responder},
    },
    printable_line,
};
use tokio::{task::JoinSet, time::interval};

use super::answers::Answers;

/// How often it looks whether the file has changed, and tries again what may be tried again.
const LOOK: Duration = Duration::from_secs(1);

/// The file of answers, as it was read last.
pub(crate) struct AnswerFile {
    path: PathBuf,
    /// Its text, or why it could not be read.
    read: Result<String, String>,
    answers: Answers,
    /// How often the answers have changed.
    revision: u64,
}

impl AnswerFile {
    /// Reads the file.
    pub(crate) fn open(path: PathBuf) -> Result<Self, String> {
        let mut file = AnswerFile { path, read: Ok(String::new()), answers: Answers::default(), revision: 0 };
        file.reload().map(|()| file)
    }

    /// Reads the file again. If it cannot be read, the answers from before count, and the reason is returned once.
    fn reload(&mut self) -> Result<(), String> {
        let read = fs::read_to_string(&self.path).map_err(|why| why.to_string());
        if read == self.read {
            return Ok(());
        }
        let answers = read.as_deref().map_err(String::clone).and_then(str::parse);
        self.read = read.clone();
        self.answers = answers.map_err(|why: String| format!("{}: {why}", self.path.display()))?;
        self.revision += 1;
        Ok(())
    }
}

/// The bot: its inbox, its answers, and what it has tried.
pub(crate) struct Bot<S> {
    inbox: JoinedInbox,
    file: AnswerFile,
    /// The open questions that it has looked at: in which edition, and by which revision of the file.
    tried: BTreeMap<QuestionId, (u32, u64)>,
    /// Those of them that wait for the person, as it has said.
    waiting: BTreeMap<QuestionId, String>,
    /// An agent may take seconds to read its answer, and must not delay the others.
    sent: JoinSet<(QuestionId, String, Result<Arc<Record>, Refusal>)>,
    say: S,
}

impl<S: FnMut(String)> Bot<S> {
    pub(crate) fn new(inbox: JoinedInbox, file: AnswerFile, say: S) -> Self {
        Bot { inbox, file, tried: BTreeMap::new(), waiting: BTreeMap::new(), sent: JoinSet::new(), say }
    }

    pub(crate) async fn run(&mut self) {
        let (mut changes, mut again) = (self.inbox.store().follow(), interval(LOOK));
        loop {
            tokio::select! {
                // What changed does not matter: the bot looks at all that is open.
                batch = changes.next() => if batch.is_none() { return },
                _ = again.tick() => self.reload(),
                Some(Ok((id, said, verdict))) = self.sent.join_next() => {
                    self.tell(&id, &said, verdict);
                    continue;
                }
            }
            self.look();
        }
    }

    fn reload(&mut self) {
        if let Err(why) = self.file.reload() {
            (self.say)(format!("{why}; the answers from before count"));
        }
    }

    /// Looks at the open questions that are new, that have changed, or that the file may answer now.
    fn look(&mut self) {
        let open = self.inbox.store().read(|_, now| {
            let is_open = |id: &QuestionId| now.get(id).is_some_and(|record| record.is_open());
            self.tried.retain(|id, _| is_open(id));
            self.waiting.retain(|id, _| is_open(id));
            now.open()
        });
        // Those with an answer on its way are open, too.
        for record in open.into_iter().filter(|record| record.state == State::Open) {
            let seen = (record.edition, self.file.revision);
            if self.tried.insert(record.id.clone(), seen) == Some(seen) {
                continue;
            }
            match self.file.answers.answer(&record.question) {
                Ok((answer, said)) => self.submit(&record, answer, said),
                Err(why) => {
                    let asked = record.question.summary();
                    let line =
                        format!("{} waits for you, since {why}: \"{}\"", record.id, printable_line(&asked));
                    if self.waiting.insert(record.id.clone(), line.clone()).as_ref() != Some(&line) {
                        (self.say)(line);
                    }
                }
            }
        }
    }

    fn submit(&mut self, record: &Record, answer: Answer, said: String) {
        let (inbox, id) = (self.inbox.clone(), record.id.clone());
        // The edition that was looked at: if the question is another one by now, the answer is refused.
        let submission = Submission::answer(answer, record.edition);
        let by = Provenance { responder: Responder::Rpc, name: Some("answers_from_file".to_owned()) };
        self.sent.spawn(async move {
            let verdict = inbox.submit(&id, submission, by).await;
            (id, said, verdict)
        });
    }

    fn tell(&mut self, id: &QuestionId, said: &str, verdict: Result<Arc<Record>, Refusal>) {
        let Err(refusal) = verdict else { return (self.say)(format!("{id} answered: {said}")) };
        let then = match &refusal {
            // The changed question is in the inbox already.
            Refusal::Changed(_) => "it is looked at again",
            Refusal::Conflict(_) | Refusal::Gone(_) | Refusal::NotFound => "nothing is left to do",
            Refusal::Unknown | Refusal::Unavailable | Refusal::Unreached(_) | Refusal::TooManyRequests => {
                self.tried.remove(id);
                "it is tried again while it is open"
            }
            _ => "it waits for you",
        };
        (self.say)(format!("{id} not answered: {}; {then}", printable_line(&refusal.to_string())));
    }
}
