//! Whatever the manifest of a work directory contains, the next job succeeds and leaves nothing behind, or fails and
//! leaves everything as it was, and never panics.

use outcore::ErrorKind;
use outcore::budget::Limits;
use outcore::cluster::ClusterOptions;
use outcore::input::InputOptions;
use outcore::io::Files;
use outcore::job::{self, JobManifest, JobOptions, Source};
use outcore::progress::Silent;
use outcore_testkit::sim::Sim;
use std::path::Path;
use std::sync::Arc;

const EDGES: &str = "/in/edges.tsv";
const OUTPUT: &str = "/out/communities.tsv";
const WORK: &str = "/disk/.communities.tsv.outcore";

fn cluster(sim: &Sim) -> outcore::Result<job::Report> {
    let input = InputOptions { paths: vec![EDGES.into()], ..InputOptions::default() };
    let limits = Limits { memory_bytes: 96 << 20, threads: 1 };
    let options = JobOptions::new(input, limits, "/disk".into());
    let files = Files::new(Arc::new(sim.clone()));
    let (source, method) = (Source::Edges(Box::new(options)), ClusterOptions::default());
    job::cluster(&files, &source, &method, Path::new(OUTPUT), &Silent)
}

/// Reads `bytes` as a manifest, then runs the job whose directory it is in.
pub(crate) fn check(bytes: &[u8]) {
    let sim = Sim::new();
    sim.put(EDGES, b"a b\nb c\nc a\nc d\n");
    let [manifest, run, graph] = ["manifest.json", "run-0.0", "graph/arcs"];
    sim.put(Path::new(WORK).join(manifest), bytes);
    sim.put(Path::new(WORK).join(run), b"left");
    sim.put(Path::new(WORK).join(graph), b"left");
    let files = Files::new(Arc::new(sim.clone()));
    match JobManifest::read(&files, Path::new(WORK)) {
        Ok(found) => assert!(found.is_some(), "the manifest exists"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::CorruptFile, "{error}"),
    }
    let before = sim.paths();
    match cluster(&sim) {
        Ok(_) => {
            let lines = b"a\t0\nb\t0\nc\t0\nd\t0\n";
            assert_eq!(sim.get(OUTPUT).expect("the job succeeded"), lines);
            assert_eq!(sim.paths().len(), 2, "{:?}", sim.paths());
        }
        Err(error) => {
            let kinds = [ErrorKind::CorruptFile, ErrorKind::Usage];
            assert!(kinds.contains(&error.kind()), "{error}");
            assert!(error.hint_text().is_some(), "{error}");
            assert_eq!(sim.paths(), before, "{error}");
        }
    }
}
