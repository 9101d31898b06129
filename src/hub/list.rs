//! The list of the services of the process that serves all questions.

use askbridge_web::Server;

#[cfg(feature = "fleet")]
use super::gateway::GatewayService;
#[cfg(feature = "notify")]
use super::notify::NotifyElsewhere;
use super::{
    attach::{AttachService, Attached},
    gaps::GapsService,
    http::HttpService,
    presence::{PresenceService, Visitors},
    service::HubService,
    share::ShareService,
};

/// What the services take over from the start of the process.
pub(super) struct HubParts {
    pub(super) server: Server,
    /// The commands that look for the inbox in the background. `None` in a terminal.
    pub(super) visitors: Option<Visitors>,
    pub(super) attached: Attached,
    /// What shares the connections to other machines.
    pub(super) share: ShareService,
}

/// Returns the services of the process.
pub(super) fn hub_services(parts: HubParts) -> Vec<Box<dyn HubService>> {
    let HubParts { server, visitors, attached, share } = parts;
    let address = server.address();
    let mut all: Vec<Box<dyn HubService>> = vec![
        Box::new(HttpService(server)),
        Box::new(AttachService(attached)),
        Box::new(GapsService),
        Box::new(share),
        #[cfg(feature = "fleet")]
        Box::new(GatewayService),
        #[cfg(feature = "notify")]
        Box::new(NotifyElsewhere),
    ];
    if let Some(visitors) = visitors {
        all.push(Box::new(PresenceService { visitors, address }));
    }
    all
}
