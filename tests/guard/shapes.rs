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

/// Returns requests that would change a file, in the words of each agent, with the whole change. The path is that of the
/// table, as the text of JSON.
pub(crate) fn changes(path: &str) -> Vec<String> {
    let patch = json!(format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"));
    let path = json!(path);
    let diff = format!(r#"{{"type":"diff","path":{path},"oldText":"a","newText":"b"}}"#);
    let other = r#"{"type":"diff","path":"src/a.rs","oldText":"a","newText":"b"}"#;
    vec![
        format!(r#"acp {{"kind":"edit","content":[{diff}]}}"#),
        format!(r#"acp {{"kind":"Edit","locations":[{{"path":{path}}}],"content":[{diff}]}}"#),
        format!(r#"acp {{"kind":"read","locations":[{{"path":{path}}}],"content":[{diff}]}}"#),
        format!(r#"acp {{"kind":"edit","content":[{other},{diff}]}}"#),
        format!(
            r#"acp {{"kind":"edit","locations":[{{"path":{path},"line":1}}],"content":[{{"type":"diff","patch":{{"text":{patch}}}}}]}}"#
        ),
        format!(r#"acp {{"kind":"edit","content":[{other}],"rawInput":{{"file_path":{path}}}}}"#),
        format!(
            r#"acp {{"kind":"edit","content":[{other}],"rawInput":{{"edits":[{{"filePath":{path}}}]}}}}"#
        ),
        format!(r#"acp {{"kind":"edit","content":[{diff}]}} <- {{"title":"Edit"}}"#),
        format!(r#"acp {{"kind":"edit"}} <- {{"content":[{diff}]}}"#),
        format!(r#"claude Edit {{"file_path":{path},"old_string":"a","new_string":"b"}}"#),
        format!(r#"claude Write {{"file_path":{path},"content":"b"}}"#),
        format!(r#"claude MultiEdit {{"file_path":{path},"edits":[{{"old_string":"a","new_string":"b"}}]}}"#),
        format!(r#"claude NotebookEdit {{"notebook_path":{path},"new_source":"b"}}"#),
        format!(r#"hook Edit {{"file_path":{path},"old_string":"a","new_string":"b"}}"#),
        format!(
            r#"codex-files {{"threadId":"t","itemId":"i"}} <- {{"type":"fileChange","id":"i","changes":[{{"path":{path},"kind":{{"type":"add"}},"diff":"x"}}]}}"#
        ),
        format!(
            r#"codex-1-files {{"conversationId":"t","callId":"i","fileChanges":{{{path}:{{"type":"add","content":"x"}}}}}}"#
        ),
        format!(r#"copilot {{"kind":"write","fileName":{path},"diff":{patch}}}"#),
        format!(
            r#"opencode {{"id":"p","sessionID":"s","permission":"edit","patterns":[{path}],"metadata":{{"filepath":{path},"diff":{patch}}}}}"#
        ),
    ]
}
