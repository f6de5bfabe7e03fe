//! The network of the largest communities: a drawing whose circles lead to a card for each of them.

use super::found::Found;
use super::largest::{self, key, name};
use super::section::{Section, for_each, real};
use maud::{Markup, html};
use outcore::job::{CommunityReport, LargestReport, Report};
use outcore::units::{format_count, format_counted};
use outcore_page::chart::{self, Circle, Link};
use outcore_page::shorten;
use std::collections::BTreeMap;

/// Characters of a name in the drawing, for the forms that are tried in turn.
const DRAWN: [usize; 2] = [20, 10];
/// Characters of a name on a card.
const ON_CARD: usize = 60;
/// Characters of the name of a neighbor on a card.
const OF_NEIGHBOR: usize = 32;
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
    let body = for_each(all, |at, found| {
        let largest = found.communities.described.largest.as_ref()?;
        Some(Network::new(at, found, largest, nodes).render())
    });
    Some(Section { id: "network", heading: "Network of communities", short, body })
}

struct Network<'a> {
    /// Number of the result.
    at: usize,
    found: &'a Found<'a>,
    communities: &'a [CommunityReport],
    links: Vec<Link>,
    nodes: u64,
}

impl<'a> Network<'a> {
    fn new(at: usize, found: &'a Found<'a>, largest: &'a LargestReport, nodes: u64) -> Self {
        Self { at, found, communities: &largest.communities, links: links(largest), nodes }
    }

    fn render(&self) -> Markup {
        let drawn = chart::backbone(self.communities.len(), &self.links);
        let circles: Vec<Circle> = self.circles();
        let words = self.words(drawn.len());
        let of = if self.found.name.is_empty() {
            String::new()
        } else {
            format!(", {}", self.found.name)
        };
        let title = format!("Communities and the weights between them{of}");
        let has_stability = self.communities.iter().any(|each| each.stability.is_some());
        html! {
            p { (words) }
            @if has_stability { (legend()) }
            div.explorer {
                @if let Some(drawing) = chart::network(&title, &self.alternative(), &circles, &drawn) { (drawing) }
                div.cards aria-live="polite" {
                    @for number in 0..self.communities.len() { (self.card(number)) }
                }
            }
        }
    }

    fn words(&self, drawn: usize) -> String {
        let lines = match (self.links.len(), drawn) {
            (0, _) => "No edge leads from one of them to another.".to_owned(),
            (all, drawn) if drawn < all => format!(
                "Of {} lines, {} are drawn: the two largest of each community, and those that hold the rest together.",
                format_count(all as u64),
                format_count(drawn as u64)
            ),
            _ => String::new(),
        };
        format!(
            "The area of a circle is the number of nodes, the width of a line the weight between two communities; the \
             smallest are drawn larger, to be seen. Choose a circle for its members and neighbors. {lines}"
        )
    }

    /// Describes the drawing to those who cannot see it.
    fn alternative(&self) -> String {
        let each = self.communities.iter().take(10).map(|community| {
            let neighbor =
                community.neighbor.zip(community.neighbor_weight).map(|(number, weight)| {
                    format!(", most of all tied to {} by {}", format_count(number), real(weight))
                });
            format!("{}{}", reported(community), neighbor.unwrap_or_default())
        });
        format!("{}. The table below has the figures.", each.collect::<Vec<_>>().join("; "))
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
            let (size, reported) = (community.size as f64, reported(community));
            Circle { target: key(self.at, number), names, size, class, reported }
        });
        each.collect()
    }

    fn card(&self, number: usize) -> Markup {
        let community = &self.communities[number];
        let others = community.size.saturating_sub(community.members.len() as u64);
        let neighbors = self.neighbors(number);
        html! {
            article.card id=(key(self.at, number)) {
                h3 { "Community " (community.community) ": " bdi { (name(&community.representative, ON_CARD)) } }
                dl {
                    @for (what, value) in largest::figures(community, self.nodes) {
                        dt { (what) } dd { (value) }
                    }
                }
                @if !community.members.is_empty() {
                    h4 { "Members with the largest weights inside" }
                    ul {
                        @for member in &community.members { li { bdi { (name(member, ON_CARD)) } } }
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
                                a href={ "#" (key(self.at, other)) } {
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

/// Returns the weights between the communities, each pair once.
fn links(largest: &LargestReport) -> Vec<Link> {
    let each = largest.communities.iter().enumerate();
    let number: BTreeMap<u64, usize> = each.map(|(at, found)| (found.community, at)).collect();
    let mut weights: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for link in &largest.links {
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

fn reported(community: &CommunityReport) -> String {
    format!(
        "community {}, {}: {}",
        community.community,
        name(&community.representative, OF_NEIGHBOR),
        format_counted(community.size, "node", "nodes")
    )
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
