//! The questions of another machine, over a launcher that misbehaves. The two machines are directories of this one.
//! How one bridge behaves is left to `answers`, a real ssh to `run`.

#[cfg(test)]
mod broken;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod history;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod launcher;
#[cfg(test)]
mod played;
#[cfg(test)]
mod races;
#[cfg(test)]
mod versions;
#[cfg(test)]
mod world;
