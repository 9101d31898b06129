//! The list of the services of an inbox, in the one place that every composition uses.

#[cfg(feature = "notify")]
use super::notify;
use super::{context::Context, http, recall, rules, settings, unattended};
use crate::rpc::host::Service;

/// Returns the services of an inbox: those that have something to do there.
pub fn services(context: &Context) -> Vec<Box<dyn Service>> {
    let all = [
        recall::LedgerService::of(context),
        rules::RuleService::of(context),
        unattended::UnattendedService::of(context),
        settings::SettingsService::of(context),
        http::HttpService::of(context),
        #[cfg(feature = "notify")]
        notify::NotifyService::of(context),
    ];
    all.into_iter().flatten().collect()
}
