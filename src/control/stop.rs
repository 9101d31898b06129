//! How what serves an inbox is told to stop.

use tokio::sync::watch;

/// Tells when to stop, once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

/// Tells all clones of a [`Stop`] to stop, when it is dropped at the latest.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Returns what tells to stop, and what hears it.
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Stopper(sender), Stop(receiver))
    }

    /// Tells to stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Waits until it is time to stop.
    pub async fn stopped(&mut self) {
        // An error says that the other end is gone, which is the same.
        drop(self.0.wait_for(|stopped| *stopped).await);
    }
}
