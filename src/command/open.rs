//! `askbridge open`: shows the page in a browser, signed in, or as a QR code. Starts the inbox in the background where
//! none runs.
//! The access that a sign-in code gives is left to `serve/page`.

use std::{
    env,
    io::{self, IsTerminal},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    time::SystemTime,
};

use askbridge_control::{
    inbox::Inbox,
    join::{JoinedInbox, Places, discovery},
    rpc::client::Depth,
};
use askbridge_core::desk::QuestionId;
use askbridge_os::exit;
use askbridge_settings::{keys, resolved::ServeSettings};
use askbridge_web::{Token, page::sign_in};
use clap::Args;
use qrcode::{EcLevel, QrCode, render::unicode::Dense1x2};

use super::{
    CommandError, Context, background,
    inbox::HttpArgs,
    reach::MachineArgs,
    runner::{self, look_up, say},
};
use crate::{hub::SERVER, limits};

/// How the browser is signed in, and the exit codes of `askbridge open`.
const HELP: &str = "\
The address has a code that signs in one browser, once, within 5 minutes. The browser stays signed in \
until the token is replaced: remove the token file and start the inbox again. Where no browser can be \
started, the address is printed.

Exit codes:
  0    a browser was started, or the address was printed
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  6    the bridge does not reply
  125  the inbox could not be started, or the command itself failed";

/// Options of `askbridge open`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct OpenArgs {
    /// The ID of the question to show first
    pub id: Option<String>,

    /// Print the address that signs in a browser, and start no browser; on a terminal, with a QR code for a phone if
    /// other machines can reach the inbox
    #[arg(long)]
    pub print: bool,

    /// The token file of the inbox [default: as in `askbridge inbox`]
    #[arg(long, value_name = "PATH")]
    pub token_file: Option<PathBuf>,
}

/// Shows the page in a browser.
pub async fn open(context: &Context, args: &OpenArgs) -> Result<u8, CommandError> {
    let http =
        HttpArgs { token_file: args.token_file.clone(), ..HttpArgs::default() }.settings(&context.settings);
    let serve = ServeSettings { address: context.settings.get(&keys::INBOX_ADDRESS), http };
    // The question is looked up first, so that an unknown ID does not start an inbox.
    let question = match &args.id {
        Some(id) => Some(look_up(context, id, &MachineArgs::default()).await?.2.id.clone()),
        None => None,
    };
    let (server, folder) = match running(context.places()?).await? {
        Some(running) => running,
        None => {
            let started = background::start(context, &serve).await?;
            say("started the inbox in the background; `askbridge inbox --stop` ends it");
            (started.address, started.folder)
        }
    };
    let link = PageLink { server, question, token: token(&serve, &folder)? };
    let here = link.to(local(server.ip()))?;
    if args.print {
        return link.print(&here);
    }
    if start_browser(&here) {
        return Ok(runner::done(exit::OK, &format!("opened http://{}\n", link.host(local(server.ip())))));
    }
    say(&format!(
        "no browser could be started; open this address in one, within {} minutes:",
        limits::CODE.as_secs() / 60
    ));
    Ok(runner::done(exit::OK, &format!("{here}\n")))
}

/// Returns the token of the inbox whose socket is in this directory.
fn token(serve: &ServeSettings, folder: &Path) -> Result<Token, CommandError> {
    let token = serve.http.token_file.clone().unwrap_or_else(|| Token::in_folder(folder));
    Ok(Token::read_or_make(&token).map_err(askbridge_web::ServeError::from)?)
}

/// Returns the address of an inbox of this user: the one in the background, or else one in a terminal.
pub(super) async fn running(places: &Places) -> Result<Option<(SocketAddr, PathBuf)>, CommandError> {
    if let Some(running) = background::find(places).await? {
        return Ok(Some((running.address, running.folder)));
    }
    // An inbox in a terminal does not listen on that socket, but its status has the address.
    let joined = JoinedInbox::glance(places, Depth::Outline, limits::PATIENCE).await?;
    let inboxes = joined.status().into_iter().filter(|bridge| bridge.agent == SERVER);
    let mut found = inboxes.filter_map(|inbox| {
        let folder = discovery::place_of(places, &inbox.bridge)?;
        Some((inbox.address?.parse().ok()?, folder))
    });
    Ok(found.next())
}

/// The parts of a link to the page.
struct PageLink {
    server: SocketAddr,
    question: Option<QuestionId>,
    token: Token,
}

impl PageLink {
    fn host(&self, address: IpAddr) -> SocketAddr {
        SocketAddr::new(address, self.server.port())
    }

    /// Returns a link to the page that signs one browser in.
    fn to(&self, address: IpAddr) -> Result<String, CommandError> {
        let code = sign_in::make(&self.token, self.server.port(), SystemTime::now());
        let code = code.map_err(askbridge_web::ServeError::from)?;
        let question = self.question.as_ref().map(|id| format!("&question={id}")).unwrap_or_default();
        Ok(format!("http://{}/#token={code}{question}", self.host(address)))
    }

    /// Prints the link for this machine. If other machines can reach the server, also prints a link for them, on a
    /// terminal with a QR code for a phone.
    fn print(&self, here: &str) -> Result<u8, CommandError> {
        let mut text = format!("{here}\n");
        if let Some(reachable) = reachable(self.server.ip()) {
            // A code signs in one browser only, so the other machines get their own.
            let there = self.to(reachable)?;
            text.push_str(&format!("{there}\n"));
            if io::stdout().is_terminal() {
                // An address that is too long for a code is printed all the same.
                text.push_str(&code(&there).unwrap_or_default());
            }
        }
        runner::shown(runner::print(&text))
    }
}

/// Returns the address by which this machine reaches a server on it.
fn local(listens: IpAddr) -> IpAddr {
    match listens {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}

/// Returns the address by which other machines reach a server on this one; `None` if they cannot.
fn reachable(listens: IpAddr) -> Option<IpAddr> {
    if listens.to_canonical().is_loopback() {
        return None;
    }
    if !listens.is_unspecified() {
        return Some(listens);
    }
    // Connecting a UDP socket sends nothing: it only looks up the route, here to an address for documentation.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

/// Starts a browser, and returns whether that worked as far as can be told.
fn start_browser(address: &str) -> bool {
    // Without a display, `xdg-open` would start a text browser, if there is one, and that would share the terminal with
    // this command.
    let displays = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"];
    let has_display = displays.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    let needs_display = cfg!(not(target_os = "macos"));
    (has_display || !needs_display) && open::that_detached_with_timeout(address, limits::BROWSER).is_ok()
}

/// Black on white, even in a dark terminal: many readers do not read an inverted code.
const BLACK_ON_WHITE: anstyle::Style = anstyle::Style::new()
    .fg_color(Some(anstyle::Color::Ansi256(anstyle::Ansi256Color(16))))
    .bg_color(Some(anstyle::Color::Ansi256(anstyle::Ansi256Color(231))));

/// Returns the QR code; `None` for a text that is too long for one.
pub fn code(text: &str) -> Option<String> {
    // A phone reads the code from a clean screen nearby: the lowest error correction is enough, and keeps the code
    // small.
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let drawn = code.render::<Dense1x2>().build();
    let style = BLACK_ON_WHITE;
    Some(drawn.lines().map(|line| format!("{style}{line}{style:#}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an IP address")
    }

    #[test]
    fn server_on_all_addresses_is_reached_by_one() {
        for (listens, reached) in
            [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("192.0.2.7", "192.0.2.7")]
        {
            assert_eq!(local(ip(listens)), ip(reached), "{listens}");
        }
        for (listens, reached) in [
            ("127.0.0.1", None),
            ("::1", None),
            ("::ffff:127.0.0.1", None),
            ("192.0.2.7", Some(ip("192.0.2.7"))),
        ] {
            assert_eq!(reachable(ip(listens)), reached, "{listens}");
        }
        assert!(
            reachable(ip("0.0.0.0"))
                .is_none_or(|address| !address.is_loopback() && !address.is_unspecified())
        );
    }

    #[test]
    fn code_of_an_address_fits_a_small_terminal() {
        let address = format!(
            "http://192.168.100.100:8421/#token=69218a00.{}.{}&question=k3f9q2-1",
            "0".repeat(16),
            "f".repeat(32)
        );
        let code = code(&address).expect("it is short");
        let plain = anstream::adapter::strip_str(&code).to_string();
        assert!(plain.lines().count() <= 30, "{plain}");
        assert!(plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
        assert!(super::code(&"x".repeat(4000)).is_none());
    }
}
