//! `--memory`: a size, or a share of the memory that is free now.

use outcore::units::parse_bytes;
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
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if let Some(percent) = text.trim().strip_suffix('%') {
            return match percent.trim().parse::<f64>() {
                Ok(percent) if percent > 0.0 && percent <= 100.0 => {
                    Ok(Self::Share(percent / 100.0))
                }
                _ => Err("a share must be above 0% and at most 100%".into()),
            };
        }
        match parse_bytes(text) {
            Ok(0) => Err("a limit must be above 0".into()),
            Ok(bytes) => Ok(Self::Bytes(bytes)),
            Err(error) => {
                let hint = error.hint_text().unwrap_or_default();
                Err(format!("{}; {hint}, or a share such as `50%`", error.message()))
            }
        }
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
        assert_eq!("4GiB".parse(), Ok(Memory::Bytes(4 << 30)));
        assert_eq!("50%".parse(), Ok(Memory::Share(0.5)));
        assert_eq!(" 12.5 %".parse(), Ok(Memory::Share(0.125)));
        for text in ["0", "0%", "101%", "-1", "nan%", "%", "", "4 apples"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
        assert_eq!(Memory::default().to_string().parse(), Ok(Memory::default()));
        assert!(Memory::default().bytes() > 1 << 20);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_reports_free_memory() {
        assert!(free_of_kernel() > 1 << 20);
    }
}
