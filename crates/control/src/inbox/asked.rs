//! What programs do, over any inbox, with a question that no connection holds: they ask it, wait for its outcome, and withdraw
//! it. Keeping it is left to `standing.rs`.

use std::sync::Arc;

use askbridge_core::{
    desk::{IdPrefix, QuestionId, Record, Refusal},
    question::Question,
};
use tokio::time::Duration;

use super::{
    access::Inbox,
    kept::{Kept, NotKept, Standing},
    ledger::AskedUnder,
};

/// Asks a question that no connection holds, as [`Standing::ask`] does. The lists of the inbox have it then.
///
/// # Errors
/// See [`NotKept`].
pub async fn keep(
    inbox: &impl Inbox,
    question: Question,
    under: Option<AskedUnder>,
) -> Result<Kept, NotKept> {
    let kept = match standing(inbox)?.ask(question, under, None).await {
        Err(NotKept::Ends(record)) => Kept { record, is_new: false },
        kept => kept?,
    };
    inbox.keep_up(&kept.record).await;
    Ok(kept)
}

/// Waits until a question that no connection holds is over, for this long at most, and returns it as it is then. The lists
/// of the inbox have that then. An inbox that ends does not wait.
///
/// # Errors
/// See [`NotKept`].
pub async fn outcome(inbox: &impl Inbox, id: &QuestionId, within: Duration) -> Result<Arc<Record>, NotKept> {
    let record = match holder(inbox, id).await?.outcome(id, within).await {
        Err(NotKept::Ends(record)) => record,
        outcome => outcome?,
    };
    inbox.keep_up(&record).await;
    Ok(record)
}

/// Withdraws a question that no connection holds. To withdraw it again succeeds.
///
/// # Errors
/// See [`NotKept`].
pub async fn withdraw(inbox: &impl Inbox, id: &QuestionId) -> Result<(), NotKept> {
    let standing = holder(inbox, id).await?;
    standing.withdraw(id).await?;
    let over = standing.outcome(id, Duration::ZERO).await?;
    inbox.keep_up(&over).await;
    Ok(())
}

fn standing(inbox: &impl Inbox) -> Result<Arc<dyn Standing>, NotKept> {
    inbox.standing().map_err(|why| Refusal::NotKept(why.to_owned()).into())
}

/// Returns what keeps this question.
async fn holder(inbox: &impl Inbox, id: &QuestionId) -> Result<Arc<dyn Standing>, NotKept> {
    let standing = standing(inbox)?;
    if !standing.has(id) {
        inbox.look_up(&IdPrefix::from(id)).await?;
        return Err(Refusal::Held.into());
    }
    Ok(standing)
}
