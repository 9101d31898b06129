//! `askbridge fleet` and its arguments. `credentials` writes a file for each new user, and the part of the server's
//! configuration that has all users of the folder. `create` makes the
//! directory with the operator's. The gateway is left to `hub/gateway.rs`.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use askbridge_fleet::{Access, NewUser, Role, UserName, create_directory, server_config};
use askbridge_os::exit;
use askbridge_settings::{Settings, addresses::Brokers, keys};
use clap::{Args, Subcommand};

use crate::{
    command::{CommandError, Context, runner::done},
    hub::gateway,
};

/// What a fleet is.
const HELP: &str = "\
A fleet is the machines whose askbridge connects to the same NATS server: also
those that no ssh leads to, such as a sandbox that can only reach out. Put
`[fleet] url` and `credentials` into the settings of each; docs/fleet.md begins
with a broker in five lines.

Exit codes:
  0    it is done
  2    the command line was not understood
  125  the command itself failed";

/// Options of `askbridge fleet`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct FleetArgs {
    /// The action.
    #[command(subcommand)]
    pub action: FleetAction,
}

/// The actions of `askbridge fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetAction {
    /// Make credentials for machines and persons, and the users.conf that the NATS server includes
    Credentials(CredentialsArgs),
    /// Create the directory of the machines at the server, as its operator
    Create(CreateArgs),
    /// Serve the questions of this machine to the fleet, until no bridge runs (bridges call this)
    #[command(hide = true)]
    Gateway,
}

/// The file for the server.
const SERVER: &str = "users.conf";
/// The name of the user that creates the directory, unless another user has it.
const OPERATOR: &str = "operator";

/// Options of `askbridge fleet credentials`.
#[derive(Debug, Args)]
pub struct CredentialsArgs {
    /// The folder of the files: users that are in it already stay, and users.conf has all of them
    pub folder: PathBuf,

    /// Add a user for a machine, or for sandboxes that trust each other: it shows its own questions, and sees and answers
    /// no others (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub bridge: Vec<String>,

    /// Add a user for a person: it sees and answers the questions of all machines (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub person: Vec<String>,
}

/// The server if the settings name none: the one that the documentation begins with.
const HERE: &str = "nats://127.0.0.1:4222";

/// Options of `askbridge fleet create`.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// The folder of `askbridge fleet credentials`, which has the credentials of the operator
    pub folder: PathBuf,

    /// The server [default: `fleet.url` of the settings, or nats://127.0.0.1:4222]
    #[arg(long)]
    pub url: Option<String>,

    /// The file with the certificate that the server's is checked against [default: `fleet.ca` of the settings]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Remove a directory that is not as askbridge creates it
    #[arg(long)]
    pub replace: bool,
}

/// Makes credentials or the directory, or serves.
pub async fn fleet(context: &Context, args: &FleetArgs) -> Result<u8, CommandError> {
    match &args.action {
        FleetAction::Credentials(args) => write(args),
        FleetAction::Create(args) => create_at(&context.settings, args).await,
        FleetAction::Gateway => {
            Access::of(&context.settings).transpose().map_err(CommandError::Setup)?;
            Ok(gateway::serve().await?)
        }
    }
}

/// Writes the files.
fn write(args: &CredentialsArgs) -> Result<u8, CommandError> {
    let folder = &args.folder;
    let wanted = [(Role::Bridge, &args.bridge), (Role::Person, &args.person)];
    let wanted = wanted.into_iter().flat_map(|(role, names)| names.iter().map(move |name| (role, name)));
    let wanted: Vec<(Role, UserName)> = wanted
        .map(|(role, name)| name.parse().map(|name| (role, name)))
        .collect::<Result<_, _>>()
        .map_err(CommandError::Usage)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed(folder))?;
    // Of two commands at once, each would leave the users of the other out. The lock ends with this function.
    let locked = fs::File::open(folder).map_err(failed(folder))?;
    locked.lock().map_err(failed(folder))?;
    let mut users = known(folder)?;
    let mut new = new_users(wanted, &users)
        .map_err(|why| CommandError::Usage(format!("{}: {why}", folder.display())))?;
    new.extend(new_operator(&users, &new).map_err(CommandError::Setup)?);
    let mut said = String::new();
    for user in new {
        let path = folder.join(format!("{}.json", user.name()));
        // The server's file is written after all of these: if that fails, the next run reads these users and adds
        // them.
        create(&path, &user.credentials())?;
        said += &format!("{}: {}\n", path.display(), allowed(user.role()));
        users.insert(user.name().clone(), user);
    }
    let users: Vec<_> = users.into_values().collect();
    let path = folder.join(SERVER);
    // It is replaced as a whole: a server may read it at any time.
    let new = path.with_extension("new");
    drop(fs::remove_file(&new));
    create(&new, &server_config(&users))?;
    fs::rename(&new, &path).map_err(failed(&path))?;
    said += &match users.len() {
        0 => format!("{}: no user yet: add them by `--bridge NAME` and `--person NAME`\n", path.display()),
        1 => format!("{}: one user; `include` it in the server's configuration\n", path.display()),
        count => format!("{}: {count} users; `include` it in the server's configuration\n", path.display()),
    };
    Ok(done(exit::OK, &said))
}

/// Makes the users. Nothing is written yet: a mistake in one name must not add the users of the others.
fn new_users(
    wanted: Vec<(Role, UserName)>,
    known: &BTreeMap<UserName, NewUser>,
) -> Result<Vec<NewUser>, String> {
    let mut new: Vec<NewUser> = Vec::new();
    for (role, name) in wanted {
        if known.contains_key(&name) {
            return Err(format!(
                "the user {name} exists already: remove {name}.json if it needs a new password"
            ));
        }
        if new.iter().any(|user| *user.name() == name) {
            return Err(format!("the user {name} is named twice"));
        }
        new.push(NewUser::new(name, role)?);
    }
    Ok(new)
}

/// Makes the operator, unless there is one.
fn new_operator(known: &BTreeMap<UserName, NewUser>, new: &[NewUser]) -> Result<Option<NewUser>, String> {
    let mut all = known.values().chain(new);
    if all.clone().any(|user| user.role() == Role::Operator) {
        return Ok(None);
    }
    // A machine or a person may have that name.
    let is_taken = all.any(|user| user.name().as_str() == OPERATOR);
    let name = if is_taken { format!("{OPERATOR}-of-fleet") } else { OPERATOR.to_owned() };
    NewUser::new(name.parse()?, Role::Operator).map(Some)
}

/// Says what a user may do.
fn allowed(role: Role) -> &'static str {
    match role {
        Role::Bridge => {
            "shows the questions of its own machines; sees and answers no others, whoever has this file"
        }
        Role::Person => {
            "sees and answers the questions of all machines: whoever has this file is this person"
        }
        Role::Operator => {
            "creates the directory (`askbridge fleet create`), and sees no question: keep it with the server"
        }
    }
}

/// Reads the users whose files are in the folder.
fn known(folder: &Path) -> Result<BTreeMap<UserName, NewUser>, CommandError> {
    let mut users = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let user = NewUser::read(&path).map_err(CommandError::Setup)?;
            users.insert(user.name().clone(), user);
        }
    }
    Ok(users)
}

/// Creates the directory.
async fn create_at(settings: &Settings, args: &CreateArgs) -> Result<u8, CommandError> {
    let access = access(settings, args).map_err(CommandError::Setup)?;
    let broker = access.broker();
    match create_directory(&access, args.replace).await {
        Ok(true) => Ok(done(exit::OK, &format!("{broker} has the directory of the machines now\n"))),
        Ok(false) => Ok(done(exit::OK, &format!("{broker} has the directory of the machines already\n"))),
        Err(why) => Err(CommandError::Setup(format!("{broker}: {why}"))),
    }
}

fn access(settings: &Settings, args: &CreateArgs) -> Result<Access, String> {
    let servers = match (&args.url, settings.get(&keys::FLEET_URL).0) {
        (Some(url), _) => Brokers::one(url).map_err(|why| format!("--url: {why}"))?.0,
        (None, servers) if servers.is_empty() => vec![HERE.to_owned()],
        (None, servers) => servers,
    };
    let ca = args.ca.clone().or_else(|| settings.path(&keys::FLEET_CA));
    let access = Access::read(servers, &operator(&args.folder)?, ca)?;
    access.with_server_user(settings.get(&keys::FLEET_SERVER_USER).as_deref())
}

/// Returns the file with the operator's credentials.
fn operator(folder: &Path) -> Result<PathBuf, String> {
    let users = known(folder).map_err(|error| error.to_string())?;
    let operator = users.into_values().find(|user| user.role() == Role::Operator);
    let name = operator.ok_or_else(|| {
        format!(
            "{0}: there are no credentials of an operator: `askbridge fleet credentials {0}` makes them",
            folder.display()
        )
    })?;
    Ok(folder.join(format!("{}.json", name.name())))
}

/// Writes a new file that only the user can read.
fn create(path: &Path, text: &str) -> Result<(), CommandError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed(path))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> CommandError + use<> {
    let path: PathBuf = path.to_owned();
    move |source| CommandError::Write { path: path.clone(), source }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_mistake_in_one_name_adds_no_user() {
        let root = tempfile::tempdir().expect("a folder");
        let args = |bridges: &[&str], people: &[&str]| CredentialsArgs {
            folder: root.path().join("fleet"),
            bridge: bridges.iter().map(|&name| name.to_owned()).collect(),
            person: people.iter().map(|&name| name.to_owned()).collect(),
        };
        let files = || {
            let mut names: Vec<_> = fs::read_dir(root.path().join("fleet"))
                .expect("the folder")
                .map(|entry| entry.expect("a file").file_name().into_string().expect("Unicode"))
                .collect();
            names.sort();
            names
        };
        let refused = |args: &CredentialsArgs| write(args).expect_err("a refusal").to_string();
        assert!(refused(&args(&["box"], &["box"])).contains("the user box is named twice"));
        assert_eq!(files(), [""; 0]);
        write(&args(&["box"], &["ana"])).expect("two users");
        assert!(refused(&args(&["new", "box"], &[])).contains("the user box exists already"));
        assert_eq!(files(), ["ana.json", "box.json", "operator.json", SERVER]);
        // There is one operator, also where another user has its name.
        write(&args(&["other"], &[])).expect("one more user");
        assert_eq!(files(), ["ana.json", "box.json", "operator.json", "other.json", SERVER]);
        let elsewhere = CredentialsArgs { folder: root.path().join("other"), ..args(&["operator"], &[]) };
        write(&elsewhere).expect("two users");
        assert!(elsewhere.folder.join("operator-of-fleet.json").is_file());
    }

    #[test]
    fn commands_at_once_leave_no_user_out() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..24).map(|number| format!("box{number}")).collect();
        thread::scope(|scope| {
            for name in &names {
                let (folder, bridge) = (folder.path().join("fleet"), vec![name.clone()]);
                scope.spawn(move || write(&CredentialsArgs { folder, bridge, person: Vec::new() }).unwrap());
            }
        });
        let users = fs::read_to_string(folder.path().join("fleet").join(SERVER)).unwrap();
        for name in &names {
            assert!(users.contains(&format!("user: {name:?},")), "{name}: {users}");
        }
    }
}
