//! `askbridge mcp-http`: an MCP server that is reached over HTTP, for a host that speaks to it on stdio. What passes is
//! left to `adapters`, and what a question on the way leads to, to the bridge that starts this command.

use askbridge_adapters::{
    mcp,
    mcp_http::{self, Header, HeaderSource, ServerAddress},
};
use askbridge_os::{exit, signals::Signals};
use askbridge_settings::{
    Settings,
    keys::MCP_SERVERS,
    mcp_servers::{HeaderOrigin, McpServer, ServerHeader},
};
use clap::Args;

use super::{CommandError, Context};

/// What `askbridge mcp-http` is for, and its exit codes.
const HELP: &str = "\
`askbridge mcp-proxy --url` starts it. It speaks MCP on stdin and stdout, and \
streamable HTTP to the server, with the headers of this address in the settings:

  [[mcp.servers]]
  url = \"https://mcp.example.org/mcp\"
  headers = { Authorization = { env = \"TOKEN\", prefix = \"Bearer \" } }

Exit codes:
  0        the host closed stdin
  2        the command line was not understood
  125      a header has no value, or the command itself failed
  128 + N  signal N ended it";

/// Options of `askbridge mcp-http`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct McpHttpArgs {
    /// The address of the server
    #[arg(value_name = "URL")]
    pub url: String,
}

/// Passes messages between a host and a server until the host has left.
pub async fn mcp_http(context: &Context, args: &McpHttpArgs) -> Result<u8, CommandError> {
    let address: ServerAddress =
        args.url.parse().map_err(|error: mcp_http::AddressError| CommandError::Usage(error.to_string()))?;
    let headers = headers(&context.settings, &address).map_err(CommandError::Config)?;
    let mut signals = Signals::catch()?;
    let served = mcp_http::serve(address, headers, mcp::stdio(), signals.next()).await;
    // No exit code means that no signal came: the host has closed its end.
    served.map(|code| code.unwrap_or(exit::OK)).map_err(|error| CommandError::Config(error.to_string()))
}

/// Returns the headers for a server.
fn headers(settings: &Settings, address: &ServerAddress) -> Result<Vec<Header>, String> {
    let servers = settings.mcp_servers();
    // A table that has a mistake may have been meant for this server.
    if let Some(mistake) =
        servers.iter().filter(|server| is_for(server, address)).find_map(|server| server.mistake.as_ref())
    {
        return Err(format!("nothing is sent to {address}, since its settings have a mistake: {mistake}"));
    }
    let server = servers.iter().find(|server| is_for(server, address));
    if address.is_open() && !server.is_some_and(|server| server.plain_http) {
        return Err(format!(
            "{address} is not on this machine, and without TLS others can read what is sent: use https, or set \
            `plain-http = true` for it in [[{MCP_SERVERS}]]"
        ));
    }
    let named = server.map_or(&[][..], |server| &server.headers);
    named.iter().map(read).collect()
}

/// Reads the headers of a server, and returns its address and their number.
///
/// # Errors
/// Returns why nothing would be sent.
pub(super) fn check(server: &McpServer) -> Result<(ServerAddress, usize), String> {
    let address: ServerAddress =
        server.url.parse().map_err(|error: mcp_http::AddressError| error.to_string())?;
    match server.headers.iter().map(read).collect::<Result<Vec<_>, _>>() {
        Ok(headers) => Ok((address, headers.len())),
        Err(why) => Err(format!("{address}: {why}")),
    }
}

fn is_for(server: &McpServer, address: &ServerAddress) -> bool {
    match server.url.parse::<ServerAddress>() {
        Ok(other) => other == *address,
        Err(_) => server.mistake.is_some(),
    }
}

fn read(header: &ServerHeader) -> Result<Header, String> {
    let source = match &header.origin {
        HeaderOrigin::Text(text) => HeaderSource::Text(text.clone()),
        HeaderOrigin::Variable(name) => HeaderSource::Variable(name.clone()),
        HeaderOrigin::File(path) => HeaderSource::File(path.clone()),
    };
    Header::read(&header.name, &header.prefix, &source).map_err(|error| error.to_string())
}
