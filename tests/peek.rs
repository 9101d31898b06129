//! The scan of `wire` agrees with a full parser on every line, in every spelling.
//! Hand-picked lines are tested beside the scan itself.

#[cfg(test)]
mod scan {
    use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};

    use crate::support::reference::{
        check_beginnings, check_insert, check_members, check_message, check_peek,
    };

    /// Typical lines of agents and clients.
    const REAL: [&str; 8] = [
        r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a \"question\""}]}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
        r#"{"jsonrpc":"2.0","id":"q-1","method":"_sandboxagent/session/request_question","params":{"prompt":"?","options":[["a","A"]]}}"#,
        r#"{"jsonrpc":"2.0","id":"q-1","result":{"status":"answered","answers":[["a"]]}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"_meta":null}}}"#,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1.0}}"#,
    ];
    const NAMES: [&str; 13] = [
        "method",
        "id",
        "result",
        "error",
        "params",
        "jsonrpc",
        "_meta",
        "sessionId",
        "a",
        "b",
        "",
        "methods",
        "ID",
    ];
    const TEXTS: [&str; 10] = [
        "session/update",
        "_sandboxagent/session/request_question",
        "2.0",
        "",
        "a\"b\\c",
        "}],{[",
        "\u{1}\n\u{7f}é",
        "\u{1f600} and text that is long enough to leave the words that are looked at one by one: \\",
        "12345678",
        "1234567\"",
    ];
    const SCALARS: [&str; 14] = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "1.0",
        "1e400",
        "-1.5E-3",
        "18446744073709551616",
        "123456789012345678901234567890",
        r#""\ud800""#,
        r#""\uD83D\uDE00""#,
        r#""\/\b\f\"""#,
    ];

    fn config(cases: u32) -> ProptestConfig {
        let seeds = FileFailurePersistence::WithSource("seeds");
        ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) }
    }

    fn space() -> impl Strategy<Value = &'static str> {
        prop_oneof![8 => Just(""), 1 => select(&[" ", "\t", "\r\n", " \n "][..])]
    }

    /// One of many ways to spell a string.
    fn spelled(text: &'static str) -> impl Strategy<Value = String> {
        prop_oneof![
            3 => Just(u64::MAX),
            1 => any::<u64>(),
        ]
        .prop_map(move |plain| {
            let mut spelled = String::from("\"");
            for (index, char) in text.chars().enumerate() {
                match char {
                    '/' if plain >> (index % 64) & 1 == 0 => spelled.push_str("\\/"),
                    '\n' if plain >> (index % 64) & 1 == 0 => spelled.push_str("\\n"),
                    '"' | '\\' => spelled.extend(['\\', char]),
                    char if plain >> (index % 64) & 1 == 0 || char < ' ' => {
                        let units = &mut [0; 2];
                        spelled.extend(char.encode_utf16(units).iter().map(|unit| format!("\\u{unit:04x}")));
                    }
                    char => spelled.push(char),
                }
            }
            spelled + "\""
        })
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![9 => select(&NAMES[..]).prop_flat_map(spelled), 1 => Just(r#""\udc00""#.to_owned())]
    }

    fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
        let member = (space(), name(), space(), space(), value, space())
            .prop_map(|(a, name, b, c, value, d)| format!("{a}{name}{b}:{c}{value}{d}"));
        prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")))
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            3 => select(&SCALARS[..]).prop_map(str::to_owned),
            3 => select(&TEXTS[..]).prop_flat_map(spelled),
            1 => ".{0,20}".prop_map(|text| serde_json::Value::from(text).to_string()),
        ];
        leaf.prop_recursive(4, 24, 5, |value| {
            let array = prop::collection::vec((space(), value.clone(), space()), 0..4).prop_map(|values| {
                let values: Vec<_> = values.iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
                format!("[{}]", values.join(","))
            });
            prop_oneof![array, object(value)]
        })
    }

    /// Lines that begin like a typical call or response, and some that only look so.
    fn usual() -> impl Strategy<Value = String> {
        let first =
            select(&[r#"{"jsonrpc":"2.0","#, r#"{"jsonrpc":"2.0" ,"#, r#"{"jsonrpc":"2.1","#, "{"][..]);
        let id = prop_oneof![
            2 => Just(String::new()),
            3 => "(0|[1-9][0-9]{0,20}),".prop_map(|id| format!("\"id\":{id}")),
            1 => "(0|[1-9][0-9]{0,3})(\\.5|e3| )?( ,|,)".prop_map(|id| format!("\"id\":{id}")),
            2 => select(&TEXTS[..]).prop_flat_map(spelled).prop_map(|id| format!("\"id\":{id},")),
            1 => value().prop_map(|id| format!("\"id\":{id},")),
        ];
        let key = prop_oneof![
            6 => select(&["\"method\"", "\"result\"", "\"results\"", "\"error\""][..]).prop_map(str::to_owned),
            1 => name()
        ];
        let method = prop_oneof![4 => select(&TEXTS[..]).prop_flat_map(spelled), 1 => value()];
        let rest = prop_oneof![
            Just("}".to_owned()),
            (name(), value()).prop_map(|(name, value)| format!(",{name}:{value}}}\n"))
        ];
        (first, id, space(), key, space(), space(), method, rest).prop_map(
            |(first, id, a, key, b, c, method, rest)| format!("{first}{id}{a}{key}{b}:{c}{method}{rest}"),
        )
    }

    /// A valid document with white space around it.
    fn document() -> impl Strategy<Value = String> {
        let document = prop_oneof![
            4 => object(value()),
            4 => usual(),
            2 => select(&REAL[..]).prop_map(str::to_owned),
            1 => value(),
        ];
        (space(), document, space()).prop_map(|(a, document, b)| format!("{a}{document}{b}"))
    }

    /// Any document, with a few bytes changed.
    fn broken() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![any::<u8>(), select(&b"\"\\{}[]:,0 \n"[..])];
        let change = (any::<prop::sample::Index>(), prop::option::of(byte), any::<bool>());
        (document(), prop::collection::vec(change, 0..4)).prop_map(|(document, changes)| {
            let mut bytes = document.into_bytes();
            for (index, byte, insert) in changes {
                let at = index.index(bytes.len() + 1);
                match byte {
                    Some(byte) if insert || at == bytes.len() => bytes.insert(at, byte),
                    Some(byte) => bytes[at] = byte,
                    None => bytes.truncate(at),
                }
            }
            bytes
        })
    }

    /// A path of names that a document may have.
    fn path() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop_oneof![select(&NAMES[..]), select(&["new", "\"", "é\n"][..])], 0..4)
    }

    /// A path, and a document that has a part of it.
    fn on_the_way() -> impl Strategy<Value = (String, Vec<&'static str>)> {
        let inner = prop_oneof![Just("null".to_owned()), Just("{ }".to_owned()), value()];
        let around = prop_oneof![
            Just((String::new(), String::new())),
            (value(), space(), value()).prop_map(|(a, space, b)| {
                (format!("\"before\":{a},{space}"), format!("{space},\"after\":{b}{space}"))
            }),
        ];
        let step = (select(&NAMES[..]).prop_flat_map(|name| (Just(name), spelled(name))), around);
        let steps = prop::collection::vec(step, 1..4);
        (steps, 0..3usize, inner).prop_map(|(steps, missing, inner)| {
            let (there, _) = steps.split_at(steps.len().saturating_sub(missing));
            let document = there.iter().rev().fold(inner, |inner, ((_, key), (before, after))| {
                format!("{{{before}{key}:{inner}{after}}}")
            });
            (document, steps.iter().map(|((name, _), _)| *name).collect())
        })
    }

    proptest! {
        #![proptest_config(config(1500))]

        #[test]
        fn a_document_is_classified_as_by_a_full_parser(document in document()) {
            check_peek(document.as_bytes());
        }

        #[test]
        fn a_message_has_the_parts_that_a_full_parser_finds(document in document()) {
            check_message(document.as_bytes());
        }

        #[test]
        fn a_member_is_the_one_that_a_full_parser_finds(document in document()) {
            check_members(document.as_bytes());
        }

        #[test]
        fn an_insertion_changes_no_other_byte(document in document(), path in path()) {
            check_insert(document.as_bytes(), &path);
        }

        #[test]
        fn an_insertion_follows_the_existing_part_of_the_path((document, path) in on_the_way()) {
            check_insert(document.as_bytes(), &path);
        }
    }

    proptest! {
        #![proptest_config(config(600))]

        #[test]
        fn a_prefix_is_classified_like_its_line_or_undecided(line in broken()) {
            check_beginnings(&line);
        }

        #[test]
        fn an_invalid_line_is_read_as_far_as_it_is_valid(line in broken()) {
            check_peek(&line);
            check_message(&line);
            check_members(&line);
            check_insert(&line, &["params", "a"]);
        }
    }

    #[test]
    fn the_generated_documents_are_valid_and_of_every_kind() {
        use askbridge_core::wire::envelope::Envelope;
        use askbridge_core::wire::envelope::is_json;
        use askbridge_core::wire::envelope::peek;
        use proptest::strategy::ValueTree;
        use proptest::test_runner::TestRunner;

        let mut runner = TestRunner::deterministic();
        let (mut valid, mut kinds) = (0, [0; 5]);
        for _ in 0..1000 {
            let document = document().new_tree(&mut runner).expect("a document").current();
            valid += usize::from(is_json(document.as_bytes()));
            kinds[match peek(document.as_bytes()) {
                Envelope::Call(_) => 0,
                Envelope::Response(_) => 1,
                Envelope::Batch => 2,
                Envelope::Opaque => 3,
                Envelope::Undecided => 4,
            }] += 1;
        }
        assert!(valid > 950, "{valid} of 1000 documents are valid");
        assert!(kinds[..4].iter().all(|kind| *kind > 10) && kinds[4] == 0, "{kinds:?}");
    }
}
