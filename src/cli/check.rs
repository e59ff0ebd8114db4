//! `fieldgate check DIR`: every problem in every rule file, printed the way compilers do. It changes nothing and connects
//! to nothing.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::rules::{self, Problem, Source};

/// Checks the rules in a folder and prints what is wrong: success only if there is no error.
pub fn check(folder: &Path, out: &mut impl Write) -> io::Result<ExitCode> {
    let source = Source::from(folder);
    match rules::load(&source) {
        Ok(ruleset) => {
            print(&ruleset.warnings, out)?;
            let (files, routes, rules) = (ruleset.files.len(), ruleset.routes.len(), ruleset.rules);
            let parts = [counted(files, "file"), counted(routes, "route"), counted(rules, "rule")];
            let warnings = match ruleset.warnings.len() {
                0 => String::new(),
                some => format!(", {}", counted(some, "warning")),
            };
            writeln!(out, "ok: {}{warnings}", parts.join(", "))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            refuse(&problems, out)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Prints why rules are refused, and sums it up.
pub(super) fn refuse(problems: &[Problem], out: &mut impl Write) -> io::Result<()> {
    print(problems, out)?;
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let mut files: Vec<&str> = problems.iter().map(|problem| problem.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let mut parts = vec![counted(errors, "error")];
    if problems.len() > errors {
        parts.push(counted(problems.len() - errors, "warning"));
    }
    let within = match files.iter().filter(|file| !file.is_empty()).count() {
        0 => String::new(),
        some => format!(" in {}", counted(some, "file")),
    };
    writeln!(out, "{}{within}", parts.join(", "))
}

fn print(problems: &[Problem], out: &mut impl Write) -> io::Result<()> {
    problems.iter().try_for_each(|problem| writeln!(out, "{problem}\n"))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check_folder(files: &[(&str, &str)], expected: &str, code: ExitCode) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut out = Vec::new();
        let found = check(folder.path(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().last(), Some(expected), "{text}");
        assert_eq!(format!("{found:?}"), format!("{code:?}"));
    }

    const ROUTES: &str = "version: 1\nupstreams: {crm: {targets: [\"http://127.0.0.1:1\"]}}\nroutes: {all: {match: {paths: [\"/{*rest}\"]}, upstream: crm}}\n";

    #[test]
    fn sums_up() {
        check_folder(&[("a.yaml", ROUTES)], "ok: 1 file, 1 route, 0 rules", ExitCode::SUCCESS);
        let off = "version: 1\npolicies: {p: {mode: off, request: [{headers: x, action: log}]}}\n";
        check_folder(
            &[("a.yaml", ROUTES), ("b.yaml", off)],
            "ok: 2 files, 1 route, 1 rule, 2 warnings",
            ExitCode::SUCCESS,
        );
        check_folder(
            &[("a.yaml", ROUTES), ("b.yaml", "x: 1\n"), ("c.yaml", "")],
            "3 errors in 2 files",
            ExitCode::FAILURE,
        );
        check_folder(&[], "1 error", ExitCode::FAILURE);
    }
}
