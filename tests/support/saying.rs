//! What a component says to whatever a conductor says.
//! The property tests and the fuzz targets share it.

use std::time::Duration;

use askbridge_core::{
    acp::{Bridge, Config},
    engine::{Output, Peer},
};

/// Returns what a component says to these bytes, read in pieces of this size.
pub(crate) fn said(input: &[u8], piece: usize) -> Vec<u8> {
    let mut bridge = Bridge::under_conductor(Config::default());
    let mut out = Vec::new();
    for bytes in input.chunks(piece.max(1)) {
        bridge.receive(Peer::Client, bytes, Duration::ZERO);
        while let Some(output) = bridge.poll() {
            let Output::Queued(to, count) = output else { continue };
            assert_eq!(to, Peer::Client, "there is one connection");
            out.extend(bridge.outbox(to).chunks().flatten().take(count));
            bridge.wrote(to, count);
        }
        bridge.flushed(Peer::Client);
    }
    out
}
