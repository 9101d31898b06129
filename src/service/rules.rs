//! The rules service: applies the user's rules to each question that opens in an inbox. `rule` decides, and the
//! decision is submitted as every responder's answer is.
//!
//! The settings are read again when the user's file has changed. A question that was open before is left as it is: only
//! `askbridge rules apply` applies new rules to it.

use std::{
    collections::BTreeSet,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, State, Submission, Timestamp},
    question::{Provenance, Responder},
};
use askbridge_os::terminal::printable_line;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    inbox::{BridgeInbox, Inbox, real_files::RealFiles},
    rpc::host::{NeedsQuestions, Service},
    rule::{Decision, Rule, RuleEffect, decide},
    settings::files::{self, Version},
};

/// Different problems of the settings that are logged, each once.
const LOGGED: usize = 64;

/// Applies the rules to the questions of one inbox.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleService;

impl RuleService {
    /// Returns whether there are rules now. The settings are read again only if the person's own file changed: no other
    /// file can have rules.
    pub fn needs_questions() -> NeedsQuestions {
        let seen = Mutex::new(None);
        Arc::new(move || {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            // Before it is read, so that a change in between is seen the next time.
            let version = files::user_version();
            match &*seen {
                Some((known, has_rules)) if *known == version => *has_rules,
                _ => {
                    let has_rules = !files::read(None).rules().is_empty();
                    *seen = Some((version, has_rules));
                    has_rules
                }
            }
        })
    }
}

/// Returns the responder that a rule is.
pub fn by(rule: &str) -> Provenance {
    Provenance { responder: Responder::Rule, name: Some(rule.to_owned()) }
}

impl Service for RuleService {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn run(
        self: Box<Self>,
        inbox: BridgeInbox,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            tokio::select! {
                () = RunningRules::new(inbox).run() => {}
                () = stop.cancelled() => {}
            }
        })
    }
}

struct RunningRules {
    inbox: BridgeInbox,
    rules: Vec<Rule>,
    /// The person's file that the rules are from. `None` before it is looked at.
    version: Option<Option<Version>>,
    /// The person's file as the service started. What is wrong in it was logged by then.
    first_version: Option<Version>,
    /// The open questions that the rules were applied to.
    seen: BTreeSet<QuestionId>,
    submissions: JoinSet<()>,
    logged: BTreeSet<String>,
}

impl RunningRules {
    fn new(inbox: BridgeInbox) -> Self {
        RunningRules {
            inbox,
            rules: Vec::new(),
            version: None,
            first_version: files::user_version(),
            seen: BTreeSet::new(),
            submissions: JoinSet::new(),
            logged: BTreeSet::new(),
        }
    }

    async fn run(mut self) {
        let mut follower = self.inbox.store().follow();
        let mut is_first = true;
        loop {
            tokio::select! {
                batch = follower.next() => {
                    if batch.is_none() {
                        return;
                    }
                    self.look(is_first);
                    is_first = false;
                }
                Some(_) = self.submissions.join_next() => {}
            }
        }
    }

    /// Applies the rules to what has opened since the last look.
    fn look(&mut self, is_first: bool) {
        let open = self.inbox.store().read(|_, snapshot| snapshot.open());
        let is_new = |record: &&Arc<Record>| !self.seen.contains(&record.id);
        let new: Vec<_> = open.iter().filter(is_new).map(Arc::clone).collect();
        self.seen = open.iter().map(|record| record.id.clone()).collect();
        if new.is_empty() {
            return;
        }
        self.read();
        for record in new.iter().filter(|record| record.state == State::Open) {
            // The service may start with questions that were open before there were rules.
            if !is_first || self.opened_since_written(record) {
                self.apply(record);
            }
        }
    }

    /// Reads the rules again if the person's file has changed.
    fn read(&mut self) {
        let version = files::user_version();
        if self.version == Some(version) {
            return;
        }
        let settings = files::read(None);
        for problem in settings.problems().iter().map(ToString::to_string) {
            if self.logged.len() < LOGGED
                && self.logged.insert(problem.clone())
                && version != self.first_version
            {
                tracing::warn!("settings: {}", printable_line(&problem));
            }
        }
        self.rules = settings.rules().to_vec();
        self.version = Some(version);
        tracing::debug!(rules = self.rules.len(), "the rules were read");
    }

    /// Returns whether a question opened after the person's file was written. Ages are compared, since the clock of the
    /// bridge stands still while the machine sleeps.
    fn opened_since_written(&self, record: &Record) -> bool {
        let Some(Some(version)) = &self.version else { return false };
        let written = SystemTime::now().duration_since(version.changed_at()).unwrap_or_default();
        let now: Timestamp = self.inbox.identity().started_at.after(self.inbox.uptime());
        now.since(record.opened_at) <= written
    }

    fn apply(&mut self, record: &Record) {
        let Some(Decision { rule, what }) = decide(&self.rules, record, &RealFiles) else { return };
        tracing::debug!(id = %record.id, rule = &*printable_line(&rule), "a rule applies");
        if let RuleEffect::Submit(submission) = what {
            let (inbox, id) = (self.inbox.clone(), record.id.clone());
            self.submissions.spawn(submit(inbox, id, submission, rule));
        }
    }
}

/// Submits what a rule decides. Whatever fails leaves the question to the person.
async fn submit(inbox: BridgeInbox, id: QuestionId, submission: Submission, rule: Arc<str>) {
    match inbox.submit(&id, submission, by(&rule)).await {
        Ok(_) => {}
        Err(refusal @ (Refusal::Conflict(_) | Refusal::Gone(_) | Refusal::NotFound)) => {
            tracing::debug!(%id, %refusal, "a question was settled before its rule");
        }
        Err(refusal) => {
            let rule = printable_line(&rule);
            tracing::warn!(%id, %refusal, rule = &*rule, "what a rule decided was refused");
        }
    }
}
