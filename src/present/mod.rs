//! Questions in words, for people at a terminal. Pure formatting: printing is left to `command`.

pub mod text;

pub mod attention;

mod ending;

pub mod answer;

pub mod wrap;

pub mod gaps;

pub mod bridges;

mod columns;

pub mod table;

pub mod past;

pub mod elsewhere;

pub mod listing;

pub mod status;

pub mod qr;

pub mod doctor;

pub mod subject;

pub mod question;
