//! The `fieldgate` program: flags, then logging, then the verb, then its exit code.

use std::process::ExitCode;

use clap::Parser;
use fieldgate::cli::Cli;

/// The allocator: it is linked in, and takes the place of the C library's.
///
/// PERF: so nobody names it as the global one. That asks for an alignment with each allocation, which takes it another and slower
/// way than `malloc`, where all that is usual is aligned anyway: 2 % of all instructions of a request.
#[used]
static ALLOCATOR: unsafe extern "C" fn(usize) -> *mut std::ffi::c_void = libmimalloc_sys::mi_malloc;

fn main() -> ExitCode {
    Cli::parse().execute()
}
