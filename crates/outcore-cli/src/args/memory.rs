//! `--memory`: a size, or a share of the memory that is free now.

use outcore::error::opt::MEMORY;
use outcore::units::{MIB, parse_bytes};
use outcore::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Memory limit as typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Memory {
    Bytes(u64),
    /// Share of the free memory, from 0 to 1.
    Share(f64),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Share(0.5)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Share(share) => write!(f, "{}%", share * 100.0),
        }
    }
}

impl FromStr for Memory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let shown = text.trim();
        if let Some(percent) = shown.strip_suffix('%') {
            return match percent.trim().parse::<f64>() {
                Ok(percent) if percent > 0.0 && percent <= 100.0 => {
                    Ok(Self::Share(percent / 100.0))
                }
                _ => Err(Error::usage("a share must be above 0% and at most 100%")
                    .hint(format_args!("for half of the free memory, use {}", MEMORY.of("50%")))),
            };
        }
        let bytes = parse_bytes(text).map_err(|error| {
            let hint = error.hint_text().unwrap_or_default();
            Error::usage(error.message()).hint(format!("{hint}, or a share such as `50%`"))
        })?;
        if bytes == 0 {
            return Err(Error::usage("a limit must be above 0")
                .hint(format_args!("for example, use {}", MEMORY.of("4GiB"))));
        }
        // No job runs in so few bytes, so a unit was meant.
        if bytes < MIB && shown.parse::<f64>().is_ok() {
            let units = [MEMORY.of(format!("{shown}MiB")), MEMORY.of(format!("{shown}GiB"))];
            return Err(Error::usage("the unit is missing")
                .hint(format_args!("use {} or {}", units[0], units[1])));
        }
        Ok(Self::Bytes(bytes))
    }
}

impl Memory {
    /// Returns the limit in bytes. A share is relative to the free memory of the machine, or of the
    /// container that this process runs in.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Share(share) => {
                let mut system = sysinfo::System::new();
                system.refresh_memory();
                let free = if system.total_memory() == 0 {
                    free_of_kernel()
                } else {
                    let group = system.cgroup_limits().map_or(u64::MAX, |group| group.free_memory);
                    system.available_memory().min(group)
                };
                (free as f64 * share) as u64
            }
        }
    }
}

/// Returns the free memory that the system call reports, for systems without `/proc` such as a bare container. Memory
/// that caches could release is not included.
#[cfg(target_os = "linux")]
fn free_of_kernel() -> u64 {
    let reported = rustix::system::sysinfo();
    let bytes = u128::from(reported.freeram) * u128::from(reported.mem_unit);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(not(target_os = "linux"))]
fn free_of_kernel() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares_are_read() {
        let read = |text: &str| text.parse::<Memory>().unwrap();
        assert_eq!(read("4GiB"), Memory::Bytes(4 << 30));
        assert_eq!(read("67108864"), Memory::Bytes(64 << 20));
        assert_eq!(read("50%"), Memory::Share(0.5));
        assert_eq!(read(" 12.5 %"), Memory::Share(0.125));
        for text in ["0", "0%", "101%", "-1", "nan%", "%", "", "4 apples", "64", "1.5"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
        assert_eq!(read(&Memory::default().to_string()), Memory::default());
        assert!(Memory::default().bytes() > 1 << 20);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_reports_free_memory() {
        assert!(free_of_kernel() > 1 << 20);
    }
}
