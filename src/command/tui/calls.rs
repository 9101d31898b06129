//! What the full-screen inbox asks of the bridges, of files and of the processor, each with an event as its result. When that
//! is asked is left to `run.rs`.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use askbridge_control::{inbox::Inbox as _, join::JoinedInbox};
use ratatui::layout::Size;
use tokio::task::{AbortHandle, JoinSet, spawn_blocking};

use super::{
    event::{Effect, TuiEvent},
    graphics::Graphics,
    picture::{Picture, Wanted},
    proposed_rule::ProposedRule,
    screen::guarded,
};
use crate::present::text;

/// Begins what an effect asks for; returns the effect if it is another one.
pub(super) fn begin(effect: Effect, joined: &JoinedInbox, calls: &mut JoinSet<TuiEvent>) -> Option<Effect> {
    match effect {
        // The journal and the settings are files.
        Effect::Propose(record) => {
            let id = record.id.clone();
            calls.spawn_blocking(move || TuiEvent::Proposed(id, ProposedRule::of(&record)));
        }
        Effect::Write(record, seen) => {
            calls.spawn_blocking(move || TuiEvent::Written(ProposedRule::write(&record, &seen)));
        }
        Effect::Lead(record) => {
            let joined = joined.clone();
            calls.spawn(async move { TuiEvent::Led(record.id.clone(), joined.context(&record).await) });
        }
        other => return Some(other),
    }
    None
}

/// Makes pictures, one at a time, since each takes a lot of memory; of those that wait, only the last is made.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    /// The number of the last one.
    last: Arc<AtomicUsize>,
    making: Arc<Mutex<()>>,
    task: Option<AbortHandle>,
}

impl Pictures {
    /// Asks for an image, and makes it ready to be shown. One that was asked for before has no result any more.
    pub(super) fn begin(
        &mut self,
        joined: JoinedInbox,
        wanted: Wanted,
        graphics: Graphics,
        calls: &mut JoinSet<TuiEvent>,
    ) {
        let (last, making) = (Arc::clone(&self.last), Arc::clone(&self.making));
        let number = last.fetch_add(1, Ordering::Relaxed) + 1;
        let task = calls.spawn(async move {
            let data = match joined.image(&wanted.record, wanted.number).await {
                Ok(data) => data,
                Err(refusal) => return TuiEvent::Pictured(wanted, Err(text::refusal(&refusal))),
            };
            let format = wanted.record.image(wanted.number).map(|image| image.format);
            let room = Size::new(wanted.columns, wanted.lines);
            let make = move || {
                let _turn = making.lock().unwrap_or_else(PoisonError::into_inner);
                let format = format.filter(|_| last.load(Ordering::Relaxed) == number)?;
                // A decoder may panic on data that nobody has foreseen.
                Some(guarded(|| Picture::new(&data, format, graphics, room)))
            };
            let made = spawn_blocking(make).await.ok().flatten();
            TuiEvent::Pictured(wanted, made.unwrap_or_else(|| Err("its data is damaged".to_owned())))
        });
        if let Some(before) = self.task.replace(task) {
            before.abort();
        }
    }
}
