//! Attaches to agents that run on this machine: looks for them periodically, and starts a task for each. Passwords and
//! tokens are kept in a type that neither a log nor an error prints. How an agent of one kind is found, and what the
//! task does, is left to that kind.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt,
    future::pending,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{
    task::{Id, JoinSet},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::AgentInboxes;
use crate::limits;

/// The factory of the agents' inboxes.
pub type SharedInboxes = Arc<dyn AgentInboxes + Send + Sync>;

/// The task that is attached to one agent. It ends when the agent is gone, and the frame then looks for the agent
/// again. Dropping the task detaches from the agent, and settles nothing there.
pub type Attachment = BoxFuture<'static, ()>;

/// An agent that was found.
pub struct FoundAgent {
    /// The identity of the agent: its kind, and the address at which it listens. The agent has the same key whenever
    /// it is found.
    pub key: String,
    /// Attaches to the agent. Called only while nothing is attached to it.
    pub attach: Box<dyn FnOnce(SharedInboxes) -> Attachment + Send>,
}

impl fmt::Debug for FoundAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Found").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Finds the running agents of one kind.
pub trait Finder: Send {
    /// Returns the name of the kind, for logs.
    fn name(&self) -> &'static str;

    /// Returns the agents that run now. The search must be cheap, because it runs every [`limits::ATTACH_LOOK`]. A
    /// search that takes longer than [`limits::ATTACH_LOOK_TIME`] is dropped, and repeated later.
    fn look(&mut self) -> BoxFuture<'_, Vec<FoundAgent>>;
}

/// Looks for agents, and attaches to each of them, until the future is dropped.
pub async fn attach(mut finders: Vec<Box<dyn Finder>>, hosts: SharedInboxes) -> Infallible {
    // Without a finder, the loop would only wake up periodically.
    if finders.is_empty() {
        return pending().await;
    }
    let mut frame =
        Frame { tasks: JoinSet::new(), running: BTreeMap::new(), resting: BTreeMap::new(), hosts };
    loop {
        for finder in &mut finders {
            // One search that hangs must not keep the agents of other kinds from being found.
            match timeout(limits::ATTACH_LOOK_TIME, finder.look()).await {
                Ok(found) => found.into_iter().for_each(|found| frame.start(found)),
                Err(_) => tracing::debug!(agent = finder.name(), "the search for agents takes too long"),
            }
        }
        frame.rest_until(Instant::now() + limits::ATTACH_LOOK).await;
    }
}

struct Frame {
    tasks: JoinSet<()>,
    running: BTreeMap<Id, (String, Instant)>,
    /// Agents whose last attachment ended soon: how often in a row, and when the next attachment may start.
    resting: BTreeMap<String, (u32, Instant)>,
    hosts: SharedInboxes,
}

impl Frame {
    fn start(&mut self, found: FoundAgent) {
        let FoundAgent { key, attach } = found;
        let now = Instant::now();
        let is_running = self.running.values().any(|(running, _)| *running == key);
        let is_resting = self.resting.get(&key).is_some_and(|(_, until)| *until > now);
        if is_running || is_resting || self.running.len() >= limits::ATTACHMENTS {
            return;
        }
        let task = self.tasks.spawn(attach(Arc::clone(&self.hosts)));
        self.running.insert(task.id(), (key, now));
    }

    /// Waits until this time, and records the attachments that end meanwhile.
    async fn rest_until(&mut self, then: Instant) {
        loop {
            tokio::select! {
                () = sleep_until(then) => break,
                Some(ended) = self.tasks.join_next_with_id() => {
                    let id = match ended {
                        Ok((id, ())) => id,
                        // A panic in one attachment must not end the others.
                        Err(error) => {
                            tracing::warn!(%error, "an attachment to an agent broke off");
                            error.id()
                        }
                    };
                    self.ended(id);
                }
            }
        }
        let now = Instant::now();
        // Without this, each agent that ever failed would stay in the map.
        self.resting.retain(|_, (_, until)| *until + limits::ATTACH_BACK_OFF > now);
    }

    /// Delays the next attachment to an agent if this one ended soon. The delay grows each time.
    fn ended(&mut self, id: Id) {
        let Some((key, started)) = self.running.remove(&id) else { return };
        // An attachment that lasted shows that the agent works, so the delays start over.
        if started.elapsed() >= limits::ATTACH_BACK_OFF {
            self.resting.remove(&key);
            return;
        }
        let (times, _) = self.resting.get(&key).copied().unwrap_or((0, started));
        let rest = back_off(limits::ATTACH_LOOK, times, limits::ATTACH_BACK_OFF);
        self.resting.insert(key, (times.saturating_add(1), Instant::now() + rest));
    }
}

/// The last error of each agent that cannot be attached to, so that it is logged once. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Complaints(Arc<Mutex<BTreeMap<String, String>>>);

impl Complaints {
    /// Records how an attachment to this agent ended. A problem is logged unless it is the same as the last one.
    pub(super) fn note(&self, agent: &str, problem: Option<String>) {
        if self.is_new(agent, problem.as_deref()) {
            tracing::warn!("{agent} {}", problem.unwrap_or_default());
        }
    }

    fn is_new(&self, agent: &str, problem: Option<&str>) -> bool {
        // No code panics while it holds the lock, so its data is consistent.
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The entry is removed even without a problem, so that the same problem is logged again when it comes back.
        let before = said.remove(agent);
        let Some(problem) = problem else { return false };
        if said.len() >= limits::ATTACHMENTS {
            said.pop_first();
        }
        said.insert(agent.to_owned(), problem.to_owned());
        before.as_deref() != Some(problem)
    }
}

/// The pauses between attempts to connect to an agent. They grow until a connection lasts: this program must not
/// connect in a loop to an agent that accepts a connection and closes it at once.
#[derive(Debug, Default)]
pub(super) struct Retry {
    times: u32,
    /// When the last attempt began.
    last: Option<Instant>,
}

impl Retry {
    /// Waits until the next attempt. The first attempt after a connection that lasted has no pause.
    pub(super) async fn pause(&mut self) {
        if self.last.is_some_and(|at| at.elapsed() >= limits::ATTACH_BACK_OFF) {
            self.times = 0;
        }
        if let Some(before) = self.times.checked_sub(1) {
            sleep(back_off(limits::ATTACH_AGAIN, before, limits::ATTACH_ANSWER)).await;
        }
        self.times = self.times.saturating_add(1);
        self.last = Some(Instant::now());
    }
}

/// Returns a pause that doubles each time, up to the longest.
pub(super) fn back_off(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(times.min(16))).min(longest)
}

/// A secret text, which `Debug` hides, so that no log prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the secret text. Send it only to the server that it belongs to.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Secret(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use askbridge_control::join::discovery::DiscoveryError;

    use super::*;
    use crate::{AgentIdentity, AgentInbox, limits};

    struct NoHosts;

    impl AgentInboxes for NoHosts {
        fn host(&self, _: AgentIdentity) -> Result<AgentInbox, DiscoveryError> {
            panic!("no agent asks for an inbox")
        }
    }

    /// Finds one agent each time. Attaching to it counts, and ends at once or never.
    struct Always {
        started: Arc<AtomicUsize>,
        ends: bool,
    }

    impl Finder for Always {
        fn name(&self) -> &'static str {
            "always"
        }

        fn look(&mut self) -> BoxFuture<'_, Vec<FoundAgent>> {
            let (started, ends) = (Arc::clone(&self.started), self.ends);
            let attach = move |_| {
                started.fetch_add(1, Ordering::Relaxed);
                let running = async move {
                    if !ends {
                        pending().await
                    }
                };
                Box::pin(running) as Attachment
            };
            let found = FoundAgent { key: "always".to_owned(), attach: Box::new(attach) };
            Box::pin(async { vec![found] })
        }
    }

    #[test]
    fn problem_is_said_once_for_each_agent() {
        let complaints = Complaints::default();
        let is_new = |agent: &str, problem| complaints.is_new(agent, problem);
        assert!(is_new("a", Some("is full")) && is_new("b", Some("is slow")));
        assert!(!is_new("a", Some("is full")) && !is_new("b", Some("is slow")));
        assert!(is_new("a", Some("is gone")));
        // It was attached to meanwhile.
        assert!(!is_new("a", None) && is_new("a", Some("is gone")));
        for agent in 0..2 * limits::ATTACHMENTS {
            is_new(&format!("{agent:03}"), Some("is full"));
        }
        assert_eq!(complaints.0.lock().unwrap().len(), limits::ATTACHMENTS);
    }

    /// Returns how often an agent is connected to again within a minute whose connections last so long.
    async fn connected(lasting: Duration) -> usize {
        let (mut times, mut retry) = (0, Retry::default());
        let connecting = async {
            loop {
                retry.pause().await;
                times += 1;
                tokio::time::advance(lasting).await;
            }
        };
        assert!(timeout(Duration::from_secs(60), connecting).await.is_err());
        times
    }

    #[tokio::test(start_paused = true)]
    async fn connection_that_breaks_at_once_is_opened_again_less_and_less_often() {
        // Pauses of 0, 0.1, 0.2, 0.4, 0.8, and then 1 s.
        assert!((60..=64).contains(&connected(Duration::ZERO).await));
        // There is no pause after a connection that lasted. The last one starts as the minute ends.
        assert_eq!(connected(limits::ATTACH_BACK_OFF).await, 9);
    }

    /// Returns how often an agent is attached to within a minute.
    async fn attached(ends: bool) -> usize {
        let started = Arc::default();
        let finder = Always { started: Arc::clone(&started), ends };
        let attaching = attach(vec![Box::new(finder)], Arc::new(NoHosts));
        assert!(timeout(Duration::from_secs(60), attaching).await.is_err());
        started.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_is_attached_to_once() {
        assert_eq!(attached(false).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_cannot_be_attached_to_is_tried_again_less_and_less_often() {
        let times = attached(true).await;
        // Pauses of 2, 4, and then 8 s, each up to the next look.
        assert!((7..=10).contains(&times), "{times}");
    }
}
