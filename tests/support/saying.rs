//! The output of a component for any input of a conductor.
//! The property tests and the fuzz targets share it.

use std::time::Duration;

use askbridge::{
    acp::{Bridge, Component, Config, Line, Output},
    wire::frame::{Piece, Splitter},
};

/// Returns the output of a component for these bytes, read in pieces of this size.
pub(crate) fn said(input: &[u8], piece: usize) -> Vec<u8> {
    let config = Config::default();
    let mut component = Component::new(Bridge::new(config));
    let mut splitter = Splitter::default();
    let mut out = Vec::new();
    for bytes in input.chunks(piece.max(1)) {
        splitter.space().extend_from_slice(bytes);
        while let Some(piece) = splitter.next(|line| component.judge(line)) {
            let (bytes, whole) = match piece {
                Piece::Run(bytes) => {
                    component.pass(bytes, |bytes| out.extend(bytes));
                    continue;
                }
                Piece::Line(bytes) => (bytes, true),
                Piece::Head(bytes) => (bytes, false),
            };
            for output in component.line(&Line { bytes, whole }, Duration::ZERO) {
                if let Output::Write(bytes) = output {
                    out.extend(bytes);
                }
            }
        }
    }
    out
}
