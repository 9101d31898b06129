//! `askbridge extend`: gives a question more time. `askbridge later`: sets one aside until a time. What a time looks like is
//! left to `until.rs`.

use askbridge_core::desk::{Record, Submission};
use clap::Args;
use jiff::Zoned;

use super::{
    CommandError, Context, arguments, help, reach::MachineArgs, runner::look_up, submit::submit, until::until,
};
use crate::present::{
    bridges::Bridges,
    text::{self, span},
};

/// Options of `askbridge extend`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct ExtendArgs {
    /// The question's ID
    pub id: Option<String>,

    /// How much more time it gets, such as 90s, 10m or 2h
    #[arg(value_parser = arguments::duration)]
    pub duration: Option<humantime::Duration>,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Gives a question more time.
pub async fn extend(context: &Context, args: &ExtendArgs) -> Result<u8, CommandError> {
    // Who leaves the ID out types the duration in its place.
    let id = args.id.as_deref().filter(|id| args.duration.is_some() || arguments::duration(id).is_err());
    let id = id.ok_or(CommandError::NoId)?;
    let unsaid = || format!("{id}: how much more time? `askbridge extend {id} 10m` gives 10 minutes");
    let by = args.duration.ok_or_else(|| CommandError::Usage(unsaid()))?.into();
    let done = |bridges: &Bridges, record: &Record, _: &Submission| match record.deadline {
        Some(deadline) => {
            let left = deadline.since(bridges.now(record));
            format!("extended: ends in {}, at {deadline}", span(left))
        }
        None => format!("extended: {}", text::headline(record)),
    };
    submit(id, look_up(context, id, &args.machine).await?, |_| Ok(Submission::Extend(by)), done).await
}

/// Options of `askbridge later`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct LaterArgs {
    /// The question's ID
    pub id: Option<String>,

    /// Until when: 30m, 14:00, tomorrow (at 9:00), or now, which brings it back
    pub until: Option<String>,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Sets a question aside: it is last in every list, and notifies nobody, until that time or until its deadline comes near.
pub async fn later(context: &Context, args: &LaterArgs) -> Result<u8, CommandError> {
    let id = args.id.as_deref().ok_or(CommandError::NoId)?;
    let unsaid = || format!("{id}: until when? `askbridge later {id} 30m`, 14:00 or tomorrow");
    let typed = args.until.as_deref().ok_or_else(|| CommandError::Usage(unsaid()))?;
    let time = until(typed, &Zoned::now()).map_err(|why| CommandError::Usage(format!("{typed:?}: {why}")))?;
    let done = move |bridges: &Bridges, record: &Record, _: &Submission| {
        text::aside(record, bridges.now(record), !time.is_zero())
    };
    submit(id, look_up(context, id, &args.machine).await?, |_| Ok(Submission::Later(time)), done).await
}
