//! The state of the broker of a fleet, for commands that show it.

#[cfg(feature = "fleet")]
use askbridge_control::join::Places;
#[cfg(feature = "fleet")]
use askbridge_fleet::Access;
use askbridge_settings::Settings;
#[cfg(feature = "fleet")]
use askbridge_settings::keys;

use crate::present::fleet::BrokerStatus;

/// Asks the broker of the settings how it is, over a connection of its own. `None` if the settings name none.
#[cfg(feature = "fleet")]
pub async fn fleet_status(settings: &Settings) -> Option<BrokerStatus> {
    let broker = settings.get(&keys::FLEET_URL).0.join(", ");
    let access = match Access::of(settings)? {
        Ok(access) => access,
        Err(problem) => {
            return Some(BrokerStatus { broker, problem: Some(problem), ..BrokerStatus::default() });
        }
    };
    let status = BrokerStatus { broker, user: Some(access.user().to_string()), ..BrokerStatus::default() };
    let folder = Places::here().map(|places| places.own().to_owned()).unwrap_or_default();
    Some(match askbridge_fleet::status(&access, &folder).await {
        Ok(found) => BrokerStatus {
            account: Some(found.account),
            latency_us: u64::try_from(found.latency.as_micros()).ok(),
            machines: found.machines,
            has_this: found.has_this,
            problem: found.problem,
            ..status
        },
        Err(problem) => BrokerStatus { problem: Some(problem), ..status },
    })
}

/// Returns no broker: this program knows no fleet.
#[cfg(not(feature = "fleet"))]
pub async fn fleet_status(_: &Settings) -> Option<BrokerStatus> {
    None
}
