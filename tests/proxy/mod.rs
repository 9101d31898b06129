//! The real `askbridge proxy` under a scripted conductor that spells its methods as conductors do since 5.0, and as
//! they did before. `tests/conductor` puts it under real ones.

#[cfg(test)]
mod chain;
#[cfg(test)]
mod conductor;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod long;
#[cfg(test)]
mod odd;
#[cfg(test)]
mod questions;
