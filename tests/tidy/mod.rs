//! What the design promises of the structure, held on the sources themselves.
//! What the compiler and clippy can hold is left to them: that functions have at most 60 lines, for one.

#[cfg(test)]
mod addresses;
#[cfg(test)]
mod cycles;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod features;
#[cfg(test)]
mod floor;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod modules;
#[cfg(test)]
mod named;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod said;
#[cfg(test)]
mod source;
#[cfg(test)]
mod words;
