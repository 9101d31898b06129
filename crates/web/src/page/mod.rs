//! The page where people answer: its files, its headers, and the sign-in of a browser. The content of the page is in
//! `web`; it calls the methods of `/rpc`.

pub mod sign_in;
pub(super) mod site;
