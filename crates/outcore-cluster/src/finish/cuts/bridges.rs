//! Communities that one edge holds together: its removal leaves two parts of at least two nodes each.
//!
//! Such an edge is a bridge. A depth-first search finds them all: the edge from a node to the one below is a bridge if no
//! other edge leads from there or further below to the node or above it (Tarjan, "A note on finding the bridges of a
//! graph", 1974). Nodes are numbered as they are met, so those below are the last ones numbered.
//!
//! Cost: linear in edges and nodes. Memory beside the network: 24 bytes per node.

use super::multigraph::{Multigraph, NONE};

/// Returns whether removing one edge leaves two parts of at least two nodes each. The network is connected, and has at
/// most one edge between two nodes.
pub(super) fn is_bridged(net: &Multigraph) -> bool {
    let count = net.count();
    // `order` is the number of each node; `low` the lowest number reached by an edge from it or from a node below it.
    let (mut order, mut low) = (vec![NONE; count], vec![NONE; count]);
    (order[0], low[0]) = (0, 0);
    let mut met = 1;
    // Nodes from the first to the present one, each with its next link.
    let mut path = Vec::with_capacity(count);
    path.push((0, net.range(0).start));
    while let Some(last) = path.len().checked_sub(1) {
        let (node, link) = path[last];
        let above = last.checked_sub(1).map(|at| path[at].0);
        let at = node as usize;
        if link < net.range(node).end {
            path[last].1 += 1;
            let to = net.target(link);
            if order[to as usize] == NONE {
                (order[to as usize], low[to as usize]) = (met, met);
                met += 1;
                path.push((to, net.range(to).start));
            } else if Some(to) != above {
                low[at] = low[at].min(order[to as usize]);
            }
            continue;
        }
        path.pop();
        let Some(above) = above else { break };
        let below = (met - order[at]) as usize;
        if low[at] == order[at] && below > 1 && count - below > 1 {
            return true;
        }
        low[above as usize] = low[above as usize].min(low[at]);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search by recursion would overflow the stack.
    #[test]
    fn long_paths_take_no_stack() {
        let count = 1_000_000;
        let path = |count: u32| (1..count).map(|node| [node - 1, node]).collect::<Vec<_>>();
        let network = |edges: &[[u32; 2]]| Multigraph::new(count as usize, edges);
        let edges = path(count);
        let closed = [edges.as_slice(), &[[0, count - 1]]].concat();
        // A tail of two nodes on the ring, or of one.
        let tail = [path(count - 2), vec![[0, count - 3], [5, count - 2], [count - 2, count - 1]]];
        let short = [path(count - 1), vec![[0, count - 2], [5, count - 1]]];
        assert!(is_bridged(&network(&edges)) && !is_bridged(&network(&closed)));
        assert!(is_bridged(&network(&tail.concat())) && !is_bridged(&network(&short.concat())));
    }
}
