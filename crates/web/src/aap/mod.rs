//! The Agent Approval Protocol, version 1, under `/aap`: programs and coding agents whose tools have an AAP client ask this
//! inbox for leave. A request is a permission of a program that the journal keeps; the digest that its decision is bound to
//! is that of the whole body.
//!
//! Source: `agentapprovalprotocol` 0.3.3 on PyPI, its wire objects, its client and its provider for tests. Instances with
//! credentials of their own, and webhooks to them, are left out: the token of the inbox is the credential.

mod routes;
mod wire;

pub(super) use routes::routes;
