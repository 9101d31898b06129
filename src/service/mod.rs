//! The services that run beside the socket of an inbox, one file each. Each follows the inbox's questions, and submits
//! answers as any responder does.

#[cfg(test)]
pub mod crashes;
pub mod http;
#[cfg(feature = "notify")]
pub mod notify;
pub mod recall;
pub mod rules;
pub mod settings;
pub mod unattended;

pub use http::HttpService;
#[cfg(feature = "notify")]
pub use notify::NotifyService;
pub use recall::LedgerService;
