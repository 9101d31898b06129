//! The time of the day where the person is.

/// Returns the minute of the day, counted from midnight, by the clock of this machine.
pub(super) fn minute() -> u16 {
    let time = jiff::Zoned::now().time();
    u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).unwrap_or_default()
}
