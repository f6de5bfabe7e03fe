//! Measures the graph: time per arc to write, load and decode, and bytes per arc.
//!
//! `cargo run --release --example graph_bench -- [nodes] [arcs-per-node] [weights: one|digits|any]`
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use outcore::Result;
use outcore::graph::Weight;
use outcore::graph::{
    ArcRecord, ArcScratch, Block, Duplicates, Graph, GraphOptions, GraphSummary, GraphWriter,
    NamesWriter,
};
use outcore::io::Files;
use outcore::progress::Silent;
use outcore_testkit::sim::Sim;
use std::sync::Arc;
use std::time::Instant;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

fn random_arcs(node_count: u64, degree: u64, weights: &str) -> Vec<ArcRecord> {
    let mut random = Random(1);
    let mut arcs = Vec::with_capacity((node_count * degree) as usize);
    for source in 0..node_count as u32 {
        let start = arcs.len();
        for _ in 0..degree {
            let target = random.below(node_count) as u32;
            let weight = match weights {
                "one" => 1.0,
                "digits" => (random.below(1000) + 1) as f64 / 1000.0,
                _ => (random.below(1 << 40) + 1) as f64 / 7.0,
            };
            arcs.push(ArcRecord { source, target, weight: Weight::new(weight).code() });
        }
        arcs[start..].sort_by_key(|arc| (arc.target, arc.weight));
    }
    arcs
}

/// Returns the minimum of `times` measurements, as other programs can only add time.
fn best(times: usize, mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    (0..times).try_fold(f64::INFINITY, |least, _| Ok(least.min(measure()?)))
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (node_count, degree) = (number(1_000_000), number(20));
    let weights = std::env::args().nth(3).unwrap_or("digits".to_owned());
    let arcs = random_arcs(node_count, degree, &weights);
    let files = Files::default();
    let directory = std::env::temp_dir().join(format!("graph-bench-{}", std::process::id()));
    let per_arc = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / arcs.len() as f64;

    let options =
        GraphOptions { node_count, directed: true, duplicates: Duplicates::Sum, keep_loops: true };
    let write = |files: &Files| -> Result<(GraphSummary, f64)> {
        let start = Instant::now();
        let mut writer = GraphWriter::create(files, &directory, &options)?;
        for part in arcs.chunks(1 << 16) {
            writer.push(part)?;
        }
        let summary = writer.finish()?;
        Ok((summary, per_arc(start)))
    };
    let memory = best(7, || write(&Files::new(Arc::new(Sim::new()))).map(|(_, spent)| spent))?;
    let (summary, disk) = write(&files)?;
    println!("write   {memory:6.2} ns/arc to memory, {disk:.2} to the disk, synced");
    println!("size    {:6.3} bytes/arc", summary.bytes as f64 / summary.arc_count as f64);

    let graph = Graph::open(&files, &directory)?;
    let load = || (0..graph.blocks().len()).map(|index| graph.read_block(index));
    let loading = best(5, || {
        let start = Instant::now();
        load().try_for_each(|block| block.map(drop))?;
        Ok(per_arc(start))
    })?;
    println!("load    {loading:6.2} ns/arc (from the page cache)");
    let blocks: Vec<_> = load().collect::<Result<_>>()?;
    let memory: usize = blocks.iter().map(Block::memory_bytes).sum();
    println!("memory  {:6.3} bytes/arc", memory as f64 / summary.arc_count as f64);
    let mut scratch = ArcScratch::default();
    let mut sum = 0u64;
    let decoding = best(25, || {
        let start = Instant::now();
        for block in &blocks {
            for local in 0..block.node_count() {
                block.for_each_segment(local, &mut scratch, |targets, weights| {
                    let last = weights.last().copied().unwrap_or(0);
                    sum += u64::from(targets[targets.len() - 1]) + u64::from(last);
                })?;
            }
        }
        Ok(per_arc(start))
    })?;
    println!("decode  {decoding:6.2} ns/arc (sum {sum})");
    let start = Instant::now();
    let mut scan = graph.scan(0..graph.blocks().len(), 4);
    while scan.next()?.is_some() {}
    println!("scan    {:6.2} ns/arc", per_arc(start));
    let start = Instant::now();
    graph.verify(&Silent)?;
    println!("verify  {:6.2} ns/arc", per_arc(start));
    measure_names(&files, &directory, &graph)?;
    for entry in files.list(&directory)? {
        files.remove(&entry.path)?;
    }
    files.remove_directory(&directory)
}

fn measure_names(files: &Files, directory: &std::path::Path, graph: &Graph) -> Result<()> {
    let names: Vec<_> = (0..graph.node_count()).map(|node| format!("WP_{node:09}.1")).collect();
    let per_name = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / names.len() as f64;
    let start = Instant::now();
    let mut writer = NamesWriter::create(files, directory)?;
    for name in &names {
        writer.push(name.as_bytes())?;
    }
    let summary = writer.finish()?;
    let size = summary.bytes as f64 / summary.name_count as f64;
    println!("names   {:6.2} ns/name to write, {size:.2} bytes/name", per_name(start));
    let start = Instant::now();
    let mut scan = graph.names()?;
    while scan.next_name()?.is_some() {}
    println!("names   {:6.2} ns/name to read", per_name(start));
    Ok(())
}
