//! Any bytes come out of the splitter as they went in, at any chunking.
//! The first line of the input says how the rest is cut; `*` and a digit repeat the byte before them.
//!
//! ```sh
//! mkdir -p fuzz/corpus/splitter
//! RUSTC_BOOTSTRAP=1 cargo fuzz run splitter fuzz/corpus/splitter fuzz/seeds/splitter -- -max_total_time=300
//! ```
#![no_main]

use askbridge_core::limits::{HOLD, READ, STREAM};
use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/cutting.rs"]
mod cutting;

use cutting::{Cutting, Temper};

/// The most bytes that an input stands for.
const MOST: usize = 2 * HOLD + READ;

fuzz_target!(|data: &[u8]| {
    let Some(cutting) = decode(data) else { return };
    let wanted = cutting.check();
    let again = Cutting { chunks: vec![READ], ..cutting };
    assert_eq!(wanted, again.check(), "another chunking gives other lines");
});

fn decode(data: &[u8]) -> Option<Cutting> {
    let end = data.iter().position(|byte| *byte == b'\n')?;
    let [temper, drops, salt, chunks @ ..] = &data[..end] else { return None };
    let temper = match temper {
        b'o' => Temper::Ordinary,
        b'w' => Temper::Wanted,
        b'l' => Temper::Mixed { look: STREAM + 1, salt: *salt },
        digit => Temper::Mixed { look: usize::from(digit % 10), salt: *salt },
    };
    let bytes = expand(&data[end + 1..]);
    // Few bytes at a time only where there are few bytes.
    let least = bytes.len() / 128;
    let size = |byte: &u8| match byte {
        b'S' => STREAM,
        b'R' => READ,
        b'H' => HOLD,
        b's' => STREAM - 1,
        b'r' => READ - 1,
        b'h' => HOLD - 1,
        b'T' => STREAM + 1,
        byte => usize::from(byte % 32),
    };
    let mut chunks: Vec<_> = chunks.iter().map(|byte| size(byte).max(least)).collect();
    chunks.push(READ);
    Some(Cutting { bytes, chunks, temper, drops: *drops == b'd' })
}

fn expand(data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = data.iter();
    while let Some(byte) = rest.next() {
        let times = match (byte, bytes.last(), rest.as_slice()) {
            (b'*', Some(last), [digit @ b'0'..=b'9', ..]) => {
                Some((*last, 1 << (2 * u32::from(digit - b'0') + 2)))
            }
            _ => None,
        };
        match times {
            Some((last, times)) => {
                rest.next();
                // Lines by the million would say no more than some of them, and take seconds.
                let times = if last == b'\n' { times.min(256) } else { times };
                bytes.resize(bytes.len() + times, last);
            }
            None => bytes.push(*byte),
        }
        if bytes.len() > MOST {
            bytes.truncate(MOST);
            break;
        }
    }
    bytes
}
