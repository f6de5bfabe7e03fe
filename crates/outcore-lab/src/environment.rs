//! Facts about the machine that a reader needs to judge or reproduce a figure, as far as the system reports them.
//!
//! The only path reported is that of the measured directory: mount options and sources that name others are left
//! out.

use outcore::units::format_bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the share of the processors' time that the host of a virtual machine gave to others.
pub const STOLEN: &str = "processor time stolen by the host";

/// Facts by name.
pub type Facts = BTreeMap<String, String>;

/// Returns the facts that do not change while the laboratory runs.
pub fn machine(directory: &Path) -> Facts {
    let mut facts = Facts::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.into(), value);
        }
    };
    let os = std::env::consts::OS;
    let release = read("/proc/sys/kernel/osrelease");
    add("system", Some(release.map_or_else(|| os.into(), |release| format!("{os} {release}"))));
    let absolute = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    add("directory", Some(absolute.display().to_string()));
    add("C library", crate::api::system::c_library());
    processor(&mut add);
    memory(&mut add);
    disk(&absolute, &mut add);
    facts
}

/// Returns the load of the machine; `when` is `before` or `after`.
pub fn load(when: &str) -> Facts {
    let mut facts = Facts::new();
    if let Some(text) = read("/proc/loadavg") {
        let average = text.split(' ').take(3).collect::<Vec<_>>().join(" ");
        facts.insert(format!("load average {when}"), average);
    }
    let shares: Vec<String> = ["cpu", "io", "memory"]
        .iter()
        .filter_map(|what| {
            let share = pressure(&read(&format!("/proc/pressure/{what}"))?)?;
            Some(format!("{what} {share} %"))
        })
        .collect();
    if !shares.is_empty() {
        facts.insert(format!("pressure {when}"), shares.join(", "));
    }
    facts
}

/// Parses the percentage of the last ten seconds in which some process waited.
fn pressure(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let average = line.split(' ').find_map(|field| field.strip_prefix("avg10="))?;
    Some(average.to_owned())
}

/// Time of all processors since the system was started, in clock ticks of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    all: u64,
    /// Time that the host of a virtual machine gave to others while a process here was ready to run.
    stolen: u64,
}

impl Ticks {
    /// Returns the time so far; `None` if the system does not report it.
    pub fn now() -> Option<Self> {
        Self::of(&read("/proc/stat")?)
    }

    fn of(table: &str) -> Option<Self> {
        let line = table.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // User, nice, system, idle, waiting, two kinds of interrupts, stolen; guests are part of user.
        let ticks = line.split_whitespace().take(8).map(str::parse);
        let ticks = ticks.collect::<Result<Vec<u64>, _>>().ok()?;
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    /// Returns the share of the time since then that was stolen, as a fact.
    pub fn stolen_since(self) -> Option<(String, String)> {
        let now = Self::now()?;
        let [all, stolen] = [(now.all, self.all), (now.stolen, self.stolen)]
            .map(|(now, then)| now.saturating_sub(then) as f64);
        Some((STOLEN.into(), format!("{:.1} %", stolen / all.max(1.0) * 100.0)))
    }
}

fn processor(add: &mut impl FnMut(&str, Option<String>)) {
    let table = read("/proc/cpuinfo").unwrap_or_default();
    let model = field(&table, "model name").or_else(|| field(&table, "Model"));
    add("processor", Some(model.unwrap_or_else(|| std::env::consts::ARCH.into())));
    add("threads", std::thread::available_parallelism().ok().map(|count| count.to_string()));
    let flags = field(&table, "flags").unwrap_or_default();
    let hypervisor = flags.split(' ').any(|flag| flag == "hypervisor");
    let product = read("/sys/class/dmi/id/product_name");
    add("virtual machine", virtual_machine(hypervisor, product.as_deref()));
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add("frequency governor", governor);
}

fn virtual_machine(hypervisor: bool, product: Option<&str>) -> Option<String> {
    match (hypervisor, product) {
        (true, Some(product)) => Some(format!("yes ({product})")),
        (true, None) => Some("yes".into()),
        (false, Some(product)) => Some(format!("not detected ({product})")),
        (false, None) => None,
    }
}

fn memory(add: &mut impl FnMut(&str, Option<String>)) {
    let table = read("/proc/meminfo").unwrap_or_default();
    let kib = |name: &str| {
        let value = field(&table, name)?;
        let count: u64 = value.trim_end_matches(" kB").trim().parse().ok()?;
        Some(format_bytes(count << 10))
    };
    add("memory", kib("MemTotal"));
    add("memory available", kib("MemAvailable"));
    add("swap", kib("SwapTotal"));
    add("memory limit of the group", group_limit());
    let chosen = read("/sys/kernel/mm/transparent_hugepage/enabled");
    add("large pages", chosen.as_deref().and_then(chosen_of));
    for name in ["dirty_ratio", "dirty_background_ratio", "dirty_expire_centisecs"] {
        add(&format!("vm.{name}"), read(&format!("/proc/sys/vm/{name}")));
    }
    add("io_uring disabled", read("/proc/sys/kernel/io_uring_disabled"));
    add("locked memory limit", locked_limit());
}

#[cfg(unix)]
fn locked_limit() -> Option<String> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock);
    Some(limit.current.map_or_else(|| "none".into(), format_bytes))
}

#[cfg(not(unix))]
fn locked_limit() -> Option<String> {
    None
}

/// Returns the smallest memory limit of the control groups of this process, if there is one.
fn group_limit() -> Option<String> {
    let groups = read("/proc/self/cgroup")?;
    let limits = groups.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let file = match controllers {
            "" => format!("/sys/fs/cgroup{group}/memory.max"),
            "memory" => format!("/sys/fs/cgroup/memory{group}/memory.limit_in_bytes"),
            _ => return None,
        };
        // The older interface expresses "none" as a number near the largest one.
        read(&file)?.parse().ok().filter(|&limit: &u64| limit < 1 << 60)
    });
    limits.min().map(format_bytes)
}

fn disk(directory: &Path, add: &mut impl FnMut(&str, Option<String>)) {
    let free = outcore::io::Files::default().free_bytes(directory);
    add("disk space free", free.map(format_bytes));
    let table = read("/proc/self/mountinfo").unwrap_or_default();
    let Some(mount) = mount_of(&table, directory) else { return };
    add("file system", Some(mount.kind.clone()));
    add("mount options", Some(mount.options.clone()));
    let is_named = mount.source.starts_with("/dev/") || !mount.source.contains('/');
    add("mount source", is_named.then(|| mount.source.clone()));
    let Some(device) = device_directory(&mount) else { return };
    add("device", device.file_name().map(|name| name.to_string_lossy().into_owned()));
    let of = |name: &str| read(&device.join(name).to_string_lossy());
    add("device model", of("device/model"));
    add("read_ahead_kb", of("queue/read_ahead_kb"));
    add("I/O scheduler", of("queue/scheduler").and_then(|text| chosen_of(&text).or(Some(text))));
    add("write cache", of("queue/write_cache"));
    let rotational = of("queue/rotational");
    add("rotational", rotational.map(|flag| format!("{flag} (as reported; not reliable)")));
}

/// Line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    number: String,
    kind: String,
    source: String,
    options: String,
}

/// Returns the mount that holds `path`: the longest mount point, and the last mount on it.
fn mount_of(table: &str, path: &Path) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in table.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let left: Vec<&str> = left.split(' ').collect();
        let right: Vec<&str> = right.split(' ').collect();
        let ([_, _, number, _, point, own, ..], [kind, source, whole, ..]) =
            (&left[..], &right[..])
        else {
            continue;
        };
        let point = PathBuf::from(unescape(point));
        let length = point.as_os_str().len();
        if path.starts_with(&point) && best.as_ref().is_none_or(|(longest, _)| length >= *longest) {
            let source = unescape(source);
            let (number, kind) = ((*number).to_owned(), (*kind).to_owned());
            best = Some((length, Mount { number, kind, source, options: options(own, whole) }));
        }
    }
    best.map(|(_, mount)| mount)
}

/// Returns the options of the mount and of the file system, each once, without those that contain a path.
fn options(own: &str, whole: &str) -> String {
    let mut found: Vec<&str> = Vec::new();
    for option in own.split(',').chain(whole.split(',')) {
        if !option.contains('/') && !found.contains(&option) {
            found.push(option);
        }
    }
    found.join(",")
}

/// Decodes whitespace and backslashes, which are octal in the table.
fn unescape(text: &str) -> String {
    let marks = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    marks.iter().fold(text.to_owned(), |text, (code, mark)| text.replace(code, mark))
}

/// Returns the directory in `/sys` that describes the whole disk of the mount.
fn device_directory(mount: &Mount) -> Option<PathBuf> {
    let by_number = PathBuf::from("/sys/dev/block").join(&mount.number);
    let by_name = Path::new("/sys/class/block").join(mount.source.strip_prefix("/dev/")?);
    let found = by_number.canonicalize().or_else(|_| by_name.canonicalize()).ok()?;
    let is_part = found.join("partition").exists();
    if is_part { found.parent().map(Path::to_path_buf) } else { Some(found) }
}

/// Returns the chosen value of a list, such as `madvise` of `always [madvise] never`.
fn chosen_of(text: &str) -> Option<String> {
    let inner = text.split_once('[')?.1;
    Some(inner.split_once(']')?.0.to_owned())
}

/// Returns the value that follows `name` and a colon.
fn field(table: &str, name: &str) -> Option<String> {
    table.lines().find_map(|line| {
        let (label, value) = line.split_once(':')?;
        (label.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Reads a small file of the system and trims it; `None` if it cannot be read or is empty.
fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:40 / /mnt/a\\040b rw,nosuid - overlay overlay rw,lowerdir=/home/someone/x,index=off
41 27 8:1 / /mnt/data rw - xfs /dev/sda1 rw
42 27 8:2 / /mnt/data rw,noatime - btrfs /dev/sdb2 rw,ssd";

    #[test]
    fn the_mount_is_the_longest_and_last_and_its_options_contain_no_path() {
        let root = mount_of(TABLE, Path::new("/mnt/database")).unwrap();
        assert_eq!((root.kind.as_str(), root.options.as_str()), ("ext4", "rw,relatime,discard"));
        let spaced = mount_of(TABLE, Path::new("/mnt/a b/c")).unwrap();
        assert_eq!(spaced.options, "rw,nosuid,index=off");
        let over = mount_of(TABLE, Path::new("/mnt/data/x")).unwrap();
        assert_eq!((over.kind.as_str(), over.source.as_str()), ("btrfs", "/dev/sdb2"));
    }

    #[test]
    fn small_files_of_the_system_are_parsed() {
        assert_eq!(chosen_of("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen_of("none"), None);
        let text = "some avg10=1.25 avg60=0.00 avg300=0.00 total=1\nfull avg10=9 total=2";
        assert_eq!(pressure(text).as_deref(), Some("1.25"));
        assert_eq!(field("model name\t: A b\nx: y", "model name").as_deref(), Some("A b"));
        let ticks = Ticks::of("cpu  10 1 5 80 2 0 1 4 0 0\ncpu0 1 1 1 1 1 1 1 1").unwrap();
        assert_eq!(ticks, Ticks { all: 103, stolen: 4 });
        assert_eq!(Ticks::of("cpu  10 1"), None);
        assert_eq!(virtual_machine(true, None).as_deref(), Some("yes"));
    }

    #[test]
    fn this_machine_reports_some_facts() {
        let facts = machine(Path::new("."));
        assert!(facts.contains_key("system") && facts.contains_key("processor"), "{facts:?}");
        assert!(Path::new(&facts["directory"]).is_absolute(), "{facts:?}");
    }
}
