//! Random rules against random permissions: what a rule allows does only what the rule says. `GUARD=1000000` tries as many,
//! from the seed of `PROPTEST_RNG_SEED`, and `GUARD_FROM=500000` begins with that one.

use std::io::Write;

use fastrand::Rng;

use crate::guard::cage::Cage;
use crate::guard::judge::Judge;

/// The inputs of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs {
    pub(crate) from: u64,
    pub(crate) count: u64,
    pub(crate) seed: u64,
}

impl Inputs {
    /// Returns those that the environment asks for, or so many.
    pub(crate) fn new(usual: u64) -> Self {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        Inputs {
            from: number("GUARD_FROM").unwrap_or(0),
            count: number("GUARD").unwrap_or(usual),
            seed: number("PROPTEST_RNG_SEED").unwrap_or(1),
        }
    }

    pub(crate) fn numbers(self) -> std::ops::Range<u64> {
        self.from..self.count
    }

    /// Returns the bytes that choose the input with this number.
    pub(crate) fn bytes(self, number: u64) -> [u8; 128] {
        let mut bytes = [0; 128];
        Rng::with_seed(self.seed.rotate_left(32) ^ number).fill(&mut bytes);
        bytes
    }

    /// Says how far a long run has come, so that another one can go on there.
    pub(crate) fn say(self, number: u64, what: &str) {
        if std::env::var_os("GUARD").is_some() && (number.is_multiple_of(10_000) || number == self.count) {
            let Inputs { count, seed, .. } = self;
            writeln!(std::io::stderr(), "{number} of {count}, seed {seed}: {what}").expect("stderr");
        }
    }
}

#[test]
fn what_a_rule_allows_does_only_what_the_rule_says() {
    let Some(cage) = Cage::find("what shells make of commands that a rule allows") else { return };
    let inputs = Inputs::new(3000);
    let mut judge = Judge::new(cage);
    for number in inputs.numbers() {
        if number.is_multiple_of(200) || number == inputs.from {
            judge.renew(&Inputs { seed: !inputs.seed, ..inputs }.bytes(number / 200));
        }
        let bytes = inputs.bytes(number);
        judge
            .try_one(&bytes)
            .unwrap_or_else(|wrong| panic!("input {number} of seed {}: {wrong}\n{bytes:?}", inputs.seed));
        inputs.say(number, &format!("{:?}", judge.tried()));
    }
    let tried = judge.end().unwrap_or_else(|wrong| panic!("seed {}: {wrong}", inputs.seed));
    inputs.say(inputs.count, &format!("{tried:?}"));
    let count = inputs.count - inputs.from;
    // Otherwise nothing would be judged.
    assert!(tried.commands > count / 50 && tried.files > count / 100, "{tried:?}");
}
