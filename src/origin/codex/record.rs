//! The record of a thread: a file of Codex' own with a line for all that the model and its tools said. It has the answer to
//! a question, which the app server does not say.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{limits, origin::file::open_regular};

#[derive(Deserialize)]
struct RecordLine {
    payload: RecordPayload,
}

#[derive(Deserialize)]
struct RecordPayload {
    #[serde(rename = "type")]
    kind: String,
    call_id: Option<String>,
    output: Option<String>,
}

/// What the call of a tool returned.
const OUTPUT: &str = "function_call_output";

/// Returns what this tool call returned, as soon as it stands in the record. `None` where it does not in time.
pub(super) async fn answer_in_record(path: &Path, call: &str) -> Option<String> {
    let looking = async {
        let mut pause = Duration::ZERO;
        loop {
            sleep(pause).await;
            match look_in_record(path, call).await {
                Ok(Some(output)) => return Some(output),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "the record of a thread cannot be read");
                    return None;
                }
            }
            pause = limits::ATTACH_RECORD_LOOK;
        }
    };
    timeout(limits::ATTACH_RECORD, looking).await.ok().flatten()
}

/// Looks once, on a thread that may block. The runtime's own file reads a long record in many steps, each of which waits for
/// such a thread.
async fn look_in_record(path: &Path, call: &str) -> io::Result<Option<String>> {
    let (path, call) = (path.to_owned(), call.to_owned());
    spawn_blocking(move || read_end(&path).map(|lines| find_output(&lines, &call))).await?
}

/// Returns the last bytes of the record, which have the last calls.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limits::ATTACH_RECORD_END)))?;
    let mut end = Vec::new();
    file.take(limits::ATTACH_RECORD_END).read_to_end(&mut end)?;
    Ok(end)
}

fn find_output(lines: &[u8], call: &str) -> Option<String> {
    let lines = lines.split(|byte| *byte == b'\n').rev();
    lines
        .filter(|line| memchr::memmem::find(line, OUTPUT.as_bytes()).is_some())
        .filter_map(|line| serde_json::from_slice::<RecordLine>(line).ok())
        .filter(|line| line.payload.kind == OUTPUT && line.payload.call_id.as_deref() == Some(call))
        .find_map(|line| line.payload.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = concat!(
        r#"cut","call_id":"q0","type":"function_call_output"}}"#,
        "\n",
        r#"{"timestamp":"t","ordinal":9,"type":"response_item","payload":{"type":"function_call","call_id":"q1"}}"#,
        "\n",
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"q1","output":"{\"answers\":{}}"}}"#,
        "\n",
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"q2","output":{"x":1}}}"#,
    );

    #[test]
    fn the_output_of_a_tool_call_is_found() {
        assert_eq!(find_output(RECORD.as_bytes(), "q1").as_deref(), Some(r#"{"answers":{}}"#));
        assert_eq!(find_output(RECORD.as_bytes(), "q2"), None, "an output of another shape is no answer");
        assert_eq!(find_output(RECORD.as_bytes(), "q0"), None);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(answer_in_record(folder.path(), "q1").await, None);
        assert_eq!(answer_in_record(&folder.path().join("none"), "q1").await, None);
    }
}
