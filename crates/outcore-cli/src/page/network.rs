//! The network of the largest communities: a drawing whose circles lead to a card for each of them, and a place to find
//! one by its number or by a node on its card, which the script of the page fills. Where levels are known, a community
//! has a drawing of the groups inside it, and so have these; each is shown in place of the one that leads to it.

use super::found::Found;
use super::largest::{self, name};
use super::section::{RESULTS_MAX, Section, for_each, real};
use maud::{Markup, html};
use outcore::job::{CommunityLink, CommunityReport, GroupsReport, LargestReport, Report};
use outcore::units::{format_count, format_counted};
use outcore_page::chart::{self, Circle, Link};
use outcore_page::shorten;
use std::collections::BTreeMap;

/// Characters of a name in the drawing, for the forms that are tried in turn.
const DRAWN: [usize; 2] = [20, 10];
/// Characters of a name on a card.
const ON_CARD: usize = 60;
/// Maximum length of a name that is found although it is shortened on its card.
const FOUND_BYTES_MAX: usize = 200;
/// Characters of the name of a neighbor on a card.
const OF_NEIGHBOR: usize = 32;
/// Maximum number of groups on a page.
const GROUPS_MAX: usize = 400;
/// Number of neighbors on a card.
const NEIGHBORS_MAX: usize = 6;
/// Stability from which communities are sure, and below which they are doubtful.
const SURE: f64 = 0.9;
const DOUBTFUL: f64 = 0.7;

/// Draws the network of each result of which the largest communities are known.
pub(super) fn section(report: &Report, all: &[Found<'_>]) -> Option<Section> {
    let known = all.iter().find_map(|found| found.communities.described.largest.as_ref())?;
    let listed = format_count(known.communities.len() as u64);
    let short = match (all.len(), all[0].communities.sizes.community_count) {
        (1, count) if count > known.communities.len() as u64 => {
            format!("the {listed} largest of {}", format_counted(count, "community", "communities"))
        }
        (1, _) => "all communities".into(),
        _ => format!("the {listed} largest of each result"),
    };
    let nodes = report.graph.as_ref().map_or(0, |graph| graph.node_count);
    let room = GROUPS_MAX / all.len().min(RESULTS_MAX);
    let body = for_each(all, |at, found| {
        let largest = found.communities.described.largest.as_ref()?;
        Some(Levels::new(at, found, largest, room).render(nodes))
    });
    Some(Section { id: "network", heading: "Network of communities", short, body })
}

/// Networks of a result: of its communities, and of the groups inside them.
struct Levels<'a> {
    at: usize,
    found: &'a Found<'a>,
    largest: &'a LargestReport,
    groups: &'a [GroupsReport],
}

impl<'a> Levels<'a> {
    /// Takes as many groups as there is `room` for.
    fn new(at: usize, found: &'a Found<'a>, largest: &'a LargestReport, room: usize) -> Self {
        let mut used = 0;
        let fits = |inside: &&GroupsReport| {
            used += inside.groups.len();
            used <= room
        };
        let count = largest.groups.iter().take_while(fits).count();
        Self { at, found, largest, groups: &largest.groups[..count] }
    }

    fn render(&self, nodes: u64) -> Markup {
        // What went to standard output has a name that only its reader knows.
        let result = if self.found.output == "-" { "RESULT" } else { self.found.output };
        let top = self.network(None, nodes);
        let has_stability = top.communities.iter().any(|each| each.stability.is_some());
        html! {
            p { (top.words()) }
            @if has_stability { (legend()) }
            div.levels {
                div.search role="search" data-result=(result) {}
                (top.render())
                @for at in 0..self.groups.len() { (self.inside(at, nodes)) }
            }
        }
    }

    /// Returns the network of the communities, or of the groups in a place of the list.
    fn network(&self, inside: Option<usize>, nodes: u64) -> Network<'_> {
        let of = inside.map(|at| &self.groups[at]);
        let (communities, links) = match of {
            None => (&self.largest.communities, &self.largest.links),
            Some(of) => (&of.groups, &of.links),
        };
        let path = of.map_or(&[][..], |of| &of.path);
        let leads = |each: &CommunityReport| self.place(&[path, &[each.community]].concat());
        Network {
            key: inside.map_or_else(|| result_key(self.at), |at| self.key(at)),
            found: self.found,
            path,
            communities,
            links: self::links(communities, links),
            nodes,
            inside: communities
                .iter()
                .map(|each| leads(each).map(|at| (self.key(at), self.groups[at].group_count)))
                .collect(),
        }
    }

    /// Returns the place of the groups inside a community or a group.
    fn place(&self, path: &[u64]) -> Option<usize> {
        self.groups.iter().position(|inside| inside.path == path)
    }

    /// Returns the identifier of the groups in a place of the list.
    fn key(&self, at: usize) -> String {
        format!("{}g{at}", result_key(self.at))
    }

    fn inside(&self, at: usize, nodes: u64) -> Markup {
        let GroupsReport { path, group_count, groups, .. } = &self.groups[at];
        let network = self.network(Some(at), nodes);
        let counted = format_counted(*group_count, "group", "groups");
        let listed = match groups.len() as u64 {
            count if count < *group_count => format!("The {count} largest of {counted} inside."),
            _ => format!("All {counted} inside."),
        };
        // Each part of the path is a card of the network above it.
        let steps = (0..path.len()).map(|depth| {
            let above = self.network(self.place(&path[..depth]), nodes);
            let own = above.communities.iter().position(|each| each.community == path[depth]);
            let own = own.unwrap_or(0);
            let name = name(&above.communities[own].representative, OF_NEIGHBOR);
            (above.card_key(own), format!("{} {}: {name}", above.noun(), path[depth]))
        });
        let steps: Vec<(String, String)> = steps.collect();
        let names =
            std::iter::once("All communities").chain(steps.iter().map(|(_, name)| name.as_str()));
        let (_, own) = &steps[path.len() - 1];
        html! {
            section.within id=(self.key(at)) tabindex="-1" aria-label={ "Inside " (own) } {
                nav.trail aria-label="Levels" {
                    @for ((to, _), name) in steps.iter().zip(names) { a href={ "#" (to) } { bdi { (name) } } " › " }
                    strong { bdi { (own) } }
                }
                p { (listed) " " (network.lines()) }
                (network.render())
            }
        }
    }
}

/// Returns the beginning of all identifiers of a result.
fn result_key(at: usize) -> String {
    format!("r{at}")
}

struct Network<'a> {
    /// Beginning of the identifiers of its cards.
    key: String,
    found: &'a Found<'a>,
    /// Numbers of the community and the groups that it is inside of.
    path: &'a [u64],
    communities: &'a [CommunityReport],
    links: Vec<Link>,
    /// Number of nodes of the graph.
    nodes: u64,
    /// Identifier and number of the groups inside each community, if they are known.
    inside: Vec<Option<(String, u64)>>,
}

impl Network<'_> {
    fn render(&self) -> Markup {
        let of = if self.found.name.is_empty() {
            String::new()
        } else {
            format!(", {}", self.found.name)
        };
        let what = match self.path {
            [] => "Communities".to_owned(),
            [community] => format!("Groups of community {community}"),
            path => {
                let path: Vec<String> = path.iter().map(u64::to_string).collect();
                format!("Groups of group {}", path.join(":"))
            }
        };
        let title = format!("{what} and the weights between them{of}");
        let circles = self.circles();
        let drawn = self.drawn();
        html! {
            div.explorer {
                @if let Some(drawing) = chart::network(&title, &self.alternative(), &circles, &drawn) { (drawing) }
                div.cards aria-live="polite" {
                    @for number in 0..self.communities.len() { (self.card(number)) }
                }
            }
        }
    }

    /// Returns the lines that are drawn.
    fn drawn(&self) -> Vec<Link> {
        chart::backbone(self.communities.len(), &self.links)
    }

    /// Returns the word for one of its parts.
    fn noun(&self) -> &'static str {
        if self.path.is_empty() { "Community" } else { "Group" }
    }

    fn card_key(&self, number: usize) -> String {
        format!("{}c{number}", self.key)
    }

    fn words(&self) -> String {
        let again = match self.inside.iter().any(Option::is_some) {
            true => ", and once more for the groups inside",
            false => "",
        };
        format!(
            "The area of a circle is the number of nodes, the width of a line the weight between two communities; the \
             smallest are drawn larger, to be seen. Choose a circle for its members and neighbors{again}. {}",
            self.lines()
        )
    }

    /// Says which lines are drawn.
    fn lines(&self) -> String {
        match (self.links.len(), self.drawn().len()) {
            (0, _) => "No edge leads from one of them to another.".to_owned(),
            (all, drawn) if drawn < all => format!(
                "Of {} lines, {} are drawn: the two largest of each, and those that hold the rest together.",
                format_count(all as u64),
                format_count(drawn as u64)
            ),
            _ => String::new(),
        }
    }

    /// Describes the drawing to those who cannot see it.
    fn alternative(&self) -> String {
        let each = self.communities.iter().take(10).map(|community| {
            let neighbor =
                community.neighbor.zip(community.neighbor_weight).map(|(number, weight)| {
                    format!(", most of all tied to {} by {}", format_count(number), real(weight))
                });
            format!("{}{}", self.reported(community), neighbor.unwrap_or_default())
        });
        let all = each.collect::<Vec<_>>().join("; ");
        // The table has no groups.
        if self.path.is_empty() { all + ". The table below has the figures." } else { all + "." }
    }

    fn circles(&self) -> Vec<Circle> {
        let each = self.communities.iter().enumerate().map(|(number, community)| {
            let of = |most| {
                format!("{}: {}", community.community, shorten(&community.representative, most))
            };
            let mut names: Vec<String> = DRAWN.into_iter().map(of).collect();
            names.push(community.community.to_string());
            let class = match community.stability {
                Some(share) if share >= SURE => "sure",
                Some(share) if share >= DOUBTFUL => "fair",
                Some(_) => "unsure",
                None => "",
            };
            let (size, reported) = (community.size as f64, self.reported(community));
            Circle { target: self.card_key(number), names, size, class, reported }
        });
        each.collect()
    }

    fn card(&self, number: usize) -> Markup {
        let community = &self.communities[number];
        let others = community.size.saturating_sub(community.members.len() as u64);
        let neighbors = self.neighbors(number);
        html! {
            article.card id=(self.card_key(number)) data-number=(community.community) {
                h3 { (self.noun()) " " (community.community) ": " (node(&community.representative)) }
                dl {
                    @for (what, value) in largest::figures(community, self.nodes) {
                        dt { (what) } dd { (value) }
                    }
                }
                @if let Some((to, count)) = &self.inside[number] {
                    p { a.into href={ "#" (to) } { "Go inside: " (format_counted(*count, "group", "groups")) } }
                }
                @if !community.members.is_empty() {
                    h4 { "Members with the largest weights inside" }
                    ul {
                        @for member in &community.members { li { (node(member)) } }
                    }
                    @if others > 0 {
                        p.faint { "and " (format_counted(others, "other", "others")) " in " (self.found.output) }
                    }
                }
                @if !neighbors.is_empty() {
                    h4 { "Largest neighbors, and the weight to them" }
                    ul {
                        @for &(other, weight) in &neighbors {
                            li {
                                a href={ "#" (self.card_key(other)) } {
                                    (self.communities[other].community) ": "
                                    bdi { (name(&self.communities[other].representative, OF_NEIGHBOR)) }
                                }
                                " " (real(weight))
                            }
                        }
                    }
                }
            }
        }
    }

    fn reported(&self, community: &CommunityReport) -> String {
        format!(
            "{} {}, {}: {}",
            self.noun().to_lowercase(),
            community.community,
            name(&community.representative, OF_NEIGHBOR),
            format_counted(community.size, "node", "nodes")
        )
    }

    /// Returns the neighbors to which the largest weights lead.
    fn neighbors(&self, number: usize) -> Vec<(usize, f64)> {
        let all =
            self.links.iter().filter_map(|&Link { ends: [one, other], weight }| match number {
                number if number == one => Some((other, weight)),
                number if number == other => Some((one, weight)),
                _ => None,
            });
        let mut all: Vec<(usize, f64)> = all.collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(NEIGHBORS_MAX);
        all
    }
}

/// Renders the name of a node on a card, with the whole of it to be found, if it is not of any length and has nothing to hide.
fn node(text: &str) -> Markup {
    let shown = name(text, ON_CARD);
    let is_found =
        text != shown && text.len() <= FOUND_BYTES_MAX && shorten(text, usize::MAX) == text;
    html! { bdi.node data-name=[is_found.then_some(text)] { (shown) } }
}

/// Returns the weights between the communities, each pair once.
fn links(communities: &[CommunityReport], links: &[CommunityLink]) -> Vec<Link> {
    let each = communities.iter().enumerate();
    let number: BTreeMap<u64, usize> = each.map(|(at, found)| (found.community, at)).collect();
    let mut weights: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for link in links {
        let (Some(&one), Some(&other)) = (number.get(&link.source), number.get(&link.target))
        else {
            continue;
        };
        if one != other && link.weight > 0.0 && link.weight.is_finite() {
            *weights.entry([one.min(other), one.max(other)]).or_default() += link.weight;
        }
    }
    weights.into_iter().map(|(ends, weight)| Link { ends, weight }).collect()
}

fn legend() -> Markup {
    let entries = [
        ("sure", format!("{SURE} or more")),
        ("fair", format!("{DOUBTFUL} to {SURE}")),
        ("unsure", format!("below {DOUBTFUL}")),
    ];
    html! {
        p.faint {
            "Colors are the mean stability of the nodes:"
            @for (class, words) in entries { " " span class={ "swatch " (class) } {} " " (words) }
        }
    }
}
