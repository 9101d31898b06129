//! The page in a real browser: Chromium, driven by WebDriver, with the real inbox, real bridges and agents behind it.
//! `tests/run` installs the browser and axe-core; `cargo nextest run --test page` runs it. The server without a browser
//! is left to `tests/http`.

#[cfg(test)]
#[path = "../support/process.rs"]
mod support;

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the server use the rest")]
#[path = "../http/client.rs"]
mod client;

#[cfg(test)]
#[path = "../support/hostile.rs"]
mod corpus;

#[cfg(test)]
mod colours;
mod commands;

#[cfg(test)]
mod browser;

#[cfg(test)]
mod listener;

#[cfg(test)]
mod person;

#[cfg(test)]
mod world;

#[cfg(test)]
mod harness;

#[cfg(test)]
mod fields;

#[cfg(test)]
mod added_images;

#[cfg(test)]
mod images;

#[cfg(test)]
mod permissions;

#[cfg(test)]
mod alike;

#[cfg(test)]
mod all_day;

#[cfg(test)]
mod diffs;

#[cfg(test)]
mod later;

#[cfg(test)]
mod pictures;

#[cfg(test)]
mod unseen;

#[cfg(test)]
mod typing;

#[cfg(test)]
mod sight;

#[cfg(test)]
mod bar;

#[cfg(test)]
mod changing;

#[cfg(test)]
mod led;

#[cfg(test)]
mod words;

#[cfg(test)]
mod order;

#[cfg(test)]
mod errors;

#[cfg(test)]
mod machines;

#[cfg(test)]
mod racing;

#[cfg(test)]
mod undo;

#[cfg(test)]
mod lasting;

#[cfg(test)]
mod lost;

#[cfg(test)]
mod signing;

#[cfg(test)]
mod keys;

#[cfg(test)]
mod looks;

#[cfg(test)]
mod comments;

#[cfg(test)]
mod markdown;

#[cfg(test)]
mod alerts;

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod cost;

#[cfg(test)]
mod axe;

#[cfg(test)]
mod tree;

#[cfg(test)]
mod elements;
