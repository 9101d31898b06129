//! `askbridge rules`: lists the rules and their mistakes, tries them on questions, and applies them to the
//! open questions. Making a rule from a permission is left to `propose.rs`.
//! The decision of a rule is left to `rule`, its syntax to `settings`.

use std::{sync::Arc, time::Duration};

use askbridge_control::{
    inbox::{Inbox, real_files::RealFiles},
    join::{JoinedInbox, Places},
    rpc::client::Depth,
};
use askbridge_core::desk::{IdPrefix, Record, Refusal, State};
use askbridge_os::{exit, terminal::printable_line};
#[cfg(feature = "journal")]
use askbridge_settings::rule::Trial;
use askbridge_settings::{
    RuleTable, Settings, render,
    rule::{Decision, Explanation, RuleEffect, decide, explain},
};
use clap::{Args, Subcommand};

use super::{
    CommandError, Context, arguments,
    confirm::confirm,
    converse::said,
    propose::propose,
    reach::MachineArgs,
    runner::{self, look_up, print, say, shown, warn},
};
use crate::{limits, present::text, service::rules};

/// How rules are written, and the exit codes of `askbridge rules`.
const HELP: &str = "\
Rules are in your own settings, one [[rule]] each; the first that applies to a question decides:
  [[rule]]
  name = \"tests\"
  command = \"cargo test *\"
  dangerous = true
  then = \"allow\"
A new rule applies to questions that open from then on.

Exit codes:
  0    done; or no rule applies
  1    with `check`, there are mistakes; with `apply` and `from`, nothing was done
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  4    with `apply`, a question was settled already
  6    the bridge does not reply
  8    the agent that asked started this command: it cannot answer itself
  125  the command itself failed";

/// Options of `askbridge rules`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct RulesArgs {
    /// The action.
    #[command(subcommand)]
    pub action: RulesAction,
}

/// The actions of `askbridge rules`.
#[derive(Debug, Subcommand)]
pub enum RulesAction {
    /// List the rules in their order
    List,
    /// Name each mistake with its place
    Check,
    /// Show what the rules would do with a question, and why, without doing it
    Try {
        /// The question's ID; it may be settled already
        #[arg(required_unless_present = "history")]
        id: Option<String>,

        /// Show it for all questions in the journal
        #[arg(long, conflicts_with = "id")]
        history: bool,

        /// With --history: only questions settled at most this long ago
        #[arg(long, value_name = "TIME", value_parser = arguments::duration, requires = "history")]
        since: Option<humantime::Duration>,
    },
    /// Make a rule from a permission: show it, and what it would have decided of the last hundred
    From {
        /// The permission's ID; it may be settled already
        id: String,
        /// Write the rule to your settings without confirmation
        #[arg(long)]
        write: bool,
    },
    /// Apply the rules to the open questions, after showing the result
    Apply {
        /// The question's ID [default: all open questions]
        id: Option<String>,
        /// Apply the rules without confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// The message if there is no rule.
const NONE: &str = "there are no rules: `askbridge config edit` opens your settings, and docs/rules.md says how to write one";

/// Shows, checks, tries or applies the rules.
pub async fn rules(context: &Context, args: &RulesArgs) -> Result<u8, CommandError> {
    match &args.action {
        RulesAction::List => list(context),
        RulesAction::Check => check(context),
        RulesAction::Try { id: Some(id), .. } => attempt(context, id).await,
        RulesAction::Try { id: None, since, .. } => try_history(context, since.map(Into::into)),
        RulesAction::From { id, write } => propose(context, id, *write).await,
        RulesAction::Apply { id, yes } => apply(context, id.as_deref(), *yes).await,
    }
}

fn list(context: &Context) -> Result<u8, CommandError> {
    let settings = read(context);
    if settings.rules().is_empty() {
        say(NONE);
        return Ok(exit::OK);
    }
    let named = settings.rules().iter().zip(settings.rule_tables()).zip(1..);
    let lines = named.map(|((rule, table), place)| {
        format!("{place}. {}: {}  # {}\n", rule.name(), brief(table), table.origin)
    });
    shown(print(&lines.map(|line| printable_lines(&line)).collect::<String>()))
}

/// Returns the keys of a rule on one line, without its name.
fn brief(table: &RuleTable) -> String {
    let values = table.values.iter().filter(|(key, _)| *key != "name");
    let values = values.map(|(key, stored)| format!("{key} = {}", render::toml(&stored.value)));
    values.collect::<Vec<_>>().join(", ")
}

fn check(context: &Context) -> Result<u8, CommandError> {
    // The project's file is read as well: rules in it do not count, and are reported as mistakes.
    let settings = context.settings_here();
    settings.problems().iter().for_each(|problem| say(&problem.to_string()));
    for rule in settings.rules() {
        if let Some(program) = rule.unknown_program() {
            say(&printable_line(&format!(
                "note: the rule {} leaves the arguments of `{program}` open, and askbridge does not know what they do",
                rule.name()
            )));
        }
    }
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let (rules, problems) = (settings.rules().len(), settings.problems().len());
    let verb = if rules == 1 { "holds" } else { "hold" };
    let text = format!("{} {verb}, {}\n", counted(rules, "rule"), counted(problems, "mistake"));
    Ok(runner::done(if problems == 0 { exit::OK } else { exit::NOT_SET }, &text))
}

async fn attempt(context: &Context, id: &str) -> Result<u8, CommandError> {
    let (_, _, record) = look_up(context, id, &MachineArgs::default()).await?;
    let settings = read(context);
    let Explanation { passed, decision } = explain(settings.rules(), &record, &RealFiles);
    let mut lines = vec![format!("{}: {}", record.id, text::headline(&record))];
    lines.extend(passed.iter().map(|passed| format!("  {} does not apply: {}", passed.rule, passed.why)));
    lines.push(match &decision {
        Some(decision) => format!("  {} applies: {}", decision.rule, would(&record, decision)),
        None if settings.rules().is_empty() => format!("  {NONE}"),
        None => "  no rule applies: you decide".to_owned(),
    });
    shown(print(&lines.iter().map(|line| printable_lines(line) + "\n").collect::<String>()))
}

#[cfg(feature = "journal")]
fn try_history(context: &Context, since: Option<Duration>) -> Result<u8, CommandError> {
    let settings = read(context);
    if settings.rules().is_empty() {
        say(NONE);
        return Ok(exit::OK);
    }
    let (mut trial, mut said) = (Trial::new(settings.rules()), String::new());
    let mut add = |line: &str| said.extend([&*printable_lines(line), "\n"]);
    // The questions are read one by one: a journal may have 100,000 of them.
    super::ledger::each(since, |record| {
        if let Some(decision) = trial.add(&record, &RealFiles) {
            let (what, would) = (text::headline(&record), would(&record, &decision));
            add(&format!("{} by {}: {what}: {would}", record.id, decision.rule));
        }
    })?;
    add(&format!("of {} questions, {} would have been decided by rules", trial.tried, trial.decided()));
    trial.counts.iter().for_each(|(rule, count)| add(&format!("  {rule}: {count}")));
    shown(print(&said))
}

#[cfg(not(feature = "journal"))]
fn try_history(_: &Context, _: Option<Duration>) -> Result<u8, CommandError> {
    Err(CommandError::Usage("this askbridge was built without a journal".to_owned()))
}

/// Returns what a rule would do with a question.
fn would(record: &Record, decision: &Decision) -> String {
    match &decision.what {
        RuleEffect::Submit(submission) => format!("it would be {}", said(record, submission)),
        RuleEffect::Hold => "you decide, and later rules are skipped".to_owned(),
        RuleEffect::Notify(ways) => format!("you decide, and are notified by {}", ways.join(", ")),
    }
}

async fn apply(context: &Context, id: Option<&str>, yes: bool) -> Result<u8, CommandError> {
    let settings = read(context);
    let decided = decided(open(context, id).await?, settings);
    if decided.is_empty() {
        say("no rule decides an open question");
        return Ok(exit::OK);
    }
    for (record, decision) in &decided {
        let line = format!("{} by {}: {}", record.id, decision.rule, would(record, decision));
        print(&(printable_lines(&line) + "\n"))?;
    }
    if !yes && !confirm("Apply the rules?", "nothing was done", "apply the rules")? {
        return Ok(exit::NOT_DONE);
    }
    let mut code = exit::OK;
    for (record, decision) in &decided {
        if let Err(error) = submit(context.places()?, record, decision).await {
            say(&error.to_string());
            // The first failure decides the exit code, and does not keep the other questions from being answered.
            code = if code == exit::OK { error.exit_code() } else { code };
        }
    }
    Ok(code)
}

/// Returns the questions that rules may be applied to.
async fn open(context: &Context, id: Option<&str>) -> Result<Vec<Arc<Record>>, CommandError> {
    let mut records = match id {
        Some(id) => {
            let (_, _, record) = look_up(context, id, &MachineArgs::default()).await?;
            if !record.is_open() {
                return Err(CommandError::Refused(id.to_owned(), Refusal::Gone(record)));
            }
            vec![record]
        }
        None => {
            let joined = JoinedInbox::glance(context.places()?, Depth::Whole, limits::PATIENCE).await?;
            let gaps = joined.gaps().borrow().clone();
            warn(&gaps);
            joined.store().read(|_, snapshot| snapshot.open())
        }
    };
    // An answer that is being delivered can no longer be replaced.
    records.retain(|record| record.state == State::Open);
    Ok(records)
}

/// Returns the submissions of the rules. Questions that they leave to the user are left out.
fn decided(open: Vec<Arc<Record>>, settings: &Settings) -> Vec<(Arc<Record>, Decision)> {
    let decision = |record: Arc<Record>| {
        let decision = decide(settings.rules(), &record, &RealFiles)?;
        matches!(decision.what, RuleEffect::Submit(_)).then_some((record, decision))
    };
    open.into_iter().filter_map(decision).collect()
}

async fn submit(places: &Places, record: &Record, decision: &Decision) -> Result<(), CommandError> {
    let RuleEffect::Submit(submission) = &decision.what else { return Ok(()) };
    let joined = JoinedInbox::open_for(places, &IdPrefix::from(&record.id)).await?;
    let submitted = joined.submit(&record.id, submission.clone(), rules::by(&decision.rule)).await;
    let now = submitted.map_err(|refusal| CommandError::Refused(record.id.to_string(), refusal))?;
    let line = format!("{} {}", record.id, said(&now, submission));
    Ok(print(&(printable_lines(&line) + "\n"))?)
}

/// Lists the mistakes in the user's settings, and returns the settings. Only the user's own file may have rules, so they
/// are without those of a project.
fn read(context: &Context) -> &Settings {
    context.settings.problems().iter().for_each(|problem| say(&problem.to_string()));
    &context.settings
}

/// Makes a line printable, since it may quote an agent. A line break at its end stays.
fn printable_lines(line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => printable_line(line).into_owned() + "\n",
        None => printable_line(line).into_owned(),
    }
}
