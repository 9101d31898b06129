//! The documents in `schema/`, which are made of the types.

mod components;
mod documents;
pub(crate) mod openapi;
pub(crate) mod openrpc;
