//! Reading the `params` of a request and writing JSON, with error texts for the agent's developer.
//! Knows no dialect.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use crate::limits;

/// Reads `params` as `T`. The error says what is wrong, and where.
pub(super) fn read_params<T: DeserializeOwned>(params: &[u8]) -> Result<T, String> {
    let most = limits::QUESTION;
    if params.len() > most {
        return Err(format!("a question has at most {most} bytes, this one has {}", params.len()));
    }
    check_object(params)?;
    // Tracking the path slows parsing down, so it is done only after a failure.
    serde_json::from_slice(params).map_err(|_| explain::<T>("params", params))
}

/// Checks that `params` is a JSON object: serde reads a struct from an array of its members as well.
pub(super) fn check_object(params: &[u8]) -> Result<(), String> {
    if params.starts_with(b"{") { Ok(()) } else { Err("params is not an object".to_owned()) }
}

/// Explains why `json` cannot be read as `T`. The text begins with `name` and the path to the mistake.
pub(super) fn explain<'de, T: Deserialize<'de>>(name: &str, json: &'de [u8]) -> String {
    let mut json = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Ok(_) => format!("{name} is followed by something else"),
        Err(error) => {
            // serde_json appends a line and a column, counted from the start of `params` and not of the line that
            // the agent sent. The path is more useful.
            let what = error.inner().to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            match error.path().to_string().as_str() {
                "." => format!("{name}: {what}"),
                path => format!("{name}.{path}: {what}"),
            }
        }
    }
}

/// Writes a value as JSON.
pub(super) fn json(value: &impl Serialize) -> Box<RawValue> {
    // The values have string keys and finite numbers, so this cannot fail.
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
