//! Which addresses can be reached from other machines.

use std::net::IpAddr;

/// Returns whether an address can be reached from this machine only.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
