//! Every agent's dialect before every kind of client, on the engine alone: the agent hears exactly what the person
//! chose, or nothing, and nobody hangs (I4). What an agent writes and understands is written down here once more, and
//! is not the bridge's own reading of it.

#[cfg(test)]
mod field;

#[cfg(test)]
mod agents;

#[cfg(test)]
mod asking;

#[cfg(test)]
mod hearing;

#[cfg(test)]
mod clients;

#[cfg(test)]
mod world;

#[cfg(test)]
mod typed;

#[cfg(test)]
mod cells;

#[cfg(test)]
mod repeats;

#[cfg(test)]
mod random;

#[cfg(test)]
mod rounds;
