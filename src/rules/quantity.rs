//! Durations and sizes as they are written in rule files: a whole number and a unit. It knows no keys.

use std::time::Duration;

/// `500ms`, `2s`, `5m`, `1h`. `None`: not a duration.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(millis).map(Duration::from_millis)
}

/// `100B`, `64KiB`, `8MiB`, `1GB`, in bytes. `None`: not a size.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let bytes = match unit {
        "B" => 1,
        "KB" | "kB" => 1000,
        "MB" => 1000 * 1000,
        "GB" => 1000 * 1000 * 1000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(bytes)
}

/// A duration as it would be written.
pub(super) fn duration_text(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        _ if millis == 0 => "0s".to_owned(),
        _ if millis.is_multiple_of(3_600_000) => format!("{}h", millis / 3_600_000),
        _ if millis.is_multiple_of(60_000) => format!("{}m", millis / 60_000),
        _ if millis.is_multiple_of(1000) => format!("{}s", millis / 1000),
        _ => format!("{millis}ms"),
    }
}

/// A size as it would be written.
pub(super) fn size_text(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_duration(text: &str, millis: Option<u64>) {
        assert_eq!(duration(text), millis.map(Duration::from_millis), "{text}");
        if let Some(parsed) = duration(text) {
            assert_eq!(duration(&duration_text(parsed)), Some(parsed), "{text}");
        }
    }

    #[test]
    fn durations() {
        check_duration("500ms", Some(500));
        check_duration("2s", Some(2000));
        check_duration("5m", Some(300_000));
        check_duration("1h", Some(3_600_000));
        for wrong in ["", "5", "s", "1.5s", "-1s", "5 s", "5S", "5d", "99999999999999999h", "1s1s"] {
            check_duration(wrong, None);
        }
    }

    fn check_size(text: &str, bytes: Option<u64>) {
        assert_eq!(size(text), bytes, "{text}");
        if let Some(parsed) = size(text) {
            assert_eq!(size(&size_text(parsed)), Some(parsed), "{text}");
        }
    }

    #[test]
    fn sizes() {
        check_size("100B", Some(100));
        check_size("64KiB", Some(65536));
        check_size("8MiB", Some(8 << 20));
        check_size("1GB", Some(1_000_000_000));
        check_size("0B", Some(0));
        for wrong in ["", "8", "8M", "8mib", "-8MiB", "8 MiB", "99999999999999TiB"] {
            check_size(wrong, None);
        }
    }
}
