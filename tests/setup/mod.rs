//! `askbridge setup` and `askbridge doctor` in a home directory of their own.

#[cfg(test)]
mod advice;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod editors;
#[cfg(test)]
mod home;
#[cfg(test)]
mod servers;
