//! Questions that no connection holds, in the real inbox: the ways to ask them, the commands, how each end of an asker or of
//! the inbox leaves them, and random crashes.

#[cfg(test)]
mod aap;
#[cfg(test)]
mod asked;
#[cfg(test)]
mod callbacks;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod home;
#[cfg(test)]
mod permitted;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod stalled;
