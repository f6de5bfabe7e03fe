//! Disk profiles: measurements of one disk and of the machine by `outcore lab`, and the transfer settings derived from
//! them.
//!
//! A [`DiskProfile`] is a JSON file. The engine takes a [`Tuning`] from it: transfer sizes and depths, and
//! rates for predictions. None of them changes a result.

use super::tuning::{Transfer, Tuning};
use super::{Device, Files};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FORMAT: &str = "outcore disk profile";
const VERSION: u32 = 1;

/// Confidence in a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confidence {
    /// Repeated measurements agree.
    #[serde(rename = "measured")]
    Measured,
    /// The machine was too noisy: another measurement may differ.
    #[serde(rename = "low confidence")]
    Low,
    /// Not measured: a default that is safe everywhere.
    #[serde(rename = "default")]
    Default,
}

impl Confidence {
    /// Returns the name as shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Low => "low confidence",
            Self::Default => "default",
        }
    }
}

/// Figure with its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Point estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence in the figure.
    pub confidence: Confidence,
}

/// Measurements of transfers in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransferProfile {
    /// Bytes per request: the smallest size that is as good as the best.
    pub block_bytes: usize,
    /// Concurrent requests.
    pub depth: usize,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Confidence in block size, depth and `direct`.
    pub confidence: Confidence,
    /// Throughput with these settings.
    pub bytes_per_second: Option<Figure>,
    /// Time of a request before its first byte, with one request at a time.
    pub latency_seconds: Option<Figure>,
    /// Throughput of a request from its first byte on, with one request at a time.
    pub stream_bytes_per_second: Option<Figure>,
}

/// Measurements of 4 KiB reads at random positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RandomReadProfile {
    /// Time per read, one at a time.
    pub seconds_at_depth_1: Figure,
}

/// Settings derived from the measurements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DerivedSettings {
    /// Minimum bytes that a merge reads from a run per request, so that seeks cost a tenth of its time.
    pub merge_read_bytes: Option<Figure>,
}

/// Conditions under which a profile is valid.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidIf {
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Device.
    pub device: Option<Device>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
}

impl ValidIf {
    /// Returns the current conditions for files in `directory`.
    pub fn now(files: &Files, directory: &Path) -> Self {
        let device = files.device(directory);
        let (kernel, memory_bytes) = match device {
            Some(_) => (super::disk::kernel_release(), super::disk::total_memory_bytes()),
            None => (None, None),
        };
        Self { kernel, device, memory_bytes }
    }

    /// Describes the first condition that no longer holds; `None` if all hold.
    pub fn broken_by(&self, now: &Self) -> Option<&'static str> {
        let same_device = match (&self.device, &now.device) {
            (Some(then), Some(now)) => then.is_same(now),
            _ => true,
        };
        // Firmware and hypervisors take slightly different amounts at each boot.
        let same_memory = match (self.memory_bytes, now.memory_bytes) {
            (Some(then), Some(now)) => then.abs_diff(now) <= then / 16,
            _ => true,
        };
        if !same_device {
            return Some("it belongs to another device");
        }
        if self.kernel.is_some() && now.kernel.is_some() && self.kernel != now.kernel {
            return Some("the kernel has changed");
        }
        (!same_memory).then_some("the memory of the machine has changed")
    }
}

/// Measured profile of a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskProfile {
    format: String,
    version: u32,
    /// Day of the measurement, such as `2026-11-21`.
    pub date: Option<String>,
    /// Conditions under which the profile is valid.
    pub valid_if: ValidIf,
    /// Large sequential reads.
    pub read: TransferProfile,
    /// Large sequential writes.
    pub write: TransferProfile,
    /// Small reads at random positions.
    pub random_read: Option<RandomReadProfile>,
    /// Settings derived from the measurements.
    pub derived: DerivedSettings,
    /// Time of a small job in memory, relative to the machine on which the table of predictions was measured: above 1 if
    /// this one is slower.
    #[serde(default)]
    pub slowness: Option<Figure>,
}

impl Default for DiskProfile {
    /// Returns the profile of an unknown disk, with settings that are safe everywhere.
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
            slowness: None,
        }
    }
}

impl DiskProfile {
    /// Maximum size of a profile.
    const BYTES_MAX: u64 = 1 << 20;

    /// Returns the transfer settings for the engine, and the speed of the machine.
    pub fn tuning(&self) -> Tuning {
        let transfer = |found: &TransferProfile| Transfer {
            block_bytes: found.block_bytes,
            depth: found.depth,
            direct: found.direct,
            bytes_per_second: found.bytes_per_second.map(|figure| figure.value),
        };
        let merge = self.derived.merge_read_bytes.map(|figure| figure.value as usize);
        let measured = self.slowness.filter(|figure| figure.confidence == Confidence::Measured);
        Tuning {
            read: transfer(&self.read),
            write: transfer(&self.write),
            merge_read_bytes: merge.unwrap_or(Tuning::READ_BYTES),
            slowness: measured.map_or(1.0, |figure| figure.value),
        }
        .sane()
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// `CorruptFile` if it is damaged or not a disk profile; `Io`.
    pub fn load(files: &Files, path: &Path) -> Result<Self> {
        let corrupt = |message: String| {
            Error::corrupt_of(path, message, "`outcore lab tune` makes a new profile")
        };
        if files.entry(path)?.bytes > Self::BYTES_MAX {
            return Err(corrupt("it is too large for a disk profile".into()));
        }
        let bytes = files.read(path)?;
        let profile: Self = serde_json::from_slice(&bytes)
            .map_err(|error| corrupt(format!("it is not a disk profile: {error}")))?;
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
        if profile.slowness.is_some_and(|figure| figure.value <= 0.0 || figure.value.is_nan()) {
            return Err(corrupt("the time of a job is not positive".into()));
        }
        Ok(profile)
    }

    /// Writes the profile atomically; creates missing directories.
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
    fn a_profile_round_trips_and_a_damaged_one_is_reported() {
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

    /// A profile without the speed of the machine is valid, and an unreliable one is not used.
    #[test]
    fn only_a_reliable_speed_counts() {
        let figure = |confidence| Figure { value: 1.5, low: 1.4, high: 1.6, confidence };
        let profile = |confidence| DiskProfile {
            slowness: Some(figure(confidence)),
            ..DiskProfile::default()
        };
        assert_eq!(profile(Confidence::Low).tuning(), Tuning::default());
        let profile = profile(Confidence::Measured);
        assert_eq!(profile.tuning().slowness, 1.5);
        let directory = tempfile::tempdir().unwrap();
        let (files, path) = (Files::default(), directory.path().join("profile.json"));
        profile.store(&files, &path).unwrap();
        assert_eq!(DiskProfile::load(&files, &path).unwrap(), profile);
        let text = String::from_utf8(files.read(&path).unwrap()).unwrap();
        files.write(&path, text.replace("\"value\": 1.5", "\"value\": -1.5").as_bytes()).unwrap();
        let error = DiskProfile::load(&files, &path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptFile);
        let mut value = serde_json::to_value(&profile).unwrap();
        value.as_object_mut().unwrap().remove("slowness");
        let without: DiskProfile = serde_json::from_value(value).unwrap();
        assert_eq!(without.tuning(), Tuning::default());
    }

    #[test]
    fn an_unknown_disk_gets_the_safe_settings() {
        assert_eq!(DiskProfile::default().tuning(), Tuning::default());
    }
}
