//! Tells the linker what the program is linked with. The library, which other programs use, has no such wishes.

use std::{env, fs, io, path::Path};

/// What the linker reads instead of the shared library of GCC's unwinder.
const UNWINDER: &str = "GROUP ( -lgcc_eh -lgcc )\n";

/// Links GCC's unwinder into the program. To load the shared library takes 0.1 ms of each start, the half of it on a
/// virtual machine because that library asks for the features of the CPU, each of which leaves the machine.
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let is_glibc = ["OS", "ENV"].map(|what| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default())
        == ["linux", "gnu"];
    if is_glibc {
        let folder = env::var("OUT_DIR").map_err(io::Error::other)?;
        fs::write(Path::new(&folder).join("libgcc_s.so"), UNWINDER)?;
        println!("cargo::rustc-link-arg-bins=-L{folder}");
    }
    Ok(())
}
