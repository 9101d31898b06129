//! The list of the services of an inbox, which every composition of the program uses.

use askbridge_control::rpc::host::Service;

#[cfg(feature = "fleet")]
use super::fleet;
#[cfg(feature = "notify")]
use super::notify;
use super::{context::Context, http, recall, rules, settings, unattended};

/// Returns the services that an inbox with this context needs.
pub fn services(context: &Context) -> Vec<Box<dyn Service>> {
    let all = [
        recall::LedgerService::of(context),
        rules::RuleService::of(context),
        unattended::UnattendedService::of(context),
        settings::SettingsService::of(context),
        http::HttpService::of(context),
        #[cfg(feature = "fleet")]
        fleet::FleetService::of(context),
        #[cfg(feature = "notify")]
        notify::NotifyService::of(context),
    ];
    all.into_iter().flatten().collect()
}
