//! `askbridge` alone in a terminal: the questions that wait, and what to type next.

use askbridge_control::{inbox::Inbox, join::JoinedInbox, rpc::client::Depth};
use askbridge_os::exit;
use clap::Args;

use super::{
    CommandError, Context,
    filter::FilterArgs,
    list::{lines, lost_and_elsewhere, unreachable_lines},
    reach::MachineArgs,
    runner::{listed, print_lines, warn},
    screen::columns,
};
use crate::{hub::SERVER, limits};

/// Options of the overview.
#[derive(Debug, Args)]
pub struct OverviewArgs {}

/// Shows the questions that wait, and what to type next.
pub async fn overview(context: &Context) -> Result<u8, CommandError> {
    let reach = MachineArgs::default().reach(context).await?;
    let joined = JoinedInbox::glance(reach, Depth::Outline, limits::PATIENCE).await?;
    let gaps = joined.gaps().borrow().clone();
    warn(&gaps);
    let (_, elsewhere) = lost_and_elsewhere(&joined).await;
    let mut shown = lines(&joined, &gaps, &elsewhere, columns(), &FilterArgs::default());
    shown.extend(unreachable_lines(&joined, &elsewhere));
    let waits = joined.store().read(|_, snapshot| snapshot.open_count() > 0);
    // The inbox in the background has no agent that could ask.
    let has_bridge = joined.status().iter().any(|status| status.agent != SERVER);
    shown.push(String::new());
    shown
        .extend(next_steps(waits, has_bridge).iter().map(|(command, what)| format!("  {command:<20}{what}")));
    let code = listed(print_lines(&shown), gaps.is_empty())?;
    // The user did not ask for a list, so an incomplete list is no failure here.
    Ok(if code == exit::BRIDGE_GONE { exit::OK } else { code })
}

/// Returns the commands to type next, and what each of them does.
fn next_steps(waits: bool, has_bridge: bool) -> Vec<(&'static str, &'static str)> {
    let mut steps = match (waits, has_bridge) {
        (true, _) => vec![
            ("askbridge next", "answer the first question, step by step"),
            ("askbridge open", "answer in the browser"),
        ],
        (false, true) => vec![
            ("askbridge open", "keep the page open: it notifies you when a question waits"),
            ("askbridge doctor", "check that questions reach you"),
        ],
        (false, false) => vec![
            ("askbridge setup", "connect your editors and agents"),
            ("askbridge doctor", "check that questions reach you"),
        ],
    };
    if cfg!(feature = "mock") && !waits && !has_bridge {
        steps.push(("askbridge demo", "watch an example question being asked and answered"));
    }
    steps.push(("askbridge --help", "all commands"));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_one_that_is_needed() {
        let first = |waits, has_bridge| next_steps(waits, has_bridge)[0].0;
        assert_eq!(first(true, true), "askbridge next");
        assert_eq!(first(false, true), "askbridge open");
        assert_eq!(first(false, false), "askbridge setup");
        for (waits, has_bridge) in [(true, true), (false, true), (false, false)] {
            assert_eq!(
                next_steps(waits, has_bridge).last().map(|(command, _)| *command),
                Some("askbridge --help")
            );
        }
    }
}
