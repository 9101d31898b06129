//! The state of the full-screen inbox: the questions, the one that is current, and what the person has typed so far.
//! Pure. What keys do is left to `handle.rs` and `card_keys.rs`, drawing to `view.rs`.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use askbridge_core::{
    desk::{QuestionId, Record, State},
    question::{Answer, Context},
};

use super::{
    draft::Draft,
    editor::Editor,
    event::{Effect, InboxState, QuestionItem},
    group::{Group, Together},
    image_view::ImageView,
    prose::{SubjectLines, has_folds},
    search::Search,
};
use crate::{
    command::tui::proposed_rule::ProposedRule,
    present::{answer::settlement, passage::Passage, text},
};

/// The least number of columns at which the list and a question stand side by side.
pub const WIDE: u16 = 100;

/// The part of the screen that keys act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// The list of questions.
    List,
    /// The current question.
    Card,
}

/// The layer in front of everything else, until it is closed.
#[derive(Clone, Debug, PartialEq)]
pub enum Modal {
    /// The keys, from this line on.
    Help(usize),
    /// What led to the current question, from this line on; `None` until that is known.
    Led(Option<Result<Arc<Context>, String>>, usize),
    /// An image of the current question.
    Image(ImageView),
    /// Why the answer must be confirmed, and the word to type.
    Confirm(Cow<'static, str>, Answer, Editor),
    /// Like permissions, to be decided together.
    Together(Together),
    /// The rule that would be made of this decision, or why there is none, from this line on; `None` until that is known.
    Rule(Arc<Record>, Option<Result<ProposedRule, String>>, usize),
    /// A comment on a part of the question.
    Comment(Arc<Passage>, Editor),
    /// Until when to set the question aside, as it is typed.
    Later(Editor),
    /// The reason of a rejection, and whether Enter was pressed behind it: it is sent by a second one. If none is typed, the
    /// answer is sent in its place, if there is one.
    Reason(Option<Answer>, Editor, bool),
    /// Whether to send this answer, in which nothing is chosen or typed.
    Empty(Answer),
    /// Whether to keep the draft when the user leaves the question.
    Leave,
    /// Whether to end, although something was typed and not sent.
    Quit,
}

/// A line that reports a result or a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// The line.
    pub text: String,
    /// Whether something is wrong.
    pub is_error: bool,
}

/// The full-screen inbox.
#[derive(Debug)]
pub struct App {
    /// The questions.
    pub world: InboxState,
    /// The current question.
    pub current: Option<QuestionId>,
    /// The current question, in case the world no longer has it.
    pub held: Option<QuestionItem>,
    /// The pane that has the focus.
    pub pane: Pane,
    /// The drafts.
    pub drafts: BTreeMap<QuestionId, Draft>,
    /// Whether keys type into the row with the cursor.
    pub is_typing: bool,
    /// The part of the current question that can be commented, while the person chooses one.
    pub at: Option<String>,
    /// The layer in front.
    pub modal: Option<Modal>,
    /// The last result.
    pub said: Option<StatusLine>,
    /// The questions that are being submitted to from here.
    pub sending: BTreeSet<QuestionId>,
    /// Those of them whose submission can be taken back, the latest last: what was sent together is one.
    pub waiting: Vec<Vec<QuestionId>>,
    /// What was decided together, and has no result yet.
    pub(super) groups: Vec<Group>,
    /// What was decided here last, until the person goes on to something else.
    pub told: Option<Arc<Record>>,
    /// The columns and lines of the terminal.
    pub size: (u16, u16),
    /// Whether the current question has only just appeared, without a key that chose it: what is pressed now was meant
    /// for the question before, and decides nothing (I12).
    pub is_fresh: bool,
    /// Whether a key was pressed a moment ago. The next one may belong to the same line, typed for another program.
    pub is_pressed: bool,
    /// Whether the key that is handled came as fast after another one as no person types.
    pub is_burst: bool,
    /// Whether the key that is handled came that soon after another one.
    pub(super) is_rushed: bool,
    /// Whether such a line has begun with a letter, such as `j`.
    pub(super) is_word: bool,
    /// Whether such a line has a letter that means nothing here, or one that is a command. No key of it decides anything.
    pub(super) is_stray: bool,
    /// What the person searches for.
    pub search: Search,
    /// The place of the current question in the order of the list.
    place: usize,
    /// The subject of the current permission, as lines.
    pub(super) about: Option<SubjectLines>,
    /// The open questions that were seen; `None` before the first.
    known: Option<BTreeSet<QuestionId>>,
}

impl App {
    /// Begins without questions, on a terminal of this size.
    pub fn new(size: (u16, u16)) -> Self {
        App {
            world: InboxState::default(),
            current: None,
            held: None,
            pane: Pane::List,
            drafts: BTreeMap::new(),
            is_typing: false,
            at: None,
            modal: None,
            said: None,
            sending: BTreeSet::new(),
            waiting: Vec::new(),
            groups: Vec::new(),
            told: None,
            size,
            is_fresh: false,
            is_pressed: false,
            is_burst: false,
            is_rushed: false,
            is_word: false,
            is_stray: false,
            search: Search::default(),
            place: 0,
            about: None,
            known: None,
        }
    }

    /// Returns whether the list and a question stand side by side.
    pub fn is_wide(&self) -> bool {
        self.size.0 >= WIDE
    }

    /// Returns the current question.
    pub fn item(&self) -> Option<&QuestionItem> {
        let id = self.current.as_ref()?;
        let mut all = self.world.open.iter().chain(&self.world.settled);
        all.find(|item| item.record.id == *id).or(self.held.as_ref().filter(|item| item.record.id == *id))
    }

    /// Returns the current question if it can be answered.
    pub fn open_item(&self) -> Option<&QuestionItem> {
        self.item().filter(|item| item.record.is_open() && item.record.state != State::Delivering)
    }

    /// Returns the draft of the current question.
    pub fn draft(&self) -> Option<&Draft> {
        self.drafts.get(self.current.as_ref()?)
    }

    /// Returns whether unchanged lines of the current permission are shown, however many stand together.
    pub(super) fn is_unfolded(&self) -> bool {
        self.draft().is_some_and(|draft| draft.is_unfolded)
    }

    /// Returns whether unchanged lines of the current permission are folded.
    pub(super) fn has_folds(&self) -> bool {
        let columns = self.card_columns();
        let Some(item) = self.item().filter(|_| !self.is_unfolded()) else { return false };
        let ready = self.about.as_ref().filter(|about| about.of(&item.record, columns, false).is_some());
        ready.map_or_else(|| has_folds(&item.record.question), |about| about.has_folds)
    }

    /// Returns the draft of the current question, to be changed; `None` if the question cannot be answered.
    pub fn draft_mut(&mut self) -> Option<(Arc<Record>, &mut Draft)> {
        let record = Arc::clone(&self.open_item()?.record);
        let draft = self.drafts.entry(record.id.clone()).or_insert_with(|| Draft::new(&record));
        Some((record, draft))
    }

    /// Returns whether something was typed that is not sent.
    pub fn has_drafts(&self) -> bool {
        let open = |id: &QuestionId| self.world.open.iter().any(|item| item.record.id == *id);
        let is_left = |id: &QuestionId| open(id) && !self.is_waiting(id);
        self.drafts.iter().any(|(id, draft)| draft.is_touched && is_left(id))
    }

    /// Reports a result.
    pub fn say(&mut self, text: impl Into<String>) {
        self.said = Some(StatusLine { text: text.into(), is_error: false });
    }

    /// Reports a mistake.
    pub fn complain(&mut self, text: impl Into<String>) {
        self.said = Some(StatusLine { text: text.into(), is_error: true });
    }

    /// Takes over the current questions. An arrival never moves the user to another question.
    pub fn update(&mut self, world: InboxState) -> Vec<Effect> {
        let before = self.item().cloned();
        self.world = world;
        let open: BTreeSet<_> = self.world.open.iter().map(|item| item.record.id.clone()).collect();
        // What was set aside is news again once it is back.
        let at_hand = self.world.open.iter().filter(|item| item.record.later.is_none());
        let at_hand: BTreeSet<_> = at_hand.map(|item| item.record.id.clone()).collect();
        let mut effects = self.news(&at_hand);
        if let Some(before) = before {
            effects.extend(self.follow(before));
        }
        let order = self.ids();
        if self.current.is_none() && !order.is_empty() {
            self.select(order.first().cloned());
            // At the start, no key can be meant for a question from before.
            if self.known.is_some() {
                effects.push(self.appear());
            }
        }
        self.keep_place();
        self.keep_together();
        let current = self.current.clone();
        // The card of a settled question still shows what was typed and not sent.
        self.drafts.retain(|id, _| open.contains(id) || Some(id) == current.as_ref());
        self.known = Some(at_hand);
        effects
    }

    /// Returns a notification about the questions that are new. Those that were there at the start are not.
    fn news(&self, open: &BTreeSet<QuestionId>) -> Vec<Effect> {
        let Some(known) = &self.known else { return Vec::new() };
        let is_new = |item: &&QuestionItem| {
            let id = &item.record.id;
            open.contains(id) && !known.contains(id)
        };
        let new: Vec<_> = self.world.open.iter().filter(is_new).collect();
        match &*new {
            [] => Vec::new(),
            [item] => vec![Effect::Tell(format!("{} asks: {}", name(item), text::headline(&item.record)))],
            several => vec![Effect::Tell(format!("{} new questions wait", several.len()))],
        }
    }

    /// Reports how the current question ended, if it did so elsewhere, and that its text has changed.
    fn follow(&mut self, before: QuestionItem) -> Option<Effect> {
        if !before.record.is_open() {
            return None;
        }
        let now = self.item().cloned();
        if let Some(now) = now.as_ref().filter(|now| now.record.is_open()) {
            return (now.record.edition != before.record.edition).then(|| self.changed(&now.record.id));
        }
        // A pending confirmation is dropped, since its question is no longer open.
        (self.modal, self.is_typing, self.at) = (None, false, None);
        let id = before.record.id.clone();
        // The result of the submission from here says how it ended.
        if self.sending.contains(&id) {
            self.held = Some(now.unwrap_or(before));
            return None;
        }
        let ended = now.as_ref().and_then(|item| item.record.settlement.as_deref());
        let how = ended.map_or_else(|| "gone".to_owned(), |ended| settlement(&before.record.question, ended));
        self.say(format!("{id} is over: {how}"));
        self.held = Some(now.unwrap_or(before));
        None
    }

    /// Shows that the text of the current question has changed. Keys that were meant for the earlier text decide
    /// nothing, and the draft stays (I13).
    fn changed(&mut self, id: &QuestionId) -> Effect {
        (self.modal, self.is_typing, self.at) = (None, false, None);
        if let Some(draft) = self.drafts.get_mut(id) {
            (draft.is_read, draft.is_unfolded, draft.scroll) = (false, false, None);
        }
        self.complain(format!("{id} has changed while you looked: read it again"));
        self.appear()
    }

    /// Makes a question the current one.
    pub fn select(&mut self, id: Option<QuestionId>) {
        self.is_fresh = false;
        if id != self.current {
            self.current = id;
            (self.is_typing, self.at) = (false, None);
            // The snapshot drops settled questions after a while, but this one must stay on the screen while the user
            // looks at it.
            self.held = self.item().cloned();
        }
        self.keep_place();
    }

    /// Remembers the place of the current question in the list, which it leaves when it is answered.
    fn keep_place(&mut self) {
        let current = self.ids().iter().position(|id| Some(id) == self.current.as_ref());
        self.place = current.unwrap_or(self.place);
    }

    /// Begins the pause after a question that appeared by itself, or begins it again: a person who pressed a key too
    /// early has not noticed yet that there is another question.
    pub(super) fn appear(&mut self) -> Effect {
        self.is_fresh = true;
        Effect::Pause
    }

    /// Selects the next question once the current one is answered: the one that took its place in the list or, at the
    /// end, the one before it. Dangerous questions are passed over while anything else waits: the person goes there by
    /// a key.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        let (order, open) = (self.order(), &self.world.open);
        let is_plain = |place: &&usize| !open[**place].record.question.risk().is_dangerous();
        let (before, behind) = order.split_at(self.place.min(order.len()));
        // What can be taken back keeps its place in the list.
        let [before, behind] = [before, behind].map(|part| {
            let is_left = |place: &&usize| {
                let record = &open[**place].record;
                record.later.is_none() && !self.is_waiting(&record.id)
            };
            part.iter().filter(is_left).copied().collect::<Vec<_>>()
        });
        let plain = behind.iter().find(is_plain).or_else(|| before.iter().rev().find(is_plain));
        let next = plain.or_else(|| behind.first()).or_else(|| before.last());
        let next = next.map(|place| open[*place].record.id.clone());
        // No key decides anything in the list, so one that is pressed too early does no harm.
        self.pane = Pane::List;
        if next.is_none() {
            return Vec::new();
        }
        self.select(next);
        vec![self.appear()]
    }
}

/// Returns the agent that asks, the project that it works in, and its machine where that is another one.
pub fn name(item: &QuestionItem) -> String {
    let agent = item.agent.as_deref().map_or_else(|| "an agent".to_owned(), |agent| text::short(agent, 40));
    let project = text::project(&item.record.question);
    let project = project.map(|project| format!(" in {}", text::short(&project, 40))).unwrap_or_default();
    agent + &project + &text::on_machine(&item.record)
}
