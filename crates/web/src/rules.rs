//! The methods that only the page of this machine's user has, over its own WebSocket: which permissions are like one, and the
//! rule that is made from one. Which these are is left to `askbridge_settings::rule`.
//!
//! The page sends no rule: it names the permission, and repeats the text that the user saw. What is written is made here, and
//! only if it is still that text (I13).

use std::{collections::BTreeSet, sync::Arc};

use askbridge_control::inbox::{HistoryFilter, Inbox, PastQuestion, real_files::RealFiles};
use askbridge_core::{
    desk::{IdPrefix, QuestionId, Record, Refusal, refusal::Detail},
    question::Purpose,
};
use askbridge_os::xdg;
use askbridge_settings::{
    files,
    limits::RULE_TRIAL,
    rule::{Proposal, Trial, like, was_allowed},
};
use jsonrpsee::{
    RpcModule,
    core::{RegisterMethodError, RpcResult},
    types::{ErrorObjectOwned, Params},
};
use serde::{Deserialize, Serialize};

use crate::limits;

/// Lists the open permissions that are like one: `{id}` → [`Like`].
const LIKE: &str = "question_like";
/// Makes a rule from a permission, and tries it on those of the past: `{id}` → [`ProposedRule`].
const PROPOSE: &str = "rule_propose";
/// Writes such a rule into the user's own settings: `{id, toml}` → [`WrittenRule`].
const WRITE: &str = "rule_write";

#[derive(Deserialize)]
struct LikeParams {
    id: String,
}

#[derive(Deserialize)]
struct WriteParams {
    id: String,
    /// The rule as the user saw it.
    toml: String,
}

/// The permissions that are like one.
#[derive(Clone, Serialize)]
struct Like {
    ids: Vec<QuestionId>,
}

/// A rule that the user may want.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProposedRule {
    toml: String,
    /// Whether it allows; otherwise it rejects.
    allows: bool,
    /// Where it would be written.
    path: String,
    /// How many permissions it was tried on.
    tried: usize,
    /// Those of them that it would have decided, the latest first.
    decided: Vec<DecidedPermission>,
}

/// A permission of the past that a rule would have decided.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct DecidedPermission {
    id: QuestionId,
    /// What was asked.
    asked: String,
    /// Whether it was allowed then. Absent if nobody decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    was_allowed: Option<bool>,
}

/// Where a rule was written.
#[derive(Clone, Serialize)]
struct WrittenRule {
    path: String,
}

/// Returns the methods over an inbox.
///
/// # Errors
/// Two of them have one name, which no build has.
pub(super) fn methods<I: Inbox>(inbox: I) -> Result<RpcModule<I>, RegisterMethodError> {
    let mut module = RpcModule::new(inbox);
    module.register_async_method(LIKE, async |params, inbox, _| {
        let record = look_up(&*inbox, &read::<LikeParams>(&params)?.id).await?;
        let open = inbox.store().read(|_, snapshot| snapshot.open());
        let ids = like(&record, &open).iter().map(|record| record.id.clone()).collect();
        RpcResult::Ok(Like { ids })
    })?;
    module.register_async_method(PROPOSE, async |params, inbox, _| {
        let record = look_up(&*inbox, &read::<LikeParams>(&params)?.id).await?;
        let proposal = proposed(&record)?;
        let past = permissions(&*inbox).await.map_err(refused)?;
        let path = files::user_file().map(|path| path.display().to_string()).unwrap_or_default();
        RpcResult::Ok(tried(&proposal, &past, path))
    })?;
    module.register_async_method(WRITE, async |params, inbox, _| {
        let WriteParams { id, toml } = read(&params)?;
        let record = look_up(&*inbox, &id).await?;
        let written = tokio::task::spawn_blocking(move || write(&record, &toml)).await;
        written.map_err(|error| cannot("rule_not_written", &error.to_string()))?
    })?;
    Ok(module)
}

fn read<T: serde::de::DeserializeOwned>(params: &Params<'_>) -> RpcResult<T> {
    params.parse()
}

async fn look_up<I: Inbox>(inbox: &I, id: &str) -> RpcResult<Arc<Record>> {
    let id: QuestionId = id.parse().map_err(|_| refused(Refusal::NotFound))?;
    inbox.look_up(&IdPrefix::from(&id)).await.map_err(refused)
}

fn refused(refusal: Refusal) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(refusal.kind().code, refusal.to_string(), Some(refusal.detail()))
}

/// Says why there is no rule, in a sentence whose beginning is the page's.
fn cannot(name: &str, why: &str) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(422, why.to_owned(), Some(Detail { name: name.to_owned(), ..Detail::default() }))
}

fn proposed(record: &Record) -> RpcResult<Proposal> {
    if let Some(machine) = record.id.bridge.machine() {
        let how = format!(
            "rules decide on the machine of the agent: `askbridge rules from {}` on {machine}",
            record.id.own()
        );
        return Err(cannot("no_rule", &how));
    }
    let settings = files::read(None);
    let taken: Vec<_> = settings.rules().iter().map(|rule| &**rule.name()).collect();
    Proposal::of(record, &taken, &RealFiles).map_err(|why| cannot("no_rule", &why))
}

/// Returns the last permissions of this machine, the latest first. The inbox lists only so much of the past at once.
async fn permissions<I: Inbox>(inbox: &I) -> Result<Vec<Record>, Refusal> {
    let (mut known, mut permissions, mut until) = (BTreeSet::new(), Vec::new(), None);
    for _ in 0..limits::TRIAL_PAGES {
        let filter = HistoryFilter { until, limit: Some(limits::REMEMBERED), ..HistoryFilter::default() };
        let page = inbox.past(filter).await?.questions;
        until = page.last().map(PastQuestion::ended_at);
        let before = known.len();
        let new = page.into_iter().map(|past| past.record).filter(|record| known.insert(record.id.clone()));
        let is_ours = |record: &Record| {
            record.id.bridge.machine().is_none() && record.question.purpose == Purpose::Permission
        };
        permissions.extend(new.filter(is_ours));
        // What was settled at one moment is on both pages.
        if known.len() == before || permissions.len() >= RULE_TRIAL {
            break;
        }
    }
    permissions.truncate(RULE_TRIAL);
    Ok(permissions)
}

fn tried(proposal: &Proposal, past: &[Record], path: String) -> ProposedRule {
    let mut trial = Trial::new(std::slice::from_ref(proposal.rule()));
    let decided = past.iter().filter(|record| trial.add(record, &RealFiles).is_some());
    let decided = decided.map(|record| DecidedPermission {
        id: record.id.clone(),
        asked: record.question.summary().into_owned(),
        was_allowed: was_allowed(record),
    });
    let decided = decided.collect();
    ProposedRule { toml: proposal.toml(), allows: proposal.allows(), path, tried: trial.tried, decided }
}

fn write(record: &Record, seen: &str) -> RpcResult<WrittenRule> {
    let failed = |why: &str| cannot("rule_not_written", why);
    let proposal = proposed(record)?;
    if proposal.toml() != seen {
        return Err(failed("the rule is another one by now: read it again"));
    }
    let path = files::user_file()
        .ok_or_else(|| failed("no directory for the settings: set XDG_CONFIG_HOME or HOME"))?;
    let text = match files::own_file(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.map_err(|error| failed(&format!("{}: {error}", path.display())))?,
    };
    let text = proposal.appended((path.clone(), &text, xdg::home()), record, &RealFiles);
    let text = text.map_err(|why| failed(&format!("{} is unchanged: {why}", path.display())))?;
    files::write(&path, &text).map_err(|error| failed(&format!("{}: {error}", path.display())))?;
    Ok(WrittenRule { path: path.display().to_string() })
}
