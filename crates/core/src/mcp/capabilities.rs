//! What a host declares that it shows, and the completion of it. The rest of the line keeps its bytes.

use std::borrow::Cow;

use crate::{
    dialect::mcp::Mode,
    engine::Introduction,
    limits,
    wire::{
        scan::{self, member},
        splice,
    },
};

/// The member of `_meta` in which a host declares its capabilities with each request, since 2026-07-28.
pub(super) const OF_REQUEST: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where `initialize` has the capabilities, and where each request has them.
const OF_HANDSHAKE: [&str; 2] = ["params", "capabilities"];
const OF_META: [&str; 3] = ["params", "_meta", OF_REQUEST];

/// The elicitations that a host shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    form: bool,
    url: bool,
}

impl Shown {
    /// Reads capabilities. An elicitation without a mode is a form.
    fn read(capabilities: Option<&[u8]>) -> Self {
        let declared =
            capabilities.and_then(|it| member(it, "elicitation")).filter(|it| it.starts_with(b"{"));
        let has = |mode| declared.and_then(|it| member(it, mode)).is_some_and(|mode| mode.starts_with(b"{"));
        let (form, url) = (has("form"), has("url"));
        Shown { form: form || (declared.is_some() && !url), url }
    }

    /// Reads the `params` of `initialize`.
    pub(super) fn of_handshake(params: &[u8]) -> Self {
        Shown::read(member(params, "capabilities"))
    }

    /// Reads the `_meta` of a request. `None` if it declares no capabilities.
    pub(super) fn of_request(meta: Option<&[u8]>) -> Option<Self> {
        let capabilities = member(meta?, OF_REQUEST)?;
        Some(Shown::read(Some(capabilities)))
    }

    /// Returns whether the host shows elicitations of this mode.
    pub(super) fn has(self, mode: Mode) -> bool {
        match mode {
            Mode::Form => self.form,
            Mode::Url => self.url,
        }
    }

    /// Forgets a mode that the host turned out not to know.
    pub(super) fn remove(&mut self, mode: Mode) {
        *(match mode {
            Mode::Form => &mut self.form,
            Mode::Url => &mut self.url,
        }) = false;
    }
}

/// Returns `initialize` with all modes. `None` if it has them, or cannot be changed.
pub(super) fn complete_handshake(line: &[u8]) -> Option<Vec<u8>> {
    // What is no `initialize` of MCP passes as it is.
    OF_HANDSHAKE.iter().try_fold(line, |json, name| member(json, name)).filter(|it| it.starts_with(b"{"))?;
    complete(line, &OF_HANDSHAKE)
}

/// Returns a request with all modes. `None` if it declares no capabilities, has these modes, or cannot be changed.
pub(super) fn complete_request(line: &[u8]) -> Option<Vec<u8>> {
    OF_META.iter().try_fold(line, |json, name| member(json, name))?;
    complete(line, &OF_META)
}

fn complete(line: &[u8], below: &[&str]) -> Option<Vec<u8>> {
    let mut completed = None;
    for mode in ["form", "url"] {
        let path = [below, &["elicitation", mode]].concat();
        let line = completed.as_deref().unwrap_or(line);
        if let Some(more) = splice::insert(line, &path, "{}") {
            completed = Some(more);
        }
    }
    completed
}

/// Reads how a host introduces itself, in the `params` of `initialize` or in the `_meta` of a request.
pub(super) fn introduction(info: Option<&[u8]>, shown: Shown) -> Introduction {
    let promises = [(shown.form, "forms"), (shown.url, "pages")];
    Introduction {
        name: name(info).map(Cow::into_owned),
        protocol: 1,
        promises: promises.iter().filter(|(given, _)| *given).map(|(_, name)| *name).collect(),
    }
}

/// Returns the name of a peer: its title for people, or else its name.
pub(super) fn name(info: Option<&[u8]>) -> Option<Cow<'_, str>> {
    let named = |name| scan::text(member(info?, name)?).filter(|name| !name.trim().is_empty());
    named("title").or_else(|| named("name")).filter(|name| name.len() <= limits::AGENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_declaration_means() {
        for (capabilities, form, url) in [
            ("{}", false, false),
            (r#"{"elicitation":null}"#, false, false),
            (r#"{"elicitation":true}"#, false, false),
            (r#"{"elicitation":{}}"#, true, false),
            (r#"{"elicitation":{"form":{"applyDefaults":true}}}"#, true, false),
            (r#"{"elicitation":{"url":{}}}"#, false, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, true, true),
            (r#"{"elicitation":{"audio":{}}}"#, true, false),
        ] {
            let params = format!(r#"{{"capabilities":{capabilities}}}"#);
            assert_eq!(Shown::of_handshake(params.as_bytes()), Shown { form, url }, "{capabilities}");
            let meta = format!(r#"{{"{OF_REQUEST}":{capabilities}}}"#);
            assert_eq!(Shown::of_request(Some(meta.as_bytes())), Some(Shown { form, url }), "{capabilities}");
        }
        assert_eq!(Shown::of_request(Some(br#"{"progressToken":1}"#)), None);
    }

    #[test]
    fn what_is_missing_is_completed_and_the_rest_stays() {
        let both = r#"{"form":{},"url":{}}"#;
        for (capabilities, expected) in [
            ("{ }", format!(r#"{{"elicitation":{both} }}"#)),
            (r#"{"roots":{} ,"elicitation":{}}"#, format!(r#"{{"roots":{{}} ,"elicitation":{both}}}"#)),
            (
                r#"{"elicitation":{"form":{"x":1}}}"#,
                r#"{"elicitation":{"form":{"x":1},"url":{}}}"#.to_owned(),
            ),
        ] {
            let line = |capabilities: &str| format!(r#"{{"params":{{"capabilities":{capabilities}}}}}"#);
            let completed = complete_handshake(line(capabilities).as_bytes()).expect("completed");
            assert_eq!(String::from_utf8(completed).expect("text"), line(&expected));
            let line =
                |capabilities: &str| format!(r#"{{"params":{{"_meta":{{"{OF_REQUEST}":{capabilities}}}}}}}"#);
            let completed = complete_request(line(capabilities).as_bytes()).expect("completed");
            assert_eq!(String::from_utf8(completed).expect("text"), line(&expected));
        }
        assert_eq!(complete_request(br#"{"params":{"_meta":{}}}"#), None);
        assert_eq!(
            complete_handshake(
                format!(r#"{{"params":{{"capabilities":{{"elicitation":{both}}}}}}}"#).as_bytes()
            ),
            None
        );
    }
}
