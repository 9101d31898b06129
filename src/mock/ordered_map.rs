//! A JSON object that keeps the order of its members, which a `serde_json::Value` sorts.
//! The order of a form's fields is visible to the user. What the members mean is left to the forms.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

/// The members of an object, in their original order.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedMap(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for OrderedMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = OrderedMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMap, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(OrderedMap(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"b":1,"a":{"z":[]},"c":null}"#;
        let read: OrderedMap = serde_json::from_str(text).unwrap();
        let names: Vec<_> = read.0.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert!(serde_json::from_str::<OrderedMap>("[]").is_err());
    }
}
