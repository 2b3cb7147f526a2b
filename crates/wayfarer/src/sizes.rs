//! Sizes, durations and counts in human-readable form, for parsing options and writing reports.

use std::time::Duration;

/// Bytes from `64M`, `2G`, `512MiB`, `1.5GiB`, `100MB` or plain `1048576`. Single letters and `…iB` are powers of 1024, `kB`, `MB`, `GB` and
/// `TB` powers of 1000.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let wrong = || format!("`{text}` is not a size; write for example 64M, 512MiB or 2G (at least 1K)");
    let (number, unit) = split_number(text).ok_or_else(wrong)?;
    let unit: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024f64.powi(2),
        "g" | "gib" => 1024f64.powi(3),
        "t" | "tib" => 1024f64.powi(4),
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if bytes < 1024.0 {
        return Err(format!("`{text}` is too small; write at least 1K, for example 64M"));
    }
    // No machine has more than 2^60, and a conversion from floating point would saturate silently.
    if bytes > (1u64 << 60) as f64 {
        return Err(format!("`{text}` is too large; the most is 1048576T"));
    }
    Ok(bytes as usize)
}

/// A duration from `500ms`, `30s`, `10m`, `1h30m`, `2d` or a plain number of seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration; write for example 500ms, 30s, 10m or 1h30m (at least 1ms, at most 3650d)");
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let letters = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        seconds += number
            * match unit.trim() {
                "ms" => 1e-3,
                "s" | "" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return Err(wrong()),
            };
        rest = after;
    }
    if !(1e-3..=3650.0 * 86400.0).contains(&seconds) {
        return Err(wrong());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A count from `1000`, `1_000_000`, `1,000,000`, `10k`, `5M` or `2G`; at least 1.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a count; write a whole number from 1 on, for example 1000000, 1_000_000, 500k or 1M");
    let plain: String = text.chars().filter(|letter| !matches!(letter, '_' | ',')).collect();
    let (digits, factor) = match plain.char_indices().last() {
        Some((at, 'k' | 'K')) => (&plain[..at], 1_000),
        Some((at, 'm' | 'M')) => (&plain[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&plain[..at], 1_000_000_000),
        _ => (plain.as_str(), 1),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    match number.checked_mul(factor) {
        Some(count) if count > 0 => Ok(count),
        _ => Err(wrong()),
    }
}

/// A number of walks; 0 for `off`.
pub fn parse_audit(text: &str) -> Result<u64, String> {
    if matches!(text, "off" | "0") { Ok(0) } else { parse_count(text).map_err(|_| "it is a number of walks, such as 3000, or `off`".to_string()) }
}

/// A count that fits 32 bits.
pub fn parse_depth(text: &str) -> Result<u32, String> {
    u32::try_from(parse_count(text)?).map_err(|_| format!("`{text}` is too large; the most is {}", u32::MAX))
}

/// A probability below one.
pub fn parse_confidence(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..1.0).contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is not a confidence; write a number from 0 to below 1, such as 0.99")),
    }
}

/// A seed: any number of 64 bits.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a seed; write a whole number from 0 to {}", u64::MAX))
}

fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Bytes in human-readable form: `640 B`, `12.3 MiB`.
pub fn bytes(count: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = count as f64;
    let mut unit = 0;
    // 1023.95 would be written as 1024.0.
    while value >= 1023.95 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// A duration in human-readable form: `0.123 s`, `12.3 s`, `1 m 05 s`, `2 h 03 m`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 9.9995 {
        return format!("{seconds:.3} s");
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    if whole < 3600 { format!("{} m {:02} s", whole / 60, whole % 60) } else { format!("{} h {:02} m", whole / 3600, whole / 60 % 60) }
}

/// A duration that is still running, without flickering last digits: `3.0 s`, `1 m 05 s`.
pub fn clock(elapsed: f64) -> String {
    if elapsed < 59.95 { format!("{elapsed:.1} s") } else { seconds(elapsed) }
}

/// A count with thousands separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, in the plural unless the count is 1: `1 step`, `2 steps`.
pub fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", count(number)) }
}

/// A rough number for a line that changes all the time: `9,870`, `12.3 k`, `4.56 M`.
pub fn rough(number: f64) -> String {
    let size = number.abs();
    match size {
        _ if size < 9_999.5 => format!("{}{}", if number <= -0.5 { "-" } else { "" }, count(size.round() as u64)),
        _ if size < 999_950.0 => format!("{:.1} k", number / 1e3),
        _ if size < 999_950_000.0 => format!("{:.2} M", number / 1e6),
        _ => format!("{:.2} G", number / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let cases =
            [("2G", 2 << 30), ("512MiB", 512 << 20), ("64M", 64 << 20), ("1.5k", 1536), ("100MB", 100_000_000), ("4096", 4096), ("1 GiB", 1 << 30)];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "2X", "-1G", "0", "1e9", "999999999T", "1.2.3M", "nan"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        let cases = [("30s", 30.0), ("10m", 600.0), ("1h30m", 5400.0), ("500ms", 0.5), ("2", 2.0), ("1.5s", 1.5), ("1h 2m 3s", 3723.0)];
        for (text, seconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "s", "10x", "0", "-3s", "99999d", "1..2s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, count) in [("7", 7), ("1_000", 1000), ("1,000", 1000), ("10k", 10_000), ("5M", 5_000_000)] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "0", "-1", "x", "1.5", "99999999999G", "k"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
        assert!(parse_depth("5G").is_err());
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([bytes(640), bytes(1 << 20), bytes(1_048_575), bytes(3 << 30)], ["640 B", "1.0 MiB", "1.0 MiB", "3.0 GiB"]);
        assert_eq!([seconds(0.1234), seconds(59.0), seconds(65.0), seconds(7380.0)], ["0.123 s", "59.0 s", "1 m 05 s", "2 h 03 m"]);
        assert_eq!([count(1), count(123), count(1234), count(1_234_567)], ["1", "123", "1,234", "1,234,567"]);
        assert_eq!([rough(987.0), rough(5_096.4), rough(-1_250.0), rough(-0.2)], ["987", "5,096", "-1,250", "0"]);
        assert_eq!([rough(12_345.0), rough(4_560_000.0), rough(-20_000.0)], ["12.3 k", "4.56 M", "-20.0 k"]);
    }
}
