//! A call that is wrapped in a conductor's envelope is unwrapped unchanged, for any call and any chunking.
//! Hand-picked lines are tested beside the code.

use askbridge::limits::HOLD;
use askbridge_core::wire::{
    envelope::Message,
    successor::{Spelling, Tail, unwrap, unwrap_beginning, wrap, wrap_beginning},
};
use bytes::Bytes;
use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};

use crate::support::saying::said;

const SCALARS: [&str; 12] = [
    "null",
    "true",
    "0",
    "-1",
    "1.0",
    "1e400",
    "18446744073709551616",
    r#""""#,
    r#""\"}]""#,
    r#""\\""#,
    r#""\ud800\/é""#,
    r#""proxy/successor""#,
];

fn config(cases: u32) -> ProptestConfig {
    let seeds = FileFailurePersistence::WithSource("seeds");
    ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) }
}

fn spelling() -> impl Strategy<Value = Spelling> {
    select(&Spelling::ALL[..])
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => select(&[" ", "\t", " \r", "  "][..])]
}

fn key() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "_meta", "params", "method", "id", r"\u0061", "}"][..])
}

fn value() -> impl Strategy<Value = String> {
    let leaf = select(&SCALARS[..]).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 4, |value| {
        let member = (space(), key(), space(), value.clone())
            .prop_map(|(a, key, b, value)| format!("{a}\"{key}\"{b}:{b}{value}{a}"));
        let object = prop::collection::vec(member, 0..4).prop_map(|all| format!("{{{}}}", all.join(",")));
        let array = prop::collection::vec((value, space()), 0..4).prop_map(|all| {
            let all: Vec<_> = all.iter().map(|(value, space)| format!("{space}{value}{space}")).collect();
            format!("[{}]", all.join(","))
        });
        prop_oneof![object, array]
    })
}

/// A call, with its members in any order.
fn call() -> impl Strategy<Value = String> {
    let id = prop::option::of(value());
    let method = select(&[r#""session/prompt""#, r#""x\/y""#, r#""\u0061""#, r#""""#][..]);
    let version = prop::option::of(Just(r#""jsonrpc":"2.0""#.to_owned()));
    (id, method, prop::option::of(value()), version, space(), any::<prop::sample::Index>()).prop_map(
        |(id, method, params, version, space, turn)| {
            let mut members: Vec<String> = [
                version,
                id.map(|id| format!("\"id\":{space}{id}")),
                Some(format!("\"method\"{space}:{method}{space}")),
                params.map(|params| format!("\"params\":{space}{params}{space}")),
            ]
            .into_iter()
            .flatten()
            .collect();
            let turn = turn.index(members.len());
            members.rotate_left(turn);
            format!("{space}{{{}}}{space}\n", members.join(","))
        },
    )
}

fn anything() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![1 => any::<u8>(), 3 => select(&b"{}[]\",:\\ 0\n"[..])];
    prop_oneof![
        prop::collection::vec(byte, 0..80),
        (call(), spelling(), any::<prop::sample::Index>()).prop_map(|(call, spelling, at)| {
            let wrapped = wrap(call.as_bytes(), spelling).expect("a call");
            wrapped[..at.index(wrapped.len())].to_vec()
        }),
    ]
}

/// Returns the output for a line whose beginning is sent before the rest has come, in pieces of this size.
fn streamed(beginning: Option<(Bytes, Tail)>, rest: &[u8], piece: usize) -> Option<Vec<u8>> {
    let (bytes, mut tail) = beginning?;
    let mut out = bytes.to_vec();
    for piece in rest.chunks(piece) {
        tail.edit(Bytes::copy_from_slice(piece), |bytes| out.extend(bytes));
    }
    Some(out)
}

/// The ID, the method and the parameters.
type Parts<'a> = (Option<&'a str>, Option<String>, Option<&'a [u8]>);

/// The parts that must be kept.
fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let message = Message::read(line)?;
    Some((message.id, message.method.map(Into::into), message.params))
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn a_wrapped_call_is_unwrapped_unchanged(call in call(), spelling in spelling()) {
        let wrapped = wrap(call.as_bytes(), spelling).expect("a call");
        let outer = Message::read(&wrapped).expect("a message");
        prop_assert_eq!(outer.method.as_deref(), Some(spelling.successor()));
        prop_assert_eq!(outer.id, parts(call.as_bytes()).expect("a call").0);
        let plain = unwrap(&wrapped).expect("an envelope");
        prop_assert_eq!(parts(&plain), parts(call.as_bytes()));
    }

    #[test]
    fn a_streamed_line_gives_the_same_output_as_a_whole_line(
        call in call(),
        spelling in spelling(),
        at in any::<prop::sample::Index>(),
        piece in 1..9usize,
    ) {
        let wrapped = wrap(call.as_bytes(), spelling).expect("a call");
        let cut = at.index(call.len() + 1);
        let (beginning, rest) = call.as_bytes().split_at(cut);
        if let Some(out) = streamed(wrap_beginning(beginning, spelling), rest, piece) {
            let plain = unwrap(&out).expect("an envelope");
            prop_assert_eq!(parts(&plain), parts(call.as_bytes()), "{}", out.escape_ascii());
        }
        let cut = at.index(wrapped.len() + 1);
        let (beginning, rest) = wrapped.split_at(cut);
        if let Some(out) = streamed(unwrap_beginning(beginning), rest, piece) {
            prop_assert_eq!(parts(&out), parts(call.as_bytes()), "{}", out.escape_ascii());
        }
    }

    #[test]
    fn any_bytes_are_handled(line in anything(), more in anything(), piece in 1..9usize, spelling in spelling()) {
        for out in [wrap(&line, spelling), unwrap(&line)].into_iter().flatten() {
            prop_assert!(parts(&out).is_some() && out.ends_with(b"\n"), "{}", out.escape_ascii());
        }
        // The next line is handled on its own, even if this one was invalid.
        let rest = [&more[..], b"\nnext }\n"].concat();
        for beginning in [wrap_beginning(&line, spelling), unwrap_beginning(&line)] {
            if let Some(out) = streamed(beginning, &rest, piece) {
                prop_assert!(out.ends_with(b"\nnext }\n"), "{}", out.escape_ascii());
            }
        }
    }

    #[test]
    fn a_component_writes_whole_lines_for_any_input(lines in prop::collection::vec(anything(), 0..6)) {
        let input = [&lines.join(&b"\n"[..])[..], b"\n"].concat();
        let out = said(&input, input.len());
        prop_assert!(out.is_empty() || out.ends_with(b"\n"), "{}", out.escape_ascii());
        prop_assert_eq!(out, said(&input, 1), "the same for any chunking");
    }
}

#[test]
fn the_output_for_a_long_line_does_not_depend_on_the_chunking() {
    let long = |size| "x".repeat(size);
    for size in [HOLD - 100, HOLD - 60, HOLD - 1, HOLD, HOLD + 1, 2 * HOLD] {
        let input = format!(
            "{{\"id\":1,\"method\":\"a\",\"params\":[\"{0}\"]}}\n{{\"id\":1,\"result\":[]}}\n\
                 {{\"method\":\"proxy/successor\",\"params\":{{\"method\":\"a\",\"params\":[\"{0}\"],\"more\":\"}}\"}}}}\n\
                 {{\"id\":2,\"params\":[\"{0}\"],\"method\":\"b\"}}\n{{\"id\":1,\"error\":{{}}}}\n",
            long(size)
        );
        let whole = said(input.as_bytes(), input.len());
        for piece in [1000, 4096, 128 * 1024, HOLD] {
            let out = said(input.as_bytes(), piece);
            assert!(out == whole, "{size} bytes differ in pieces of {piece}");
        }
        let ends = b"\n{\"id\":1,\"error\":{}}\n";
        assert!(whole.ends_with(ends));
    }
}
