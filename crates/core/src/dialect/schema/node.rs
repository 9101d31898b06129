//! One schema with what it refers to: references, lists of one schema, and null beside another type are taken apart, so
//! that one set of keywords is left. What the keywords mean is left to `kind.rs`.

use serde_json::{Map, Value as Json};

/// The keywords that limit which values fit. All others describe.
const LIMITS: [&str; 42] = [
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Keywords that only mean something together.
const TOGETHER: [&[&str]; 3] = [
    &["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"],
    &[
        "items",
        "prefixItems",
        "additionalItems",
        "contains",
        "minContains",
        "maxContains",
        "unevaluatedItems",
    ],
    &["if", "then", "else"],
];

/// How many references and lists of one schema are followed.
const STEPS: usize = 32;

/// A schema whose keywords stand side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The keywords.
    pub members: Map<String, Json>,
    /// Whether null fits as well.
    pub nullable: bool,
    /// Where its properties stand in the document, for their order.
    pub path: Vec<String>,
}

/// Returns whether a keyword limits which values fit.
pub(super) fn is_limit(keyword: &str) -> bool {
    LIMITS.contains(&keyword)
}

impl Node {
    /// Opens a schema of this document. Returns `None` for one that cannot be taken apart.
    pub(super) fn open(root: &Json, schema: &Json, path: &[String]) -> Option<Self> {
        let mut node = Node::default();
        node.merge(schema, path)?;
        for _ in 0..STEPS {
            if !node.step(root)? {
                return node.settle();
            }
        }
        None
    }

    /// Returns the keywords that limit which values fit.
    pub(super) fn limits(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str).filter(|keyword| is_limit(keyword))
    }

    /// Returns a text, where the member is one.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }

    /// Takes one keyword apart. Returns whether there was one.
    fn step(&mut self, root: &Json) -> Option<bool> {
        if let Some(reference) = self.members.remove("$ref") {
            let (target, path) = follow(root, reference.as_str()?)?;
            self.merge(target, &path)?;
            return Some(true);
        }
        if let Some(Json::Array(schemas)) = self.members.remove_entry("allOf").map(|(_, schemas)| schemas) {
            for (place, schema) in schemas.iter().enumerate() {
                let path = self.below("allOf", place);
                self.merge(schema, &path)?;
            }
            return Some(true);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Json::Array(schemas)) = self.members.get(keyword) else { continue };
            let schemas = schemas.clone();
            let places = schemas.iter().enumerate();
            let mut others: Vec<_> = places.filter(|(_, schema)| !is_null(schema)).collect();
            // A constant alone is an option, whose title is not that of the field.
            let is_option = others.iter().any(|(_, schema)| schema.get("const").is_some());
            if others.len() == schemas.len() && (others.len() != 1 || is_option) {
                continue;
            }
            self.nullable |= others.len() < schemas.len() && self.takes_null();
            if others.len() != 1 || is_option {
                let others: Vec<_> = others.into_iter().map(|(_, schema)| schema.clone()).collect();
                self.members.insert(keyword.to_owned(), others.into());
                return Some(true);
            }
            let (place, schema) = others.pop()?;
            let path = self.below(keyword, place);
            self.members.remove(keyword);
            self.merge(schema, &path)?;
            return Some(true);
        }
        Some(false)
    }

    fn below(&self, keyword: &str, place: usize) -> Vec<String> {
        let mut path = self.path.clone();
        path.extend([keyword.to_owned(), place.to_string()]);
        path
    }

    /// Adds a schema for the same value. What describes it keeps the words that stand nearest to the property.
    fn merge(&mut self, schema: &Json, path: &[String]) -> Option<()> {
        let Json::Object(members) = schema else {
            // `true` limits nothing.
            return (*schema == Json::Bool(true)).then_some(());
        };
        let of =
            |group: &[&str], members: &Map<String, Json>| group.iter().any(|it| members.contains_key(*it));
        // These keywords look at those beside them, so they cannot be moved beside others. The same goes for names.
        let mixes = TOGETHER.iter().any(|group| of(group, members) && of(group, &self.members));
        if mixes || (!path.is_empty() && members.contains_key("$id")) {
            return None;
        }
        if of(&["properties", "allOf", "anyOf", "oneOf"], members) || self.members.is_empty() {
            self.path = path.to_vec();
        }
        for (name, value) in members.iter().filter(|(name, value)| has_shape(name, value)) {
            match self.members.get(name) {
                None => drop(self.members.insert(name.clone(), value.clone())),
                Some(same) if same == value || !is_limit(name) => {}
                Some(_) => return None,
            }
        }
        Some(())
    }

    /// Takes null out of a list of types, and checks what was taken apart.
    fn settle(mut self) -> Option<Self> {
        if let Some(Json::Array(types)) = self.members.get("type") {
            let has_null = self.takes_null();
            let mut others: Vec<_> = types.iter().filter(|name| *name != "null").cloned().collect();
            // An integer is a number.
            if others.iter().any(|name| name == "number") {
                others.retain(|name| name != "integer");
            }
            self.nullable |= has_null;
            let left = if others.len() == 1 { others.remove(0) } else { others.into() };
            self.members.insert("type".to_owned(), left);
        }
        Some(self)
    }

    /// Returns whether null fits the keywords that have been merged so far.
    fn takes_null(&self) -> bool {
        let has_null = |json: &Json| json.as_array().is_some_and(|them| them.iter().any(Json::is_null));
        let type_takes = match self.members.get("type") {
            Some(Json::Array(types)) => types.iter().any(|name| name == "null"),
            Some(name) => name == "null",
            None => true,
        };
        type_takes
            && self.members.get("enum").is_none_or(has_null)
            && self.members.get("const").is_none_or(Json::is_null)
    }
}

/// Returns whether a keyword has the shape that JSON Schema gives it. One of another shape is ignored, as readers of ACP do.
fn has_shape(name: &str, value: &Json) -> bool {
    match name {
        "allOf" | "anyOf" | "oneOf" | "enum" | "required" | "prefixItems" => value.is_array(),
        "properties" | "patternProperties" | "dependencies" | "dependentRequired" | "dependentSchemas" => {
            value.is_object()
        }
        "not" | "if" | "then" | "else" | "contains" | "propertyNames" => {
            value.is_object() || value.is_boolean()
        }
        "items" => value.is_object() || value.is_boolean() || value.is_array(),
        "minimum" | "maximum" | "multipleOf" => value.is_number(),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number() || value.is_boolean(),
        "type" => value.is_string() || value.is_array(),
        "uniqueItems" => value.is_boolean(),
        name if name.starts_with("min") || name.starts_with("max") => !is_limit(name) || value.is_number(),
        name if name.starts_with("additional") || name.starts_with("unevaluated") => {
            value.is_object() || value.is_boolean()
        }
        "pattern" | "$ref" | "$dynamicRef" | "$recursiveRef" => value.is_string(),
        _ => true,
    }
}

/// Returns whether only null fits this schema.
fn is_null(schema: &Json) -> bool {
    let Some(members) = schema.as_object() else { return false };
    let is_typed = members.get("type").is_some_and(|name| name == "null");
    let is_constant = members.get("const").is_some_and(Json::is_null);
    let is_listed = members
        .get("enum")
        .and_then(Json::as_array)
        .is_some_and(|values| !values.is_empty() && values.iter().all(Json::is_null));
    // A title makes it an option that the person can choose.
    !members.contains_key("title") && (is_typed || is_constant || is_listed)
}

/// Returns the schema that a reference within the document names, and its path.
fn follow<'a>(root: &'a Json, reference: &str) -> Option<(&'a Json, Vec<String>)> {
    let pointer = reference.strip_prefix('#')?;
    let target = root.pointer(pointer)?;
    let steps = pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    Some((target, steps.collect()))
}
