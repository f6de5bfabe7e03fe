//! Stages that present communities. An earlier result is read first, so that a bad one fails before the clustering, and
//! is kept on disk meanwhile, where it takes no memory from the clustering.

mod outputs;
mod results;
mod targets;
use super::context::Context;
use super::report::{CommunitiesReport, PresentReport};
use crate::budget::Limits;
use crate::cluster::{Communities, Dendrogram, Grouping, SizeCount};
use crate::compare::{CompareReport, compare_with};
use crate::error::opt::{
    DROP, KEEP, MATCH, MEMBER_WEIGHTS, PREFER, REPRESENTATIVES, ROWS, SUMMARY,
};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::io::{Column, Shares};
use crate::membership::{self, MembershipOptions, NodeNumbers};
use crate::output::{RowFile, RowWriter};
use crate::present::{
    CommunityReport, Earlier, Flow, FlowPurpose, GroupsReport, Inside, LargestReport, LevelForm,
    Levels, Look, Outline, Preference, PresentOptions, Presented, Priorities, Sums, Workbench,
    describe_groups, match_numbers, write_chosen, write_heights, write_representatives,
};
use crate::progress::Stage;
use crate::units::{format_bytes, format_count, format_counted};
pub use outputs::outputs;
use results::{OfNodes, write};
pub(crate) use results::{column, write_columns, write_together};
use std::path::{Path, PathBuf};
pub(crate) use targets::Targets;

/// What all results of a job are presented with.
pub(crate) struct Presenting<'a> {
    graph: &'a Graph,
    targets: &'a Targets<'a>,
    /// What a scan of the graph finds.
    look: Look,
    earlier: Option<Earlier>,
    priorities: Option<Priorities>,
    flow: Option<Flow>,
}

impl<'a> Presenting<'a> {
    /// Reads the earlier result and priorities, if there are any, before the clustering. The report describes communities
    /// only if the graph has arcs.
    pub(crate) fn read(
        context: &mut Context<'_>,
        graph: &'a Graph,
        targets: &'a Targets<'a>,
        has_arcs: bool,
    ) -> Result<Self> {
        let earlier = read_earlier(context, graph, targets)?;
        let priorities = read_priorities(context, graph, targets)?;
        let look = match has_arcs {
            true => targets.look(graph, context.limits, &earlier),
            false => targets.options.look(),
        };
        Ok(Self { graph, targets, look, earlier, priorities, flow: None })
    }

    /// Computes the flow of the nodes, if it is written.
    pub(crate) fn find_flow(
        &mut self,
        context: &mut Context<'_>,
        recorded_teleportation: bool,
    ) -> Result<()> {
        let (graph, targets) = (self.graph, self.targets);
        if !targets.has_flow() {
            return Ok(());
        }
        self.flow = context.stage(Stage::Represent, |context| {
            context.begin(Stage::Represent, Some(graph.arc_count()), "arcs")?;
            let purpose = FlowPurpose { recorded_teleportation, has_links: targets.has_links() };
            let flow = Flow::of(&bench(context, 0), graph, purpose)?;
            let nodes = format_counted(graph.node_count(), "node", "nodes");
            Ok((Some(flow), format!("flow of {nodes}")))
        })?;
        Ok(())
    }

    /// Writes the weights at which nodes join.
    pub(crate) fn write_dendrogram(
        &self,
        context: &mut Context<'_>,
        dendrogram: &Dendrogram,
    ) -> Result<()> {
        let Some(path) = self.targets.sides.heights.first() else { return Ok(()) };
        let (graph, file) = (self.graph, RowFile::new(path, self.targets.options.output_header));
        context.stage(Stage::Represent, |context| {
            context.begin(Stage::Represent, Some(graph.node_count()), "nodes")?;
            let bytes = 8 * graph.node_count();
            let bench = bench(context, sort_budget(context, bytes, Workbench::BUDGET_MIN));
            let bytes = write_heights(&bench, graph, dendrogram, file)?;
            Ok(((), format!("{} of weights at which nodes join", format_bytes(bytes))))
        })
    }

    /// Presents result number `at`, completes its report and writes it, unless it is a column of all results. Returns it
    /// if it can be written [together](write_together) with others.
    pub(crate) fn present(
        &self,
        context: &mut Context<'_>,
        at: usize,
        found: Communities,
        report: &mut CommunitiesReport,
    ) -> Result<Option<Presented>> {
        let Communities { labels, sizes, groupings, stability, tree, measures, .. } = found;
        let (targets, output) = (self.targets, self.targets.output(at));
        let presented = self.relabel(context, labels, sizes, report)?;
        report.described.compared = self.compare_earlier(context, &presented, output)?;
        let levels = self.divide(context, &presented, &groupings)?;
        report.levels.group_counts = levels.as_ref().map(|levels| levels.group_counts().to_vec());
        let found = self.look_inside(context, &presented, levels.as_ref(), stability.as_ref(), at);
        let (inside, largest) = found?;
        report.described.largest = largest;
        report.described.summary =
            targets.sides.summary.get(at).map(|path| path.display().to_string());
        if !targets.columns.is_empty() {
            return Ok(None);
        }
        let code_length = tree.map(|tree| tree.code_length).or(measures.code_length);
        let (stability, flow) = (stability.as_ref(), self.flow.as_ref());
        let of_nodes = OfNodes { inside: &inside, stability, flow, levels, code_length };
        write(context, self.graph, presented, of_nodes, targets.options, output)
    }

    /// Applies the minimum size and the numbers of the earlier result.
    fn relabel(
        &self,
        context: &mut Context<'_>,
        labels: Column<u32>,
        sizes: Vec<SizeCount>,
        report: &mut CommunitiesReport,
    ) -> Result<Presented> {
        let options = self.targets.options;
        let labels = match self.earlier.is_some() || self.look != Look::None || self.targets.levels
        {
            // Labels that are looked up are held in memory; their size was checked before.
            true => Column::Memory(labels.into_memory(context.files)?),
            false => labels,
        };
        let mut presented = Presented::new(labels, sizes, options.min_size, options.small);
        let kept = match &self.earlier {
            Some(earlier) => Some(match_earlier(context, &mut presented, earlier)?),
            None => None,
        };
        if presented.community_count() == 0 && presented.small_nodes > 0 {
            let size = options.min_size;
            context.warn(format!("no community has {size} nodes or more: none is written"))?;
        }
        let is_changed = options.min_size > 1 || kept.is_some();
        report.presented = is_changed.then(|| PresentReport {
            min_size: options.min_size,
            small: options.small,
            small_community_count: presented.small_communities,
            small_node_count: presented.small_nodes,
            written_community_count: presented.community_count(),
            kept_number_count: kept,
        });
        Ok(presented)
    }

    /// Compares the result that is written to `output` with the earlier one, if the report describes communities.
    fn compare_earlier(
        &self,
        context: &mut Context<'_>,
        presented: &Presented,
        output: &Path,
    ) -> Result<Option<CompareReport>> {
        let options = self.targets.options;
        let is_described = options.outline && self.look == Look::Communities;
        let (Some(earlier), Some(path), true) = (&self.earlier, &options.earlier, is_described)
        else {
            return Ok(None);
        };
        context.stage(Stage::Compare, |context| {
            context.begin(Stage::Compare, Some(presented.node_count()), "nodes")?;
            let bytes = Workbench::matching_bytes(presented, earlier);
            let least = Workbench::SORTS * Workbench::BUDGET_MIN;
            let bench = bench(context, sort_budget(context, bytes, least));
            let found = compare_with(&bench, presented, earlier, [path, output])?;
            let summary = found.as_ref().map(CompareReport::summary);
            let summary = summary.unwrap_or_else(|| "no node in common".to_owned());
            Ok((found, summary))
        })
    }

    /// Divides the communities by the groups of each level, if levels are written.
    fn divide(
        &self,
        context: &mut Context<'_>,
        presented: &Presented,
        groupings: &[Grouping],
    ) -> Result<Option<Levels>> {
        let targets = self.targets;
        if !targets.levels {
            return Ok(None);
        }
        context.stage(Stage::Levels, |context| {
            context.begin(Stage::Levels, None, "nodes")?;
            // Paths of Infomap are numbered by flow, from groups numbered over all nodes.
            let form = match targets.has_modules() {
                true => LevelForm::Columns,
                false => targets.options.levels,
            };
            let levels = crate::present::divide(&bench(context, 0), groupings, presented, form)?;
            let counts: Vec<_> = levels.group_counts().iter().map(|&n| format_count(n)).collect();
            let summary = match counts.as_slice() {
                [] => "no groups inside communities".to_owned(),
                _ => format!("{} groups inside communities", counts.join(", ")),
            };
            Ok((Some(levels), summary))
        })
    }

    /// Computes weights inside communities, if they are written, writes representatives and the table of communities of
    /// result number `at`, and returns its outline.
    fn look_inside(
        &self,
        context: &mut Context<'_>,
        presented: &Presented,
        levels: Option<&Levels>,
        stability: Option<&Shares<u32>>,
        at: usize,
    ) -> Result<(Inside, Option<LargestReport>)> {
        let Self { graph, targets, look, .. } = *self;
        if look == Look::None {
            return Ok((Inside::default(), None));
        }
        context.stage(Stage::Represent, |context| {
            context.begin(Stage::Represent, Some(graph.arc_count()), "arcs")?;
            let sorts = if look == Look::Communities { 2 } else { 1 };
            let bytes = self.inside_bytes(presented, stability.is_some());
            let bench = &bench(context, sort_budget(context, bytes, sorts * Workbench::BUDGET_MIN));
            let table = targets.sides.summary.get(at);
            let (inside, sums) = self.inside(bench, presented, table.is_some())?;
            let (mut written, mut outline) = (Vec::new(), None);
            if let Some(sums) = sums {
                let columns = CommunityReport::columns(stability.is_some(), graph.name_type());
                let create = |path: &PathBuf| {
                    RowWriter::create(bench.files, RowFile::new(path, true), &columns)
                };
                let mut table = table.map(create).transpose()?;
                let stability = stability.map(|shares| shares.scan(bench.files)).transpose()?;
                outline =
                    sums.for_each_row(bench, graph, presented, &inside, stability, |row, name| {
                        table.as_mut().map_or(Ok(()), |table| table.push(row.values(name)))
                    })?;
                written.extend(table.map(RowWriter::finish).transpose()?);
            }
            if let (Some(outline), Some(levels)) = (&mut outline, levels) {
                outline.groups = self.look_into_groups(context, presented, levels, stability)?;
            }
            let file = |path| RowFile::new(path, targets.options.output_header);
            if let Some(to) = targets.sides.representatives.get(at) {
                let bytes = write_representatives(bench, graph, presented, &inside, file(to));
                written.push(bytes?);
            }
            for (paths, represent) in [(&targets.sides.keep, true), (&targets.sides.drop, false)] {
                let Some(to) = paths.get(at) else { continue };
                let bytes = write_chosen(bench, graph, presented, &inside, represent, file(to));
                written.push(bytes?);
            }
            let summary = match written[..] {
                [] if outline.is_some() => "the largest communities".to_owned(),
                [] if look == Look::Preferred => "preferred nodes".to_owned(),
                [] => "weights inside communities".to_owned(),
                _ => format!("{} written", format_bytes(written.iter().sum())),
            };
            Ok(((inside, outline), summary))
        })
    }

    /// Describes the groups inside the communities of the outline, if the memory suffices.
    fn look_into_groups(
        &self,
        context: &Context<'_>,
        presented: &Presented,
        levels: &Levels,
        stability: Option<&Shares<u32>>,
    ) -> Result<Vec<GroupsReport>> {
        let (graph, counts) = (self.graph, levels.group_counts());
        let above = std::iter::once(presented.community_count()).chain(counts.iter().copied());
        let groups = counts.iter().zip(above).map(|(count, above)| count + above).max();
        let bytes = self.targets.groups_bytes(graph, context.limits.threads, groups.unwrap_or(0));
        if bytes > context.limits.memory_bytes {
            return Ok(Vec::new());
        }
        let least = 2 * Workbench::BUDGET_MIN;
        let bench = bench(context, sort_budget(context, bytes.saturating_sub(least), least));
        describe_groups(&bench, graph, presented, levels, stability)
    }

    /// Returns the memory of what a scan of the graph finds.
    fn inside_bytes(&self, presented: &Presented, has_stability: bool) -> u64 {
        let (nodes, is_directed) = (presented.node_count(), self.graph.is_directed());
        let weights = Inside::weight_bytes(nodes, is_directed, self.targets.options.member_weights);
        let sums = match self.look {
            Look::Communities => Sums::bytes(presented, has_stability),
            _ => 0,
        };
        Workbench::representatives_bytes(presented) + weights + sums
    }

    /// Finds representatives, and weights inside communities and between them, by a scan of the graph if that is needed.
    fn inside<'p>(
        &self,
        bench: &Workbench<'_>,
        presented: &'p Presented,
        has_table: bool,
    ) -> Result<(Inside, Option<Sums<'p>>)> {
        let Self { graph, look, ref priorities, .. } = *self;
        let PresentOptions { outline, member_weights, .. } = *self.targets.options;
        let outlined = Outline::count_of(presented);
        let listed = if has_table { presented.community_count() as u32 } else { outlined };
        let sums = || Sums::new(bench, graph, presented, listed, outline.then_some(outlined));
        let mut sums = (look == Look::Communities).then(sums).transpose()?;
        let preferred = |of: &Priorities| of.preferred(bench, graph, presented);
        let preferred = priorities.as_ref().map(preferred).transpose()?;
        let mut inside = match look {
            Look::Preferred => Inside::default(),
            _ => Inside::of(bench, graph, presented, member_weights, sums.as_mut())?,
        };
        if let Some(preferred) = preferred {
            inside.strongest = preferred;
        }
        Ok((inside, sums))
    }
}

/// Refuses stages after the clustering that would not fit in memory.
fn check_memory(
    context: &Context<'_>,
    graph: &Graph,
    targets: &Targets<'_>,
    earlier: u64,
) -> Result<()> {
    let (present, sides) = (targets.options, &targets.options.sides);
    let Limits { memory_bytes, threads } = context.limits;
    let least = targets.min_bytes(graph, earlier, threads);
    if least <= memory_bytes {
        return Ok(());
    }
    let option = match present {
        PresentOptions { earlier: Some(_), .. } => MATCH,
        PresentOptions { prefer: Some(_), .. } => PREFER,
        _ if sides.representatives.is_some() => REPRESENTATIVES,
        _ if sides.summary.is_some() => SUMMARY,
        _ if sides.keep.is_some() => KEEP,
        _ if sides.drop.is_some() => DROP,
        PresentOptions { member_weights: true, .. } => MEMBER_WEIGHTS,
        _ => ROWS.of("pair"),
    };
    let nodes = format_counted(graph.node_count(), "node", "nodes");
    Err(Error::too_little_memory(memory_bytes, format_args!(" for {option}"), least)
        .note(format!("the graph has {nodes}")))
}

/// Reads the earlier result, if there is one, and stores it on disk.
fn read_earlier(
    context: &mut Context<'_>,
    graph: &Graph,
    targets: &Targets<'_>,
) -> Result<Option<Earlier>> {
    check_memory(context, graph, targets, 0)?;
    let present = targets.options;
    let Some(path) = &present.earlier else { return Ok(None) };
    let earlier = context.stage(Stage::Match, |context| {
        let threads = context.limits.threads;
        let least = membership::memory_bytes_for(graph.node_count(), 0, threads);
        let limits = Limits { memory_bytes: context.memory_for(least), threads };
        let reading = context.reading(&present.communities);
        let options = MembershipOptions { numbered: true, limits, ..reading };
        let found = membership::read(context.files, path, graph, &options, context.observer)?;
        check_memory(context, graph, targets, found.community_count)?;
        let directory = context.work.path().join("earlier");
        let earlier = Earlier::set_aside(context.files, &directory, &found)?;
        let nodes = format_counted(graph.node_count(), "node", "nodes");
        let communities = format_counted(found.community_count, "community", "communities");
        let summary = format!("{} of {nodes} were in {communities}", format_count(found.named));
        Ok((earlier, summary))
    })?;
    Ok(Some(earlier))
}

/// Reads the priorities of nodes, if there are any, and stores them on disk.
fn read_priorities(
    context: &mut Context<'_>,
    graph: &Graph,
    targets: &Targets<'_>,
) -> Result<Option<Priorities>> {
    let path = match &targets.options.prefer {
        Some(Preference::File(path)) => path,
        Some(Preference::First) => return Ok(Some(Priorities::First)),
        None => return Ok(None),
    };
    let codes = context.stage(Stage::Match, |context| {
        let (threads, scratch) = (context.limits.threads, context.work.path().join("priorities"));
        context.files.create_directory(&scratch)?;
        let memory_bytes = context.memory_for(membership::numbers_bytes(threads));
        let (to, limits) = (&scratch.join("codes"), Limits { memory_bytes, threads });
        let reading = context.reading(&targets.options.communities);
        let options = MembershipOptions { limits, scratch, ..reading };
        let (files, observer) = (context.files, context.observer);
        let input = options.input.numbers_of(path);
        let found = membership::read_numbers(files, input, graph, &options, observer, to)?;
        let NodeNumbers { codes, named, unknown } = found;
        if named == 0 {
            return Err(membership::nothing_known(path, unknown));
        }
        let nodes = format_counted(graph.node_count(), "node", "nodes");
        Ok((codes, format!("priorities of {} of {nodes}", format_count(named))))
    })?;
    Ok(Some(Priorities::Codes(codes)))
}

/// Returns the budget of sorts that run alongside `bytes` of other memory, at least `least`.
fn sort_budget(context: &Context<'_>, bytes: u64, least: u64) -> u64 {
    context.memory_for(bytes + least).saturating_sub(bytes).max(least)
}

fn match_earlier(
    context: &mut Context<'_>,
    presented: &mut Presented,
    earlier: &Earlier,
) -> Result<u64> {
    context.stage(Stage::Match, |context| {
        context.begin(Stage::Match, Some(presented.node_count()), "nodes")?;
        let bytes = Workbench::matching_bytes(presented, earlier);
        let budget = sort_budget(context, bytes, 2 * Workbench::BUDGET_MIN);
        let kept = match_numbers(&bench(context, budget), presented, earlier)?;
        let count = presented.community_count();
        let communities = format_counted(count, "community", "communities");
        Ok((kept, format!("{} of {communities} keep a number", format_count(kept))))
    })
}

fn bench<'a>(context: &'a Context<'_>, budget: u64) -> Workbench<'a> {
    let (files, observer, threads) = (context.files, context.observer, context.limits.threads);
    Workbench { files, scratch: context.work.path(), budget, threads, observer }
}
