//! Links GCC's unwinder into the program, where the linker has it: to load the shared library takes 0.1 ms of each start,
//! half of it on a virtual machine because that library asks for the features of the CPU, each of which leaves the
//! machine. The library, which other programs use, has no such wish.

use std::{
    env, fs,
    io::{self, Error},
    path::Path,
    process::Command,
};

/// The name of the unwinder as a library to link with.
const UNWINDER: &str = "libgcc_eh.a";
/// What the linker reads instead of the shared library.
const SCRIPT: &str = "GROUP ( -lgcc_eh -lgcc )\n";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/build.rs");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && linker_has(UNWINDER) {
        let folder = env::var("OUT_DIR").map_err(Error::other)?;
        fs::write(Path::new(&folder).join("libgcc_s.so"), SCRIPT)?;
        println!("cargo::rustc-link-arg-bins=-L{folder}");
    }
    Ok(())
}

/// Returns whether the linker finds this library. One that is not asked this way, such as `ld`, is left alone.
fn linker_has(library: &str) -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let found = Command::new(linker).arg(format!("-print-file-name={library}")).output();
    // A library that is not found is printed as it was asked for.
    found.is_ok_and(|found| found.stdout.starts_with(b"/"))
}
