//! A real NATS server on a free port of loopback, with the users that `askbridge fleet credentials` makes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{answers::machine::ASKBRIDGE, support::Process};

/// The users of machines.
pub(crate) const BRIDGES: [&str; 2] = ["box", "other"];
/// The users of persons.
pub(crate) const PERSONS: [&str; 2] = ["ana", "bob"];

/// A server, or one node of a cluster.
pub(crate) struct Server {
    folder: PathBuf,
    config: String,
    pub(crate) port: u16,
    process: Option<Process>,
}

impl Server {
    /// Starts a server whose users are in this folder. `more` is added to its configuration.
    pub(crate) fn start(users: &Users, name: &str, more: &str) -> Self {
        Server::pinging(users, name, "2s", more)
    }

    /// The same, with this time between two pings. A client that does not reply to some of them is cut off.
    pub(crate) fn pinging(users: &Users, name: &str, interval: &str, more: &str) -> Self {
        let folder = users.folder().join(name);
        let store = folder.join("js");
        fs::create_dir_all(&store).unwrap();
        let config = format!(
            "server_name: {name}\njetstream {{ store_dir: {store:?}, max_mem: 256MB }}\nping_interval: {interval:?}\n\
             include {:?}\n{more}\n",
            "../creds/users.conf"
        );
        let mut server = Server { folder, config, port: 0, process: None };
        server.run();
        server
    }

    /// Starts it, on the same port as before.
    pub(crate) fn run(&mut self) {
        let port = if self.port == 0 { -1 } else { i32::from(self.port) };
        let path = self.folder.join("server.conf");
        fs::write(&path, format!("listen: \"127.0.0.1:{port}\"\n{}", self.config)).unwrap();
        let program = env::var_os("NATS_SERVER").unwrap_or_else(|| "nats-server".into());
        let process = Process::spawn(Command::new(&program).arg("-c").arg(&path));
        let said = process.expect_stderr("that it listens", |said| said.contains("Server is ready"));
        self.port = port_in(&said);
        self.process = Some(process);
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Creates the directory, as the operator does.
    pub(crate) fn create(&self, users: &Users) {
        let made = users.create(&self.url(), &[]);
        assert!(made.status.success(), "{made:?}");
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("it runs");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.process.as_ref().expect("it runs").signal(signal);
    }
}

/// Returns the port for clients that a server has announced.
pub(crate) fn port_in(said: &str) -> u16 {
    let (_, rest) = said.split_once("client connections on 127.0.0.1:").unwrap_or_else(|| panic!("{said}"));
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

/// The users of a broker, and their files.
pub(crate) struct Users(TempDir);

impl Users {
    pub(crate) fn new() -> Self {
        let users = Users(tempfile::tempdir().unwrap());
        let mut command = Command::new(ASKBRIDGE);
        command.args(["fleet", "credentials"]).arg(users.folder().join("creds"));
        for name in BRIDGES {
            command.args(["--bridge", name]);
        }
        for name in PERSONS {
            command.args(["--person", name]);
        }
        let made = command.output().unwrap();
        assert!(made.status.success(), "{made:?}");
        users
    }

    /// Adds users of machines. The server has to read them again.
    pub(crate) fn add_bridges(&self, names: &[String]) {
        let mut command = Command::new(ASKBRIDGE);
        command.args(["fleet", "credentials"]).arg(self.folder().join("creds"));
        for name in names {
            command.args(["--bridge", name]);
        }
        let made = command.output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    /// Creates the directory at a server.
    pub(crate) fn create(&self, url: &str, more: &[&str]) -> Output {
        let mut command = Command::new(ASKBRIDGE);
        command.args(["fleet", "create"]).arg(self.folder().join("creds")).args(["--url", url]).args(more);
        command.output().unwrap()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Returns the file with the credentials of a user.
    pub(crate) fn file(&self, user: &str) -> PathBuf {
        self.folder().join(format!("creds/{user}.json"))
    }

    /// Returns the password of a user.
    pub(crate) fn password(&self, user: &str) -> String {
        let text = fs::read_to_string(self.file(user)).unwrap();
        let credentials: serde_json::Value = serde_json::from_str(&text).unwrap();
        credentials["password"].as_str().unwrap().to_owned()
    }
}
