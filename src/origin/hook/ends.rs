//! The two places that tell how a dialog ended: the transcript of the session, and the hooks that run afterwards.

use super::{spool::Spool, tail::Tail};
use crate::{
    dialect::claude::{HookCall, Watch},
    question::{Outcome, Question},
};

/// Tells how a dialog ended.
#[derive(Debug)]
pub(super) struct Ends {
    /// `None` for what is no tool call.
    watch: Option<Watch>,
    transcript: Option<Tail>,
    spool: Option<Spool>,
    has_looked: bool,
}

impl Ends {
    /// Looks at what belongs to this call. What is not there is not looked at.
    pub(super) fn new(call: &HookCall, question: Question) -> Self {
        // A transcript that is made later has nothing of what was before.
        let transcript = call.transcript.as_ref().map(|path| Tail::new(path.into()));
        Ends {
            watch: Watch::new(call, question),
            transcript,
            spool: Spool::new(&call.session).ok(),
            has_looked: false,
        }
    }

    /// Returns how the dialog ended, if that is told by now.
    pub(super) fn look(&mut self) -> Option<Outcome> {
        let watch = self.watch.as_mut()?;
        let mut outcome = None;
        let was_before = !std::mem::replace(&mut self.has_looked, true);
        if let Some(transcript) = &mut self.transcript {
            transcript.read(|line| outcome = outcome.take().or_else(|| watch.line(line)));
            // What ended before the hook started was another call with the same input.
            outcome = outcome.filter(|_| !was_before);
        }
        if let Some(spool) = &mut self.spool {
            spool.read(|line| {
                let told = || watch.event(&HookCall::read(line)?);
                outcome = outcome.take().or_else(told);
            });
        }
        outcome
    }
}
