//! `outcore generate`.

use crate::args::{Generate, GenerateModel, threads};
use crate::jobs::note_interrupted;
use outcore::Result;
use outcore::generate as engine;
use outcore::io::Files;
use outcore::progress::Observer;

/// Generates a graph, and returns the number of bytes written.
pub(crate) fn generate(
    files: &Files,
    arguments: &Generate,
    observer: &dyn Observer,
) -> Result<u64> {
    let (model, format, truth) = match &arguments.model {
        GenerateModel::Planted(planted) => {
            let model = engine::Planted {
                nodes: planted.nodes,
                edges: planted.edges,
                mixing: planted.mixing,
                community_min: planted.community_min,
                community_max: planted.community_max,
                community_exponent: planted.community_exponent,
                order: planted.order,
                both_directions: planted.both_directions,
            };
            (engine::Model::Planted(model), &planted.format, planted.truth.as_deref())
        }
        GenerateModel::Rmat(rmat) => {
            let model = engine::Rmat { scale: rmat.scale, edge_factor: rmat.edge_factor };
            (engine::Model::Rmat(model), &rmat.format, None)
        }
    };
    let options = engine::GenerateOptions {
        model,
        names: format.names,
        weights: format.weights,
        seed: format.seed,
        threads: threads(format.threads),
    };
    let made = engine::generate(files, &options, &format.output, truth, observer)
        .map_err(|error| note_interrupted(error, &format.output))?;
    Ok(made.write_bytes)
}
