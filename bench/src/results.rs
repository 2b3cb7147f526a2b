//! Saves raw figures by date.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Everything measured in this run.
#[derive(Default)]
pub(crate) struct Results {
    rows: Vec<Value>,
}

impl Results {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: Value) {
        self.rows.push(row);
    }

    /// Writes the rows to `bench/results/DATE.json`.
    pub(crate) fn keep(&self) -> std::io::Result<PathBuf> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results");
        std::fs::create_dir_all(&folder)?;
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let path = folder.join(format!("{}.json", date(seconds)));
        let mut rows = match std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()) {
            Some(Value::Array(rows)) => rows,
            _ => Vec::new(),
        };
        rows.push(json!({ "seconds_since_1970": seconds, "version": env!("CARGO_PKG_VERSION"), "rows": self.rows }));
        std::fs::write(&path, serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n")?;
        Ok(path)
    }
}

/// The civil date of a time, after Hinnant's algorithm.
fn date(seconds: u64) -> String {
    let days = (seconds / 86_400) as i64 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    format!("{:04}-{month:02}-{day:02}", year_of_era + era * 400 + i64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_are_civil() {
        assert_eq!(super::date(0), "1970-01-01");
        assert_eq!(super::date(951_782_400), "2000-02-29");
        assert_eq!(super::date(1_798_675_200), "2026-12-31");
    }
}
