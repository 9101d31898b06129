//! The journal as a file on a disk: what is known of a question that is asked again, processes that write at once and are
//! killed, damaged files, formats, and what is listed and removed.

mod support;

mod again;

mod chain;

mod damage;

mod formats;

mod listing;

mod processes;

mod trouble;
