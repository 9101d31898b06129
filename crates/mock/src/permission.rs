//! Permissions in a turn of the mock agent: asking for them, and reporting the answers. The shape of a request is left
//! to `permissions`.

use std::io::{self, Write};

use serde_json::{json, value::RawValue};

use crate::{
    MockDialect,
    agent::MockAgent,
    behaviour::{Act, Behaviour},
    dialects::SEVERAL,
    message::RpcError,
    permissions::MockPermission,
};

impl<W: Write> MockAgent<W> {
    /// Asks for the permissions that the prompt names, all at once.
    pub(super) fn ask_permissions(&mut self, session: &str, behaviour: &Behaviour) -> io::Result<()> {
        let first = self.asked;
        let times = if behaviour.several { SEVERAL } else { 1 };
        let acts = behaviour.acts.iter().flat_map(|act| std::iter::repeat_n(*act, times));
        let together = behaviour.acts.len() * times > 1;
        for act in acts {
            self.ask_permission(session, act, together)?;
        }
        if behaviour.withdraw && !behaviour.acts.is_empty() {
            (first..self.asked)
                .try_for_each(|id| self.output.notify("$/cancel_request", json!({ "requestId": id })))?;
        }
        Ok(())
    }

    fn ask_permission(&mut self, session: &str, act: Act, together: bool) -> io::Result<()> {
        let cwd = self.sessions.get(session).map(|session| session.cwd.clone()).unwrap_or_default();
        let permission = MockPermission {
            session: session.to_owned(),
            cwd,
            number: self.asked + 1,
            dialect: self.dialect,
            act,
            version_2: self.version_2,
            together,
        };
        let request = permission.request()?;
        // Many agents describe the action only in these updates, so they precede the request.
        for update in &request.updates {
            self.update(session, update)?;
        }
        let id = self.asked;
        self.asked += 1;
        self.output.request(id, "session/request_permission", &request.params)?;
        self.permissions.insert(id, permission);
        if let Some(turn) = self.sessions.turn_of(session) {
            turn.waits_for.insert(id);
        }
        Ok(())
    }

    /// Reports the response to a permission, and ends the turn if it waits for nothing else.
    pub(super) fn permission_answered(
        &mut self,
        id: u64,
        permission: &MockPermission,
        outcome: Result<&RawValue, &RpcError>,
    ) -> io::Result<()> {
        // A closed session gets no more updates.
        if self.sessions.get_open(&permission.session).is_err() {
            return Ok(());
        }
        let told = permission.read_response(outcome);
        self.update(&permission.session, &permission.conclusion(&told))?;
        self.say(&permission.session, &permission.report(&told))?;
        if let Some(turn) = self.sessions.turn_of(&permission.session) {
            turn.waits_for.remove(&id);
        }
        self.end_turn(&permission.session)
    }

    /// Drops the permissions of a cancelled turn where the dialect's real agent neither withdraws them nor waits for
    /// the client's `cancelled`, which the protocol promises it.
    pub(super) fn leave_permissions_on_cancel(&mut self, session: &str) {
        if !matches!(self.dialect, MockDialect::Qwen | MockDialect::OhMyPi) {
            return;
        }
        let Some(turn) = self.sessions.turn_of(session) else { return };
        turn.waits_for.retain(|id| {
            let left = self.permissions.remove(id).is_some();
            if left {
                self.withdrawn.insert(*id);
            }
            !left
        });
    }
}
