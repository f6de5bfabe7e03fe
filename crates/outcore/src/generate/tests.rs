use super::*;
use crate::progress::Silent;
use outcore_testkit::sim::Sim;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

fn made(options: &GenerateOptions) -> (Vec<Vec<String>>, HashMap<String, u32>, Generated) {
    let files = Files::new(Arc::new(Sim::default()));
    let is_planted = matches!(options.model, Model::Planted(_));
    let truth = is_planted.then_some(Path::new("truth"));
    let generated = generate(&files, options, Path::new("edges"), truth, &Silent).unwrap();
    let edges = String::from_utf8(files.read(Path::new("edges")).unwrap()).unwrap();
    assert_eq!(generated.write_bytes, edges.len() as u64);
    let edges = edges.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    let truth = truth.map(|path| String::from_utf8(files.read(path).unwrap()).unwrap());
    let truth = truth.unwrap_or_default();
    let truth = truth.lines().map(|line| line.split_once('\t').unwrap());
    let truth = truth.map(|(name, c)| (name.to_owned(), c.parse().unwrap())).collect();
    (edges, truth, generated)
}

fn planted(nodes: u64, edges: u64) -> GenerateOptions {
    let model = Model::Planted(Planted::new(nodes, edges));
    GenerateOptions { model, names: NameKind::String, weights: true, seed: 1, threads: 3 }
}

#[test]
fn every_node_has_an_edge_and_a_community() {
    for names in [NameKind::String, NameKind::Integer] {
        for order in [EdgeOrder::Shuffled, EdgeOrder::Grouped] {
            let mut options = planted(20_000, 100_000);
            options.names = names;
            let Model::Planted(model) = &mut options.model else { unreachable!() };
            model.order = order;
            let (edges, truth, generated) = made(&options);
            assert_eq!((edges.len(), truth.len()), (100_000, 20_000));
            assert_eq!(generated.node_count, 20_000);
            let nodes: HashSet<&String> = edges.iter().flat_map(|edge| &edge[..2]).collect();
            assert_eq!(nodes.len(), 20_000);
            assert!(nodes.iter().all(|node| truth.contains_key(*node)));
            assert!(edges.iter().all(|edge| edge[0] != edge[1] && edge[2].len() == 5));
            if names == NameKind::String {
                assert!(nodes.iter().all(|node| (12..=15).contains(&node.len())));
            }
            let changes = edges.windows(2).filter(|pair| pair[0][0] != pair[1][0]).count();
            assert_eq!(changes < 20_000, order == EdgeOrder::Grouped);
        }
    }
}

#[test]
fn edges_in_both_directions_have_the_same_weight() {
    for order in [EdgeOrder::Shuffled, EdgeOrder::Grouped] {
        let mut options = planted(2_000, 70_000);
        let Model::Planted(model) = &mut options.model else { unreachable!() };
        model.order = order;
        let (once, ..) = made(&options);
        let Model::Planted(model) = &mut options.model else { unreachable!() };
        model.both_directions = true;
        let (both, _, generated) = made(&options);
        assert_eq!(generated.edge_count, 70_000);
        let (first, second) = both.split_at(70_000);
        assert!(first == once);
        let turned = |edge: &Vec<String>| vec![edge[1].clone(), edge[0].clone(), edge[2].clone()];
        assert!(second.iter().map(turned).eq(once));
    }
}

#[test]
fn mixing_and_sizes_match_the_options() {
    let (edges, truth, generated) = made(&planted(50_000, 200_000));
    let inside = edges.iter().filter(|edge| truth[&edge[0]] == truth[&edge[1]]).count();
    assert!((inside as f64 / 200_000.0 - 0.8).abs() < 0.01, "{inside}");
    let mut sizes = HashMap::new();
    truth.values().for_each(|c| *sizes.entry(*c).or_insert(0u64) += 1);
    assert_eq!(Some(sizes.len() as u64), generated.community_count);
    assert!(sizes.values().all(|size| (10..1010).contains(size)));
    let mean = 50_000.0 / sizes.len() as f64;
    assert!((30.0..60.0).contains(&mean), "{mean}");
    let weight = |inside: bool| {
        let of = edges.iter().filter(|e| (truth[&e[0]] == truth[&e[1]]) == inside);
        let weights: Vec<f64> = of.map(|edge| edge[2].parse().unwrap()).collect();
        weights.iter().sum::<f64>() / weights.len() as f64
    };
    assert!(weight(true) > weight(false) + 0.3);
}

#[test]
fn output_depends_only_on_the_seed() {
    let (edges, truth, _) = made(&planted(3_000, 70_000));
    let mut other = planted(3_000, 70_000);
    other.threads = 1;
    let (again, truth_again, _) = made(&other);
    assert!(edges == again && truth == truth_again);
    other.seed = 2;
    let (different, _, _) = made(&other);
    assert!(edges != different);
}

#[test]
fn small_graphs_work() {
    for nodes in [2, 3, 9, 10, 11, 19, 20, 21] {
        let (edges, truth, _) = made(&planted(nodes, 50));
        assert_eq!((edges.len(), truth.len() as u64), (50, nodes));
    }
}

#[test]
fn rmat_has_hubs_and_no_loops() {
    let model = Model::Rmat(Rmat { scale: 12, edge_factor: 8 });
    let options =
        GenerateOptions { model, names: NameKind::Integer, weights: false, seed: 1, threads: 2 };
    let (edges, _, generated) = made(&options);
    assert_eq!((edges.len(), generated.node_count), (8 << 12, 1 << 12));
    assert!(edges.iter().all(|edge| edge.len() == 2 && edge[0] != edge[1]));
    let mut degrees = HashMap::new();
    edges.iter().flatten().for_each(|node| *degrees.entry(node).or_insert(0) += 1);
    assert!(degrees.keys().all(|node| node.parse::<u32>().unwrap() < 1 << 12));
    assert!(*degrees.values().max().unwrap() > 20 * 16);
}

#[test]
fn permutations_permute() {
    for size in [1, 2, 3, 5, 1000, 1024, 1025] {
        let permutation = Permutation::new(size, 7);
        let values: HashSet<u64> = (0..size).map(|value| permutation.map(value)).collect();
        assert_eq!(values.len() as u64, size);
        assert!(values.iter().all(|value| *value < size));
    }
}

#[test]
fn errors_name_options_out_of_range() {
    let refused = |change: fn(&mut Planted)| {
        let mut model = Planted::new(100, 100);
        change(&mut model);
        let model = Model::Planted(model);
        let options = GenerateOptions { model, ..planted(2, 1) };
        let files = Files::new(Arc::new(Sim::default()));
        let error = generate(&files, &options, Path::new("-x"), None, &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        error.message().to_owned()
    };
    assert!(refused(|p| p.nodes = 1).contains("--nodes"));
    assert!(refused(|p| p.nodes = 1 << 32).contains("--nodes"));
    assert!(refused(|p| p.edges = 0).contains("--edges"));
    assert!(refused(|p| p.mixing = f64::NAN).contains("--mixing"));
    assert!(refused(|p| p.community_min = 1).contains("--community-min"));
    assert!(refused(|p| p.community_max = 9).contains("--community-max"));
    assert!(refused(|p| p.community_exponent = 1.0).contains("--community-exponent"));
}
