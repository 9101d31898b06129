//! What is known of clients by the name that they give themselves, where it decides what they may be asked.

/// Clients that label the options of a permission request by their kind, and not by their name: their person cannot tell
/// which option a button stands for, so that a prompt would be answered by chance. Each with what was read.
///
/// - CodeCompanion.nvim, `interactions/chat/acp/request_permission.lua` at f1afd025 (2026-08-08): one label and one key
///   for each kind, and the last option of a kind has the key. Older versions open a dialog whose default is the second
///   option.
const LABEL_BY_KIND: [&str; 1] = ["CodeCompanion.nvim"];

/// Returns whether this client shows the kinds of options instead of their names.
pub(super) fn labels_by_kind(name: &str) -> bool {
    LABEL_BY_KIND.contains(&name)
}
