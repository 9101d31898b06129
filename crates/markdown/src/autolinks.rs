//! Addresses: where a link leads, and those that stand in a text as they are.

use askbridge_core::question::Link;
use linkify::{LinkFinder, LinkKind};
use url::Url;

use crate::tree::{Inline, Node};

/// Returns an address that can be opened, as a browser writes it. A name before the host looks like the host: such an
/// address is no link.
pub(crate) fn opened(address: &str) -> Option<String> {
    if let Ok(link) = Link::read(address) {
        return Some(link.url);
    }
    let url = Url::parse(address).ok().filter(|url| url.scheme() == "mailto")?;
    (address.len() <= askbridge_core::limits::LINK).then(|| url.into())
}

/// Returns the parts of a link: a link, or its text with the address, where that is none to open. The title is shown as
/// well.
pub(crate) fn link(address: &str, title: &str, children: Vec<Inline>) -> Vec<Inline> {
    let text = Inline::text(&children);
    let opens = opened(address);
    let is_address = text == address || opens.as_deref().is_some_and(|url| is_same(&text, url));
    let mut parts = match opens {
        Some(address) => vec![Inline::Node(Node::Link { address, is_address, children })],
        None if is_address || address.is_empty() => children,
        None => [children, vec![Inline::Text(format!(" ({address})"))]].concat(),
    };
    if !title.is_empty() {
        parts.push(Inline::Text(format!(" \"{title}\"")));
    }
    parts
}

/// Returns whether a text is the address that is opened, but for a slash at its end.
fn is_same(text: &str, url: &str) -> bool {
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let url = url.strip_prefix("mailto:").unwrap_or(url);
    text.trim_end_matches('/') == url.trim_end_matches('/')
}

/// Splits a text at the addresses that stand in it.
pub(crate) fn split(text: String) -> Vec<Inline> {
    if !text.contains("://") {
        return vec![Inline::Text(text)];
    }
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    let mut parts: Vec<Inline> = Vec::new();
    for span in finder.spans(&text) {
        let part = span.as_str();
        let address = span.kind().and_then(|_| Link::read(part).ok());
        match (address, parts.last_mut()) {
            (Some(Link { url, .. }), _) => {
                let children = vec![Inline::Text(part.to_owned())];
                let is_address = is_same(part, &url);
                parts.push(Inline::Node(Node::Link { address: url, is_address, children }));
            }
            (None, Some(Inline::Text(last))) => last.push_str(part),
            (None, _) => parts.push(Inline::Text(part.to_owned())),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str, title: &str, text: &str) -> String {
        let parts = link(address, title, vec![Inline::Text(text.to_owned())]);
        let is_link = matches!(parts.first(), Some(Inline::Node(Node::Link { .. })));
        format!("{}{}", if is_link { "→ " } else { "" }, Inline::text(&parts))
    }

    #[test]
    fn a_link_shows_where_it_leads() {
        for (address, title, text, expected) in [
            ("https://a.example/b", "", "the incident", "→ the incident (https://a.example/b)"),
            ("https://a.example", "", "https://a.example", "→ https://a.example"),
            ("https://a.example/b", "", "https://a.example/b", "→ https://a.example/b"),
            ("https://evil.example/", "", "https://a.example", "→ https://a.example (https://evil.example/)"),
            ("HTTPS://A.Example", "", "x", "→ x (https://a.example/)"),
            ("mailto:a@b.example", "", "a@b.example", "→ a@b.example"),
            ("mailto:a@b.example?subject=x", "", "write", "→ write (mailto:a@b.example?subject=x)"),
            ("https://a.example/", "t", "x", "→ x (https://a.example/) \"t\""),
            ("https://a.example@evil.example/", "", "x", "x (https://a.example@evil.example/)"),
            ("javascript:alert(1)", "", "x", "x (javascript:alert(1))"),
            ("data:text/html,<b>", "", "x", "x (data:text/html,<b>)"),
            ("file:///etc/passwd", "", "x", "x (file:///etc/passwd)"),
            ("src/main.rs", "", "src/main.rs", "src/main.rs"),
            ("#there", "", "below", "below (#there)"),
            ("", "", "nowhere", "nowhere"),
        ] {
            assert_eq!(shown(address, title, text), expected, "{address} {title} {text}");
        }
    }

    #[test]
    fn addresses_in_a_text_are_links() {
        let links = |text: &str| {
            let links = self::split(text.into()).into_iter().filter_map(|part| match part {
                Inline::Node(Node::Link { address, .. }) => Some(address),
                _ => None,
            });
            links.collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("see https://a.example/b_c, then", &["https://a.example/b_c"][..]),
            ("(http://a.example)", &["http://a.example/"]),
            ("http://a.example http://b.example.", &["http://a.example/", "http://b.example/"]),
            ("ftp://a.example javascript:alert(1) a.example", &[]),
            ("https://a@b.example/", &[]),
            ("none", &[]),
        ] {
            assert_eq!(links(text), expected, "{text}");
            assert_eq!(
                self::split(text.into())
                    .iter()
                    .map(|it| Inline::text(std::slice::from_ref(it)))
                    .collect::<String>(),
                text
            );
        }
    }
}
