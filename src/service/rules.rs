//! The rules service: applies the user's rules to each question that opens in an inbox. `rule` decides, and this
//! service submits the decision as any responder submits an answer.
//!
//! The settings are read again when the user's file has changed. New rules do not apply to questions that were open
//! before, except by `askbridge rules apply`. A question that changes is judged anew.

use std::{sync::Arc, time::SystemTime};

use askbridge_control::{
    inbox::{BridgeInbox, Inbox, openings::Openings, real_files::RealFiles},
    rpc::host::{Service, Starts},
};
use askbridge_core::{
    desk::{QuestionId, Record, Refusal, State, Submission, Timestamp},
    question::{Provenance, Responder},
};
use askbridge_os::terminal::printable_line;
use askbridge_settings::{
    Settings,
    files::Live,
    rule::{Decision, Rule, RuleEffect, decide},
};
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::context::{Context, LogOnce};

/// Applies the rules to the questions of one inbox.
#[derive(Debug)]
pub struct RuleService {
    /// The user's own file: no other file can have rules.
    live: Arc<Live>,
}

impl RuleService {
    /// Returns the service, which every inbox has: rules may be added while it runs.
    #[expect(clippy::unnecessary_wraps, reason = "the list of services asks each whether this inbox has it")]
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        Some(Box::new(RuleService { live: Arc::clone(&context.live) }))
    }
}

/// Returns the provenance of a rule's decision.
pub fn by(rule: &str) -> Provenance {
    Provenance { responder: Responder::Rule, name: Some(rule.to_owned()) }
}

impl Service for RuleService {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn starts(&self) -> Starts {
        let live = Arc::clone(&self.live);
        Starts::WithQuestion(Arc::new(move || !live.settings().rules().is_empty()))
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stop.run_until_cancelled(RunningRules::new(inbox, self.live).run()).await;
        })
    }
}

struct RunningRules {
    inbox: BridgeInbox,
    live: Arc<Live>,
    /// The settings of the last look.
    settings: Option<Arc<Settings>>,
    submissions: JoinSet<()>,
    logged: LogOnce,
}

impl RunningRules {
    fn new(inbox: BridgeInbox, live: Arc<Live>) -> Self {
        RunningRules { inbox, live, settings: None, submissions: JoinSet::new(), logged: LogOnce::default() }
    }

    async fn run(mut self) {
        // What has changed is judged anew (I13).
        let mut openings = Openings::with_changes(self.inbox.store());
        let mut is_first = true;
        loop {
            tokio::select! {
                opened = openings.next() => {
                    let Some(opened) = opened else { return };
                    self.look(&opened, is_first);
                    is_first = false;
                }
                Some(_) = self.submissions.join_next() => {}
            }
        }
    }

    /// Applies the rules to questions that have opened.
    fn look(&mut self, opened: &[Arc<Record>], is_first: bool) {
        if opened.is_empty() {
            return;
        }
        let settings = self.read();
        for record in opened.iter().filter(|record| record.state == State::Open) {
            // If the first rules start the service, older questions are open already, and the rules must not apply to
            // them.
            if !is_first || self.opened_since_written(record) {
                self.apply(settings.rules(), record);
            }
        }
    }

    /// Returns the current settings. If a file has changed since the start, logs its problems, once each. The problems
    /// at the start were logged at the start.
    fn read(&mut self) -> Arc<Settings> {
        let settings = self.live.settings();
        let is_known = self.settings.as_ref().is_some_and(|known| Arc::ptr_eq(known, &settings));
        if !is_known && self.live.has_changed() {
            let problems = settings.problems().iter().map(ToString::to_string);
            for problem in problems.filter(|problem| self.logged.is_new(problem)) {
                tracing::warn!("settings: {}", printable_line(&problem));
            }
        }
        self.settings = Some(Arc::clone(&settings));
        settings
    }

    /// Returns whether a question opened after the user's file was written. Compares ages and not times, because the
    /// clock of the bridge stops while the machine sleeps.
    fn opened_since_written(&self, record: &Record) -> bool {
        let Some(written_at) = self.live.written_at() else { return false };
        let written = SystemTime::now().duration_since(written_at).unwrap_or_default();
        let now: Timestamp = self.inbox.identity().started_at.after(self.inbox.uptime());
        now.since(record.opened_at) <= written
    }

    fn apply(&mut self, rules: &[Rule], record: &Record) {
        let Some(Decision { rule, what }) = decide(rules, record, &RealFiles) else { return };
        tracing::debug!(id = %record.id, rule = &*printable_line(&rule), "a rule decides a question");
        if let RuleEffect::Submit(submission) = what {
            let (inbox, id) = (self.inbox.clone(), record.id.clone());
            // A submission lasts until the agent has read it, and must not delay the rules for other questions.
            self.submissions.spawn(submit(inbox, id, submission, rule));
        }
    }
}

/// Submits the decision of a rule. If that fails, the question stays open for the user.
async fn submit(inbox: BridgeInbox, id: QuestionId, submission: Submission, rule: Arc<str>) {
    match inbox.submit(&id, submission, by(&rule)).await {
        Ok(_) => {}
        // This is not a problem: another responder was faster.
        Err(
            refusal @ (Refusal::Conflict(_) | Refusal::Changed(_) | Refusal::Gone(_) | Refusal::NotFound),
        ) => {
            tracing::debug!(%id, %refusal, "a question was settled, or has changed, before its rule could decide");
        }
        Err(refusal) => {
            let rule = printable_line(&rule);
            tracing::warn!(%id, %refusal, rule = &*rule, "the decision of a rule was refused");
        }
    }
}
