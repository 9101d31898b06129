//! Texts of requests. What they mean is left to the requests.

use serde_json::Value as Json;

/// Returns a text that is not empty. Anything else is none.
pub(super) fn non_empty_text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
