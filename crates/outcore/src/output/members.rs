//! Writer of the nodes of a community per line, in any number.

use super::{LineWriter, encode};
use crate::error::Result;
use crate::input::is_label;
use crate::io::Files;
use std::path::Path;

/// Writer of a line of nodes for each community.
pub(crate) struct MemberLines {
    lines: LineWriter,
    community: Option<u64>,
}

impl MemberLines {
    /// Starts writing `path`; `-` is standard output. There is a first line if `title` is not empty.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(files: &Files, path: &Path, title: &str) -> Result<Self> {
        let mut lines = LineWriter::create(files, path)?;
        if !title.is_empty() {
            lines.bytes(title.as_bytes()).end()?;
        }
        Ok(Self { lines, community: None })
    }

    /// Adds a node. Nodes of a community must be added consecutively.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn push(&mut self, community: u64, name: &[u8]) -> Result<()> {
        let before = self.community.replace(community);
        if before == Some(community) {
            self.lines.bytes(b"\t").name(name);
            return self.lines.flush_if_full();
        }
        if before.is_some() {
            self.lines.end()?;
        }
        // A first name that looks like the label of its community is quoted, so that it is read as a name.
        match is_label(name) {
            true => encode::put_quoted(name, &mut self.lines.buffer),
            false => drop(self.lines.name(name)),
        }
        self.lines.flush_if_full()
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(mut self) -> Result<u64> {
        if self.community.is_some() {
            self.lines.end()?;
        }
        self.lines.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn a_community_is_a_line() {
        let files = Files::new(Arc::new(Sim::default()));
        let path = Path::new("members");
        let mut writer = MemberLines::create(&files, path, "").unwrap();
        for (community, name) in [(0, &b"a"[..]), (0, b"\"b"), (7, b"c\td"), (7, b"e")] {
            writer.push(community, name).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(files.read(path).unwrap(), b"a\t\"\"\"b\"\n\"c\td\"\te\n");
        MemberLines::create(&files, path, "").unwrap().finish().unwrap();
        assert_eq!(files.read(path).unwrap(), b"");
    }

    #[test]
    fn a_line_longer_than_all_buffers_is_complete() {
        let files = Files::new(Arc::new(Sim::default()));
        let mut writer = MemberLines::create(&files, Path::new("members"), "").unwrap();
        let mut expected = String::new();
        for node in 0..400_000 {
            let name = format!("n{node}");
            writer.push(0, name.as_bytes()).unwrap();
            expected += &format!("{}{name}", if node > 0 { "\t" } else { "" });
        }
        writer.finish().unwrap();
        assert_eq!(files.read(Path::new("members")).unwrap(), (expected + "\n").as_bytes());
    }
}
