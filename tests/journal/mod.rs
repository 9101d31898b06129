//! The journal as a file on a disk: what is known of a question that is asked again, processes that write at once and are
//! killed, damaged files, formats, and what is listed and removed.

#[cfg(test)]
mod again;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod large;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod support;
#[cfg(test)]
mod trouble;
