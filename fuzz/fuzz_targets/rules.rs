//! What a rule allows does only what the rule says, as real shells in a cage and the kernel judge it. The input chooses a file system
//! with its links, by its first 32 bytes, a rule, and a permission in the words of an agent.
//!
//! ```sh
//! mkdir -p fuzz/corpus/rules
//! RUSTC_BOOTSTRAP=1 cargo fuzz run rules fuzz/corpus/rules fuzz/seeds/rules -- -max_total_time=300
//! ```

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/guard/asked.rs"]
mod asked;

#[path = "../../tests/guard/project.rs"]
#[expect(dead_code, reason = "the tables use more of it")]
mod project;

#[path = "../../tests/guard/random.rs"]
mod random;

#[path = "../../tests/guard/oracle.rs"]
mod oracle;

#[path = "../../tests/guard/cage.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod cage;

#[path = "../../tests/guard/shells.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod shells;

#[path = "../../tests/guard/judge.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod judge;

/// Where the tests have these files.
mod guard {
    pub(crate) use super::{asked, cage, oracle, project, random, shells};
}

thread_local! {
    static JUDGE: RefCell<judge::Judge> = RefCell::new(judge::Judge::new(cage::Cage::new().unwrap_or_else(|why| panic!("{why}"))));
}

/// Bytes that choose the file system.
const TREE: usize = 32;

fuzz_target!(|data: &[u8]| {
    let (tree, input) = data.split_at(data.len().min(TREE));
    JUDGE.with_borrow_mut(|judge| {
        judge.renew(tree);
        judge.try_one(input).and_then(|()| judge.end()).unwrap_or_else(|wrong| panic!("{wrong}"));
    });
});
