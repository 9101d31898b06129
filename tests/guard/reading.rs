//! Random scripts, read by real shells: one that is not called dangerous never runs the program that is, as bash and dash
//! read it. The scripts are put together from harmless parts, and each program in them only writes down that it ran.
//! `GUARD=1000000` tries as many, from the seed of `PROPTEST_RNG_SEED`.

use askbridge_core::{guard::command, question::Risk};

use crate::guard::exploring::{bytes, number};
use crate::guard::oracle::Shells;
use crate::guard::random::Dice;

/// Parts of scripts. None of them writes a file but `a`, and none can run without end.
const PARTS: [&str; 62] = [
    "rm x",
    "rm",
    "r",
    "m",
    "x",
    " ",
    " ",
    " ",
    "ls",
    "cat a",
    "git",
    "make",
    "x=rm",
    "x=ls",
    "x='rm x'",
    "x=",
    "$x",
    "\"$x\"",
    "${x}",
    "${x:-rm}",
    "${x%a}",
    "y=$x",
    "$y",
    ";",
    ";",
    "\n",
    "\n",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "if ",
    "; then ",
    "; else ",
    "; fi",
    "for x in a rm; do ",
    "; done",
    "case a in a) ",
    ";; esac",
    "$(",
    ")",
    "`",
    "'",
    "\"",
    "\\",
    "#",
    "> a",
    "2>&1",
    "< a",
    "<<E\n",
    "<<'E'\n",
    "\nE\n",
    "$((1",
    "))",
    "[[ a",
    " ]]",
    "eval ",
    "a",
];

fn script(dice: &mut Dice<'_>) -> String {
    let count = 2 + dice.below(9);
    (0..count).map(|_| dice.one(&PARTS)).collect()
}

#[test]
fn what_is_not_called_dangerous_runs_nothing_that_is() {
    let (count, seed) = (number("GUARD").unwrap_or(6000), number("PROPTEST_RNG_SEED").unwrap_or(1));
    let mut state = seed;
    let shells = Shells::new();
    let mut harmless = Vec::new();
    let mut tried = 0;
    for input in 0..count {
        let bytes = bytes(&mut state);
        let script = script(&mut Dice::new(&bytes));
        if command::risk(&script, None).0 != Risk::Dangerous && !script.contains('\0') {
            harmless.push(script);
        }
        if harmless.len() < 500 && input + 1 < count {
            continue;
        }
        tried += harmless.len();
        for shell in ["bash", "dash"] {
            for (script, ran) in harmless.iter().zip(shells.ran(shell, &harmless)) {
                assert!(
                    !ran.iter().any(|program| program == "rm"),
                    "seed {seed}: {shell} runs rm: {script:?}"
                );
            }
        }
        harmless.clear();
    }
    // Otherwise nothing would be judged.
    assert!(tried as u64 > count / 20, "{tried}");
}
