//! Several values in one string, joined with `", "`: the format in which Claude and Qwen write multiple choices.
//! What the values mean is left to the dialect.

use crate::question::FieldOption;

const SEPARATOR: &str = ", ";

/// Joins values. A value that contains the separator or a quote is quoted as JSON, as Claude's adapter does.
pub(super) fn join(items: &[String]) -> String {
    let quoted = items.iter().map(|item| {
        if item.contains(SEPARATOR) || item.contains('"') {
            serde_json::Value::from(item.as_str()).to_string()
        } else {
            item.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(SEPARATOR)
}

/// Splits joined values. A value that contains the separator is recognised as an option, or is quoted as JSON.
pub(super) fn split(joined: &str, options: &[FieldOption]) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = joined;
    while !rest.is_empty() {
        let (item, length) = first_item(rest, options);
        items.push(item);
        rest = rest[length..].strip_prefix(SEPARATOR).unwrap_or(&rest[length..]);
    }
    items
}

fn first_item(rest: &str, options: &[FieldOption]) -> (String, usize) {
    let ends = |length: usize| rest[length..].is_empty() || rest[length..].starts_with(SEPARATOR);
    // The longest match wins: one option may begin like another one and a separator.
    let names = options.iter().flat_map(|option| [&option.value, &option.label]);
    let option = names.filter(|name| !name.is_empty() && rest.starts_with(*name) && ends(name.len()));
    if let Some(name) = option.max_by_key(|name| name.len()) {
        return (name.clone(), name.len());
    }
    let mut quoted = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    if let Some(Ok(item)) = quoted.next().filter(|_| ends(quoted.byte_offset())) {
        return (item, quoted.byte_offset());
    }
    let length = rest.find(SEPARATOR).unwrap_or(rest.len());
    (rest[..length].to_owned(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_reverses_joining() {
        let options =
            [FieldOption { value: "a, b".to_owned(), label: "a, b".to_owned(), ..FieldOption::default() }];
        for items in [&["Auth"][..], &["Auth", "x, y", "say \"hi\""], &["a, b", "Auth"], &["c", "b"]] {
            let items: Vec<_> = items.iter().map(|item| (*item).to_owned()).collect();
            assert_eq!(split(&join(&items), &options), items);
        }
        assert_eq!(
            join(&["Auth".to_owned(), "Billing, invoices".to_owned()]),
            r#"Auth, "Billing, invoices""#
        );
    }
}
