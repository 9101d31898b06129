//! The journal as files on a disk: processes that write at once and are killed, damaged files, migrations.
