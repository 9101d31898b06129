//! The service for unattended questions: if nobody can answer, it rejects the question or ends the agent. It never
//! makes up an answer. The conditions are left to the settings.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    env,
    fs::File,
    sync::Arc,
};

use askbridge_control::{
    inbox::{Batch, BridgeInbox, Inbox},
    rpc::host::{Service, Starts},
};
use askbridge_core::{
    desk::{QuestionId, Record, Submission},
    question::{Provenance, Responder},
};
use askbridge_os::{
    log,
    terminal::{cut, printable_line},
};
use askbridge_settings::{
    files::Live,
    resolved::{UnattendedAction, UnattendedConditions, UnattendedSettings},
};
use futures::future::BoxFuture;
use rustix::process::{Signal, getpid, kill_process};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::context::{AgentEndFlag, Context};
use crate::limits;

/// The rule name in the provenance of its rejections.
const NAME: &str = "unattended";
/// The reason for the agent, if it has a place for one.
const REASON: &str = "no person can answer here";
/// The most columns of a question in the log.
const HEADLINE: usize = 200;

/// The action for a question, according to the current settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Policy {
    /// The action for a question.
    then: UnattendedAction,
    /// Whether the action is only for questions that the client does not show.
    no_client: bool,
}

/// The source of the policy. Cheap to clone.
#[derive(Clone, Debug)]
struct PolicySource {
    live: Arc<Live>,
    /// The action from the command line, which overrides the settings.
    fixed: Option<UnattendedAction>,
}

impl PolicySource {
    fn now(&self) -> Policy {
        let UnattendedSettings { then, when } = self.live.settings().unattended();
        let UnattendedConditions { no_client, no_terminal, ci } = when;
        // stdin and stdout are pipes in any case; `/dev/tty` opens only if there is a controlling terminal.
        let has_terminal = || File::open("/dev/tty").is_ok();
        let is_ci = || env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let holds = (!no_terminal || !has_terminal()) && (!ci || is_ci());
        Policy { then: if holds { self.fixed.unwrap_or(then) } else { UnattendedAction::Wait }, no_client }
    }
}

/// Handles the unattended questions of one bridge.
#[derive(Debug)]
pub struct UnattendedService {
    source: PolicySource,
    failed: AgentEndFlag,
}

impl UnattendedService {
    /// Returns the service, which every bridge has: the settings may change while it runs.
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        let bridge = context.bridge.as_ref()?;
        let fixed = bridge.inbox.unattended_is_fixed.then_some(bridge.inbox.unattended.then);
        let source = PolicySource { live: Arc::clone(&bridge.live), fixed };
        Some(Box::new(UnattendedService { source, failed: bridge.failed.clone() }))
    }

    async fn follow(self, inbox: BridgeInbox) {
        let mut follower = inbox.store().follow();
        // Questions wait a moment here, so that rules and earlier answers come first.
        let mut waiting: VecDeque<(Instant, QuestionId)> = VecDeque::new();
        // The policy of each open question, from the settings when it opened.
        let mut policies: BTreeMap<QuestionId, Policy> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        loop {
            // All questions wait equally long, so the front is due first.
            let due = waiting.front().map(|(due, _)| *due);
            tokio::select! {
                batch = follower.next() => {
                    let Some(batch) = batch else { return };
                    let changed: Vec<_> = match batch {
                        Batch::Snapshot { open, .. } => open,
                        Batch::Events { events, .. } => {
                            events.into_iter().map(|(_, event)| Arc::clone(event.record())).collect()
                        }
                    };
                    let due = Instant::now() + limits::UNATTENDED;
                    for record in changed.iter().filter(|record| record.is_open()) {
                        let policy = policies.entry(record.id.clone()).or_insert_with(|| self.source.now());
                        // When its client fails, a question is left to other responders, and the decision is made
                        // again.
                        if policy.then != UnattendedAction::Wait
                            && seen.insert((record.id.clone(), record.elsewhere)) {
                            waiting.push_back((due, record.id.clone()));
                        }
                    }
                    let is_open =
                        |id: &QuestionId| inbox.store().read(|_, now| now.get(id).is_some_and(|it| it.is_open()));
                    seen.retain(|(id, _)| is_open(id));
                    policies.retain(|id, _| is_open(id));
                }
                // The future is created even if its branch is disabled, so it needs some time.
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let Some((_, id)) = waiting.pop_front() else { continue };
                    if let Some(policy) = policies.get(&id).copied() {
                        self.decide(&inbox, &id, policy).await;
                    }
                }
            }
        }
    }

    async fn decide(&self, inbox: &BridgeInbox, id: &QuestionId, Policy { then, no_client }: Policy) {
        // Since the question was noted, it may have been settled, or a client may show it now.
        let known = inbox.store().read(|_, now| now.get(id).cloned());
        let is_concerned = |record: &Arc<Record>| record.is_open() && (record.elsewhere || !no_client);
        let Some(record) = known.filter(is_concerned) else { return };
        match then {
            UnattendedAction::Wait => {}
            UnattendedAction::Reject => {
                let by = Provenance { responder: Responder::Rule, name: Some(NAME.to_owned()) };
                let rejected = inbox.submit(id, Submission::Reject(Some(REASON.to_owned())), by).await;
                if let Err(error) = rejected {
                    tracing::debug!(%id, %error, "a question was settled before it was rejected");
                }
            }
            UnattendedAction::Fail => {
                let headline = record.question.headline();
                let asked = printable_line(headline.trim());
                log::notice(&format!("no person can answer question {id}: {}", cut(&asked, HEADLINE)));
                self.failed.set();
                // The bridge ends as when the user ends it: the agent gets its grace period.
                if let Err(error) = kill_process(getpid(), Signal::TERM) {
                    tracing::warn!(%error, "could not end the agent");
                }
            }
        }
    }
}

impl Service for UnattendedService {
    fn name(&self) -> &'static str {
        NAME
    }

    fn starts(&self) -> Starts {
        let source = self.source.clone();
        Starts::WithQuestion(Arc::new(move || source.now().then != UnattendedAction::Wait))
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stop.run_until_cancelled(self.follow(inbox)).await;
        })
    }
}
