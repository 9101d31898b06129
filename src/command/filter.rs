//! The options of a command that shows only some of the questions.

use std::{path, sync::Arc};

use askbridge_core::{desk::Record, question::Risk};
use clap::Args;

use crate::present::{bridges::Bridges, filter, urgency};

/// Options that select questions.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Only some of them")]
pub struct FilterArgs {
    /// Only of this project: the name of its folder, or the path of this folder or one above it
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,

    /// Only of agents with this in their name
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,

    /// Only of this kind: question, permission, or that of the tool, such as execute, edit or read
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,

    /// Only what risks this: plain, acts or dangerous
    #[arg(long, value_name = "RISK", value_parser = risk)]
    pub risk: Option<Risk>,

    /// Only what is set aside until later
    #[arg(long)]
    pub later: bool,
}

impl FilterArgs {
    /// Returns whether the kinds of tools are needed, which the outline of a question does not have.
    pub(super) fn needs_kinds(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| kind != "question" && kind != "permission")
    }

    /// Returns whether all questions are shown.
    pub(super) fn is_empty(&self) -> bool {
        self.filter().is_empty()
    }

    /// Returns the questions that are shown: what ends soon first.
    pub(super) fn listed(&self, mut open: Vec<Arc<Record>>, bridges: &Bridges) -> Vec<Arc<Record>> {
        let keeps = self.keeping(bridges);
        open.retain(|record| keeps(record));
        urgency::sort(&mut open, bridges);
        open
    }

    /// Returns which questions are shown.
    pub(super) fn keeping(&self, bridges: &Bridges) -> impl Fn(&Record) -> bool {
        let filter = self.filter();
        move |record| filter.is_empty() || filter.keeps(record, bridges.agent(record).as_deref())
    }

    fn filter(&self) -> filter::Filter {
        let FilterArgs { project, agent, kind, risk, later } = self.clone();
        // `.`, `../shop` and `src/shop` are folders; a single word is the name of one.
        let is_path = |named: &String| named.contains('/') || named.starts_with('.');
        let resolved = |named: &String| Some(resolved(&path::absolute(named).ok()?).to_str()?.to_owned());
        let project = project
            .map(|named| Some(&named).filter(|named| is_path(named)).and_then(resolved).unwrap_or(named));
        filter::Filter { project, agent, kind, risk, later }
    }
}

/// Returns the path without `.` and `..`, where it exists.
fn resolved(path: &path::Path) -> path::PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn risk(name: &str) -> Result<Risk, String> {
    filter::risk(name).ok_or_else(|| "it is one of plain, acts and dangerous".to_owned())
}
