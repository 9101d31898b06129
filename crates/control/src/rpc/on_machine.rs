//! The names that questions of another machine have here: those that they have there, behind the name of the machine.
//!
//! A machine speaks for its own bridges only. A bridge's name that has a machine's name before it already stays
//! unchanged. The reader sees by it that the bridge is not the machine's own, and leaves the bridge out.

use std::sync::Arc;

use askbridge_core::desk::{BridgeName, LostQuestion, MachineName, QuestionId, Record, Refusal};

use super::protocol::ReadableList;
use crate::inbox::{BridgeStatus, PastQuestion};

/// A type that names bridges or questions.
pub(crate) trait OnMachine {
    /// Returns the value with the names that this machine's bridges and questions have here.
    #[must_use]
    fn on(self, machine: &MachineName) -> Self;
}

impl OnMachine for BridgeName {
    fn on(self, machine: &MachineName) -> Self {
        BridgeName::on(&self, machine).unwrap_or(self)
    }
}

impl OnMachine for QuestionId {
    fn on(self, machine: &MachineName) -> Self {
        QuestionId::on(&self, machine).unwrap_or(self)
    }
}

impl OnMachine for BridgeStatus {
    fn on(self, machine: &MachineName) -> Self {
        // The address is valid on the other machine only.
        BridgeStatus { bridge: OnMachine::on(self.bridge, machine), address: None, ..self }
    }
}

impl OnMachine for Record {
    fn on(mut self, machine: &MachineName) -> Self {
        self.id = OnMachine::on(self.id, machine);
        self.bridge = OnMachine::on(self.bridge, machine);
        if let Some(earlier) = &mut self.earlier {
            earlier.id = OnMachine::on(earlier.id.clone(), machine);
        }
        self
    }
}

impl OnMachine for LostQuestion {
    fn on(self, machine: &MachineName) -> Self {
        let replaced_by = self.replaced_by.map(|id| OnMachine::on(id, machine));
        LostQuestion { record: self.record.on(machine), replaced_by, ..self }
    }
}

impl OnMachine for PastQuestion {
    fn on(self, machine: &MachineName) -> Self {
        let claimed_by = self.claimed_by.map(|id| OnMachine::on(id, machine));
        PastQuestion { record: self.record.on(machine), claimed_by, ..self }
    }
}

impl OnMachine for Refusal {
    fn on(self, machine: &MachineName) -> Self {
        match self {
            Refusal::Ambiguous(ids) => Refusal::Ambiguous(ids.on(machine)),
            Refusal::Conflict(record) => Refusal::Conflict(record.on(machine)),
            Refusal::Changed(record) => Refusal::Changed(record.on(machine)),
            Refusal::Gone(record) => Refusal::Gone(record.on(machine)),
            other => other,
        }
    }
}

impl OnMachine for ReadableList<Record> {
    fn on(mut self, machine: &MachineName) -> Self {
        self.items = self.items.on(machine);
        for item in &mut self.unreadable {
            item.id = item.id.take().map(|id| OnMachine::on(id, machine));
        }
        self
    }
}

impl<T: OnMachine + Clone> OnMachine for Arc<T> {
    fn on(self, machine: &MachineName) -> Self {
        Arc::new(Arc::unwrap_or_clone(self).on(machine))
    }
}

impl<T: OnMachine> OnMachine for Vec<T> {
    fn on(self, machine: &MachineName) -> Self {
        self.into_iter().map(|item| item.on(machine)).collect()
    }
}
