//! Reports as files: JSON, or a page that embeds the same JSON.

use super::experiment::{LabReport, SCHEMA};
use super::page;
use outcore::error::opt::HTML;
use outcore::{Error, ErrorKind, Result};
use std::path::Path;

/// Returns the report as JSON, with every sample.
///
/// # Errors
/// `Io` if a figure is not a number that JSON can hold.
pub fn json(report: &LabReport) -> Result<String> {
    serde_json::to_string_pretty(report)
        .map(|text| text + "\n")
        .map_err(|e| Error::new(ErrorKind::Io, format!("cannot write JSON: {e}")))
}

/// Reads the reports from the bytes of a file: one in JSON, one or more in a page.
///
/// # Errors
/// `CorruptFile` with `path` if the file is neither, or of another version.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<LabReport>> {
    let damaged = |what: String| {
        Error::corrupt(path, what).hint(format_args!(
            "write a report with `outcore lab all -o FILE.json` or {}",
            HTML.of("FILE.html")
        ))
    };
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text".into()))?;
    let is_page = text.trim_start().starts_with("<!");
    let data = if is_page { page::data(text) } else { Some(text) };
    let data = data.ok_or_else(|| damaged("the page holds no report".into()))?;
    let value: serde_json::Value =
        serde_json::from_str(data).map_err(|e| damaged(format!("it is not a report: {e}")))?;
    let values = if is_page { serde_json::from_value(value) } else { Ok(vec![value]) };
    let values: Vec<serde_json::Value> =
        values.map_err(|e| damaged(format!("it is not a list of reports: {e}")))?;
    values
        .into_iter()
        .map(|value| {
            let schema = value.get("schema").and_then(serde_json::Value::as_u64);
            match schema {
                Some(schema) if schema == u64::from(SCHEMA) => serde_json::from_value(value)
                    .map_err(|e| damaged(format!("it is not a report: {e}"))),
                Some(schema) => Err(Error::corrupt(
                    path,
                    format!("it is a report of version {schema}, only {SCHEMA} is supported"),
                )
                .hint("use the version of outcore that wrote it, or measure again")),
                None => Err(damaged("it is not a report of the laboratory".into())),
            }
        })
        .collect()
}
