//! The page where people answer: its files, its headers, and the sign-in of a browser. What the page shows and does is
//! in `web`; its calls are those of `/rpc`.

pub mod sign_in;
pub(super) mod site;
