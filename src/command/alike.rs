//! `askbridge allow --like ID`: allows a permission together with the open ones that are like it, after it has listed all of
//! them, each with all that it would do. Which ones are like it is left to `askbridge_settings::rule`.

use std::sync::Arc;

use askbridge_control::{inbox::Inbox, join::JoinedInbox};
use askbridge_core::{
    desk::{Record, Refusal, Submission},
    question::Answer,
};
use askbridge_os::exit;
use askbridge_settings::rule::like;

use super::{
    CommandError, Context,
    confirm::confirm,
    converse::by,
    reach::MachineArgs,
    runner::{done, look_up, print_lines, say, warn},
    screen::wrap_column,
    typist::can_ask,
};
use crate::present::alike::{all, list};

/// Chooses the option that allows a permission.
pub(super) type Choose = fn(&Record) -> Result<Answer, CommandError>;

/// Allows a permission and those that are like it: this time. `yes` stands for the person's yes.
pub(super) async fn allow_alike(
    context: &Context,
    (id, yes, machine): (&str, bool, &MachineArgs),
    choose: Choose,
) -> Result<u8, CommandError> {
    let (_, typed, record) = look_up(context, id, machine).await?;
    if !typed.has_number() {
        return Err(CommandError::NoNumber(id.to_owned(), record));
    }
    if !record.is_open() {
        return Err(CommandError::Refused(id.to_owned(), Refusal::Gone(record)));
    }
    choose(&record)?;
    if record.question.risk().is_dangerous() {
        let why = "it is dangerous, and what can do harm is allowed one by one: leave out --like";
        return Err(CommandError::Usage(format!("{id}: {why}")));
    }
    let joined = JoinedInbox::open_soon(machine.reach(context).await?).await?;
    warn(&joined.gaps().borrow().clone());
    let open = joined.store().read(|_, snapshot| snapshot.open());
    let mut records = like(&record, &open);
    records.insert(0, record);
    print_lines(&list(&records, wrap_column()))?;
    let all = all(records.len());
    if !yes && !can_ask() {
        let how = format!("nothing was allowed: `askbridge allow --like {id} --yes` allows {all}");
        return Err(CommandError::Usage(how));
    }
    if !yes && !confirm(&format!("Allow {all}?"), "nothing was allowed", "allow them")? {
        return Ok(exit::LEFT_OPEN);
    }
    allow_all(&joined, &records, choose).await
}

/// Allows each of them as it was listed. One that has changed or ended meanwhile is left out, and does not keep the others.
async fn allow_all(
    joined: &JoinedInbox,
    records: &[Arc<Record>],
    choose: Choose,
) -> Result<u8, CommandError> {
    let (mut code, mut allowed) = (exit::OK, 0);
    for record in records {
        let submission = Submission::answer(choose(record)?, record.edition);
        match joined.submit(&record.id, submission, by()).await {
            Ok(_) => allowed += 1,
            Err(refusal) => {
                let error = CommandError::Refused(record.id.to_string(), refusal);
                say(&format!("left out: {error}"));
                code = if code == exit::OK { error.exit_code() } else { code };
            }
        }
    }
    let of = if allowed < records.len() { format!(" of {}", records.len()) } else { String::new() };
    Ok(done(code, &format!("allowed {allowed}{of}\n")))
}
