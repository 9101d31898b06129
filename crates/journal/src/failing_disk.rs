//! Tests of the journal on a disk that fails: a power loss at any moment, and a full disk.
//!
//! For a power loss, SQLite runs on files in memory that log each write, each sync, and each acknowledgement. At a
//! random place of that log, each file loses some of what came after its last sync, in pieces of 512 bytes. Every
//! settlement that was acknowledged must still be in the file, and the chain must be whole. On a full disk, the journal
//! must warn once, and continue once there is room.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs, io,
    sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError},
    time::Duration,
};

use askbridge_control::inbox::{HistoryFilter, Ledger};
use askbridge_core::question::Provenance;
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use sqlite_vfs::{DatabaseHandle, LockKind, OpenOptions, Vfs, wip::WalIndex};

use super::{
    History, Journal, Options,
    samples::{answered, block_on, open, options, question, submission},
};

/// Bytes that a disk writes at once.
const SECTOR: usize = 512;
const NAME: &str = "power";

#[derive(Clone, Debug)]
enum DiskStep {
    Write(String, u64, Vec<u8>),
    Length(String, u64),
    Sync(String),
    Delete(String),
    /// A caller was told that this question is settled.
    Settled(String),
}

#[derive(Debug, Default)]
struct Disk {
    files: BTreeMap<String, Vec<u8>>,
    log: Vec<DiskStep>,
}

static DISK: Mutex<Disk> = Mutex::new(Disk { files: BTreeMap::new(), log: Vec::new() });

fn disk() -> MutexGuard<'static, Disk> {
    DISK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a write or a new length does to the bytes of a file.
fn write(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let offset = usize::try_from(offset).expect("a small file");
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}

struct Memory;

struct File {
    name: String,
    lock: LockKind,
}

struct NoIndex;

impl Vfs for Memory {
    type Handle = File;

    fn open(&self, name: &str, _: OpenOptions) -> io::Result<File> {
        disk().files.entry(name.to_owned()).or_default();
        Ok(File { name: name.to_owned(), lock: LockKind::None })
    }

    fn delete(&self, name: &str) -> io::Result<()> {
        let mut disk = disk();
        disk.files.remove(name);
        disk.log.push(DiskStep::Delete(name.to_owned()));
        Ok(())
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        Ok(disk().files.contains_key(name))
    }

    fn temporary_name(&self) -> String {
        "temporary".to_owned()
    }

    fn random(&self, buffer: &mut [i8]) {
        // SQLite only salts its log with these bytes, so a constant keeps the test reproducible.
        buffer.fill(7);
    }

    fn sleep(&self, duration: Duration) -> Duration {
        duration
    }

    fn full_pathname<'a>(&self, name: &'a str) -> io::Result<Cow<'a, str>> {
        Ok(name.into())
    }
}

impl DatabaseHandle for File {
    type WalIndex = NoIndex;

    fn size(&self) -> io::Result<u64> {
        Ok(disk().files.get(&self.name).map_or(0, |bytes| bytes.len() as u64))
    }

    fn read_exact_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let disk = disk();
        let bytes = disk.files.get(&self.name).map(Vec::as_slice).unwrap_or_default();
        let offset = usize::try_from(offset).expect("a small file");
        let found = bytes.get(offset..offset + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn write_all_at(&mut self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut disk = disk();
        write(disk.files.entry(self.name.clone()).or_default(), offset, data);
        disk.log.push(DiskStep::Write(self.name.clone(), offset, data.to_vec()));
        Ok(())
    }

    fn sync(&mut self, _: bool) -> io::Result<()> {
        disk().log.push(DiskStep::Sync(self.name.clone()));
        Ok(())
    }

    fn set_len(&mut self, size: u64) -> io::Result<()> {
        let mut disk = disk();
        let length = usize::try_from(size).expect("a small file");
        disk.files.entry(self.name.clone()).or_default().resize(length, 0);
        disk.log.push(DiskStep::Length(self.name.clone(), size));
        Ok(())
    }

    fn lock(&mut self, lock: LockKind) -> io::Result<bool> {
        self.lock = lock;
        Ok(true)
    }

    fn reserved(&mut self) -> io::Result<bool> {
        Ok(false)
    }

    fn current_lock(&self) -> io::Result<LockKind> {
        Ok(self.lock)
    }

    fn wal_index(&self, _: bool) -> io::Result<NoIndex> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A connection that has the file for itself keeps the index of the log in its own memory.
impl WalIndex for NoIndex {
    fn enabled() -> bool {
        false
    }

    fn map(&mut self, _: u32) -> io::Result<[u8; 32768]> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn lock(&mut self, _: std::ops::Range<u8>, _: sqlite_vfs::wip::WalIndexLock) -> io::Result<bool> {
        Ok(true)
    }

    fn delete(self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a journal whose file is in memory.
fn journal(file: &str) -> Journal {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| sqlite_vfs::register(NAME, Memory, false).expect("a layer"));
    Journal::new(Options { vfs: Some(NAME), ..options(file.as_ref()) })
}

/// Returns the steps that a journal with some questions took on its files. The questions are more than the write-ahead
/// log holds before SQLite copies it into the file.
fn played() -> &'static [DiskStep] {
    static STEPS: OnceLock<Vec<DiskStep>> = OnceLock::new();
    STEPS.get_or_init(|| {
        let journal = journal("/journal.db");
        block_on(async {
            for number in 1..=120 {
                let id = format!("a-{number}");
                let record = open(&id, question(&"Why? ".repeat(number * 29 % 800)));
                journal.note(&record);
                journal.accepting(&record, &submission("x"), &Provenance::bridge()).await;
                if number % 3 == 0 {
                    // A client's own answer is only noted, and no caller waits for it.
                    journal.note(&answered(&record, "x"));
                    continue;
                }
                journal.settled(&answered(&record, "x")).await;
                assert!(!journal.is_failing(), "the layer works");
                disk().log.push(DiskStep::Settled(id));
            }
        });
        disk().log.clone()
    })
}

/// Returns the content of the disk after a power loss behind so many steps, and the questions that were acknowledged
/// before.
fn lose_power(
    steps: &[DiskStep],
    mut survives: impl FnMut() -> bool,
) -> (BTreeMap<String, Vec<u8>>, BTreeSet<String>) {
    let mut files = BTreeMap::<String, Vec<u8>>::new();
    let mut unsynced = BTreeMap::<&str, Vec<&DiskStep>>::new();
    let mut settled = BTreeSet::new();
    let play = |files: &mut BTreeMap<String, Vec<u8>>,
                step: &DiskStep,
                survives: &mut dyn FnMut() -> bool| match step {
        DiskStep::Write(name, offset, data) => {
            let bytes = files.entry(name.clone()).or_default();
            for (place, piece) in data.chunks(SECTOR).enumerate() {
                if survives() {
                    write(bytes, offset + (place * SECTOR) as u64, piece);
                }
            }
        }
        DiskStep::Length(name, length) if survives() => {
            files.entry(name.clone()).or_default().resize(usize::try_from(*length).expect("a small file"), 0);
        }
        _ => {}
    };
    for step in steps {
        match step {
            DiskStep::Write(name, ..) | DiskStep::Length(name, _) => {
                unsynced.entry(name).or_default().push(step)
            }
            DiskStep::Sync(name) => {
                for step in unsynced.remove(&**name).unwrap_or_default() {
                    play(&mut files, step, &mut || true);
                }
            }
            DiskStep::Delete(name) => {
                unsynced.remove(&**name);
                files.remove(name);
            }
            DiskStep::Settled(id) => drop(settled.insert(id.clone())),
        }
    }
    for step in unsynced.into_values().flatten() {
        play(&mut files, step, &mut survives);
    }
    (files, settled)
}

/// Opens the files that are left, and checks that they have every acknowledged question.
fn check(files: &BTreeMap<String, Vec<u8>>, settled: &BTreeSet<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        fs::write(folder.path().join(name.trim_start_matches('/')), bytes).expect("a file");
    }
    let Ok(Some(history)) = History::open(&folder.path().join("journal.db")) else {
        assert!(settled.is_empty(), "{settled:?} were acknowledged, and there is no journal");
        return;
    };
    let verified = history.verify().expect("a chain");
    assert!(verified.is_whole(), "{verified:?}");
    let list = history.list(&HistoryFilter::default()).expect("a list");
    let known: BTreeSet<_> =
        list.iter().filter(|past| past.seq.is_some()).map(|past| past.record.id.to_string()).collect();
    let missing: Vec<_> = settled.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:?} were acknowledged and are lost");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn power_loss_takes_nothing_that_was_acknowledged(
        place in any::<prop::sample::Index>(), seed in any::<u64>(), survive in 0..=4u64,
    ) {
        let steps = played();
        let mut state = seed | 1;
        let survives = || {
            // A generator of Marsaglia's: the same choice for the same seed.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 4 < survive
        };
        let (files, settled) = lose_power(&steps[..place.index(steps.len() + 1)], survives);
        check(&files, &settled);
    }
}

#[test]
fn power_loss_behind_each_acknowledgement_takes_nothing() {
    let steps = played();
    let ends = steps.iter().enumerate().filter(|(_, step)| matches!(step, DiskStep::Settled(_)));
    let mut copied = 0;
    for (end, _) in ends {
        let (files, settled) = lose_power(&steps[..=end], || false);
        copied = copied.max(files.get("/journal.db").map_or(0, Vec::len));
        check(&files, &settled);
    }
    assert!(copied > 100_000, "the log was copied into the file on the way: {copied}");
}

#[test]
fn answer_from_elsewhere_costs_one_sync_and_what_nothing_waits_for_costs_none() {
    let syncs = || {
        let is_own =
            |step: &&DiskStep| matches!(step, DiskStep::Sync(name) if name.starts_with("/synced.db"));
        disk().log.iter().filter(is_own).count()
    };
    let journal = journal("/synced.db");
    block_on(async {
        // The first question makes the file.
        journal.settled(&answered(&open("a-0", question("Why?")), "x")).await;
        for number in 1..=20 {
            let record = open(&format!("a-{number}"), question("Why?"));
            let before = syncs();
            journal.note(&record);
            drop(journal.earlier(&record).await);
            journal.accepting(&record, &submission("x"), &Provenance::bridge()).await;
            assert_eq!(syncs(), before, "a killed process loses nothing that was written");
            journal.settled(&answered(&record, "x")).await;
            assert_eq!(syncs(), before + 1, "a power loss loses nothing that was synced");
            // What the client answers itself.
            let record = open(&format!("b-{number}"), question("Why not?"));
            journal.note(&record);
            journal.note(&answered(&record, "x"));
            // The reply comes only after all earlier entries are written.
            drop(journal.earlier(&record).await);
            assert_eq!(syncs(), before + 1, "nothing waits for it");
        }
        assert!(!journal.is_failing(), "the layer works");
    });
}

async fn answer(journal: &Journal, id: &str) {
    let record = open(id, question(&"Why? ".repeat(2000)));
    journal.note(&record);
    journal.accepting(&record, &submission("x"), &Provenance::bridge()).await;
    journal.settled(&answered(&record, "x")).await;
}

#[test]
fn full_disk_costs_entries_and_no_question_waits_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    block_on(async {
        let journal = Journal::new(Options { pages: Some(40), ..options(&path) });
        for number in 1..=40 {
            answer(&journal, &format!("a-{number}")).await;
        }
        assert!(journal.is_failing());
    });
    let history = History::open(&path).expect("a journal").expect("a file");
    let before = history.list(&HistoryFilter::default()).expect("a list").len();
    assert!((1..40).contains(&before), "{before}");
    assert!(history.verify().expect("a chain").is_whole());
    block_on(async {
        let journal = Journal::new(options(&path));
        answer(&journal, "b-1").await;
        assert!(!journal.is_failing());
    });
    assert_eq!(
        history.list(&HistoryFilter { limit: Some(1), ..HistoryFilter::default() }).expect("a list")[0]
            .record
            .id
            .to_string(),
        "b-1"
    );
}
