//! Random rules against random permissions: what a rule allows does only what the rule says. `GUARD=1000000` tries as many,
//! from the seed of `PROPTEST_RNG_SEED`.

use std::io::Write;

use crate::guard::judge::Judge;

#[test]
fn what_a_rule_allows_does_only_what_the_rule_says() {
    let (count, seed) = (number("GUARD").unwrap_or(3000), number("PROPTEST_RNG_SEED").unwrap_or(1));
    let mut state = seed;
    let mut judge = Judge::new();
    for input in 0..count {
        if input % 200 == 0 {
            judge.renew(&bytes(&mut state));
        }
        let bytes = bytes(&mut state);
        judge
            .try_one(&bytes)
            .unwrap_or_else(|wrong| panic!("input {input} of seed {seed}: {wrong}\n{bytes:?}"));
    }
    let tried = judge.end().unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    // Otherwise nothing would be judged.
    assert!(tried.commands > count / 50 && tried.files > count / 100, "{tried:?}");
    writeln!(std::io::stderr(), "{count} inputs, seed {seed}: {tried:?}, none of them wrong")
        .expect("stderr");
}

/// Returns the number in a variable of the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns bytes that choose one input.
pub(crate) fn bytes(state: &mut u64) -> [u8; 128] {
    let mut bytes = [0; 128];
    for part in bytes.chunks_exact_mut(8) {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        part.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
    }
    bytes
}
