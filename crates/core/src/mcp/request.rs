//! A call of the host, read in one pass: most calls only have to be known by their ID, and their arguments may be long.
//! What it means that a call comes is left to `host.rs`.

use super::capabilities::OF_REQUEST;
use crate::{
    engine::Line,
    wire::{
        method::MCP_CALLS,
        scan::{Members, member},
    },
};

/// A call of the host, borrowed from its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// Its own text.
    pub(super) id: &'a str,
    pub(super) params: &'a [u8],
    /// The member `_meta` of `params`.
    pub(super) meta: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// Reads a whole line. `None` if it is no call, is not all there, repeats a member that counts, or may also be a
    /// response. What stands in `params` is not checked: a server that cannot read it does not know the ID either.
    pub(super) fn read(line: &'a Line) -> Option<Self> {
        let mut members = Members::enter(&line.bytes).ok().filter(|_| line.whole)?;
        let (mut method, mut id, mut params, mut meta) = (None, None, None, None);
        let mut metas = 0;
        while let Some(key) = members.key().ok()? {
            let twice = if key.is("params") {
                let object = members.object(|key, value| {
                    if key.is("_meta") {
                        meta = Some(value);
                        metas += 1;
                    }
                });
                params.replace(object.ok()?).is_some()
            } else if key.is("method") {
                let name = members.string().ok()?;
                method.replace(MCP_CALLS.into_iter().find(|known| name.is(known))?).is_some()
            } else if key.is("id") {
                id.replace(std::str::from_utf8(members.value().ok()?).ok()?).is_some()
            } else if key.is("result") || key.is("error") {
                return None;
            } else {
                members.value().ok()?;
                false
            };
            if twice {
                return None;
            }
        }
        let ends = members.rest()[1..].trim_ascii().is_empty();
        let meta = meta.filter(|_| metas == 1);
        ends.then_some(Request { method: method?, id: id?, params: params?, meta })
    }

    /// Returns whether it declares no capabilities, so that it is forwarded as it is.
    pub(super) fn is_ordinary(&self) -> bool {
        self.meta.is_none_or(|meta| member(meta, OF_REQUEST).is_none())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::wire::envelope::Message;

    fn line(text: &str) -> Line {
        Line { bytes: Bytes::copy_from_slice(text.as_bytes()), whole: true }
    }

    #[test]
    fn a_call_has_the_parts_that_a_message_has() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"\"}"}}}"#,
            r#"{"method":"tools/call","params":{"_meta":{"progressToken":3},"name":"t"},"jsonrpc":"2.0","id":"x"}"#,
            r#" { "params" : { } , "id" : 1e0 , "method" : "tools\/call" , "more" : [ "{" ] } "#,
            r#"{"id":1,"method":"prompts/get","params":{"_meta":1,"_meta":2}}"#,
        ] {
            let line = line(text);
            let (call, message) = (Request::read(&line).expect(text), line.message().expect(text));
            assert_eq!(Some(call.method), message.method.as_deref(), "{text}");
            assert_eq!((Some(call.id), Some(call.params)), (message.id, message.params), "{text}");
            assert_eq!(call.meta, message.param("_meta"), "{text}");
        }
    }

    #[test]
    fn what_is_no_plain_call_is_left_to_the_parser() {
        for text in [
            r#"{"id":1,"method":"tools/list","params":{}}"#,
            r#"{"method":"tools/call","params":{}}"#,
            r#"{"id":1,"method":"tools/call"}"#,
            r#"{"id":1,"method":"tools/call","params":[]}"#,
            r#"{"id":1,"id":2,"method":"tools/call","params":{}}"#,
            r#"{"id":1,"method":"tools/call","method":"tools/call","params":{}}"#,
            r#"{"id":1,"method":"tools/call","params":{},"params":{}}"#,
            r#"{"id":1,"method":"tools/call","params":{},"result":1}"#,
            r#"{"id":1,"method":"tools/call","params":{}} {}"#,
            r#"{"id":1,"method":"tools/call","params":{}"#,
            r#"[{"id":1,"method":"tools/call","params":{}}]"#,
        ] {
            assert_eq!(Request::read(&line(text)), None, "{text}");
        }
        let cut = Line { whole: false, ..line(r#"{"id":1,"method":"tools/call","params":{}}"#) };
        assert_eq!(Request::read(&cut), None);
        assert_eq!(Message::read(&cut.bytes).and_then(|message| message.id), Some("1"));
    }
}
