//! The steps of processes: those of the agent, which is a puppet, and of the command under test.
//! The streams of the agent are left to `streams.rs`.

use std::time::Instant;

use rustix::process::Signal;

use crate::{
    limits,
    peer::Exit,
    play::{Play, Problem},
    puppet::Order,
    puppet_link::Role,
    step::{AgentAction, PeerAction, Side},
};

impl Play {
    pub(crate) fn agent(&mut self, action: &AgentAction) -> Result<(), Problem> {
        self.connect(Side::Agent)?;
        match action {
            AgentAction::Exit(_) | AgentAction::Kill => {
                self.flush(Side::Agent)?;
                // Our copies of its streams close first, so that they close at the moment in which the process ends.
                if let Some(end) = self.stage.end(Side::Agent) {
                    end.close_output();
                    end.close_input();
                }
                let puppet = self.stage.puppet(Role::Agent);
                match action {
                    AgentAction::Exit(code) => puppet.map_or((), |puppet| puppet.order(&Order::Exit(*code))),
                    _ => puppet.map_or((), |puppet| puppet.kill()),
                }
                self.wait_for_end(Role::Agent)
            }
            AgentAction::TrapTerm => self.order(Side::Agent, &Order::TrapTerm),
            AgentAction::GetsTerm => {
                let got = self.stage.until(self.deadline, |stage| {
                    let puppet = stage.puppet(Role::Agent)?;
                    (puppet.terminations > 0).then(|| puppet.terminations -= 1)
                });
                got.ok_or_else(|| {
                    format!("the {}'s process did not get SIGTERM in time", Side::Agent.name(self.kind))
                        .into()
                })
            }
            AgentAction::Runs(arguments) => self.runs_in_agent(arguments),
            AgentAction::SaysOnStderr(text) => self.order(Side::Agent, &Order::Stderr(text.clone())),
            AgentAction::Ends => self.wait_for_end(Role::Agent),
            AgentAction::ChildEnds => self.wait_for_end(Role::Child),
            AgentAction::StartChild => {
                if let Some(puppet) = self.stage.puppet(Role::Agent) {
                    puppet.order(&Order::StartChild);
                }
                let started = self.stage.until(self.deadline, |stage| stage.puppet(Role::Child).map(|_| ()));
                started.ok_or_else(|| {
                    format!("the {}'s process started no child", Side::Agent.name(self.kind)).into()
                })
            }
        }
    }

    fn wait_for_end(&mut self, role: Role) -> Result<(), Problem> {
        let ended = self.stage.until(self.deadline, |stage| stage.puppet(role)?.has_ended.then_some(()));
        let started = Side::Agent.name(self.kind);
        ended.ok_or_else(|| match role {
            Role::Agent => format!("the {started}'s process did not end in time").into(),
            Role::Child => format!("the child of the {started}'s process did not end in time").into(),
        })
    }

    pub(crate) fn peer(&mut self, action: &PeerAction) -> Result<(), Problem> {
        match action {
            PeerAction::Signal(name) => {
                if self.served.is_none() {
                    self.flush(Side::Client)?;
                }
                self.stage.peer.signal(match name.as_str() {
                    "SIGTERM" => Signal::TERM,
                    "SIGINT" => Signal::INT,
                    "SIGHUP" => Signal::HUP,
                    _ => Signal::KILL,
                });
                Ok(())
            }
            PeerAction::SaysOnStderr(text) => {
                // A thread reads stderr, and nothing wakes the stage when it has read a line.
                let said = loop {
                    if self.stage.peer.last_words().contains(text) {
                        break true;
                    }
                    let now = Instant::now();
                    if now > self.deadline {
                        break false;
                    }
                    self.stage.until(now + limits::LOOK, |_| None::<()>);
                };
                if said { Ok(()) } else { Err("the command did not say it on its stderr".into()) }
            }
            PeerAction::Runs if self.stage.has_exited() => {
                Err(format!("the command ended with {}", self.status()).into())
            }
            PeerAction::Runs => Ok(()),
            PeerAction::Exits(code) => {
                let exited = self.stage.until(self.deadline, |stage| stage.has_exited().then_some(()));
                exited.ok_or("the command did not exit in time")?;
                let status = self.stage.peer.status();
                let got = self.status();
                self.stage.wire.note(format!("({got})"));
                match code {
                    None => Ok(()),
                    Some(code) if status == Some(Exit::Code(*code)) => Ok(()),
                    Some(code) => {
                        let expected = Some(format!("exit code {code}"));
                        Err(Problem::Broken {
                            what: "the command exited with another status".to_owned(),
                            expected,
                            got: Some(got),
                        })
                    }
                }
            }
        }
    }
}
