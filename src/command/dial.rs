//! `askbridge dial`: the questions of this machine on stdio, which another machine's askbridge runs by ssh or otherwise.
//! Keeping such a connection is left to `machine`.

use std::io::{self, IsTerminal};

use askbridge_control::{
    inbox::PROTOCOL,
    join::{JoinedInbox, OwnInboxes},
    rpc::{
        caller::Caller,
        client::DIAL,
        methods::Methods,
        session,
        socket::{LineWriter, PipedLines},
    },
};
use askbridge_os::exit;
use clap::Args;
use tokio::io::{AsyncWriteExt, stdin, stdout};
use tokio_util::sync::CancellationToken;

use super::{CommandError, Context};

/// What `askbridge dial` is for, and its exit codes.
const HELP: &str = "\
The askbridge of another machine runs this, by ssh or by any command, and shows
the questions of this machine there: `askbridge machine --help`, there.

Exit codes:
  0        stdin ended
  2        the command line was not understood, or stdin is a terminal
  125      the command itself failed";

/// Options of `askbridge dial`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct DialArgs {
    /// Serve read-only: the other machine can list and follow questions, and not answer them
    #[arg(long)]
    pub read_only: bool,
}

/// Serves the questions of this machine on stdio until stdin ends.
pub async fn dial(context: &Context, args: &DialArgs) -> Result<u8, CommandError> {
    if io::stdin().is_terminal() {
        let what = "`dial` speaks with another askbridge on stdin: see `askbridge machine --help`";
        return Err(CommandError::Usage(what.to_owned()));
    }
    let ledger = crate::service::ledger(context.settings.journal());
    // Other machines that this one knows are left out: two machines that dial each other would ask each other without
    // end.
    let joined = JoinedInbox::open_with(context.places()?, OwnInboxes::default(), ledger).await?;
    tokio::select! {
        served = serve(joined.clone(), args.read_only) => match served {
            // The other end is gone, which is the usual end of this command.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(exit::OK),
        },
        followed = joined.follow() => Ok(followed.map(|()| exit::OK)?),
    }
}

async fn serve(joined: JoinedInbox, is_read_only: bool) -> io::Result<()> {
    let methods = Methods::new(joined, Caller::Ours);
    let methods = if is_read_only { methods.read_only() } else { methods };
    let mut stdout = stdout();
    let greeting = format!("{DIAL}{PROTOCOL} {}\n", env!("CARGO_PKG_VERSION"));
    stdout.write_all(greeting.as_bytes()).await?;
    // The other end calls nothing before it has read this line.
    stdout.flush().await?;
    let mut requests = PipedLines::new(stdin(), &methods);
    session::serve(&methods, &mut requests, &mut LineWriter(stdout), CancellationToken::new()).await
}
