//! The effect of a power loss on a file.
//!
//! Of the data written since the last sync, each sector may or may not survive: everything, nothing, or a
//! mixture in which a write is complete, missing, truncated, or full of holes, and a later one survives
//! without an earlier one. A failed sync is as bad: the system may drop the data that it could not write, and
//! the next sync does not report it.

/// Size that the disk writes atomically.
const SECTOR_BYTES: usize = 512;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ value >> 31
    }

    /// Returns a number below `end`, or 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// Content of a file, current and durable.
#[derive(Default)]
pub(super) struct Content {
    bytes: Vec<u8>,
    /// Time of the last write, in steps of the storage.
    pub(super) modified: u64,
    /// Present if power losses are tracked.
    durable: Option<Durable>,
}

struct Durable {
    bytes: Vec<u8>,
    /// Changes after the last sync.
    changes: Vec<FileChange>,
}

enum FileChange {
    Write { offset: usize, bytes: Vec<u8> },
    Resize(usize),
}

impl FileChange {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => write(to, *offset, bytes),
            Self::Resize(len) => to.resize(*len, 0),
        }
    }

    /// Applies the part of the change that survives a power loss.
    fn apply_torn(&self, to: &mut Vec<u8>, random: &mut Random) {
        let Self::Write { offset, bytes } = self else {
            if random.coin() {
                self.apply(to);
            }
            return;
        };
        let end = offset + bytes.len();
        let sectors = end.div_ceil(SECTOR_BYTES) - offset / SECTOR_BYTES;
        let cut = random.below(sectors as u64 + 1) as usize;
        let shape = random.below(4);
        for sector in 0..sectors {
            let is_there = match shape {
                0 => true,
                1 => false,
                2 => sector < cut,
                _ => random.coin(),
            };
            if is_there {
                let begin = (offset / SECTOR_BYTES + sector) * SECTOR_BYTES;
                let (from, until) = (begin.max(*offset), (begin + SECTOR_BYTES).min(end));
                write(to, from, &bytes[from - offset..until - offset]);
            }
        }
    }
}

fn write(to: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if to.len() < end {
        to.resize(end, 0);
    }
    to[offset..end].copy_from_slice(bytes);
}

impl Content {
    /// Creates an empty file; `is_tracked` if power losses are to be tracked.
    pub(super) fn new(is_tracked: bool) -> Self {
        let durable = is_tracked.then(|| Durable { bytes: Vec::new(), changes: Vec::new() });
        Self { durable, ..Self::default() }
    }

    /// Creates a file that is already durable.
    pub(super) fn of(bytes: &[u8], modified: u64, is_tracked: bool) -> Self {
        let mut content = Self { bytes: bytes.to_vec(), modified, durable: None };
        if is_tracked {
            content.track();
        }
        content
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Starts tracking power losses; the current content counts as durable.
    pub(super) fn track(&mut self) {
        self.durable = Some(Durable { bytes: self.bytes.clone(), changes: Vec::new() });
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8], now: u64) {
        self.change(FileChange::Write { offset: offset as usize, bytes: bytes.to_vec() }, now);
    }

    pub(super) fn resize(&mut self, len: u64, now: u64) {
        self.change(FileChange::Resize(len as usize), now);
    }

    fn change(&mut self, change: FileChange, now: u64) {
        change.apply(&mut self.bytes);
        self.modified = now;
        if let Some(durable) = &mut self.durable {
            durable.changes.push(change);
        }
    }

    pub(super) fn sync(&mut self) {
        if self.durable.is_some() {
            self.track();
        }
    }

    /// Leaves the content that survives a power loss or a failed sync.
    pub(super) fn lose(&mut self, random: &mut Random) {
        let Some(durable) = self.durable.take() else { return };
        let extent = random.below(4);
        let mut bytes = durable.bytes;
        for change in durable.changes {
            match extent {
                0 => change.apply(&mut bytes),
                1 => {}
                _ => change.apply_torn(&mut bytes, random),
            }
        }
        self.bytes = bytes;
        self.track();
    }
}
