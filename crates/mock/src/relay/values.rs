//! What the relay does with the values in a message, for the faults about values.

use serde_json::{Map, Number, Value};

use super::fault::RelayFault;

/// The depth from which on a message is too deep.
const DEEP: usize = 32;

/// Returns whether a fault is about values.
pub(super) fn is_about_values(fault: RelayFault) -> bool {
    matches!(
        fault,
        RelayFault::AsciiOnly
            | RelayFault::StripsSeparators
            | RelayFault::RoundsNumbers
            | RelayFault::DropsFractions
            | RelayFault::DropsEmpty
            | RelayFault::DropsOddNames
            | RelayFault::DropsMeta
            | RelayFault::DropsNames
            | RelayFault::LimitsDepth
    )
}

/// Returns the message with changed values. `None` if it is dropped.
pub(super) fn changed(fault: RelayFault, value: Value, depth: usize) -> Option<Value> {
    if fault == RelayFault::LimitsDepth && depth > DEEP {
        return None;
    }
    Some(match value {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, value) in members {
                if is_kept(fault, &name, &value, depth) {
                    kept.insert(name, changed(fault, value, depth + 1)?);
                }
            }
            Value::Object(kept)
        }
        Value::Array(values) => Value::Array(
            values.into_iter().map(|value| changed(fault, value, depth + 1)).collect::<Option<_>>()?,
        ),
        Value::String(text) => Value::String(text_of(fault, text)),
        Value::Number(number) => Value::Number(number_of(fault, number)),
        value => value,
    })
}

fn is_kept(fault: RelayFault, name: &str, value: &Value, depth: usize) -> bool {
    match fault {
        RelayFault::DropsMeta => name != "_meta",
        RelayFault::DropsNames => !["clientInfo", "agentInfo", "serverInfo"].contains(&name),
        RelayFault::DropsOddNames => name.chars().all(|char| char.is_ascii_alphabetic()) && !name.is_empty(),
        // The members of the message itself stay.
        RelayFault::DropsEmpty if depth > 1 => match value {
            Value::Object(members) => !members.is_empty(),
            Value::Array(values) => !values.is_empty(),
            Value::String(text) => !text.is_empty(),
            Value::Null => false,
            _ => true,
        },
        _ => true,
    }
}

fn text_of(fault: RelayFault, text: String) -> String {
    match fault {
        RelayFault::AsciiOnly => text.replace(|char: char| !char.is_ascii(), "?"),
        RelayFault::StripsSeparators => text.replace(['\u{85}', '\u{2028}', '\u{2029}'], ""),
        _ => text,
    }
}

fn number_of(fault: RelayFault, number: Number) -> Number {
    let double = number.as_f64();
    match fault {
        RelayFault::RoundsNumbers => double.and_then(Number::from_f64).unwrap_or(number),
        RelayFault::DropsFractions if number.is_f64() => {
            double.and_then(|double| Number::from_f64(double.trunc())).unwrap_or(number)
        }
        _ => number,
    }
}
