//! Stages that present communities. An earlier result is read first, so that a bad one fails before the clustering, and
//! is kept on disk meanwhile, where it takes no memory from the clustering.

mod outputs;
mod results;
mod targets;
use super::PresentReport;
use super::context::Context;
use crate::budget::Limits;
use crate::cluster::{Communities, Dendrogram, Grouping, Labels, Stability};
use crate::compare::{CompareReport, compare_with};
use crate::error::opt::{
    DROP, KEEP, MATCH, MEMBER_WEIGHTS, PREFER, REPRESENTATIVES, ROWS, SUMMARY,
};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::membership::{self, MembershipOptions};
use crate::output::{RowFile, RowWriter};
use crate::present::{
    CommunityReport, Earlier, Flow, FlowPurpose, Inside, LargestReport, LevelForm, Levels, Look,
    Preference, PresentOptions, Presented, Priorities, Sums, Workbench, match_numbers,
    write_chosen, write_heights, write_representatives,
};
use crate::progress::Stage;
use crate::units::{format_bytes, format_count, format_counted};
pub use outputs::outputs;
pub(crate) use results::{OfNodes, column, write, write_columns, write_together};
use std::path::{Path, PathBuf};
pub(crate) use targets::Targets;

/// Applies presentation options to a result.
pub(crate) fn present(
    context: &mut Context<'_>,
    graph: &Graph,
    targets: &Targets<'_>,
    found: Communities,
    (earlier, look): (&Option<Earlier>, Look),
) -> Result<(Presented, Option<PresentReport>)> {
    let options = targets.options;
    let Communities { labels, sizes, .. } = found;
    let labels = match earlier.is_some() || look != Look::None || targets.levels {
        // Labels that are looked up are held in memory; their size was checked before.
        true => Labels::Memory(labels.into_memory(context.files)?),
        false => labels,
    };
    let mut reported = Presented::new(labels, sizes, options.min_size, options.small);
    let kept = match earlier {
        Some(earlier) => Some(match_earlier(context, graph, &mut reported, earlier)?),
        None => None,
    };
    if reported.community_count() == 0 && reported.small_nodes > 0 {
        let text = format!("no community has {} nodes or more: none is written", options.min_size);
        context.warn(&text)?;
    }
    let is_changed = options.min_size > 1 || kept.is_some();
    let report = is_changed.then(|| PresentReport {
        min_size: options.min_size,
        small: options.small,
        small_community_count: reported.small_communities,
        small_node_count: reported.small_nodes,
        written_community_count: reported.community_count(),
        kept_number_count: kept,
    });
    Ok((reported, report))
}

/// Refuses stages after the clustering that would not fit in memory.
fn check_memory(
    context: &Context<'_>,
    graph: &Graph,
    targets: &Targets<'_>,
    earlier: u64,
) -> Result<()> {
    let present = targets.options;
    let Limits { memory_bytes, threads } = context.limits;
    let least = targets.min_bytes(graph, earlier, threads);
    if least <= memory_bytes {
        return Ok(());
    }
    let option = match present {
        PresentOptions { earlier: Some(_), .. } => MATCH,
        PresentOptions { prefer: Some(_), .. } => PREFER,
        PresentOptions { representatives: Some(_), .. } => REPRESENTATIVES,
        PresentOptions { summary: Some(_), .. } => SUMMARY,
        PresentOptions { keep: Some(_), .. } => KEEP,
        PresentOptions { drop: Some(_), .. } => DROP,
        PresentOptions { member_weights: true, .. } => MEMBER_WEIGHTS,
        _ => ROWS.of("pair"),
    };
    let nodes = format_counted(graph.node_count(), "node", "nodes");
    Err(Error::too_little_memory(memory_bytes, format_args!(" for {option}"), least)
        .note(format!("the graph has {nodes}")))
}

/// Reads the earlier result, if there is one, and stores it on disk.
pub(crate) fn read_earlier(
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
        let options = MembershipOptions {
            input: present.communities.clone(),
            numbered: true,
            limits: Limits { memory_bytes: context.memory_for(least), threads },
            held_bytes: 0,
            scratch: context.work.path().to_path_buf(),
        };
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
pub(crate) fn read_priorities(
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
        let options = MembershipOptions {
            input: targets.options.communities.clone(),
            numbered: false,
            limits: Limits {
                memory_bytes: context.memory_for(membership::numbers_bytes(threads)),
                threads,
            },
            held_bytes: 0,
            scratch: scratch.clone(),
        };
        let to = &scratch.join("codes");
        let (files, observer) = (context.files, context.observer);
        let (codes, named) = membership::read_numbers(files, path, graph, &options, observer, to)?;
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
    graph: &Graph,
    presented: &mut Presented,
    earlier: &Earlier,
) -> Result<u64> {
    context.stage(Stage::Match, |context| {
        context.begin(Stage::Match, Some(graph.node_count()), "nodes")?;
        let bytes = Workbench::matching_bytes(presented, earlier);
        let budget = sort_budget(context, bytes, 2 * Workbench::BUDGET_MIN);
        let kept = match_numbers(&bench(context, budget), presented, earlier)?;
        let count = presented.community_count();
        let communities = format_counted(count, "community", "communities");
        Ok((kept, format!("{} of {communities} keep a number", format_count(kept))))
    })
}

/// Compares the result that is written to `output` with the earlier one, for the report.
pub(crate) fn compare_earlier(
    context: &mut Context<'_>,
    presented: &Presented,
    earlier: &Earlier,
    (targets, output): (&Targets<'_>, &Path),
) -> Result<Option<CompareReport>> {
    let Some(path) = &targets.options.earlier else { return Ok(None) };
    context.stage(Stage::Compare, |context| {
        context.begin(Stage::Compare, Some(presented.node_count()), "nodes")?;
        let bytes = Workbench::matching_bytes(presented, earlier);
        let budget = sort_budget(context, bytes, Workbench::SORTS * Workbench::BUDGET_MIN);
        let found = compare_with(&bench(context, budget), presented, earlier, [path, output])?;
        let summary =
            found.as_ref().map_or_else(|| "no node in common".to_owned(), CompareReport::summary);
        Ok((found, summary))
    })
}

/// Computes weights inside communities, if they are written, writes representatives and the table of communities of
/// result number `at`, and returns its outline.
pub(crate) fn look_inside(
    context: &mut Context<'_>,
    graph: &Graph,
    presented: &Presented,
    (stability, priorities): (Option<&Stability>, Option<&Priorities>),
    (targets, at, look): (&Targets<'_>, usize, Look),
) -> Result<(Inside, Option<LargestReport>)> {
    let options = targets.options;
    if look == Look::None {
        return Ok((Inside::default(), None));
    }
    context.stage(Stage::Represent, |context| {
        context.begin(Stage::Represent, Some(graph.arc_count()), "arcs")?;
        let (nodes, keeps_weights) = (presented.node_count(), options.member_weights);
        let weights = Inside::weight_bytes(nodes, graph.is_directed(), keeps_weights);
        let bytes = Workbench::representatives_bytes(presented) + weights;
        let table = targets.summaries.get(at);
        let (bytes, sorts) = match look {
            Look::Communities => (bytes + Sums::bytes(presented, stability.is_some()), 2),
            _ => (bytes, 1),
        };
        let budget = sort_budget(context, bytes, sorts * Workbench::BUDGET_MIN);
        let bench = &bench(context, budget);
        let sums = || Sums::new(bench, graph, presented, table.is_some(), options.outline);
        let mut sums = (look == Look::Communities).then(sums).transpose()?;
        let preferred = |of: &Priorities| of.preferred(bench, graph, presented);
        let preferred = priorities.map(preferred).transpose()?;
        let inside = match preferred {
            Some(preferred) if look == Look::Preferred => Inside::of_preferred(preferred),
            preferred => {
                let found = Inside::of(bench, graph, presented, keeps_weights, sums.as_mut())?;
                match preferred {
                    Some(preferred) => found.preferring(preferred),
                    None => found,
                }
            }
        };
        let (mut written, mut outline) = (None, None);
        if let Some(sums) = sums {
            let stability = stability.map(|found| found.scan(context.files)).transpose()?;
            let columns = CommunityReport::columns(stability.is_some());
            let create =
                |path: &PathBuf| RowWriter::create(bench.files, RowFile::new(path, true), &columns);
            let mut writer = table.map(create).transpose()?;
            outline =
                sums.for_each_row(bench, graph, presented, &inside, stability, |row, name| {
                    writer.as_mut().map_or(Ok(()), |writer| writer.push(row.values(name)))
                })?;
            written = writer.map(RowWriter::finish).transpose()?;
        }
        if let Some(path) = targets.representatives.get(at) {
            let file = RowFile::new(path, options.output_header);
            let bytes = write_representatives(bench, graph, presented, &inside, file)?;
            written = Some(written.unwrap_or(0) + bytes);
        }
        for (paths, represent) in [(&targets.keeps, true), (&targets.drops, false)] {
            if let Some(path) = paths.get(at) {
                let file = RowFile::new(path, options.output_header);
                let bytes = write_chosen(bench, graph, presented, &inside, represent, file)?;
                written = Some(written.unwrap_or(0) + bytes);
            }
        }
        let summary = match written {
            None if outline.is_some() => "the largest communities".to_owned(),
            None if look == Look::Preferred => "preferred nodes".to_owned(),
            None => "weights inside communities".to_owned(),
            Some(bytes) => format!("{} written", format_bytes(bytes)),
        };
        Ok(((inside, outline), summary))
    })
}

fn bench<'a>(context: &'a Context<'_>, budget: u64) -> Workbench<'a> {
    let (files, observer, threads) = (context.files, context.observer, context.limits.threads);
    Workbench { files, scratch: context.work.path(), budget, threads, observer }
}

/// Divides the communities by the groups of each level, if levels are written.
pub(crate) fn divide(
    context: &mut Context<'_>,
    presented: &Presented,
    groupings: &[Grouping],
    targets: &Targets<'_>,
) -> Result<Option<Levels>> {
    if !targets.levels {
        return Ok(None);
    }
    context.stage(Stage::Levels, |context| {
        context.begin(Stage::Levels, None, "nodes")?;
        // Paths of Infomap are numbered by flow, from groups numbered over all nodes.
        let form = if targets.has_modules() { LevelForm::Columns } else { targets.options.levels };
        let levels = crate::present::divide(&bench(context, 0), groupings, presented, form)?;
        let counts: Vec<_> = levels.group_counts().iter().map(|&n| format_count(n)).collect();
        let summary = match counts.as_slice() {
            [] => "no groups inside communities".to_owned(),
            _ => format!("{} groups inside communities", counts.join(", ")),
        };
        Ok((Some(levels), summary))
    })
}

/// Computes the flow of the nodes, if it is written.
pub(crate) fn find_flow(
    context: &mut Context<'_>,
    graph: &Graph,
    recorded_teleportation: bool,
    targets: &Targets<'_>,
) -> Result<Option<Flow>> {
    if !targets.has_flow() {
        return Ok(None);
    }
    context.stage(Stage::Represent, |context| {
        context.begin(Stage::Represent, Some(graph.arc_count()), "arcs")?;
        let purpose = FlowPurpose { recorded_teleportation, has_links: targets.has_links() };
        let flow = Flow::of(&bench(context, 0), graph, purpose)?;
        let nodes = format_counted(graph.node_count(), "node", "nodes");
        Ok((Some(flow), format!("flow of {nodes}")))
    })
}

/// Writes the weights at which nodes join.
pub(crate) fn write_dendrogram(
    context: &mut Context<'_>,
    graph: &Graph,
    dendrogram: &Dendrogram,
    targets: &Targets<'_>,
) -> Result<()> {
    let Some(path) = &targets.heights else { return Ok(()) };
    context.stage(Stage::Represent, |context| {
        context.begin(Stage::Represent, Some(graph.node_count()), "nodes")?;
        let bytes = 8 * graph.node_count();
        let budget = sort_budget(context, bytes, Workbench::BUDGET_MIN);
        let file = RowFile::new(path, targets.options.output_header);
        let bytes = write_heights(&bench(context, budget), graph, dendrogram, file)?;
        Ok(((), format!("{} of weights at which nodes join", format_bytes(bytes))))
    })
}
