//! What becomes of a dialog when a hook has ended, by what the hook printed.

use serde_json::Value;

use super::call::Call;

/// Returns what the model is told, where the hook's output closes the dialog. `None` where the dialog stays.
pub fn told(call: &Call, code: Option<i32>, stdout: &[u8]) -> Option<String> {
    let output: Value = serde_json::from_slice(stdout).ok().filter(|_| code == Some(0))?;
    let output = &output["hookSpecificOutput"];
    if output["hookEventName"] != call.event {
        return None;
    }
    if call.event == "Elicitation" {
        let action = output["action"].as_str()?;
        return Some(format!("{action} {}", output["content"]));
    }
    let decision = &output["decision"];
    match (decision["behavior"].as_str()?, call.tool) {
        ("deny", _) => Some(decision["message"].as_str().unwrap_or_default().to_owned()),
        ("allow", "AskUserQuestion") => Some(answers(call, decision.get("updatedInput")?)),
        ("allow", "ExitPlanMode") if decision.get("updatedInput").is_none() => None,
        ("allow", "Bash") => {
            let input = decision.get("updatedInput").unwrap_or(&call.input);
            let lasting =
                decision.get("updatedPermissions").map(|it| format!(" with {it}")).unwrap_or_default();
            Some(format!("ran {}{lasting}", input["command"]))
        }
        ("allow", _) => Some("allowed".to_owned()),
        _ => None,
    }
}

/// Returns what the model is told of answers. Those whose key is not the text of a question are dropped.
fn answers(call: &Call, input: &Value) -> String {
    let Some(asked) = input["questions"].as_array() else {
        return "updatedInput that failed schema validation".to_owned();
    };
    let asked_as = &call.input["questions"];
    let given = asked.iter().filter(|asking| asked_as.as_array().is_some_and(|known| known.contains(asking)));
    let given: Vec<_> = given
        .filter_map(|asking| {
            let text = asking["question"].as_str()?;
            let notes = input["annotations"][text]["notes"].as_str();
            let notes = notes.map(|notes| format!(" notes: {notes}")).unwrap_or_default();
            Some(format!("{text:?}={}{notes}", input["answers"].get(text)?))
        })
        .collect();
    match given.is_empty() {
        true => "The user did not answer the questions.".to_owned(),
        false => format!("Your questions have been answered: {}.", given.join(", ")),
    }
}
