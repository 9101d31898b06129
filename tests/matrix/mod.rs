//! Every agent's dialect with every kind of client, on the engine alone: the agent receives exactly the user's choices,
//! or nothing, and every question ends (I4). What an agent writes and reads is implemented here a second time,
//! independently of the bridge.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod cells;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod field;
#[cfg(test)]
mod hearing;
#[cfg(test)]
mod manners;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod random;
#[cfg(test)]
mod repeats;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod typed;
#[cfg(test)]
mod world;
