//! The traffic: lines of an exact size, most of them of ACP, as a stream that both ends can generate, count and compare.
//! Transporting the bytes is left to the caller.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// The line of an agent that is ready. Time and CPU are measured from here on.
pub(crate) const READY: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"_bench/ready\",\"params\":{}}\n";
/// The line that starts a `source`.
pub(crate) const GO: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"_bench/go\",\"params\":{}}\n";

/// The size of a write that several lines share.
const BLOCK: usize = 1 << 20;
/// A line's number is the number of its block followed by its place in the block.
const PLACE_DIGITS: usize = 4;
/// Eight digits from the first block on, so that all lines have the same length.
const FIRST_BLOCK: u64 = 10_000_000;

/// Text as a model writes it, with escapes, which a parsing proxy has to decode.
const TEXT: &[u8] = br#"The quick brown fox said: \"no\", and left.\n"#;

/// The direction of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToAgent,
    ToClient,
}

impl Direction {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Direction::ToAgent => "client to agent",
            Direction::ToClient => "agent to client",
        }
    }

    /// Returns the parts of a line before its number, between number and text, and after its text.
    fn frame(self, speech: Speech) -> [&'static str; 3] {
        match (speech, self) {
            (Speech::Acp, Direction::ToAgent) => [
                r#"{"jsonrpc":"2.0","id":"#,
                r#","method":"session/set_mode","params":{"sessionId":"s","modeId":""#,
                "\"}}\n",
            ],
            (Speech::Acp | Speech::Images, Direction::ToClient) => [
                concat!(
                    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#,
                    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#
                ),
                " ",
                "\"}}}}\n",
            ],
            (Speech::Images, Direction::ToAgent) => [
                r#"{"jsonrpc":"2.0","id":"#,
                concat!(
                    r#","method":"session/prompt","params":{"sessionId":"s","#,
                    r#""prompt":[{"type":"image","mimeType":"image/png","data":""#
                ),
                "\"}]}}\n",
            ],
            (Speech::Claude, Direction::ToAgent) => [
                r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":""#,
                " ",
                "\"}]},\"parent_tool_use_id\":null}\n",
            ],
            (Speech::Claude, Direction::ToClient) => [
                concat!(
                    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"#,
                    r#""delta":{"type":"text_delta","text":""#
                ),
                " ",
                "\"}}}\n",
            ],
            (Speech::Codex, Direction::ToAgent) => [
                r#"{"id":"#,
                r#","method":"turn/start","params":{"threadId":"t","input":[{"type":"text","text":""#,
                "\"}]}}\n",
            ],
            (Speech::Mcp | Speech::McpLog, _) => self.frame_of_mcp(speech),
            (Speech::Codex, Direction::ToClient) => [
                concat!(
                    r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","#,
                    r#""itemId":"i","delta":""#
                ),
                " ",
                "\"}}\n",
            ],
        }
    }

    /// Returns the same for MCP: a call of a tool, or what a server tells unasked.
    fn frame_of_mcp(self, speech: Speech) -> [&'static str; 3] {
        match (speech, self) {
            (_, Direction::ToAgent) => [
                r#"{"jsonrpc":"2.0","id":"#,
                r#","method":"tools/call","params":{"name":"t","arguments":{"text":""#,
                "\"}}}\n",
            ],
            (Speech::McpLog, Direction::ToClient) => [
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":""#,
                r#"","data":""#,
                "\"}}\n",
            ],
            (_, Direction::ToClient) => [
                concat!(
                    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"#,
                    r#""progress":"#
                ),
                r#","message":""#,
                "\"}}\n",
            ],
        }
    }

    /// Returns one line of `size` bytes, newline included.
    fn line(self, speech: Speech, number: &str, size: usize) -> Vec<u8> {
        let [head, middle, tail] = self.frame(speech);
        let mut line = [head, number, middle].concat().into_bytes();
        let end = size.saturating_sub(tail.len());
        pad(&mut line, end);
        line.extend_from_slice(tail.as_bytes());
        line
    }
}

/// What the peers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Acp,
    /// ACP, with an image in each prompt.
    Images,
    Claude,
    Codex,
    /// MCP between a host and a server, which tells its progress.
    Mcp,
    /// The same, with a server that writes a log.
    McpLog,
}

impl Speech {
    pub(crate) const ALL: [Speech; 5] =
        [Speech::Acp, Speech::Claude, Speech::Codex, Speech::Mcp, Speech::McpLog];

    /// Returns its name for `askbridge run --protocol`, which does not have those of MCP, and for our agents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Speech::Acp | Speech::Images => "acp",
            Speech::Claude => "claude",
            Speech::Codex => "codex",
            Speech::Mcp => "mcp",
            Speech::McpLog => "mcp-log",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Speech> {
        Speech::ALL.into_iter().find(|speech| speech.name() == name)
    }

    pub(crate) fn is_mcp(self) -> bool {
        matches!(self, Speech::Mcp | Speech::McpLog)
    }

    /// Returns the first request of a client.
    pub(crate) fn initialize(self) -> &'static str {
        if self.is_mcp() {
            return concat!(
                r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
                r#""capabilities":{"roots":{}},"clientInfo":{"name":"bench","version":"1"}}}"#,
                "\n"
            );
        }
        concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":"#,
            r#"{"fs":{"readTextFile":true,"writeTextFile":true},"_meta":{"sandboxagent.dev":"#,
            r#"{"extensions":{"sessionRequestQuestion":true}}}}}}"#,
            "\n"
        )
    }

    /// Returns the response to it.
    pub(crate) fn initialized(self) -> &'static str {
        if self.is_mcp() {
            return concat!(
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","#,
                r#""capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}"#,
                "\n"
            );
        }
        concat!(
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"#,
            r#""agentCapabilities":{"loadSession":false},"authMethods":[]}}"#,
            "\n"
        )
    }
}

/// Fills `line` up to `end` with text, without cutting an escape.
pub(crate) fn pad(line: &mut Vec<u8>, end: usize) {
    while line.len() + TEXT.len() <= end {
        line.extend_from_slice(TEXT);
    }
    line.resize(end.max(line.len()), b'.');
}

/// The shape of a stream: what the peers speak, its direction, the bytes of a line, and the bytes of a `write` call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) speech: Speech,
    pub(crate) direction: Direction,
    pub(crate) line: usize,
    pub(crate) write: usize,
}

impl Shape {
    /// Returns the bytes of the whole lines that fit into `volume`, and of at least one line.
    pub(crate) fn whole_lines(self, volume: u64) -> u64 {
        let line = self.line as u64;
        (volume / line).max(1) * line
    }

    /// Writes `total` bytes of this shape. They are the same on every call.
    pub(crate) fn write_to(self, out: &mut dyn Write, total: u64, tally: &mut Tally) -> io::Result<()> {
        if self.line > BLOCK {
            return self.write_long_line(out, tally);
        }
        let mut block = Block::new(self);
        let mut left = total;
        while left > 0 {
            let bytes = block.next();
            let bytes = &bytes[..bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            for piece in bytes.chunks(self.write) {
                out.write_all(piece)?;
            }
            tally.add(bytes);
            left -= bytes.len() as u64;
        }
        Ok(())
    }

    /// Writes one line piece by piece, because neither this process nor the proxy should hold it.
    fn write_long_line(self, out: &mut dyn Write, tally: &mut Tally) -> io::Result<()> {
        let short = self.direction.line(self.speech, "100000000000", BLOCK);
        let tail = self.direction.frame(self.speech)[2].len();
        let (start, end) = short.split_at(short.len() - tail);
        let filler = vec![b'.'; BLOCK];
        let mut left = self.line;
        for piece in [start].into_iter().chain(std::iter::repeat(filler.as_slice())) {
            let piece = &piece[..piece.len().min(left - end.len())];
            if piece.is_empty() {
                break;
            }
            out.write_all(piece)?;
            tally.add(piece);
            left -= piece.len();
        }
        out.write_all(end)?;
        tally.add(end);
        Ok(())
    }
}

/// Lines that are written together. Only their numbers change from one use to the next, so generating them is cheap
/// compared to writing them.
struct Block {
    bytes: Vec<u8>,
    line: usize,
    number_at: usize,
    next: u64,
}

impl Block {
    fn new(shape: Shape) -> Self {
        let mut bytes = Vec::with_capacity(BLOCK);
        for place in 0..(BLOCK / shape.line) {
            let number = format!("{FIRST_BLOCK}{place:0PLACE_DIGITS$}");
            bytes.extend(shape.direction.line(shape.speech, &number, shape.line));
        }
        let number_at = shape.direction.frame(shape.speech)[0].len();
        Block { bytes, line: shape.line, number_at, next: FIRST_BLOCK }
    }

    fn next(&mut self) -> &[u8] {
        let number = self.next.to_string();
        for line in self.bytes.chunks_exact_mut(self.line) {
            line[self.number_at..self.number_at + number.len()].copy_from_slice(number.as_bytes());
        }
        self.next += 1;
        &self.bytes
    }
}

/// The number of bytes that passed, and optionally their digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) bytes: u64,
    digest: Option<u64>,
}

impl Tally {
    /// Returns an empty tally, with a digest of the contents (FNV-1a) if `contents` is set.
    pub(crate) fn new(contents: bool) -> Self {
        Tally { bytes: 0, digest: contents.then_some(0xcbf2_9ce4_8422_2325) }
    }

    pub(crate) fn has_digest(&self) -> bool {
        self.digest.is_some()
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(digest) = &mut self.digest {
            *digest = bytes
                .iter()
                .fold(*digest, |digest, &byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        }
    }

    /// Returns the line in which an agent reports what it received.
    pub(crate) fn to_line(&self) -> io::Result<Vec<u8>> {
        let message = serde_json::json!({"jsonrpc": "2.0", "method": "_bench/received", "params": self});
        let mut line = serde_json::to_vec(&message)?;
        line.push(b'\n');
        Ok(line)
    }

    pub(crate) fn from_line(line: &[u8]) -> io::Result<Self> {
        let mut message: serde_json::Value = serde_json::from_slice(line)?;
        Ok(serde_json::from_value(message["params"].take())?)
    }
}

/// Returns whether the text `part` is in `line`.
pub(crate) fn has(line: &[u8], part: &str) -> bool {
    memchr::memmem::find(line, part.as_bytes()).is_some()
}

/// Returns the beginning of a line for an error message.
pub(crate) fn excerpt(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(200)]).trim_end().to_owned()
}

/// Returns the request of one ping.
pub(crate) fn ping(id: u64, size: usize) -> Vec<u8> {
    let [head, middle, tail] = Direction::ToAgent.frame(Speech::Acp);
    let mut line = format!("{head}{id}{middle}").into_bytes();
    pad(&mut line, size - tail.len());
    line.extend_from_slice(tail.as_bytes());
    line
}

/// Returns a request of MCP. One of a tool has `size` bytes.
pub(crate) fn call(method: &str, id: u64, size: usize) -> Vec<u8> {
    match method {
        "tools/call" => {
            let [head, middle, tail] = Direction::ToAgent.frame(Speech::Mcp);
            let mut line = format!("{head}{id}{middle}").into_bytes();
            pad(&mut line, size - tail.len());
            line.extend_from_slice(tail.as_bytes());
            line
        }
        "resources/read" => {
            let params = r#"{"uri":"file:///bench"}"#;
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
                .into_bytes()
        }
        _ => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n").into_bytes(),
    }
}

/// Returns the response to a request of MCP, of `size` bytes.
pub(crate) fn called(request: &[u8], size: usize) -> Option<Vec<u8>> {
    let head = br#","result":{"content":[{"type":"text","text":""#;
    let tail = b"\"}]}}\n";
    let mut line = [&br#"{"jsonrpc":"2.0","id":"#[..], id_of(request)?, head].concat();
    pad(&mut line, size - tail.len());
    line.extend_from_slice(tail);
    Some(line)
}

/// Returns the response to a ping, of `size` bytes.
pub(crate) fn pong(request: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut line = [&br#"{"jsonrpc":"2.0","id":"#[..], id_of(request)?, br#","result":{"text":""#].concat();
    pad(&mut line, size - 4);
    line.extend_from_slice(b"\"}}\n");
    Some(line)
}

/// Returns the number in the `id` of a request of the benchmark.
pub(crate) fn id_of(line: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(line, br#""id":"#)? + 5;
    let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &line[at..at + digits])
}
