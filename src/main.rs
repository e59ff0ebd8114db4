//! The `fieldgate` program: flags, then logging, then the verb, then its exit code.

use std::process::ExitCode;

use clap::Parser;
use fieldgate::cli::Cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Cli::parse().execute()
}
