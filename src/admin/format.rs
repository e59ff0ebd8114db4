//! Numbers, times and strangers' text as people read them. Pure; it refuses to know where they are shown.

use std::fmt::Write;

use jiff::Timestamp;

/// What stands where there is no data.
pub(super) const NOTHING: &str = "–";

/// `12,345`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 rule file`, `3 rule files`.
pub(super) fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A rate or average, with as many digits as say something.
pub(super) fn decimal(value: f64) -> String {
    match value {
        v if v <= 0.0 => "0".into(),
        v if v < 0.01 => "<0.01".into(),
        v if v < 1.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => count(v.round() as u64),
    }
}

/// `1.3`, without the sign.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return NOTHING.into();
    }
    match part as f64 * 100.0 / whole as f64 {
        0.0 => "0".into(),
        p if p < 0.01 => "<0.01".into(),
        p if p < 1.0 => format!("{p:.2}"),
        p if p >= 100.0 => "100".into(),
        p => format!("{p:.1}"),
    }
}

/// Microseconds: `840 µs`, `1.24 ms`, `12.4 ms`, `1.20 s`.
pub(super) fn latency(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{:.2} ms", us as f64 / 1e3),
        10_000..100_000 => format!("{:.1} ms", us as f64 / 1e3),
        100_000..1_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

/// A latency that may not be there.
pub(super) fn latency_or_nothing(us: Option<u64>) -> String {
    us.map_or_else(|| NOTHING.into(), latency)
}

/// Microseconds as milliseconds, for columns that line up.
pub(super) fn milliseconds(us: u64) -> String {
    format!("{:.3}", us as f64 / 1e3)
}

/// `640 B`, `1.5 KiB`, `12 MiB`.
pub(super) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1_000.0 {
            return if value < 10.0 && unit != "B" {
                format!("{value:.1} {unit}")
            } else {
                format!("{value:.0} {unit}")
            };
        }
        value /= 1_024.0;
    }
    format!("{value:.1} TiB")
}

/// `4 s`, `12 min`, `3 h 5 min`, `2 d 4 h`.
pub(super) fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min"),
        3_600..86_400 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// `14:02`, in UTC, and with the date when it is not today's.
pub(super) fn moment(time: Timestamp, now: Timestamp) -> String {
    let (day, today) = (time.strftime("%F").to_string(), now.strftime("%F").to_string());
    let clock = time.strftime("%H:%M:%S");
    if day == today { format!("{clock} UTC") } else { format!("{day} {clock} UTC") }
}

/// Bytes as hex digits.
pub(super) fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    let mut out = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        write!(out, "{byte:02x}").ok();
    }
    out
}

/// Text from outside, for display: at most `cap` characters, with everything that could hide, reorder or forge what is
/// shown made visible. Escaping for HTML comes on top, in the templates.
///
/// SECURITY: hosts, paths and key paths in records are the client's choice.
pub(super) fn visible(text: &str, cap: usize) -> String {
    let mut out = String::with_capacity(text.len().min(cap * 4));
    for (n, c) in text.chars().enumerate() {
        if n == cap {
            out.push('…');
            break;
        }
        if deceives(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Controls, line and paragraph separators, direction marks, and characters without width.
fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}'
        )
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (n, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        for (us, text) in [
            (0, "0 µs"),
            (840, "840 µs"),
            (1_240, "1.24 ms"),
            (12_400, "12.4 ms"),
            (124_000, "124 ms"),
            (1_200_000, "1.20 s"),
        ] {
            assert_eq!(latency(us), text);
        }
        for (part, whole, text) in [(0, 0, "–"), (0, 5, "0"), (1, 100_000, "<0.01"), (1, 3, "33.3"), (5, 5, "100")] {
            assert_eq!(percent(part, whole), text);
        }
        for (n, text) in [(0, "0 B"), (640, "640 B"), (1_536, "1.5 KiB"), (12 << 20, "12 MiB"), (5 << 40, "5.0 TiB")] {
            assert_eq!(bytes(n), text);
        }
        for (value, text) in [(0.0, "0"), (0.001, "<0.01"), (0.25, "0.25"), (12.34, "12.3"), (1_234.4, "1,234")] {
            assert_eq!(decimal(value), text);
        }
        for (seconds, text) in [(4, "4 s"), (720, "12 min"), (11_100, "3 h 5 min"), (187_200, "2 d 4 h")] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!((counted(1, "route"), counted(2, "route")), ("1 route".into(), "2 routes".into()));
    }

    #[test]
    fn strangers_text_is_capped_and_visible() {
        for (text, cap, shown) in [
            ("/plain", 80, "/plain"),
            ("/a\u{202e}gpj.exe", 80, "/a\\u{202e}gpj.exe"),
            ("/a\r\n\0b", 80, "/a\\u{d}\\u{a}\\u{0}b"),
            ("/zero\u{200b}width", 80, "/zero\\u{200b}width"),
            ("/ünï", 3, "/ün…"),
            ("/ün", 3, "/ün"),
        ] {
            assert_eq!(visible(text, cap), shown);
        }
    }
}
