//! How a question is put to a person, wherever that is: what may be typed, what it means, and what has to be confirmed.
//! Pure. The plain lines of `answer` and the full-screen inbox are both drawn from it.

pub mod near;

pub mod read;

pub mod ask;

pub mod caution;

mod word;

pub mod dialogue;
