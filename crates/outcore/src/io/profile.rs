//! What the laboratory measured of one disk, and the settings of transfers that follow from it.
//!
//! A [`DiskProfile`] is a JSON file. The engine takes [`Tuning`] from it: sizes and depths of
//! transfers, and rates for predictions. Neither changes a result.

use super::{Device, Files};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FORMAT: &str = "outcore disk profile";
const VERSION: u32 = 1;

/// How bytes are moved one way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Bytes of one request.
    pub block_bytes: usize,
    /// Requests on their way at the same time.
    pub depth: usize,
    /// Past the page cache, where the file system can.
    pub direct: bool,
    /// The rate with these settings, if it has been measured.
    pub bytes_per_second: Option<f64>,
}

/// How the engine moves bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Reading ahead, and runs.
    pub read: Transfer,
    /// Writing runs and graphs.
    pub write: Transfer,
    /// What a merge reads of a run at once, at least.
    pub merge_read_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        let transfer =
            |block_bytes| Transfer { block_bytes, depth: 1, direct: true, bytes_per_second: None };
        Self {
            read: transfer(Self::READ_BYTES),
            write: transfer(Self::WRITE_BYTES),
            merge_read_bytes: Self::READ_BYTES,
        }
    }
}

impl Tuning {
    /// What is read at once where nothing is known of the disk.
    pub const READ_BYTES: usize = 512 << 10;
    /// What is written at once where nothing is known of the disk.
    pub const WRITE_BYTES: usize = 2 << 20;

    /// The same with every size and depth in the range that files and memory can do with.
    #[must_use]
    pub(crate) fn sane(self) -> Self {
        let transfer = |transfer: Transfer| Transfer {
            block_bytes: block(transfer.block_bytes),
            depth: transfer.depth.clamp(1, 64),
            bytes_per_second: transfer.bytes_per_second.filter(|rate| *rate > 0.0),
            ..transfer
        };
        Self {
            read: transfer(self.read),
            write: transfer(self.write),
            merge_read_bytes: block(self.merge_read_bytes),
        }
    }

    /// Seconds that the disk takes for so many bytes, if both rates are known.
    pub fn seconds(&self, read_bytes: u64, write_bytes: u64) -> Option<f64> {
        let (read, write) = (self.read.bytes_per_second?, self.write.bytes_per_second?);
        Some(read_bytes as f64 / read + write_bytes as f64 / write)
    }
}

fn block(bytes: usize) -> usize {
    bytes.clamp(4 << 10, 64 << 20).next_multiple_of(super::ALIGNMENT)
}

/// Whether a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confidence {
    /// Repeated measurements agree.
    #[serde(rename = "measured")]
    Measured,
    /// The machine was too noisy to tell: another measurement may say something else.
    #[serde(rename = "low confidence")]
    Low,
    /// Nothing was measured: the value that is safe everywhere.
    #[serde(rename = "default")]
    Default,
}

impl Confidence {
    /// The name as shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Low => "low confidence",
            Self::Default => "default",
        }
    }
}

/// A figure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether it can be trusted.
    pub confidence: Confidence,
}

/// What was found for one way of moving bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransferProfile {
    /// Bytes of one request: the smallest that are as good as the best.
    pub block_bytes: usize,
    /// Requests on their way at the same time.
    pub depth: usize,
    /// Past the page cache.
    pub direct: bool,
    /// Whether block, depth and way can be trusted.
    pub confidence: Confidence,
    /// The rate with these settings.
    pub bytes_per_second: Option<Figure>,
    /// Time of a request before its first byte, one request at a time.
    pub latency_seconds: Option<Figure>,
    /// Rate of a request from its first byte on, one request at a time.
    pub stream_bytes_per_second: Option<Figure>,
}

/// Reads of 4 KiB at random places.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RandomReadProfile {
    /// Time of a read, one at a time.
    pub seconds_at_depth_1: Figure,
    /// Reads at the same time: the fewest that are about as good as the best.
    pub depth: usize,
    /// Time between two reads done, with so many at the same time.
    pub seconds_at_depth: Figure,
}

/// What follows from the figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DerivedSettings {
    /// From this share of the pages on, reading all is faster than reading the wanted ones.
    pub scan_instead_share: Option<Figure>,
    /// Two wanted ranges with a smaller gap are better read as one.
    pub gap_bytes: Option<Figure>,
    /// What a merge reads of a run at once, at least, so that seeks cost a tenth of its time.
    pub merge_read_bytes: Option<Figure>,
    /// Runs merged at once, for each GiB of memory, with two such buffers each.
    pub fan_in: Option<Figure>,
    /// Size of runs, where the disk asks for larger ones than memory does.
    pub run_bytes: Option<Figure>,
    /// Buffer of a program that writes lines.
    pub line_buffer_bytes: Option<Figure>,
}

/// What must be as it was, or the profile says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidIf {
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// The device.
    pub device: Option<Device>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
}

impl ValidIf {
    /// What holds here and now for files in `directory`.
    pub fn now(files: &Files, directory: &Path) -> Self {
        let device = files.device(directory);
        let (kernel, memory_bytes) = match device {
            Some(_) => (super::disk::kernel_release(), super::disk::total_memory_bytes()),
            None => (None, None),
        };
        Self { kernel, device, memory_bytes }
    }

    /// What is no longer so, in words; `None` if all is.
    pub fn broken_by(&self, now: &Self) -> Option<&'static str> {
        let same_device = match (&self.device, &now.device) {
            (Some(then), Some(now)) => then.is_same(now),
            _ => true,
        };
        // Firmware and hypervisors take a little more or less at each start.
        let same_memory = match (self.memory_bytes, now.memory_bytes) {
            (Some(then), Some(now)) => then.abs_diff(now) <= then / 16,
            _ => true,
        };
        if !same_device {
            return Some("it is of another device");
        }
        if self.kernel.is_some() && now.kernel.is_some() && self.kernel != now.kernel {
            return Some("the kernel has changed");
        }
        (!same_memory).then_some("the memory of the machine has changed")
    }
}

/// What is known of a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskProfile {
    format: String,
    version: u32,
    /// Day of the measurement, such as `2026-11-21`.
    pub date: Option<String>,
    /// What must be as it was.
    pub valid_if: ValidIf,
    /// Large reads in order.
    pub read: TransferProfile,
    /// Large writes in order.
    pub write: TransferProfile,
    /// Small reads at random places.
    pub random_read: Option<RandomReadProfile>,
    /// What follows.
    pub derived: DerivedSettings,
}

impl Default for DiskProfile {
    /// Nothing is known: the settings are those that are safe everywhere.
    fn default() -> Self {
        let tuning = Tuning::default();
        let transfer = |transfer: Transfer| TransferProfile {
            block_bytes: transfer.block_bytes,
            depth: transfer.depth,
            direct: transfer.direct,
            confidence: Confidence::Default,
            bytes_per_second: None,
            latency_seconds: None,
            stream_bytes_per_second: None,
        };
        Self {
            format: FORMAT.into(),
            version: VERSION,
            date: None,
            valid_if: ValidIf::default(),
            read: transfer(tuning.read),
            write: transfer(tuning.write),
            random_read: None,
            derived: DerivedSettings::default(),
        }
    }
}

impl DiskProfile {
    /// No profile is larger.
    const BYTES_MAX: u64 = 1 << 20;

    /// The settings that the engine takes.
    pub fn tuning(&self) -> Tuning {
        let transfer = |found: &TransferProfile| Transfer {
            block_bytes: found.block_bytes,
            depth: found.depth,
            direct: found.direct,
            bytes_per_second: found.bytes_per_second.map(|figure| figure.value),
        };
        let merge = self.derived.merge_read_bytes.map(|figure| figure.value as usize);
        Tuning {
            read: transfer(&self.read),
            write: transfer(&self.write),
            merge_read_bytes: merge.unwrap_or(Tuning::READ_BYTES),
        }
        .sane()
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// `CorruptFile` if it is damaged or no profile; `Io`.
    pub fn load(files: &Files, path: &Path) -> Result<Self> {
        let corrupt = |message: String| {
            Error::corrupt_of(path, message, "`outcore lab tune` makes a new profile")
        };
        if files.entry(path)?.bytes > Self::BYTES_MAX {
            return Err(corrupt("it is too large for a disk profile".into()));
        }
        let bytes = files.read(path)?;
        let profile: Self = serde_json::from_slice(&bytes)
            .map_err(|error| corrupt(format!("it is no disk profile: {error}")))?;
        if profile.format != FORMAT || profile.version != VERSION {
            let found = format!("{} version {}", profile.format, profile.version);
            return Err(corrupt(format!("it is `{found}`, not `{FORMAT} version {VERSION}`")));
        }
        let is_sane = |found: &TransferProfile| {
            let rate = found.bytes_per_second.map_or(1.0, |figure| figure.value);
            found.block_bytes > 0 && found.depth > 0 && rate.is_finite() && rate > 0.0
        };
        if !is_sane(&profile.read) || !is_sane(&profile.write) {
            return Err(corrupt("a size, depth or rate is not positive".into()));
        }
        Ok(profile)
    }

    /// Writes the profile, absent or complete; directories are made.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn store(&self, files: &Files, path: &Path) -> Result<()> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            files.create_directory(parent)?;
        }
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::io("write", path, error.into()))?;
        bytes.push(b'\n');
        files.write(path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_profile_comes_back_as_it_was_and_a_damaged_one_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let (files, path) = (Files::default(), directory.path().join("profiles/x.json"));
        let mut profile = DiskProfile::default();
        let figure = Figure { value: 3e9, low: 0.1, high: 4e9, confidence: Confidence::Low };
        profile.read.bytes_per_second = Some(figure);
        profile.valid_if = ValidIf::now(&files, directory.path());
        profile.store(&files, &path).unwrap();
        assert_eq!(DiskProfile::load(&files, &path).unwrap(), profile);
        assert_eq!(profile.valid_if.broken_by(&ValidIf::now(&files, directory.path())), None);
        let text = String::from_utf8(files.read(&path).unwrap()).unwrap();
        for (from, to) in [("\"read\"", "\"reed\""), ("\"version\": 1", "\"version\": 2")] {
            files.write(&path, text.replace(from, to).as_bytes()).unwrap();
            let error = DiskProfile::load(&files, &path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::CorruptFile);
        }
        files.write(&path, &text.as_bytes()[..text.len() / 2]).unwrap();
        assert_eq!(DiskProfile::load(&files, &path).unwrap_err().kind(), ErrorKind::CorruptFile);
    }

    #[test]
    fn what_is_unknown_is_the_safe_setting() {
        assert_eq!(DiskProfile::default().tuning(), Tuning::default());
    }

    #[test]
    fn odd_numbers_become_possible_ones() {
        let mut tuning = Tuning::default();
        tuning.read.block_bytes = 1;
        tuning.write.depth = 0;
        tuning.merge_read_bytes = usize::MAX;
        let sane = tuning.sane();
        assert_eq!((sane.read.block_bytes, sane.write.depth), (4096, 1));
        assert_eq!(sane.merge_read_bytes, 64 << 20);
    }
}
