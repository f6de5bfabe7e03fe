//! Tables of experiments as text.

use super::column::Column;
use super::experiment::Experiment;
use crate::row::Row;

/// Table as text: headings, and one line of cells per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Group that it shows; empty if there is only one.
    pub group: String,
    /// Headings; the first one is that of the method.
    pub headings: Vec<String>,
    /// Cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// Returns the tables of an experiment, one per group, in order. Columns without any figure are left out.
pub fn tables(experiment: &Experiment) -> Vec<Table> {
    let mut groups: Vec<&str> = Vec::new();
    for row in &experiment.rows {
        if !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    groups.into_iter().map(|group| table(experiment, group)).collect()
}

fn table(experiment: &Experiment, group: &str) -> Table {
    let rows: Vec<&Row> = experiment.rows.iter().filter(|row| row.group == group).collect();
    let columns: Vec<Column> = experiment
        .columns
        .iter()
        .copied()
        .filter(|column| rows.iter().any(|row| column.value(row).is_some()))
        .collect();
    let mut headings = vec!["method".to_owned(), "state".to_owned()];
    headings.extend(columns.iter().map(|column| column.heading().to_owned()));
    let cells = |row: &&Row| {
        let mut cells = vec![row.name.clone(), row.state.name().to_owned()];
        cells.extend(columns.iter().map(|column| column.text(row)));
        cells
    };
    Table { group: group.to_owned(), headings, rows: rows.iter().map(cells).collect() }
}
