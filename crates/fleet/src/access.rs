//! What a process needs to reach the broker: its addresses, and the credentials of the user in a file that only the
//! user may read. Writing such files is left to `users.rs`.

use std::{
    fmt, fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use askbridge_settings::{Settings, keys};
use serde::{Deserialize, Serialize};

use super::place::UserName;

/// What the permissions of a user allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// To show the questions of its own machines, and to take answers to them.
    Bridge,
    /// That, and to see and answer the questions of all machines.
    Person,
    /// To create the directory, and nothing else.
    Operator,
}

/// The content of a file with credentials.
#[derive(Serialize, Deserialize)]
pub(super) struct Credentials {
    pub user: String,
    pub role: Role,
    pub password: String,
}

/// How this user reaches the broker.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    /// The addresses of the servers.
    pub(super) servers: Vec<String>,
    /// The file with the certificates that the servers' are checked against.
    pub(super) ca: Option<PathBuf>,
    pub(super) user: UserName,
    pub(super) password: String,
    pub(super) role: Role,
    /// The user of this machine that may run the server, beside this user and root.
    pub(super) server_user: Option<u32>,
}

impl fmt::Debug for Access {
    /// Leaves out the password, which must not get into a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Access")
            .field("servers", &self.servers)
            .field("user", &self.user)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

impl Access {
    /// Returns how the settings say that the broker is reached. `None` if they name none.
    pub fn of(settings: &Settings) -> Option<Result<Self, String>> {
        let servers = settings.get(&keys::FLEET_URL).0;
        if servers.is_empty() {
            return None;
        }
        let ca = settings.path(&keys::FLEET_CA);
        let server_user = settings.get(&keys::FLEET_SERVER_USER);
        Some(match settings.path(&keys::FLEET_CREDENTIALS) {
            Some(credentials) => Access::read(servers, &credentials, ca)
                .and_then(|access| access.with_server_user(server_user.as_deref()))
                .and_then(Access::for_questions),
            None => {
                Err("fleet.credentials is not set: `askbridge fleet credentials` makes the file".to_owned())
            }
        })
    }

    /// Reads the credentials.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or it is not what `askbridge fleet credentials` writes.
    pub fn read(servers: Vec<String>, credentials: &Path, ca: Option<PathBuf>) -> Result<Self, String> {
        let Credentials { user, role, password } = read(credentials)?;
        let user = user.parse().map_err(|error| format!("{}: {error}", credentials.display()))?;
        Ok(Access { servers, ca, user, password, role, server_user: None })
    }

    /// Lets this user of the machine, by name or by ID, run the server as well.
    ///
    /// # Errors
    /// There is no such user.
    pub fn with_server_user(self, user: Option<&str>) -> Result<Self, String> {
        let Some(name) = user else { return Ok(self) };
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        match name.parse().ok().or_else(|| user_id(&users, name)) {
            Some(id) => Ok(Access { server_user: Some(id), ..self }),
            None => {
                Err(format!("fleet.server-user: this machine has no user {name:?}: its ID will do as well"))
            }
        }
    }

    /// The operator's credentials show and answer nothing.
    fn for_questions(self) -> Result<Self, String> {
        match self.role {
            Role::Bridge | Role::Person => Ok(self),
            Role::Operator => Err(format!(
                "fleet.credentials has those of the operator, {}, which only create the directory: use those of a \
                 person or of a machine",
                self.user
            )),
        }
    }

    /// Returns the name of the user at the broker.
    pub fn user(&self) -> &UserName {
        &self.user
    }

    /// Returns what its permissions allow.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the addresses of the servers, as one text.
    pub fn broker(&self) -> String {
        self.servers.join(", ")
    }
}

/// Returns the ID of a user in the text of `/etc/passwd`.
fn user_id(users: &str, name: &str) -> Option<u32> {
    let of_name =
        |line: &str| line.split_once(':').filter(|(of, _)| *of == name).map(|(_, rest)| rest.to_owned());
    users.lines().find_map(of_name)?.split(':').nth(1)?.parse().ok()
}

/// Reads a file with credentials.
pub(super) fn read(path: &Path) -> Result<Credentials, String> {
    let shown = path.display();
    let failed = |error| format!("{shown}: {error}");
    let file = fs::File::open(path).map_err(failed)?;
    // That of the open file, so that it cannot be replaced in between.
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!(
            "{shown}: others may read it: `chmod 600` it, and think of its password as known"
        ));
    }
    let mut text = String::new();
    file.take(askbridge_settings::limits::SETTINGS_FILE as u64).read_to_string(&mut text).map_err(failed)?;
    serde_json::from_str(&text)
        .map_err(|error| format!("{shown}: it is not a file of `askbridge fleet credentials`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_that_others_may_read_are_refused_and_never_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ana.json");
        fs::write(&path, r#"{"user":"ana","role":"person","password":"s3cr3t"}"#).expect("written");
        let open = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
            Access::read(vec!["nats://127.0.0.1:4222".to_owned()], &path, None)
        };
        for mode in [0o640, 0o604, 0o644] {
            assert!(open(mode).is_err_and(|error| error.contains("chmod 600")), "{mode:o}");
        }
        let access = open(0o600).expect("credentials");
        assert_eq!((access.user.as_str(), access.role), ("ana", Role::Person));
        assert!(!format!("{access:?}").contains("s3cr3t"));
        let named = |user| access.clone().with_server_user(user).map(|access| access.server_user);
        assert_eq!(
            (named(None), named(Some("0")), named(Some("root"))),
            (Ok(None), Ok(Some(0)), Ok(Some(0)))
        );
        assert!(named(Some("no such user")).is_err());
        fs::write(&path, "{}").expect("written");
        assert!(open(0o600).is_err_and(|error| error.contains("fleet credentials")));
    }
}
