//! What a program asks to be allowed, as the program sent it, with the digest that binds a decision to it: what was shown
//! is what was decided. What an answer allows is left to `allowed.rs`, reading the subject of a permission to the dialects.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

/// The name of the field that takes changed arguments.
pub const ARGUMENTS: &str = "arguments";

/// The largest integer of which RFC 8785 keeps every digit.
const MOST_INTEGER: u64 = (1 << 53) - 1;

/// What a program asks to be allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// `sha256:` and, in hexadecimal, the SHA-256 of `request` in the canonical form of RFC 8785.
    pub digest: String,
    /// What would be done, with each member that the program sent.
    pub request: Map<String, Json>,
    /// How long an approval counts, in milliseconds. Without a limit if it is absent.
    #[serde(
        rename = "grantMs",
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::encoding::serialize_milliseconds",
        deserialize_with = "super::encoding::deserialize_milliseconds"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub grant: Option<Duration>,
}

impl Action {
    /// Returns the action with its digest.
    ///
    /// # Errors
    /// It has a number of which the canonical form would lose digits: two actions must not have one digest.
    pub fn new(request: Map<String, Json>, grant: Option<Duration>) -> Result<Self, String> {
        let digest = digest(&request)?;
        Ok(Action { digest, request, grant })
    }
}

/// Returns the digest of JSON by RFC 8785.
///
/// # Errors
/// It has a number of which the canonical form would lose digits.
pub fn digest(request: &Map<String, Json>) -> Result<String, String> {
    let is_exact = |number: &serde_json::Number| match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => number <= MOST_INTEGER,
        (None, Some(number)) => number.unsigned_abs() <= MOST_INTEGER,
        (None, None) => true,
    };
    if let Some((place, number)) = request.iter().find_map(|(name, value)| find(name, value, &is_exact)) {
        return Err(format!(
            "{place} is {number}: as JSON is hashed, integers beyond ±{MOST_INTEGER} are not exact; send it as a text"
        ));
    }
    let canonical = serde_json_canonicalizer::to_vec(request).map_err(|error| error.to_string())?;
    let hex = Sha256::digest(canonical).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    Ok(format!("sha256:{hex}"))
}

/// Finds the first number that is not exact, with its place.
fn find<'a>(
    place: &str,
    value: &'a Json,
    is_exact: &impl Fn(&serde_json::Number) -> bool,
) -> Option<(String, &'a serde_json::Number)> {
    match value {
        Json::Number(number) if !is_exact(number) => Some((place.to_owned(), number)),
        Json::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| find(&format!("{place}[{index}]"), item, is_exact))
        }
        Json::Object(members) => {
            members.iter().find_map(|(name, value)| find(&format!("{place}.{name}"), value, is_exact))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(json: Json) -> Map<String, Json> {
        json.as_object().expect("an object").clone()
    }

    #[test]
    fn the_digest_is_that_of_the_canonical_form() {
        // The canonical form is `{"arguments":{"a":1,"b":[true,null,"é"]},"tool":"deploy"}`.
        let one = request(json!({ "tool": "deploy", "arguments": { "b": [true, null, "é"], "a": 1.0 } }));
        let other =
            request(json!({ "arguments": { "a": 1, "b": [true, null, "\u{e9}"] }, "tool": "deploy" }));
        let canonical = r#"{"arguments":{"a":1,"b":[true,null,"é"]},"tool":"deploy"}"#;
        let hex: String = Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest(&one), Ok(format!("sha256:{hex}")));
        assert_eq!(digest(&one), digest(&other));
        assert_ne!(digest(&one), digest(&request(json!({ "tool": "deploy" }))));
    }

    #[test]
    fn a_number_that_would_lose_digits_is_refused_with_its_place() {
        for exact in [json!(9_007_199_254_740_991_u64), json!(-9_007_199_254_740_991_i64), json!(1e300)] {
            assert!(digest(&request(json!({ "n": exact }))).is_ok(), "{exact}");
        }
        for lossy in [json!(9_007_199_254_740_993_u64), json!(i64::MIN), json!(u64::MAX)] {
            let refused = digest(&request(json!({ "arguments": { "ids": [1, lossy] } })));
            assert!(refused.is_err_and(|why| why.starts_with("arguments.ids[1] is ")), "{lossy}");
        }
    }
}
