//! Finds the control socket of Codex' app server, which the first `codex` of a user starts.

use std::{
    env,
    future::Future,
    path::{Path, PathBuf, absolute},
    pin::Pin,
};

use super::attachment;
use crate::origin::attach::{Attachment, Finder, FoundAgent};

/// The control socket, below Codex' own folder. It is a symlink.
const SOCKET: &str = "app-server-control/app-server-control.sock";

/// Finds the app server at one socket, whenever it runs.
#[derive(Debug)]
pub struct CodexFinder {
    path: PathBuf,
    home: PathBuf,
}

impl CodexFinder {
    /// Returns a finder for this socket.
    pub fn at(path: PathBuf) -> Self {
        // It is shown with its folder, and told from others by its path.
        let path = absolute(&path).unwrap_or(path);
        let home = path.parent().map(Path::to_owned).unwrap_or_default();
        CodexFinder { path, home }
    }

    /// Returns a finder for the socket of this user: in `CODEX_HOME`, or else in `~/.codex`. `None` where neither is
    /// known.
    pub fn of_user() -> Option<Self> {
        let set = env::var_os("CODEX_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = set.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".codex")))?;
        Some(CodexFinder { path: home.join(SOCKET), home })
    }

    /// Returns the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Finder for CodexFinder {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn look(&mut self) -> Pin<Box<dyn Future<Output = Vec<FoundAgent>> + Send + '_>> {
        Box::pin(async {
            // A socket that its server left behind is found as well: connecting to it fails.
            if !tokio::fs::try_exists(&self.path).await.unwrap_or_default() {
                return Vec::new();
            }
            let (path, home) = (self.path.clone(), self.home.clone());
            let key = format!("codex {}", path.display());
            let attach = move |hosts| Box::pin(attachment::attach(path, home, hosts)) as Attachment;
            vec![FoundAgent { key, attach: Box::new(attach) }]
        })
    }
}
