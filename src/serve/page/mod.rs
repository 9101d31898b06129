//! The page where people answer: its files, its headers, and the sign-in of a browser. What the page shows and does is
//! in `web`; its calls are those of `/rpc`.

mod files;

mod policy;

pub mod code;

pub(super) mod sign_in;

pub(super) mod routes;
