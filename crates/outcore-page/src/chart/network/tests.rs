use super::*;

/// Random numbers (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Returns a network of up to 100 communities: sizes and weights over many magnitudes or all the same, from no links to
/// all of them.
fn random(seed: u64) -> (Vec<Circle>, Vec<Link>) {
    let mut random = Random(seed);
    let count = 1 + random.below(100);
    let is_even = random.below(4) == 0;
    let circle = |number: u64, random: &mut Random| {
        let size = if is_even { 7 } else { 1 + (1u64 << random.below(24)) / (number + 1) };
        let length = 1 + random.below(30) as usize;
        let name: String = "Wörter, 名前 W_m-1".chars().cycle().take(length).collect();
        Circle {
            target: format!("c{number}"),
            names: vec![name, number.to_string()],
            size: size as f64,
            class: "",
            reported: format!("community {number}"),
        }
    };
    let circles: Vec<Circle> = (0..count).map(|number| circle(number, &mut random)).collect();
    let share = random.below(60);
    let mut links = Vec::new();
    for one in 0..count {
        for other in one + 1..count {
            if random.below(100) < share * share / 36 {
                let weight = if is_even { 1.0 } else { 2f64.powi(random.below(60) as i32 - 30) };
                links.push(Link { ends: [one as usize, other as usize], weight });
            }
        }
    }
    (circles, links)
}

fn overlap(one: &Spot, other: &Spot) -> bool {
    let (dx, dy) = (one.x - other.x, one.y - other.y);
    (dx * dx + dy * dy).sqrt() < one.radius + other.radius
}

/// Fails unless circles and names are apart and on the page.
fn check(seed: u64, form: Layout, plan: &Plan<'_>) {
    let (width, height) = (form.width(), plan.height);
    for (at, one) in plan.spots.iter().enumerate() {
        assert!(one.radius > 0.5, "{seed}: {one:?}");
        let ends = [one.x - one.radius, one.y - one.radius, width - one.x - one.radius];
        assert!(ends.iter().all(|space| *space >= 0.0), "{seed}: {one:?}");
        assert!(one.y + one.radius <= height, "{seed}: {one:?}");
        let clash = plan.spots[..at].iter().find(|other| overlap(one, other));
        assert!(clash.is_none(), "{seed}: {one:?} over {clash:?}");
    }
    for (at, one) in plan.labels.iter().enumerate() {
        let [left, top, right, bottom] = one.area();
        assert!(left >= 0.0 && top >= 0.0 && right <= width && bottom <= height, "{seed}: {one:?}");
        for other in &plan.labels[..at] {
            let [other_left, other_top, other_right, other_bottom] = other.area();
            let apart = right <= other_left
                || other_right <= left
                || bottom <= other_top
                || other_bottom <= top;
            assert!(apart, "{seed}: {one:?} over {other:?}");
        }
        for (number, spot) in plan.spots.iter().enumerate().filter(|(number, _)| *number != one.circle) {
            let (dx, dy) =
                (spot.x - spot.x.clamp(left, right), spot.y - spot.y.clamp(top, bottom));
            let distance = (dx * dx + dy * dy).sqrt();
            assert!(distance >= spot.radius - 1e-9, "{seed}: {one:?} over circle {number}");
        }
    }
}

#[test]
fn circles_and_names_of_random_networks_are_apart() {
    let mut named = 0;
    for seed in 0..200 {
        let (circles, links) = random(seed);
        let drawn = backbone(circles.len(), &links);
        for form in [Layout::Wide, Layout::Narrow] {
            let plan = Plan::new(form, &circles, &drawn);
            check(seed, form, &plan);
            assert!(plan.height <= form.pick(HEIGHT) + 1.0, "{seed}: {}", plan.height);
            named += plan.labels.len();
        }
    }
    assert!(named > 4000, "{named}");
}

#[test]
fn a_network_is_drawn_the_same_each_time() {
    for seed in 0..20 {
        let (circles, links) = random(seed);
        let drawing = || network("Title", "words", &circles, &backbone(circles.len(), &links));
        let (one, other) = (drawing().expect("circles"), drawing().expect("circles"));
        assert_eq!((one.wide.0, one.narrow.0), (other.wide.0, other.narrow.0));
    }
}

#[test]
fn areas_are_sizes_and_neighbors_are_near() {
    let circle = |size: f64| Circle {
        target: "c".into(),
        names: vec!["name".into()],
        size,
        class: "",
        reported: String::new(),
    };
    // A path of six.
    let circles: Vec<Circle> = [400.0, 100.0, 400.0, 100.0, 400.0, 100.0].map(circle).into();
    let links: Vec<Link> = (1..6).map(|at| Link { ends: [at - 1, at], weight: 2.0 }).collect();
    let Plan { spots, .. } = Plan::new(Layout::Wide, &circles, &links);
    assert!((spots[0].radius / spots[1].radius - 2.0).abs() < 1e-9);
    let distance =
        |a: usize, b: usize| (spots[a].x - spots[b].x).hypot(spots[a].y - spots[b].y);
    for at in 1..6 {
        assert!(distance(at - 1, at) < distance(0, 5) / 2.0);
        assert!((spots[at].x - spots[at - 1].x).signum() == (spots[5].x - spots[0].x).signum());
    }
}

#[test]
fn odd_networks_are_drawn() {
    assert!(network("none", "", &[], &[]).is_none());
    let circle = |size: f64| Circle {
        target: "c".into(),
        names: vec![String::new(), "<b>".into()],
        size,
        class: "",
        reported: "\"quoted\"".into(),
    };
    for size in [0.0, 1.0, 1e18] {
        for count in [1, 2, 3, 100] {
            let circles = vec![circle(size); count];
            for links in [
                vec![],
                (1..count).map(|at| Link { ends: [0, at], weight: 1e300 }).collect(),
                (1..count).map(|at| Link { ends: [at - 1, at], weight: 1e-300 }).collect(),
            ] {
                check(count as u64, Layout::Wide, &Plan::new(Layout::Wide, &circles, &links));
                let drawing = network("a & b", "<script>", &circles, &links).expect("circles");
                let text = drawing.wide.0 + &drawing.narrow.0;
                assert!(!text.contains("NaN") && !text.contains("inf"));
                assert!(!text.contains("<b>") && !text.contains("<script>"));
            }
        }
    }
}

#[test]
fn the_lines_that_matter_keep_everything_connected() {
    let all = |count: usize, weight: fn(usize, usize) -> f64| -> Vec<Link> {
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
        pairs.map(|ends| Link { ends, weight: weight(ends[0], ends[1]) }).collect()
    };
    let links = all(60, |a, b| 1.0 / (1 + a + b) as f64);
    let drawn = backbone(60, &links);
    assert!(drawn.len() <= 3 * 60, "{}", drawn.len());
    assert!(drawn.is_sorted_by(|a, b| a.weight >= b.weight));
    let mut reached = vec![0];
    while let Some(link) = drawn
        .iter()
        .find(|link| reached.contains(&link.ends[0]) != reached.contains(&link.ends[1]))
    {
        let new = link.ends.into_iter().find(|end| !reached.contains(end));
        reached.extend(new);
    }
    assert_eq!(reached.len(), 60);
    for (one, other) in (0..60).map(|at| (at, if at == 0 { 1 } else { 0 })) {
        let ends = [one.min(other), one.max(other)];
        assert!(drawn.iter().any(|link| link.ends == ends), "the largest of {one}");
    }
    // Few lines are all drawn.
    assert_eq!(backbone(5, &all(5, |_, _| 1.0)).len(), 10);
}
