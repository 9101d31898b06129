//! `askbridge allow`: allows what an agent asks permission for. It chooses the option by its role, and not by its name.
//! Allowing those that are like it as well is left to `alike.rs`.
//! Choosing an option of any role is left to `answer`, and rejecting to `reject`, both in `submit.rs`.

use std::sync::Arc;

use askbridge_core::{
    desk::{Record, Submission},
    question::{Answer, Field, FieldOption, Purpose, Question, Role, Value, form, naming},
};
use clap::Args;

use super::{
    CommandError, Context,
    alike::allow_alike,
    converse::converse,
    help,
    reach::MachineArgs,
    runner::look_up,
    second_step::confirmed,
    submit::to_found,
    typist::{Leftovers, can_ask},
};
use crate::present::{answer, caution::caution, dialogue::Dialogue, text};

/// Options of `askbridge allow`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct AllowArgs {
    /// The permission's ID
    pub id: Option<String>,

    /// Allow it from now on; what that covers is up to the agent
    #[arg(long)]
    pub always: bool,

    /// You have seen the permission as it is after this many changes, which `askbridge show` counts [default: 0]
    #[arg(long, value_name = "EDITION")]
    pub seen: Option<u32>,

    /// Allow it without a second step; without a terminal, what is dangerous needs this
    #[arg(long)]
    pub yes: bool,

    /// Allow the open permissions that are like it as well, after listing all of them; never what is dangerous
    #[arg(long, conflicts_with_all = ["always", "seen"])]
    pub like: bool,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Allows what an agent asks permission for: this time, or from now on. At a terminal, the person chooses between
/// several options that allow it, and confirms a permission that acts or is dangerous, with its whole text above (I12).
pub async fn allow(context: &Context, args: &AllowArgs) -> Result<u8, CommandError> {
    let id = args.id.as_deref().ok_or(CommandError::NoId)?;
    if args.like {
        let choose = |record: &Record| choose(record, Role::AllowOnce).map_err(|error| unfit(record, error));
        return allow_alike(context, (id, args.yes, &args.machine), choose).await;
    }
    let role = if args.always { Role::AllowAlways } else { Role::AllowOnce };
    let leftovers = Leftovers::of_person();
    let found = look_up(context, id, &args.machine).await?;
    if can_ask()
        && !args.yes
        && let Some(dialogue) = asked(Arc::clone(&found.2), role)
    {
        return converse(&found.0, dialogue, leftovers).await;
    }
    let read = |record: &Record| {
        let answer = choose(record, role).map_err(|error| unfit(record, error))?;
        if !args.yes && !can_ask() {
            let always = if args.always { " --always" } else { "" };
            confirmed(record, &answer, || format!("allow {}{always}", record.id))?;
        }
        Ok(Submission::answer(answer, args.seen))
    };
    to_found(id, found, read).await
}

/// Returns the dialogue that comes before the permission is given; `None` if there is nothing to ask.
fn asked(record: Arc<Record>, role: Role) -> Option<Dialogue> {
    let question = &record.question;
    if !record.is_open() || question.purpose != Purpose::Permission {
        return None;
    }
    match (form::options_with_role(question, role).count(), choose(&record, role)) {
        // The ID alone does not show that the person has seen what would be done.
        (1, Ok(answer))
            if question.risk().is_guarded() || record.edition > 0 || caution(question, &answer).is_some() =>
        {
            Some(Dialogue::confirming(record, answer))
        }
        (2.., _) => Some(Dialogue::new(record)),
        _ => None,
    }
}

fn unfit(record: &Record, error: String) -> CommandError {
    CommandError::DoesNotFit(record.id.to_string(), error)
}

fn check(question: &Question) -> Result<(), String> {
    match question.purpose {
        Purpose::Permission => Ok(()),
        _ => Err(format!(
            "this is a question, and no permission: `askbridge answer` answers it: {}",
            answer::brief(&question.headline())
        )),
    }
}

/// Chooses the only option with this role.
fn choose(record: &Record, role: Role) -> Result<Answer, String> {
    let question = &record.question;
    check(question)?;
    let options: Vec<_> = form::options_with_role(question, role).collect();
    match (&*options, question.fields.first()) {
        ([option], Some(field)) => Ok(chosen(field, option)),
        ([], _) if role == Role::AllowAlways => {
            Err("the agent has no option that allows it from now on: leave out --always".to_owned())
        }
        ([], _) => Err(format!("the agent has no option that allows it this time: {}", names(question))),
        (several, _) => Err(format!(
            "the agent has {} options for that: `askbridge answer` chooses one: {}",
            several.len(),
            names(question)
        )),
    }
}

fn chosen(field: &Field, option: &FieldOption) -> Answer {
    let values = [(field.name.clone(), Value::Text(option.value.clone()))].into();
    Answer { values, ..Answer::default() }
}

fn names(question: &Question) -> String {
    let options = question.fields.iter().flat_map(|field| naming::names(field.kind.options()));
    options.map(|name| text::short(&name, 40)).collect::<Vec<_>>().join(", ")
}
