//! Formatted lines by buffer size: the C library, C++, {fmt}, Rust and the engine.
//!
//! Source: V. Zverovich, "Optimal file buffer size?" (2020): a million lines `test data` written with `fprintf` and
//! with {fmt}'s `output_file` and buffers of 1 KiB to 1 MiB, without sync.

use super::written::{Sum, failed, remove, sum_of, sync};
use crate::api::memory::recycle;
use crate::api::print::Printer;
use crate::engine::{Watched, Way};
use crate::foreign::run_program;
use crate::meter::{Cost, Outcome, Sample};
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::row::{Missing, Row};
use crate::state::State;
use crate::statistics::median;
use crate::workplace::{Effort, Workplace};
use outcore::Result;
use outcore::output::LineWriter;
use outcore::units::{format_bytes, format_count};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Memory to touch before a run: enough for most files and the buffers of a writer.
const POOL_BYTES: usize = 16 << 20;

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct WriteBufferParameters {
    /// Number of lines in a file.
    pub lines: u32,
    /// Number of lines of the method without a buffer.
    pub unbuffered_lines: u32,
    /// Number of runs of each method.
    pub rounds: u32,
}

impl WriteBufferParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let lines = match effort {
            Effort::Quick => 250_000,
            Effort::Default => 600_000,
            Effort::Full => 2_000_000,
        };
        Self { lines, unbuffered_lines: lines / 50, rounds: effort.rounds() }
    }
}

/// Content of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BufferKind {
    Text,
    Edges,
}

const TEXT: &str = "test data";

impl BufferKind {
    fn group(self) -> &'static str {
        match self {
            Self::Text => "lines of one string",
            Self::Edges => "lines of two indexes and a weight",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Edges => "edges",
        }
    }
}

/// Returns the edge in a line, the same as in the programs in other languages.
#[inline]
fn edge(line: u32) -> (u32, u32, f64) {
    let weight = f64::from(line.wrapping_mul(40_503) % 100_000) / 1000.0;
    (line / 20, line.wrapping_mul(2_654_435_761) >> 12, weight)
}

/// Writes all lines with the formatting of the standard library.
fn write_lines(kind: BufferKind, lines: u32, mut out: impl Write) -> io::Result<()> {
    // Hidden from the compiler, as the numbers are.
    let text = std::hint::black_box(TEXT);
    for line in 0..lines {
        match kind {
            BufferKind::Text => writeln!(out, "{text}")?,
            BufferKind::Edges => {
                let (source, target, weight) = edge(line);
                writeln!(out, "{source}\t{target}\t{weight:.3}")?;
            }
        }
    }
    out.flush()
}

/// Way to write the lines.
#[derive(Debug, Clone)]
enum How {
    /// `fprintf`, with the size of a buffer given to `setvbuf`.
    Fprintf(Option<usize>),
    /// Program, its first argument if it has one, and the size of its buffer.
    Program(PathBuf, Option<&'static str>, Option<usize>),
    Writeln(usize),
    WriteAll(usize),
    Unbuffered,
    Outcore(Way),
}

impl How {
    /// Writes the lines and closes the file; for methods in this process other than the engine.
    fn write(&self, path: &Path, kind: BufferKind, lines: u32) -> io::Result<()> {
        match *self {
            Self::Fprintf(buffer) => fprintf(path, buffer, kind, lines),
            Self::Writeln(size) => {
                write_lines(kind, lines, BufWriter::with_capacity(size, File::create(path)?))
            }
            Self::WriteAll(size) => {
                let mut file = BufWriter::with_capacity(size, File::create(path)?);
                let text = std::hint::black_box(TEXT).as_bytes();
                for _ in 0..lines {
                    file.write_all(text)?;
                    file.write_all(b"\n")?;
                }
                file.flush()
            }
            Self::Unbuffered => write_lines(kind, lines, OneByOne(File::create(path)?)),
            Self::Program(..) | Self::Outcore(_) => Ok(()),
        }
    }

    /// Runs the method once, with its sync.
    fn run(&self, path: &Path, kind: BufferKind, lines: u32) -> Result<Outcome> {
        let mut outcome = match self {
            Self::Program(program, first, size) => {
                let (size, lines) = (size.map(|size| size.to_string()), lines.to_string());
                let path = path.to_string_lossy();
                let arguments = [*first, Some(kind.word()), Some(&path), size.as_deref()];
                let mut arguments: Vec<&str> = arguments.into_iter().flatten().collect();
                arguments.push(&lines);
                run_program(program, &arguments)?
            }
            Self::Outcore(way) => return outcore(path, kind, lines, *way),
            _ => {
                self.write(path, kind, lines).map_err(failed("write", path))?;
                Outcome { operations: u64::from(lines), ..Outcome::default() }
            }
        };
        let seconds = sync(path)?;
        outcome.sync_seconds = Some(seconds);
        outcome.child_wall_seconds = outcome.child_wall_seconds.map(|wall| wall + seconds);
        outcome.bytes = std::fs::metadata(path).map_err(failed("measure", path))?.len();
        Ok(outcome)
    }
}

/// File to which each line is written with its own system call.
struct OneByOne(File);

impl Write for OneByOne {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn write_fmt(&mut self, arguments: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.0.write_all(arguments.to_string().as_bytes())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn fprintf(path: &Path, buffer: Option<usize>, kind: BufferKind, lines: u32) -> io::Result<()> {
    let mut printer = Printer::create(path, buffer)?;
    for line in 0..lines {
        match kind {
            BufferKind::Text => printer.text(c"test data")?,
            BufferKind::Edges => {
                let (source, target, weight) = edge(line);
                printer.edge(source, target, weight)?;
            }
        }
    }
    printer.close()
}

/// Writes with the engine's line writer; the time includes the rename and the sync of the directory.
fn outcore(path: &Path, kind: BufferKind, lines: u32, way: Way) -> Result<Outcome> {
    let (watched, files) = Watched::files(way);
    let mut writer = LineWriter::create(&files, path)?;
    let text = std::hint::black_box(TEXT).as_bytes();
    for line in 0..lines {
        match kind {
            BufferKind::Text => writer.bytes(text).end()?,
            BufferKind::Edges => {
                let (source, target, weight) = edge(line);
                writer.number(u64::from(source)).bytes(b"\t").number(u64::from(target));
                writer.bytes(b"\t").thousandths(weight).end()?;
            }
        }
    }
    let bytes = writer.finish()?;
    let sync_seconds = Some(watched.sync_seconds());
    Ok(Outcome { operations: u64::from(lines), bytes, sync_seconds, ..Outcome::default() })
}

/// Planned row: its name without the group, its method, and its position in the chart.
struct Plan {
    name: String,
    how: How,
    point: Option<(&'static str, usize)>,
}

const DIRECT: &str = "outcore";
const CACHED: &str = "outcore, through the page cache";
const FPRINTF: &str = "fprintf";

fn sizes(workplace: &Workplace<'_>) -> Vec<usize> {
    let powers = match workplace.effort {
        Effort::Quick => vec![10, 13, 15, 20],
        _ => (10..=20).collect(),
    };
    powers.into_iter().map(|power| 1 << power).collect()
}

/// Plans the rows of a kind; methods that cannot run here are added to `missing`.
fn plans(
    workplace: &Workplace<'_>,
    kind: BufferKind,
    missing: &mut Vec<Missing>,
) -> Result<Vec<Plan>> {
    let mut plans = vec![Plan { name: FPRINTF.into(), how: How::Fprintf(None), point: None }];
    let mut miss = |name: &str, reason| {
        missing.push(Missing { name: format!("{name} ({})", kind.group()), reason });
    };
    match workplace.foreign().program("write.cpp")? {
        Ok(program) => {
            let how = How::Program(program, None, None);
            plans.push(Plan { name: "std::ofstream".into(), how, point: None });
        }
        Err(reason) => miss("std::ofstream", reason),
    }
    let sizes = sizes(workplace);
    let mut by_size = |series: &'static str, how: &dyn Fn(usize) -> How| {
        plans.extend(sizes.iter().map(|&size| Plan {
            name: format!("{series}, {}", size_name(size)),
            how: how(size),
            point: Some((series, size)),
        }));
    };
    by_size("fprintf with setvbuf", &|size| How::Fprintf(Some(size)));
    for (series, word) in
        [("{fmt} output_file", "print"), ("{fmt} compiled format, own buffer", "compiled")]
    {
        match workplace.foreign().program("write_fmt.cpp")? {
            Ok(program) => {
                by_size(series, &|size| How::Program(program.clone(), Some(word), Some(size)))
            }
            Err(reason) => miss(series, reason),
        }
    }
    by_size("writeln! to BufWriter", &How::Writeln);
    if kind == BufferKind::Text {
        by_size("write_all to BufWriter", &How::WriteAll);
    }
    for (name, how) in [
        ("one write per line", How::Unbuffered),
        (CACHED, How::Outcore(Way::PageCache)),
        (DIRECT, How::Outcore(Way::Own)),
    ] {
        plans.push(Plan { name: name.into(), how, point: None });
    }
    Ok(plans)
}

fn size_name(size: usize) -> String {
    if size < 1 << 20 { format!("{} KiB", size >> 10) } else { format!("{} MiB", size >> 20) }
}

/// Returns the sum of the correct file.
fn expected(kind: BufferKind, lines: u32) -> u64 {
    struct Summing<'a>(&'a mut Sum);
    impl Write for Summing<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.add(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sum = Sum::default();
    let out = BufWriter::with_capacity(64 << 10, Summing(&mut sum));
    write_lines(kind, lines, out).expect("a sum takes all bytes");
    sum.value()
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: WriteBufferParameters) -> Result<Experiment> {
    let WriteBufferParameters { lines, unbuffered_lines, rounds } = parameters;
    workplace.require(u64::from(lines) * 40)?;
    let path = workplace.path("write-buffer");
    let path = path.as_path();
    let (mut methods, mut missing, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for kind in [BufferKind::Text, BufferKind::Edges] {
        let (many, few) = (expected(kind, lines), expected(kind, unbuffered_lines));
        for Plan { name, how, point } in plans(workplace, kind, &mut missing)? {
            let is_slow = matches!(how, How::Unbuffered);
            let (count, sum) = if is_slow { (unbuffered_lines, few) } else { (lines, many) };
            let run = move || how.run(path, kind, count);
            points.push((name.clone(), kind.group(), point));
            methods.push(
                Method::new(name, State::New, None, run)
                    .group(kind.group())
                    .prepare(|| {
                        remove(path)?;
                        recycle(POOL_BYTES);
                        Ok(())
                    })
                    .check(move || Ok(sum_of(path)?.wrapping_sub(sum))),
            );
        }
    }
    let mut measured = rounds::run(workplace, methods, rounds)?;
    remove(path)?;
    measured.missing.extend(missing);
    let mut experiment = experiment(measured)
        .limit(Limit::system_call())
        .parameter("lines", format_count(u64::from(lines)))
        .parameter("lines with one write each", format_count(u64::from(unbuffered_lines)))
        .parameter("buffers", format!("{} to {}", format_bytes(1 << 10), format_bytes(1 << 20)))
        .parameter("rounds", rounds);
    for row in &mut experiment.rows {
        let of = |(name, group, _): &&(String, &str, _)| *name == row.name && *group == row.group;
        let point = points.iter().find(of).and_then(|(_, _, point)| *point);
        row.point = point.map(|(series, size)| (series.into(), size as f64));
    }
    experiment.finding = finding(&experiment);
    experiment.notes.extend(notes(workplace)?);
    Ok(experiment)
}

fn experiment(measured: rounds::Measured) -> Experiment {
    let columns = vec![
        Column::PerOperation,
        Column::Wall,
        Column::Sync,
        Column::Total,
        Column::User,
        Column::System,
        Column::Rate,
        Column::Cycles,
        Column::Instructions,
        Column::Ratio,
    ];
    let question =
        "How large should a buffer for formatted output be, and which interface formats fastest?";
    let mut experiment = Experiment::new("write-buffer", question, columns, measured);
    let x = "buffer size in bytes".into();
    experiment.charts = vec![Chart::Lines { x, column: Column::PerOperation }];
    experiment
}

/// Returns the seconds per line until the file is durable.
fn durable(sample: &Sample) -> f64 {
    (sample.wall_seconds + sample.sync_seconds.unwrap_or(0.0)) / sample.operations as f64
}

fn finding(experiment: &Experiment) -> String {
    let sentences = [BufferKind::Text, BufferKind::Edges].map(|kind| {
        let rows = experiment.rows.iter().filter(|row| row.group == kind.group());
        let rows: Vec<&Row> = rows.filter(|row| !row.is_again()).collect();
        sentence(kind, &rows).unwrap_or_default()
    });
    sentences.join(" ")
}

/// Compares the engine's rows with the fastest of the others, with and without sync.
fn sentence(kind: BufferKind, rows: &[&Row]) -> Option<String> {
    let (own, others): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.name == CACHED || row.name == DIRECT);
    let against = |row: &str, cost: &dyn Fn(&Sample) -> f64| {
        let middle = |row: &Row| median(&row.values(cost));
        let best = others.iter().min_by(|a, b| middle(a).total_cmp(&middle(b)))?;
        let row = own.iter().find(|own| own.name == row)?;
        let (own, other) = (three(middle(row) * 1e9), three(middle(best) * 1e9));
        Some(format!("{own} ns, the fastest other way ({}) {other} ns", best.name))
    };
    Some(format!(
        "Of {}, outcore's writer takes {} through the page cache; until the file is durable, it takes {}.",
        kind.group(),
        against(CACHED, &|sample| Cost::Operation.of(sample))?,
        against(DIRECT, &durable)?
    ))
}

fn notes(workplace: &Workplace<'_>) -> Result<Vec<String>> {
    let mut notes = vec![
        "each run creates a new file and closes it within the timed part; its sync has its own column".to_owned(),
        "`one write per line` writes fewer lines than the other rows; ratios compare the time per line, without sync".into(),
        "the row `outcore` bypasses the page cache, so its elapsed time includes that of the disk; the row through the page cache is the same writer with files opened like those of the other rows".into(),
        "{fmt}'s output_file accepts no compiled formats from version 8 on; the rows with compiled formats fill their own buffer".into(),
        "{fmt}'s output_file ignores short writes, at least up to version 12.2.1: on a full disk it loses data and closes without an error".into(),
    ];
    if let Ok(program) = workplace.foreign().program("write_fmt.cpp")?
        && let Ok(printed) = Command::new(&program).arg("version").output()
    {
        notes.push(format!("{{fmt}} {}", String::from_utf8_lossy(&printed.stdout).trim()));
    }
    notes.extend(workplace.foreign().notes());
    Ok(notes)
}
