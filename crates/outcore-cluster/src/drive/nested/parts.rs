//! Tree of a large graph: modules of communities above, and the modules inside each community below.

use super::links::InsideLink;
use super::read::read_links;
use crate::base::logarithm::plogp;
use crate::base::parallel::PerThread;
use crate::base::rows::RowsAhead;
use crate::drive::contract::{Contracted, Division, LevelPlace, contract};
use crate::drive::job::ClusterJob;
use crate::finish::connect::{Closing, Pieces, scan_communities};
use crate::finish::cuts::edges::{Batch, for_batches};
use crate::finish::portions::push_arcs;
use crate::finish::tree::{Links, TreeLength, codebooks_of};
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::{Holdings, NO_HOLDINGS, NodeFlow};
use crate::kernel::objective::Sums;
use crate::objectives::map_equation::{CodeLength, NoRule};
use crate::tree::{
    CutLength, DeepCuts, FlatSums, Flow, LOOP_ENDS, Members, ModuleTree, Network, Search, TreeSums,
    Walk, find,
};
use outcore_graph::Block;
use outcore_graph::weight::Weight;
use outcore_io::error::Result;
use outcore_io::prefetch;
use outcore_sort::{SORT_BYTES_MIN, Sorted, Sorter};
use rayon::prelude::*;

/// Communities of a graph, connected and numbered by their smallest nodes.
struct Parts<'h> {
    /// Community of each node.
    of: Vec<u32>,
    count: usize,
    /// Weight of the links of each node, without loops.
    links: Vec<f64>,
    /// Weight of the links that leave each community.
    cuts: Vec<f64>,
    /// Loop of each node up to the last one that has any.
    loops: Vec<f64>,
    /// What the nodes hold, and the walk with their flow as a share of a step.
    holdings: &'h Holdings,
    walk: Walk,
    /// Share of a step in a unit of weight; 0 if nothing flows.
    scale: f64,
}

impl Parts<'_> {
    /// Returns the flow of a node, as shares of a step.
    fn flow(&self, node: u32) -> Flow {
        let node = node as usize;
        let loops = self.loops.get(node).copied().unwrap_or(0.0);
        let (cut, loops) = (self.scale * self.links[node], self.scale * LOOP_ENDS * loops);
        let NodeFlow { drift, teleport } = self.holdings.flow(node);
        let held = NodeFlow { drift: self.scale * drift, teleport: self.scale * teleport };
        self.walk.flow_of(cut, loops, held)
    }

    /// Returns the number and the code length of the communities.
    fn flat_cut(&self, members: &Members) -> CutLength {
        let (mut sums, mut of_nodes) = (FlatSums::default(), 0.0);
        for (community, cut) in (0..).zip(&self.cuts) {
            let mut flow = Flow::default();
            for &node in members.of(community) {
                let of_node = self.flow(node);
                of_nodes += plogp(of_node.rate);
                flow += of_node;
            }
            flow.cut = self.scale * cut;
            sums.add(&self.walk, &flow);
        }
        let cut = sums.cut();
        CutLength { length: cut.length - of_nodes, ..cut }
    }
}

impl ClusterJob<'_> {
    /// Finds a tree above and below the communities of a large graph.
    pub(super) fn nest_parts(
        &self,
        source: &mut BlockSource<'_>,
        holdings: &Holdings,
        labels: Vec<u32>,
    ) -> Result<(ModuleTree, TreeLength)> {
        self.detail("searching for modules of communities")?;
        let mut parts = self.parts(source, holdings, labels)?;
        let above = match self.most() {
            None => self.join_parts(source, &parts)?,
            // Modules of communities could be larger than communities may be.
            Some(_) => None,
        };
        let members = Members::new(&parts.of, parts.count);
        let flat = parts.flat_cut(&members);
        parts.cuts = Vec::new();
        let joined = above.map(|above| -> Result<_> {
            let tree = above.above(&parts.of);
            let books = codebooks_of(source, &tree, &Links::new(holdings), || self.tick())?;
            Ok((tree, books.cuts()))
        });
        let is_shorter =
            |cuts: &[CutLength]| cuts.last().is_some_and(|cut| cut.length <= flat.length);
        let joined = joined.transpose()?.filter(|(_, cuts)| is_shorter(cuts));
        self.detail("searching for modules inside communities")?;
        let links = self.links_inside(source, &parts, &members)?;
        let (tree, cuts) = joined.unwrap_or_else(|| {
            (ModuleTree::flat(std::mem::take(&mut parts.of), parts.count), vec![flat])
        });
        parts.of = Vec::new();
        let mut deep = Deep { depths: tree.depths(), tree, cuts: DeepCuts::new(cuts) };
        self.divide_parts(links, &parts, &members, &mut deep)?;
        let length = TreeLength::of_cuts(&deep.cuts.all());
        Ok((deep.tree, length))
    }

    /// Scans the graph for the strengths of nodes and the connected pieces of communities.
    fn parts<'h>(
        &self,
        source: &mut BlockSource<'_>,
        holdings: &'h Holdings,
        labels: Vec<u32>,
    ) -> Result<Parts<'h>> {
        let count = labels.len();
        let pieces = Pieces::new(count, false);
        let scratch = PerThread::new(Closing::default);
        let mut links = Vec::with_capacity(count);
        let mut cuts = Vec::with_capacity(count);
        let (mut loops, mut total) = (Vec::new(), 0.0);
        let tick = |block: &Block| {
            for local in 0..block.node_count() {
                let weight = block.self_loop(local);
                if weight > 0.0 {
                    loops.reserve_exact(count - loops.len());
                    loops.resize(block.first_node() as usize + local, 0.0);
                    loops.push(weight);
                }
            }
            self.tick()
        };
        scan_communities(source, &labels, Some(&pieces), &scratch, tick, |_, sums| {
            links.push(sums.visits);
            cuts.push(sums.cut);
        })?;
        drop(labels);
        for (links, weight) in links.iter_mut().zip(&loops) {
            *links -= LOOP_ENDS * weight;
            total += LOOP_ENDS * weight;
        }
        total += links.iter().sum::<f64>();
        let mut of = pieces.into_roots();
        let mut count = 0;
        for node in 0..of.len() {
            let root = of[node] as usize;
            of[node] = if root == node { count } else { of[root] };
            count += u32::from(root == node);
        }
        let mut of_communities = vec![0.0; count as usize];
        for (&community, cut) in of.iter().zip(cuts) {
            of_communities[community as usize] += cut;
        }
        let walk = Walk::of(holdings);
        // Strengths count both ends of a link.
        let steps = total / 2.0 + walk.teleport;
        let scale = if steps > 0.0 { 1.0 / steps } else { 0.0 };
        let walk = walk.scaled(scale);
        let (count, cuts) = (count as usize, of_communities);
        Ok(Parts { of, count, links, cuts, loops, holdings, walk, scale })
    }

    /// Finds modules of communities.
    fn join_parts(
        &self,
        source: &mut BlockSource<'_>,
        parts: &Parts<'_>,
    ) -> Result<Option<ModuleTree>> {
        if parts.count < 3 || parts.scale == 0.0 {
            return Ok(None);
        }
        let too_large = || {
            self.detail("the network of communities is too large to join them to modules")?;
            Ok(None)
        };
        let Some(most_arcs) = self.limits.part_size.checked_sub(parts.count as u64) else {
            return too_large();
        };
        let classes: Vec<u32> = (0..parts.count as u32).collect();
        let division = Division {
            groups: &parts.of,
            classes: &classes,
            class_count: parts.count,
            holdings: &NO_HOLDINGS,
            within: None,
            counts: false,
        };
        let directory = self.scratch.join("communities");
        let files = self.graph.files();
        let sort_bytes = self.link_bytes(source);
        let place = LevelPlace { files, directory: &directory, sort_bytes, most_arcs };
        let sums = &mut CodeLength::empty(NoRule, parts.count);
        let contracted = contract(source, &division, sums, &place, &|| self.tick())?;
        drop(classes);
        let Some(Contracted { graph, is_on_disk, .. }) = contracted else {
            return too_large();
        };
        let held = parts.holdings.grouped::<NodeFlow>(&parts.of, parts.count);
        let mut net = read_links(&mut BlockSource::new(&graph, 0), &held, || self.tick())?;
        drop(graph);
        if is_on_disk {
            files.discard(&directory);
        }
        net.scale(parts.scale);
        net.enter(&parts.walk);
        let (walk, seed) = (&parts.walk, self.options.seed);
        Ok(find(&Search { net: &net, walk, outer: 0.0, seed, is_thorough: false }, None))
    }

    /// Returns the memory for sorting links.
    fn link_bytes(&self, source: &BlockSource<'_>) -> u64 {
        let spare = self.rest().saturating_sub(source.max_kept_bytes());
        SORT_BYTES_MIN + spare / 2
    }

    /// Sorts the links inside communities by community.
    fn links_inside(
        &self,
        source: &mut BlockSource<'_>,
        parts: &Parts<'_>,
        members: &Members,
    ) -> Result<Sorted<InsideLink>> {
        let places = members.places();
        let (files, threads) = (self.graph.files(), rayon::current_num_threads());
        let mut sorter = Sorter::new(files, self.scratch, self.link_bytes(source), threads)?;
        let rows = PerThread::new(RowsAhead::default);
        let before = |node, targets: &[u32]| targets.partition_point(|&target| target < node);
        let fetch = |node, targets: &[u32]| {
            for &target in &targets[..before(node, targets)] {
                prefetch(&parts.of, target as usize);
                prefetch(&places, target as usize);
            }
        };
        source.for_all(|block| {
            self.tick()?;
            push_arcs(block, 1, &mut sorter, &rows, fetch, |node, targets, codes, out| {
                let community = parts.of[node as usize];
                let high = places[node as usize];
                let mut filled = 0;
                for (at, &target) in targets[..before(node, targets)].iter().enumerate() {
                    let weight = codes.get(at).copied().unwrap_or(Weight::ONE.code());
                    out[filled] =
                        InsideLink { community, low: places[target as usize], high, weight };
                    filled += usize::from(parts.of[target as usize] == community);
                }
                filled
            })
        })?;
        sorter.finish()
    }

    /// Divides each community by itself, below a tree of communities.
    fn divide_parts(
        &self,
        links: Sorted<InsideLink>,
        parts: &Parts<'_>,
        members: &Members,
        deep: &mut Deep,
    ) -> Result<()> {
        let most = (self.limits.part_size / 2) as usize;
        let mut skipped = 0;
        for_batches(
            links,
            most,
            |link| link.community,
            |batch| {
                skipped += u64::from(matches!(batch, Batch::Begin(_)));
                let Batch::Whole(links) = batch else { return Ok(()) };
                self.tick()?;
                let communities = links.chunk_by(|a, b| a.community == b.community);
                // Nothing divides a pair of nodes.
                let communities: Vec<_> = communities.filter(|links| links.len() > 1).collect();
                let divided = communities.into_par_iter().map(|links| {
                    let nodes = members.of(links[0].community);
                    self.divide(nodes, links, parts).map(|found| (nodes, found))
                });
                for (nodes, found) in divided.collect::<Vec<_>>().into_iter().flatten() {
                    deep.hang(nodes, &found);
                }
                Ok(())
            },
        )?;
        self.report_undivided(skipped)
    }

    /// Divides a community, given its nodes and links.
    fn divide(&self, nodes: &[u32], links: &[InsideLink], parts: &Parts<'_>) -> Option<Divided> {
        let net = network(nodes, links, parts);
        let walk = &parts.walk;
        let (_, outer) = walk.boundary(&net.whole());
        let seed = self.options.seed ^ u64::from(nodes[0]);
        let search = Search { net: &net, walk, outer, seed, is_thorough: false };
        let tree = find(&search, None)?;
        let changes = TreeSums::of(&net, &tree).close(walk, outer).changes();
        Some(Divided { tree, changes })
    }
}

/// Modules inside a community.
struct Divided {
    tree: ModuleTree,
    /// What they change in the code length.
    changes: Vec<CutLength>,
}

/// Tree of communities, below which modules are hung; it never has more modules than nodes.
struct Deep {
    tree: ModuleTree,
    /// Depth of each module that the tree had at first.
    depths: Vec<u32>,
    cuts: DeepCuts,
}

impl Deep {
    /// Hangs the modules that were found below the community of these nodes.
    fn hang(&mut self, nodes: &[u32], found: &Divided) {
        let tree = &mut self.tree;
        if tree.parents.len() + found.tree.parents.len() > tree.leaves.len() {
            return;
        }
        let community = tree.leaves[nodes[0] as usize];
        let start = tree.hang(community, &found.tree.parents);
        for (&node, &leaf) in nodes.iter().zip(&found.tree.leaves) {
            tree.leaves[node as usize] = start + leaf;
        }
        self.cuts.hang(self.depths[community as usize], &found.changes);
    }
}

impl ModuleTree {
    /// Returns this tree, whose leaves are communities, as a tree over the nodes of the communities.
    fn above(self, communities: &[u32]) -> Self {
        let first = self.parents.len() as u32;
        let mut parents = self.parents;
        parents.extend(self.leaves);
        let leaves = communities.iter().map(|community| first + community).collect();
        // A module of one community is that community.
        Self { parents, leaves }.collapsed()
    }
}

/// Returns the network inside a community.
fn network(nodes: &[u32], links: &[InsideLink], parts: &Parts<'_>) -> Network {
    let mut starts = vec![0u32; nodes.len() + 1];
    for link in links {
        starts[link.low as usize] += 1;
        starts[link.high as usize] += 1;
    }
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    let (mut targets, mut weights) = (vec![0; end as usize], vec![0.0; end as usize]);
    for link in links.iter().rev() {
        let weight = parts.scale * Weight::from_code(link.weight).value();
        for (from, to) in [(link.low, link.high), (link.high, link.low)] {
            let start = &mut starts[from as usize];
            *start -= 1;
            targets[*start as usize] = to;
            weights[*start as usize] = weight;
        }
    }
    let flows = nodes.iter().map(|&node| parts.flow(node)).collect();
    Network { starts, targets, weights, flows }
}
