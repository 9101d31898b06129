//! Opens the journal's file: its folder, its mode, the settings of a connection, and the lock that lets one process
//! write at a time. The operating system wakes the next writer at once, where SQLite would poll, and some of forty
//! writers would wait for seconds. The content of the file is left to `schema.rs` and `entries.rs`.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use askbridge_os::lock::LockFile;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row};

use super::{JournalError, schema};
use crate::limits;

/// How often the switch to the write-ahead log is tried while other processes switch too, and the pause between tries.
const SWITCHES: usize = 50;
const SWITCH_PAUSE: Duration = Duration::from_millis(10);

/// How many statements a connection keeps compiled: those that are run for each question. To compile them takes a third
/// of the time that a question takes in the journal.
const STATEMENTS: usize = 24;

/// A connection that writes, and the file that it has open.
#[derive(Debug)]
pub(super) struct WritingConnection {
    pub(super) connection: Connection,
    path: PathBuf,
    /// The device and the inode of the file.
    identity: Option<(u64, u64)>,
    is_full: bool,
}

impl WritingConnection {
    /// Opens the file, and creates it if there is none.
    pub(super) fn open(path: &Path) -> Result<Self, JournalError> {
        // SQLite does not create the file, since it would give a new file a wider mode. One thread uses a connection at
        // a time.
        create(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        Self::prepare(connection, path)
    }

    /// Opens the file by another VFS of SQLite.
    #[cfg(test)]
    pub(super) fn open_with(path: &Path, vfs: &str) -> Result<Self, JournalError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags_and_vfs(path, flags, vfs)?;
        // The VFS of the tests has no shared memory, which the log needs unless one connection has the file alone.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        Self::prepare(connection, path)
    }

    fn prepare(mut connection: Connection, path: &Path) -> Result<Self, JournalError> {
        configure(&connection)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let format = schema::format(&connection)?;
        if format == 0 {
            // SQLite can give freed pages back only if this is set before the first table.
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        // A newer format may need another mode, so its file is not changed.
        if format / 100 <= schema::FORMAT / 100 {
            use_log(&connection)?;
        }
        connection.pragma_update(None, "journal_size_limit", limits::LOG)?;
        // Removed rows hold what users wrote, so their bytes are overwritten.
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        schema::migrate(&mut connection)?;
        let identity = identity(path);
        Ok(WritingConnection { connection, path: path.to_owned(), identity, is_full: false })
    }

    /// Returns whether the journal's path still leads to the open file. A person may have moved the file away.
    pub(super) fn is_in_place(&self) -> bool {
        self.identity == identity(&self.path)
    }

    /// Sets whether a commit waits until the disk has it. Must not be called within a transaction.
    pub(super) fn sync(&mut self, is_full: bool) -> Result<(), JournalError> {
        if self.is_full != is_full {
            self.connection.pragma_update(None, "synchronous", if is_full { "FULL" } else { "NORMAL" })?;
            self.is_full = is_full;
        }
        Ok(())
    }
}

/// Opens the file to read it. Returns `None` if there is none.
pub(super) fn open_for_reading(path: &Path) -> Result<Option<Connection>, JournalError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(JournalError::NotAFile(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path)(error)),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match open_with(path, flags) {
        Ok(connection) => Ok(Some(connection)),
        // A process was killed while it created the file. Its transaction must be rolled back, which needs write
        // access.
        Err(_) if fs::metadata(with_end(path, "-journal")).is_ok_and(|journal| journal.len() > 0) => {
            drop(open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?);
            open_with(path, flags).map(Some)
        }
        // SQLite cannot create the index of the write-ahead log in a read-only folder. Without a log, none is needed.
        Err(error) if is_for_want_of_an_index(&error) && is_without_log(path) => {
            open_with(Path::new(&immutable(path)), flags | OpenFlags::SQLITE_OPEN_URI).map(Some)
        }
        Err(error) => Err(error),
    }
}

/// Runs a statement that is compiled once for a connection. Returns how many rows it changed.
pub(super) fn run(connection: &Connection, sql: &str, parameters: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(parameters)
}

/// Returns the first row of a statement that is compiled once for a connection.
pub(super) fn find<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(parameters, read).optional()
}

/// Opens the file and reads its format. That read makes SQLite open the write-ahead log beside the file.
fn open_with(path: &Path, flags: OpenFlags) -> Result<Connection, JournalError> {
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    schema::file_format(&connection).map(|_| connection)
}

fn is_for_want_of_an_index(error: &JournalError) -> bool {
    let JournalError::Sqlite(error) = error else { return false };
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn is_without_log(path: &Path) -> bool {
    fs::metadata(with_end(path, "-wal")).map_or(true, |log| log.len() == 0)
}

/// Returns a URI by which SQLite opens the file as immutable, without locks and without the index of a log.
fn immutable(path: &Path) -> String {
    use std::{fmt::Write as _, os::unix::ffi::OsStrExt};

    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            // Writing to a text cannot fail.
            byte => write!(uri, "%{byte:02X}").unwrap_or_default(),
        }
    }
    uri + "?immutable=1"
}

fn configure(connection: &Connection) -> Result<(), JournalError> {
    connection.busy_timeout(limits::LEDGER_WAIT)?;
    connection.pragma_update(None, "cache_size", -limits::CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // A schema that was tampered with must not call functions, and a broken page is to be found when it is read.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(())
}

/// Switches to the write-ahead log. SQLite fails at once if another process does the same, since waiting could be a
/// deadlock, so this function tries again.
fn use_log(connection: &Connection) -> Result<(), JournalError> {
    let mut tries = 0;
    loop {
        // The mode is in the file, so nearly every opening finds it set. Setting it needs a lock that an open reader
        // would deny.
        let mode = connection
            .pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0))
            .and_then(|mode| match &*mode {
                "wal" => Ok(mode),
                _ => connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)),
            })
            .map_err(JournalError::from);
        tries += 1;
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(JournalError::Broken(format!("its mode is {mode:?}, not \"wal\""))),
            Err(error) if error.is_busy() && tries < SWITCHES => thread::sleep(SWITCH_PAUSE),
            Err(error) => return Err(error),
        }
    }
}

/// Creates the folder and the file if they are missing, readable by this user alone.
fn create(path: &Path) -> Result<(), JournalError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(JournalError::NotAFile(path.to_owned())),
        Ok(metadata) if metadata.mode() & 0o077 != 0 => {
            return fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(at(path));
        }
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    create_folder(path)?;
    // The file is created under another name, since closing any descriptor of a file drops the locks that SQLite has on
    // it in this process.
    let draft = with_end(path, &format!(".{}", std::process::id()));
    // A process that was killed, and had the same ID, may have left the draft.
    drop(fs::remove_file(&draft));
    OpenOptions::new().create_new(true).append(true).mode(0o600).open(&draft).map_err(at(&draft))?;
    // A link fails if the file exists by now; a rename would replace it.
    let linked = fs::hard_link(&draft, path);
    drop(fs::remove_file(&draft));
    match linked {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // The file system has no links.
        Err(_) => {
            drop(OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(at(path))?)
        }
        Ok(()) => {}
    }
    // The names of the folder and the file have to survive a power loss as well. Some file systems cannot sync a
    // folder, and the journal works without.
    let folder = path.parent();
    for folder in [folder, folder.and_then(Path::parent)].into_iter().flatten() {
        File::open(folder).and_then(|folder| folder.sync_all()).unwrap_or_default();
    }
    Ok(())
}

/// Creates the folder of the file if it is missing.
pub(super) fn create_folder(path: &Path) -> Result<(), JournalError> {
    let folder = path.parent().ok_or(JournalError::NoFolder)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Path { path, source }
}

/// Opens the lock file of a journal, whose content does not matter. The journal's own file cannot be the lock: closing a
/// second descriptor of it would drop SQLite's own locks.
pub(super) fn lock_file(path: &Path) -> io::Result<LockFile> {
    LockFile::open(&path.with_extension("lock"))
}
