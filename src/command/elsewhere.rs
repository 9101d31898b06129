//! Questions that only the journal knows: lost ones, and those of bridges in other folders.

use std::path::Path;

use crate::{desk::LostQuestion, present::elsewhere::UnreachableBridges};

/// Returns the questions that were lost with their bridges, oldest first, and the bridges that run elsewhere. If the
/// journal cannot be read, the command says so and lists the rest.
#[cfg(feature = "journal")]
pub(super) async fn lost_and_elsewhere(folder: &Path) -> (Vec<LostQuestion>, Vec<UnreachableBridges>) {
    let unsettled = super::ledger::unsettled().unwrap_or_else(|error| {
        super::run::say(&format!("lost questions and bridges elsewhere are not known: {error}"));
        crate::journal::UnsettledQuestions::default()
    });
    let sockets = crate::machine::discovery::sockets(folder).await.unwrap_or_default();
    let elsewhere =
        crate::present::elsewhere::unreachable(&unsettled.waiting, &sockets.into_keys().collect());
    (unsettled.lost, elsewhere)
}

#[cfg(not(feature = "journal"))]
pub(super) async fn lost_and_elsewhere(_: &Path) -> (Vec<LostQuestion>, Vec<UnreachableBridges>) {
    (Vec::new(), Vec::new())
}
