//! JSON whose members keep their order, and may come twice: what rewritings turn around.

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Value as Json;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Leaf(Json),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    pub(crate) fn text(text: &str) -> Self {
        Tree::Leaf(text.into())
    }

    pub(crate) fn write(&self) -> String {
        match self {
            Tree::Leaf(json) => json.to_string(),
            Tree::List(items) => format!("[{}]", items.iter().map(Tree::write).collect::<Vec<_>>().join(",")),
            Tree::Object(members) => {
                let member =
                    |(name, value): &(String, Tree)| format!("{}:{}", Json::from(&**name), value.write());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyTree)
    }
}

struct AnyTree;

impl<'de> Visitor<'de> for AnyTree {
    type Value = Tree;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Json::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(flag.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Leaf(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut object = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            object.push((name, members.next_value()?));
        }
        Ok(Tree::Object(object))
    }
}
