//! One machine and its commands, as the tests of one machine have them.

#[expect(dead_code, reason = "the tests of one machine use the rest")]
#[path = "../answers/machine.rs"]
pub(crate) mod machine;
#[path = "../answers/person.rs"]
pub(crate) mod person;
