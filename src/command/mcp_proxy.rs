//! The arguments of `askbridge mcp-proxy`. Building the bridge is left to `compose`, the connection to a server over HTTP
//! to `adapters`.

#[cfg(feature = "mcp")]
use std::env;
use std::ffi::OsString;

use askbridge_core::mcp::{Elicitation, Session, ToolName};
use askbridge_settings::{Settings, keys, resolved::McpProxySettings};
use clap::Args;

use super::{
    arguments::{self, of_setting, with_default},
    bridge::QuestionArgs,
};

/// What it does, and its exit codes.
const HELP: &str = "\
A host of MCP servers starts it in the place of a server, and speaks MCP to it on stdin. What the server asks is a \
question in your inbox, also where the host shows no elicitations:

  claude mcp add github -- askbridge mcp-proxy --name github -- npx -y some-github-server
  claude mcp add notes -- askbridge mcp-proxy --name notes --url https://mcp.example.org/mcp
  askbridge setup mcp    writes it into the settings of your hosts

Exit codes:
  the server's own  the server ended by itself, or because it was asked to
  128 + N           signal N ended the server
  2                 the command line was not understood
  9                 with `--unattended fail`: no person could answer a question
  125               the bridge itself failed
  126               the server's command could not be executed
  127               the server's command was not found";

/// Options of `askbridge mcp-proxy`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct McpProxyArgs {
    /// The name of the server, as your host has it; what the server asks is shown under this name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The setting `mcp.elicitation`.
    #[arg(
        long,
        value_name = "WHO",
        value_parser = arguments::word::<Elicitation>(),
        help = with_default("Who is asked what the server asks", &keys::MCP_ELICITATION)
    )]
    pub elicitation: Option<Elicitation>,

    /// The setting `mcp.session`.
    #[arg(
        long,
        value_name = "HOW",
        value_parser = arguments::word::<Session>(),
        help = with_default("How the session between the host and the server begins", &keys::MCP_SESSION)
    )]
    pub session: Option<Session>,

    /// The setting `bridge.grace`.
    #[arg(long, value_name = "DURATION", value_parser = arguments::span, help = of_setting(&keys::BRIDGE_GRACE))]
    pub grace: Option<humantime::Duration>,

    /// Reach the server over HTTP at this address, in place of a command; `[[mcp.servers]]` of the settings has its headers
    #[cfg(feature = "mcp")]
    #[arg(long, value_name = "URL", conflicts_with = "server", required_unless_present = "server")]
    pub url: Option<String>,

    /// The server's command and its arguments, unchanged
    #[arg(last = true, required = cfg!(not(feature = "mcp")), value_name = "SERVER [ARGS]")]
    pub server: Vec<OsString>,

    /// The options of every bridge.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

impl McpProxyArgs {
    /// Returns the server's command. For a server over HTTP, it is this program again, which speaks to it.
    fn command(&self) -> Vec<OsString> {
        #[cfg(feature = "mcp")]
        if let Some(url) = &self.url {
            // Where the path of this program cannot be read, the one on the PATH is the best guess.
            let program = env::current_exe().map_or_else(|_| "askbridge".into(), Into::into);
            return vec![program, "mcp-http".into(), url.into()];
        }
        self.server.clone()
    }

    /// Returns the settings of this bridge.
    pub fn settings(&self, settings: &Settings) -> McpProxySettings {
        let named = settings.get(&keys::MCP_ASK).of(self.name.as_deref());
        // What the user meant to guard cannot be known, so everything is.
        let gated = if settings.is_broken(&keys::MCP_ASK) { vec![ToolName::new("*")] } else { named };
        McpProxySettings {
            server: self.command(),
            name: self.name.clone(),
            elicitation: self.elicitation.unwrap_or_else(|| settings.get(&keys::MCP_ELICITATION)),
            session: self.session.unwrap_or_else(|| settings.get(&keys::MCP_SESSION)),
            gated,
            grace: self.grace.map_or_else(|| settings.get(&keys::BRIDGE_GRACE), Into::into),
            bridge: self.questions.settings(settings),
            inbox: self.questions.inbox(settings),
        }
    }
}
