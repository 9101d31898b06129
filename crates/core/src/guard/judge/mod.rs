//! What a command risks: its script is taken apart (`shell`), each program is judged by its grammar (`grammar`), and the
//! worst part counts. `script` goes through a script, `files` judges the files that it reads and writes and the folder that
//! it runs in, `values` knows its variables, `program` judges a program with its words, `inner` a command in them, `reading` its
//! input, `network` what it fetches and sends, `printed` what it prints, and `state` is what they share.
//!
//! What is not understood is dangerous, and the reason says which part it is.

mod files;
mod inner;
mod network;
mod printed;
mod program;
mod reading;
mod script;
mod state;
mod values;

pub(super) use script::risk;
