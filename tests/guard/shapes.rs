//! One command in the words of every agent.

use serde_json::json;

/// Returns requests that would run a command, in the words of each agent and in words that hide it.
pub(crate) fn shapes(command: &str) -> Vec<String> {
    let command = json!(command);
    vec![
        format!(r#"acp {{"kind":"execute","rawInput":{{"command":{command}}}}}"#),
        format!(r#"acp {{"kind":"read","locations":[{{"path":"a"}}],"rawInput":{{"command":{command}}}}}"#),
        format!(r#"acp {{"kind":"Search","rawInput":{{"cmd":{command},"path":"a"}}}}"#),
        format!(r#"acp {{"kind":"EXECUTE","rawInput":{{"Script":{command}}}}}"#),
        format!(r#"acp {{"kind":"think","rawInput":{{"calls":[{{"shell_command":{command}}}]}}}}"#),
        format!(r#"acp {{"kind":"execute","rawInput":{{"command":"ls","command":{command}}}}}"#),
        format!(r#"acp {{"kind":"execute","rawInput":{{"command":{command},"command":"ls"}}}}"#),
        format!(r#"acp {{"kind":"execute","rawInput":{{"commands":["ls",{command}]}}}}"#),
        format!(r#"acp {{"kind":"execute"}} <- {{"rawInput":{{"command":{command}}}}}"#),
        format!(r#"acp2 {{"type":"command","command":{command}}}"#),
        format!(r#"claude Bash {{"command":{command},"description":"Look"}}"#),
        format!(r#"hook Bash {{"command":{command}}}"#),
        format!(r#"codex-command {{"threadId":"t","itemId":"i","command":{command}}}"#),
        format!(r#"codex-1-command {{"conversationId":"t","callId":"i","command":{command}}}"#),
        format!(r#"copilot {{"kind":"commands","fullCommandText":{command}}}"#),
        format!(r#"copilot-request {{"kind":"shell","fullCommandText":{command}}}"#),
        format!(
            r#"opencode {{"id":"p","sessionID":"s","permission":"bash","patterns":["ls"],"metadata":{{"command":{command}}}}}"#
        ),
    ]
}
