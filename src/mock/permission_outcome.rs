//! The outcome of a permission request, as the standard has it. What it means is left to those that asked.

use serde::Deserialize;

/// What the client chose.
#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(super) enum PermissionOutcome {
    /// An option, by its ID.
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: String,
    },
    Cancelled,
}

impl PermissionOutcome {
    /// Reads a `result`; `None` where the protocol does not have it.
    pub(super) fn read(result: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Reply {
            outcome: PermissionOutcome,
        }

        serde_json::from_str(result).ok().map(|Reply { outcome }| outcome)
    }
}
