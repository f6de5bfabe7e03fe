//! Times label propagation on a planted graph: `cluster_bench [NODES] [DEGREE] [MU] [weighted] [sorted]`.
//!
//! Communities have 50 nodes, and the fraction `MU` of edges leaves them; nodes are shuffled unless `sorted`. Prints
//! seconds per phase, arc visits, nanoseconds per visit, and the NMI with the ground truth.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use outcore::cluster::{ClusterOptions, cluster};
use outcore::graph::Weight;
use outcore::graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter};
use outcore::io::Files;
use outcore::progress::{Event, Observer};
use rayon::prelude::*;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Observer that prints details with the time since the previous one.
struct Clock(std::sync::Mutex<Instant>);

impl Observer for Clock {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        let text = match event {
            Event::Detail { text } => text,
            Event::End { summary } => summary,
            _ => return ControlFlow::Continue(()),
        };
        let mut last = self.0.lock().expect("nothing panics while it is held");
        println!("  +{:.3} s  {text}", last.elapsed().as_secs_f64());
        *last = Instant::now();
        ControlFlow::Continue(())
    }
}

/// Returns the processor seconds of this process, on Linux. Unlike wall time, they are meaningful on a busy machine.
fn processor_seconds(files: &Files) -> f64 {
    let mut text = String::new();
    let stream = files.open_stream(Path::new("/proc/self/stat"));
    if let Ok(mut stream) = stream
        && stream.read_to_string(&mut text).is_err()
    {
        return 0.0;
    }
    let ticks = |at: usize| text.split(' ').nth(at).and_then(|word| word.parse::<f64>().ok());
    (ticks(13).unwrap_or(0.0) + ticks(14).unwrap_or(0.0)) / 100.0
}

fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns sorted arcs and the true communities.
fn planted(
    nodes: u64,
    degree: u64,
    mu: f64,
    weighted: bool,
    sorted: bool,
) -> (Vec<ArcRecord>, Vec<u32>) {
    const SIZE: u64 = 50;
    let mut place: Vec<u32> = (0..nodes as u32).collect();
    if !sorted {
        place.par_sort_by_cached_key(|&node| mix(u64::from(node)));
    }
    let mut truth = vec![0; nodes as usize];
    place
        .iter()
        .enumerate()
        .for_each(|(at, &node)| truth[node as usize] = (at as u64 / SIZE) as u32);
    let mut arcs: Vec<ArcRecord> = (0..nodes * degree / 2)
        .into_par_iter()
        .flat_map_iter(|edge| {
            let random = mix(edge ^ 0x1234_5678_0000);
            let a = random % nodes;
            let far = (mix(random) >> 11) as f64 / (1u64 << 53) as f64;
            let b = if far < mu {
                mix(random ^ 1) % nodes
            } else {
                (a / SIZE * SIZE + mix(random ^ 2) % SIZE).min(nodes - 1)
            };
            let weight = if weighted { (mix(random ^ 3) % 1000 + 1) as f64 / 1000.0 } else { 1.0 };
            let (a, b) = (place[a as usize], place[b as usize]);
            let weight = Weight::new(weight).code();
            let arc = |source, target| ArcRecord { source, target, weight };
            if a == b { vec![] } else { vec![arc(a, b), arc(b, a)] }
        })
        .collect();
    arcs.par_sort_unstable_by_key(|arc| {
        (u64::from(arc.source) << 32 | u64::from(arc.target), arc.weight)
    });
    (arcs, truth)
}

fn main() -> outcore::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, default: f64| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let has = |word: &str| arguments.iter().any(|a| a == word);
    let (nodes, degree, mu) = (number(0, 5e6) as u64, number(1, 20.0) as u64, number(2, 0.5));
    let files = Files::default();
    let directory = std::env::temp_dir().join(format!(
        "outcore-bench-{nodes}-{degree}-{mu}-{}-{}",
        has("weighted"),
        has("sorted")
    ));

    let start = Instant::now();
    let (arcs, truth) = planted(nodes, degree, mu, has("weighted"), has("sorted"));
    println!("generated {} arcs in {:.2} s", arcs.len(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let options = GraphOptions {
        node_count: nodes,
        directed: false,
        duplicates: Duplicates::Max,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create(&files, &directory, &options)?;
    writer.push(&arcs)?;
    let summary = writer.finish()?;
    drop(arcs);
    println!("wrote {} bytes in {:.2} s", summary.bytes, start.elapsed().as_secs_f64());

    let graph = Graph::open(&files, &directory)?;
    let memory = ClusterOptions::default().memory(&graph, 0, rayon::current_num_threads());
    println!("needs {memory:?}, {} bytes", memory.total_bytes());
    for (name, memory) in [("least memory", memory.total_bytes()), ("all cached", 1 << 36)] {
        println!("{name}, {} threads:", rayon::current_num_threads());
        let start = Instant::now();
        let processor = processor_seconds(&files);
        let clock = Clock(std::sync::Mutex::new(Instant::now()));
        let found = cluster(&graph, &ClusterOptions::default(), memory, &directory, &clock)?;
        let seconds = start.elapsed().as_secs_f64();
        let visits = found.history.arcs as f64;
        let processor = processor_seconds(&files) - processor;
        println!(
            "  {seconds:.3} s, {processor:.2} processor seconds; {:.0} M arc visits, {:.2} ns each, {:.2} processor ns",
            visits / 1e6,
            seconds * 1e9 / visits,
            processor * 1e9 / visits,
        );
        println!(
            "  {} sweeps, {} communities, modularity {:.6}, {} split",
            found.history.sweeps.count,
            found.community_count(),
            found.measures.modularity,
            found.split_count,
        );
        println!(
            "  NMI {:.4}",
            outcore::score::nmi(found.labels.in_memory().expect("there is enough memory"), &truth)
        );
    }
    let start = Instant::now();
    let quality =
        outcore::score::quality(&graph, &vec![0; nodes as usize], &outcore::progress::Silent)?;
    println!(
        "a plain scan, all in one community: {:.3} s, {quality:?}",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
