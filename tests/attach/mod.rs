//! Agents in terminals that are attached to: the real commands, and mocks that behave as released agents do. The races with
//! agents under a host are beside theirs. What their messages mean is tested in `dialect`.

#[cfg(test)]
mod at_once;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod copilot;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod credentials;
#[cfg(test)]
mod opencode;
#[cfg(test)]
mod races;
#[cfg(test)]
mod scene;
