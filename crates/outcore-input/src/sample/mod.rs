//! Samples the input without reading all of it, to estimate the numbers of edges and nodes.
//!
//! A few MiB are parsed: of plain files, one piece at a random place in each sixteenth; of compressed files and Arrow
//! files, the beginning; of Parquet files, rows spread over the file. A pipe is refused, because what is read from it
//! cannot be read again.
//!
//! There are two estimates of the number of nodes. The lower bound uses the numbers of names seen once and twice (Chao,
//! 1984) and holds for names that occur at random. The likely number uses the numbers of names in one piece and in two
//! pieces (Chao2; extrapolated as in Colwell et al., 2012), so that names whose edges are close together in the file,
//! and thus in the same piece, are not taken for frequent ones.

mod order;
pub(crate) mod pieces;
mod tally;

use crate::chunk::ParsedChunk;
use crate::decompress::Input;
use crate::open::{
    common_kinds, common_weights, detect_next, kinds_bytes, total_bytes, unweighted,
};
use crate::sink::DecodeRoom;
use crate::source::{FileSample, SampleTask};
use crate::{BatchMemory, CHUNK_BYTES, InputOptions};
use order::{OrderSize, SampledOrder};
use outcore_io::Files;
use outcore_io::budget::Limits;
use outcore_io::error::{Error, ErrorKind, Result};
use pieces::PIECES;
use std::path::{Path, PathBuf};
use tally::SampleTally;

pub use order::EdgeOrder;

/// Minimum number of edges whose order is estimated: it takes a tenth of a second, and fewer edges fit on most disks in any
/// order.
const ORDERED_EDGES: u64 = 1 << 24;

/// Sample of the input and estimates from it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputSample {
    /// Bytes of the files, as stored.
    pub total_bytes: u64,
    /// Bytes of text in the files: exact if no file is compressed, otherwise estimated.
    pub text_bytes: u64,
    /// Whether edges have weights.
    pub is_weighted: bool,
    /// First file with edges, if it has no weights.
    pub unweighted: Option<PathBuf>,
    /// Whether nodes are of two kinds, the same in all files.
    pub has_kinds: bool,
    /// Whether the sample is the complete input, so that nothing here is an estimate.
    pub is_whole: bool,
    /// Whether the sample is from places spread over the whole input.
    pub is_spread: bool,
    /// Edges in all files.
    pub edges: u64,
    /// Edges of the sample.
    pub sampled: SampledEdges,
    /// Names in the sample.
    pub names: SampledNames,
    order: SampledOrder,
}

/// Edges of a sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampledEdges {
    /// Their number.
    pub count: u64,
    /// Edges whose two ends have the same name.
    pub loops: u64,
    /// Repeats of edges that join the same two names in either order, and of those that also have the same source.
    pub repeats: [Repeats; 2],
    /// Lower bound on the largest share of the edges at one node, if one has many.
    pub hub_share: f64,
    /// Mean bits per weight, as a graph stores weights in groups.
    pub weight_bits: f64,
    /// Whether some weights are fractions.
    pub has_fractions: bool,
}

/// Edges of a sample that join the same names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeats {
    /// Pairs of them.
    pub pairs: u64,
    /// Pairs in different pieces; those of one piece count once there.
    pub across: u64,
    /// Edges that repeat an earlier one of their piece.
    pub in_piece: u64,
    /// Edges that repeat an earlier one of the sample.
    pub in_sample: u64,
}

impl Repeats {
    /// Adds `count` edges that join the same names, in this number of pieces.
    fn add(&mut self, count: u64, pieces: u64) {
        self.pairs += count * (count - 1) / 2;
        self.across += pieces * (pieces - 1) / 2;
        self.in_piece += count - pieces;
        self.in_sample += count - 1;
    }
}

/// Names of a sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampledNames {
    /// Distinct names.
    pub distinct: u64,
    /// Their mean length.
    pub mean_bytes: f64,
    /// Names seen once.
    pub seen_once: u64,
    /// Names seen twice.
    pub seen_twice: u64,
    /// Pieces of the input in the sample.
    pub pieces: u64,
    /// Names in one piece only.
    pub in_one_piece: u64,
    /// Names in two pieces.
    pub in_two_pieces: u64,
    /// Nodes of the node list that no sampled edge has, estimated for the complete list.
    pub listed_nodes: u64,
}

impl InputSample {
    /// Returns the estimated number of edges of the graph: repeated edges count once, loops do not count. Pieces show how
    /// often edges are repeated nearby, and pairs of pieces how often elsewhere. That is too high if edges are repeated more
    /// than once, so it is at most half of them; `is_best` assumes that half.
    pub fn distinct_edges(&self, directed: bool, is_best: bool) -> u64 {
        let repeats = self.repeats(directed);
        let scale = self.edges as f64 / self.sampled.count.max(1) as f64;
        let nearby = repeats.in_piece as f64 * scale;
        let left = self.edges as f64 - nearby;
        let elsewhere = self.repeated_elsewhere(directed);
        let elsewhere = if is_best { left / 2.0 } else { elsewhere.min(left / 2.0) };
        let repeated = (nearby + elsewhere).max(repeats.in_sample as f64 * scale);
        (self.edges as f64 - repeated - self.sampled.loops as f64 * scale).max(1.0).round() as u64
    }

    fn repeats(&self, directed: bool) -> &Repeats {
        &self.sampled.repeats[usize::from(directed)]
    }

    /// Returns the estimated number of pairs of equal edges that are far from each other.
    fn repeated_elsewhere(&self, directed: bool) -> f64 {
        let pairs = |pieces: f64| (pieces * (pieces - 1.0)).max(1.0);
        let pieces = self.names.pieces as f64;
        let all = pieces * self.edges as f64 / self.sampled.count.max(1) as f64;
        self.repeats(directed).across as f64 * pairs(all) / pairs(pieces)
    }

    /// Returns a lower bound on the number of edges of the graph. The number of pairs of equal edges bounds the number
    /// of distinct ones from below (Cauchy and Schwarz). The beginning of a file reveals nothing about the rest.
    pub fn distinct_edges_at_least(&self, directed: bool) -> u64 {
        let (sampled, pairs) = (self.sampled.count as f64, self.repeats(directed).pairs as f64);
        let (edges, pairs) = if self.is_spread && !self.is_whole {
            // Three standard deviations above the count.
            let scale = self.edges as f64 / sampled.max(1.0);
            (self.edges as f64, (pairs + 3.0 * pairs.sqrt() + 3.0) * scale * scale)
        } else {
            (sampled, pairs)
        };
        let no_loops = 1.0 - self.sampled.loops as f64 / sampled.max(1.0);
        (edges * edges / (edges + 2.0 * pairs).max(1.0) * no_loops) as u64
    }

    /// Returns the likely order of the edges, and the best one that agrees with the pieces; both random if there are
    /// few edges, or all are in the sample.
    pub fn orders(&self, directed: bool) -> [EdgeOrder; 2] {
        if self.is_whole || self.edges < ORDERED_EDGES {
            return [EdgeOrder::RANDOM; 2];
        }
        self.order.of(&OrderSize {
            edge_count: self.edges,
            node_count: self.nodes(),
            elsewhere: self.repeated_elsewhere(directed),
            directed,
        })
    }

    /// Returns the likely number of nodes.
    pub fn nodes(&self) -> u64 {
        let (sampled, all) = (2.0 * self.sampled.count as f64, 2.0 * self.edges as f64);
        let at_random = self.names_of([self.names.seen_once, self.names.seen_twice], sampled, all);
        let of_edges = at_random.max(self.nodes_of_edges());
        // Edges outside the sample may have the listed nodes.
        if self.is_whole {
            of_edges + self.names.listed_nodes
        } else {
            of_edges.max(self.names.listed_nodes)
        }
    }

    /// Returns a lower bound on the number of nodes with edges, if names occur at random: assumes that three standard
    /// deviations more names are seen twice.
    pub fn nodes_of_edges_at_least(&self) -> u64 {
        let twice = self.names.seen_twice as f64;
        let twice = (twice + 3.0 * twice.sqrt() + 3.0) as u64;
        let (sampled, all) = (2.0 * self.sampled.count as f64, 2.0 * self.edges as f64);
        self.names_of([self.names.seen_once, twice], sampled, all)
    }

    /// Returns the number of nodes with edges, estimated from the pieces.
    fn nodes_of_edges(&self) -> u64 {
        let pieces = self.names.pieces as f64;
        let all = pieces * self.edges as f64 / self.sampled.count.max(1) as f64;
        self.names_of([self.names.in_one_piece, self.names.in_two_pieces], pieces, all)
    }

    /// Returns the number of names in `all` units (ends of edges, or pieces), estimated from `sampled` units: `once`
    /// names occur in one of these, `twice` names in two. After Chao (1984, 1987) for the names that exist, and Shen,
    /// Chao and Lin (2003) for those that occur.
    fn names_of(&self, [once, twice]: [u64; 2], sampled: f64, all: f64) -> u64 {
        if self.is_whole || sampled == 0.0 {
            return self.names.distinct;
        }
        let (once, twice, seen) = (once as f64, twice as f64, self.names.distinct as f64);
        let unseen =
            (sampled - 1.0) / sampled * once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0));
        if unseen == 0.0 {
            return self.names.distinct;
        }
        let missed = (all - sampled) * (-once / (sampled * unseen + once)).ln_1p();
        let most = (seen * all / sampled).min(2.0 * self.edges as f64);
        (seen - unseen * missed.exp_m1()).min(most) as u64
    }
}

/// Samples the input.
///
/// # Errors
/// Those of [`EdgeReader::open`](super::EdgeReader::open); `Usage` if an input is not a regular file; `MemoryTooSmall`
/// if decoding takes more than the limits allow.
pub fn sample(files: &Files, options: &InputOptions, limits: &Limits) -> Result<InputSample> {
    options.check()?;
    if let Some(path) = options.all_paths().find(|path| !files.is_regular(path)) {
        // Reports a missing file.
        files.entry(path)?;
        let message =
            format!("`{}` can be read only once, so it cannot be sampled", path.display());
        return Err(Error::new(ErrorKind::Usage, message).hint("write it to a file first"));
    }
    let total_bytes = total_bytes(files, options.all_paths()).unwrap_or(0);
    let mut formats = Vec::with_capacity(options.paths.len() + 1);
    let mut tally = SampleTally::default();
    // Bytes of edges, and of nodes.
    let mut text_bytes = [0.0; 2];
    let mut all = FileSample { is_whole: true, is_spread: true, ..FileSample::default() };
    for path in options.all_paths() {
        let mut input = Input::open(files, path, 0)?;
        let file =
            detect_next(files, &mut input, options, &formats, DecodeRoom { workers: 1, bytes: 0 })?;
        let chunk_bytes = CHUNK_BYTES as usize;
        let kinds = file
            .source
            .kinds()
            .map(|_| kinds_bytes(BatchMemory { chunk_bytes, chunks: crate::batch_chunks(limits) }));
        crate::sort_bytes_beside_window(limits, file.window_bytes + kinds.unwrap_or(0))?;
        let text_bytes = &mut text_bytes[usize::from(formats.len() == options.paths.len())];
        let bytes = files.entry(path)?.bytes;
        // Every file gets its share of pieces; the first ones get at least one.
        let share = (bytes as u128 * u128::from(PIECES) / u128::from(total_bytes.max(1))) as u64;
        let pieces = if tally.pieces < PIECES { share.max(1) } else { share };
        let count = &mut |chunk: &ParsedChunk, text| tally.add(chunk, text);
        let is_whole = all.is_whole;
        let task = SampleTask { files, path, input, bytes, pieces, is_whole, count };
        let found = file.source.sample(task)?;
        *text_bytes += found.text_bytes;
        all.is_whole &= found.is_whole;
        all.is_spread &= found.is_spread;
        all.matrix_nodes += found.matrix_nodes;
        all.declared_nodes += found.declared_nodes;
        formats.push(file);
    }
    Ok(InputSample {
        total_bytes,
        text_bytes: text_bytes.iter().sum::<f64>() as u64,
        is_weighted: common_weights(&formats, options)?,
        unweighted: unweighted(&formats).map(Path::to_path_buf),
        has_kinds: common_kinds(&formats).is_some(),
        is_whole: all.is_whole,
        is_spread: all.is_spread,
        edges: tally.all_edges(text_bytes[0], all.is_whole),
        sampled: tally.edges(),
        order: tally.order(),
        names: tally.names(text_bytes[1], &all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::sim::Sim;
    use std::collections::HashSet;
    use std::fmt::Write;
    use std::sync::Arc;

    const LIMITS: Limits = Limits { memory_bytes: 64 << 20, threads: 1 };

    fn sampled(contents: &[Vec<u8>]) -> InputSample {
        let sim = Sim::new();
        let mut options = InputOptions::default();
        for (index, bytes) in contents.iter().enumerate() {
            sim.put(format!("{index}"), bytes);
            options.paths.push(format!("{index}").into());
        }
        sample(&Files::new(Arc::new(sim)), &options, &LIMITS).unwrap()
    }

    #[test]
    fn small_inputs_are_counted_exactly() {
        let found = sampled(&[b"# c\na\tb\t1\na\tcc\t2".to_vec(), b"d\ta\t3\n".to_vec()]);
        assert!(found.is_whole && found.is_weighted);
        assert_eq!((found.edges, found.names.distinct, found.names.seen_once), (3, 4, 3));
        assert_eq!((found.names.mean_bytes, found.nodes()), (1.25, 4));
    }

    /// Most of many files are recognized by their first lines: each by its own, though they have the same columns.
    #[test]
    fn files_of_the_same_columns_have_delimiters_of_their_own() {
        let text = |from: usize, delimiter: char| {
            let lines =
                (from..from + 2000).map(|at| format!("a{at}{delimiter}b{at}{delimiter}1\n"));
            lines.collect::<String>().into_bytes()
        };
        let found = sampled(&[text(0, '\t'), text(2000, ','), text(4000, '\t')]);
        assert!(found.is_whole && found.is_weighted, "{found:?}");
        assert_eq!((found.edges, found.names.distinct), (6000, 12_000));
    }

    /// Pairs in both directions: next to each other, at random places, and not at all.
    #[test]
    fn repeated_edges_are_estimated_nearby_and_elsewhere() {
        let (count, mut state) = (600_000u64, 1u64);
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % 3_000_000
        };
        let pairs: Vec<[u64; 2]> = (0..count).map(|_| [next(), next()]).collect();
        let text = |lines: &mut dyn Iterator<Item = [u64; 2]>| {
            lines.map(|[a, b]| format!("{a}\t{b}\n")).collect::<String>().into_bytes()
        };
        let back = |[a, b]: [u64; 2]| [b, a];
        let nearby = text(&mut pairs.iter().flat_map(|&pair| [pair, back(pair)]));
        let mut mixed: Vec<[u64; 2]> = pairs.iter().flat_map(|&pair| [pair, back(pair)]).collect();
        mixed.sort_unstable_by_key(|pair| pair[0].wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let elsewhere = text(&mut mixed.into_iter());
        for (lines, share) in [(nearby, 0.5), (elsewhere, 0.5), (text(&mut pairs.into_iter()), 1.0)]
        {
            let found = sampled(&[lines]);
            assert!(!found.is_whole);
            let measured = found.distinct_edges(false, false) as f64 / found.edges as f64;
            assert!((share - 0.1..share + 0.1).contains(&measured), "{share} {measured}");
            assert!(found.distinct_edges(true, false) as f64 > 0.95 * found.edges as f64);
        }
    }

    #[test]
    fn nodes_of_a_list_are_counted() {
        let sim = Sim::new();
        let (edges, nodes) = ("a b\nb c\n", "a\nx\ny\nx\n");
        let listed = |edges: &str, nodes: &str| {
            sim.put("edges", edges.as_bytes());
            sim.put("nodes", nodes.as_bytes());
            let options = InputOptions {
                paths: vec!["edges".into()],
                nodes: Some("nodes".into()),
                ..InputOptions::default()
            };
            sample(&Files::new(Arc::new(sim.clone())), &options, &LIMITS).unwrap()
        };
        let found = listed(edges, nodes);
        assert_eq!((found.is_whole, found.edges, found.nodes()), (true, 2, 5));
        assert_eq!((found.total_bytes, found.text_bytes), (16, 16));
        let many: String = (0..2_000_000).map(|node| format!("node{node:07}\n")).collect();
        let found = listed(edges, &many);
        assert!(!found.is_whole && found.nodes_of_edges() == 3, "{found:?}");
        assert!((1_900_000..2_100_000).contains(&found.nodes()), "{found:?}");
    }

    #[test]
    fn large_inputs_are_estimated() {
        let mut text = String::new();
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) % 50_000
        };
        for _ in 0..900_000 {
            let _ = writeln!(text, "n{}\tn{}\t0.5", next(), next());
        }
        let found = sampled(&[text.clone().into_bytes()]);
        let close = |edges: u64| (890_000..910_000).contains(&edges);
        assert!(!found.is_whole && close(found.edges), "{found:?}");
        assert!((45_000..55_000).contains(&found.nodes()), "{found:?}");
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let found = sampled(&[packed]);
        assert!((700_000..1_100_000).contains(&found.edges), "{found:?}");
    }

    /// Fewer names occur than exist.
    #[test]
    fn nodes_are_estimated_if_many_names_never_occur() {
        let (mut text, mut state) = (String::new(), 1u64);
        let mut met = HashSet::new();
        for _ in 0..600_000 {
            for end in ['\t', '\n'] {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let node = (state >> 33) % 1_000_000;
                met.insert(node);
                let _ = write!(text, "protein{node}{end}");
            }
        }
        let found = sampled(&[text.into_bytes()]);
        let share = found.nodes() as f64 / met.len() as f64;
        assert!(!found.is_whole && (0.9..1.1).contains(&share), "{share}");
    }

    #[test]
    fn grouped_inputs_are_estimated() {
        let mut text = String::new();
        for source in 0..60_000 {
            for target in 0..20 {
                let _ = writeln!(text, "n{source}\tn{}\t1", (source * 31 + target * 977) % 60_000);
            }
        }
        let found = sampled(&[text.into_bytes()]);
        assert!((50_000..75_000).contains(&found.nodes()), "{found:?}");
    }

    /// Sources in order, repeatedly: equally spaced pieces would see the same ones.
    #[test]
    fn inputs_that_repeat_themselves_are_estimated() {
        let (mut text, mut state) = (String::new(), 1u64);
        for edge in 0..3_600_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let _ = writeln!(text, "{}\t{}", edge % 1_200_000, (state >> 33) % 1_200_000);
        }
        let found = sampled(&[text.into_bytes()]);
        assert!((1_000_000..1_440_000).contains(&found.nodes()), "{found:?}");
    }

    /// A chain of nodes in order, each seen twice in one piece and in no other.
    #[test]
    fn names_close_together_are_not_taken_for_frequent_ones() {
        let mut text = String::new();
        for node in 0..2_000_000 {
            let _ = writeln!(text, "{node}\t{}\n{node}\t{}", node + 1, node + 2);
        }
        let found = sampled(&[text.clone().into_bytes()]);
        assert!((1_900_000..2_200_000).contains(&found.nodes()), "{found:?}");
        let found = sampled(&[zstd::encode_all(text.as_bytes(), 1).unwrap()]);
        assert!((1_500_000..2_500_000).contains(&found.nodes()), "{found:?}");
    }
}
