//! Lines leave the splitter unchanged for any chunking (I1, I2), and the splitter holds little of them (I6).
//! The engine's treatment of the wanted lines is tested in `tests/transcripts.rs` and `tests/machine`.

#[cfg(test)]
mod splitter {
    use askbridge::limits::{HOLD, READ, STREAM};
    use askbridge_core::wire::frame::{Piece, Splitter, Verdict};
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use crate::support::cutting::{Cutting, Temper};

    fn config(cases: u32) -> ProptestConfig {
        let seeds = FileFailurePersistence::WithSource("seeds");
        ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) }
    }

    fn temper() -> impl Strategy<Value = Temper> {
        prop_oneof![
            1 => Just(Temper::Ordinary),
            1 => Just(Temper::Wanted),
            4 => (prop_oneof![0usize..6, Just(STREAM - 1), Just(STREAM), Just(STREAM + 1)], any::<u8>())
                .prop_map(|(look, salt)| Temper::Mixed { look, salt }),
        ]
    }

    /// Some bytes and then one repeated byte, so that the length of the line is around one of the limits.
    fn long(limit: usize) -> impl Strategy<Value = Vec<u8>> {
        let end = prop_oneof![3 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..]), 1 => Just(&b""[..])];
        (prop::collection::vec(any::<u8>(), 0..9), 0..7usize, any::<u8>(), end).prop_map(
            move |(mut line, around, byte, end)| {
                line.resize(limit + around - 3 - end.len(), byte);
                [&line, end].concat()
            },
        )
    }

    fn short() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![4 => any::<u8>(), 1 => Just(b'\n'), 1 => Just(b'\r'), 1 => Just(b'{')];
        prop::collection::vec(byte, 0..60)
    }

    /// Chunk sizes of at least `least`, so that long streams have few chunks.
    fn chunks(least: usize) -> impl Strategy<Value = Vec<usize>> {
        let limits = vec![STREAM - 1, STREAM, STREAM + 1, READ - 1, READ];
        let size = prop_oneof![(1..200usize), prop::sample::select(limits), (1..=READ)];
        prop::collection::vec(size.prop_map(move |size| size.max(least)), 1..6)
    }

    fn cutting(lines: impl Strategy<Value = Vec<Vec<u8>>>, least: usize) -> impl Strategy<Value = Cutting> {
        (lines, chunks(least), temper(), any::<bool>()).prop_map(|(lines, chunks, temper, drops)| Cutting {
            bytes: lines.concat(),
            chunks,
            temper,
            drops,
        })
    }

    /// Checks a stream, and that it has the same wanted lines if it comes in one chunk.
    fn check(cutting: Cutting) {
        let wanted = cutting.check();
        let at_once = Cutting { chunks: vec![cutting.bytes.len().max(1)], ..cutting };
        assert_eq!(wanted, at_once.check());
    }

    proptest! {
        #![proptest_config(config(400))]
        #[test]
        fn short_lines_pass_unchanged(cutting in cutting(prop::collection::vec(short(), 0..20), 1)) {
            check(cutting);
        }
    }

    proptest! {
        #![proptest_config(config(150))]
        #[test]
        fn lines_around_the_size_of_a_read_pass_unchanged(
            cutting in cutting(
                prop::collection::vec(prop_oneof![2 => long(STREAM), 1 => long(READ), 3 => short()], 1..8),
                16,
            )
        ) {
            check(cutting);
        }
    }

    proptest! {
        #![proptest_config(config(40))]
        #[test]
        fn lines_around_the_longest_held_line_pass_unchanged(
            cutting in cutting(
                prop::collection::vec(
                    prop_oneof![3 => long(HOLD), 1 => long(HOLD + READ), 1 => long(STREAM), 2 => short()],
                    1..4,
                ),
                4096,
            )
        ) {
            check(cutting);
        }
    }

    #[test]
    fn dropping_the_rest_of_a_line_keeps_the_next_line() {
        for after in [&b"\n?next\n"[..], b"\n\n", b"tail\nb\nc", b"tail"] {
            let mut splitter = Splitter::default();
            let judge =
                |line: &[u8]| if line.starts_with(b"?") { Verdict::Intercept } else { Verdict::Forward };
            splitter.space().extend_from_slice(&[b'?'; HOLD]);
            assert!(matches!(splitter.next(judge), Some(Piece::Head(head)) if head.len() == HOLD));
            splitter.drop_rest();
            let mut left = Vec::new();
            for byte in after {
                splitter.space().extend_from_slice(&[*byte]);
                left.extend(std::iter::from_fn(|| splitter.next(judge)));
            }
            left.extend(splitter.end(judge));
            let left: Vec<u8> = left
                .into_iter()
                .flat_map(|(Piece::Run(bytes) | Piece::Line(bytes) | Piece::Head(bytes))| bytes)
                .collect();
            let end = after.iter().position(|byte| *byte == b'\n').map_or(after.len(), |end| end + 1);
            assert_eq!(left, &after[end..], "{}", after.escape_ascii());
        }
    }
}
