//! What a service of the hub is, and how all of them run and end.

#[cfg(feature = "fleet")]
use std::path::PathBuf;

#[cfg(feature = "notify")]
use askbridge_control::inbox::BridgeInbox;
use askbridge_control::join::JoinedInbox;
use futures::{
    StreamExt,
    future::{BoxFuture, FutureExt},
    stream::FuturesUnordered,
};
use tokio_util::sync::CancellationToken;

/// What the services of the hub work with. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct HubContext {
    /// The questions of all bridges and machines.
    pub(super) joined: JoinedInbox,
    /// The inbox of this process, in which the questions of programs wait.
    #[cfg(feature = "notify")]
    pub(super) own: BridgeInbox,
    /// The directory of the sockets of this process.
    #[cfg(feature = "fleet")]
    pub(super) folder: PathBuf,
}

/// When a service is told to stop, once the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stops {
    /// At once.
    AtOnce,
    /// Once the questions of this process are over, so that it can tell that.
    AfterTheLast,
}

/// A task of the process that serves all questions.
pub(super) trait HubService: Send {
    /// Returns the name, for logs.
    fn name(&self) -> &'static str;

    /// Returns when the service is told to stop.
    fn stops(&self) -> Stops {
        Stops::AtOnce
    }

    /// Runs until `stop` is cancelled. The process ends if the service ends before.
    fn run(self: Box<Self>, context: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()>;
}

/// The services while they run, in the task of their process.
pub(super) struct Running {
    services: FuturesUnordered<BoxFuture<'static, &'static str>>,
    at_once: CancellationToken,
    after_the_last: CancellationToken,
}

impl Running {
    pub(super) fn start(services: Vec<Box<dyn HubService>>, context: &HubContext) -> Self {
        let (at_once, after_the_last) = (CancellationToken::new(), CancellationToken::new());
        let start = |service: Box<dyn HubService>| {
            let name = service.name();
            let stop = match service.stops() {
                Stops::AtOnce => at_once.clone(),
                Stops::AfterTheLast => after_the_last.clone(),
            };
            service.run(context.clone(), stop).map(move |()| name).boxed()
        };
        Running { services: services.into_iter().map(start).collect(), at_once, after_the_last }
    }

    /// Waits until a service ends, although it was not told to stop.
    pub(super) async fn any_ends(&mut self) {
        if let Some(name) = self.services.next().await {
            tracing::debug!(service = name, "a service of the inbox has ended");
        }
    }

    /// Stops the services: most of them at once, the others after `last`. Waits until all have ended.
    pub(super) async fn stop(&mut self, last: impl Future<Output = ()>) {
        self.at_once.cancel();
        let told = async {
            last.await;
            self.after_the_last.cancel();
        };
        tokio::join!(told, async { while self.services.next().await.is_some() {} });
    }
}
