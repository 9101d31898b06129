//! Forms by their schemas: what a person sees, what may be entered, and what the asker gets. `table.rs` has a row for each
//! keyword, `generated.rs` schemas of real generators, `any.rs` random ones.

#[cfg(test)]
mod any;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod table;
