//! Options that messages mention, each defined once, spelled as in the command. Tests of the command check
//! them against its arguments.

use super::Opt;

macro_rules! options {
    ($($constant:ident = $name:literal,)*) => {
        $(
            #[doc = concat!("`--", $name, "`")]
            pub const $constant: Opt = Opt::new($name);
        )*
        /// All options.
        pub const ALL: &[Opt] = &[$($constant),*];
    };
}

options! {
    AGAINST = "against",
    APPEND = "append",
    ATTENUATION = "attenuation",
    ATTENUATION_RULE = "attenuation-rule",
    COLUMNS = "columns",
    COMMENT = "comment",
    COMMUNITY_COLUMNS = "community-columns",
    COMMUNITY_EXPONENT = "community-exponent",
    COMMUNITY_FORMAT = "community-format",
    COMMUNITY_MAX = "community-max",
    COMMUNITY_MIN = "community-min",
    COMPILE = "compile",
    CONVERGE = "converge",
    CYCLES = "cycles",
    DELIMITER = "delimiter",
    DIR = "dir",
    DIRECTED = "directed",
    DUPLICATES = "duplicates",
    EDGE_FACTOR = "edge-factor",
    EDGES = "edges",
    ENGINE = "engine",
    FIXED = "fixed",
    FORMAT = "format",
    FULL = "full",
    HEADER = "header",
    HTML = "html",
    IGNORE_WEIGHTS = "ignore-weights",
    INITIAL = "initial",
    LABEL_CUTOFF = "label-cutoff",
    LEVELS = "levels",
    LIKE = "like",
    MASTER = "master",
    MATCH = "match",
    MAX_SIZE = "max-size",
    MAX_SWEEPS = "max-sweeps",
    MAX_VISITS = "max-visits",
    MAX_WEIGHT = "max-weight",
    MEMBER_WEIGHTS = "member-weights",
    MEMORY = "memory",
    METHOD = "method",
    MIN_SIZE = "min-size",
    MIN_WEIGHT = "min-weight",
    MIXING = "mixing",
    NODES = "nodes",
    NORMALIZE = "normalize",
    ON_BAD_LINE = "on-bad-line",
    OUTPUT = "output",
    OUTPUT_HEADER = "output-header",
    PARTS = "parts",
    PROFILE = "profile",
    QUICK = "quick",
    REJECTS = "rejects",
    REPORT = "report",
    REPRESENTATIVES = "representatives",
    RESOLUTION = "resolution",
    RESTART = "restart",
    ROWS = "rows",
    SCALE = "scale",
    SEED = "seed",
    SEEDING = "seeding",
    SELF_LOOPS = "self-loops",
    SPARK_CONF = "spark-conf",
    STABILITY = "stability",
    THREADS = "threads",
    TOLERANCE = "tolerance",
    TRIALS = "trials",
    TWO_MODE = "two-mode",
    TRUTH = "truth",
    UNNAMED = "unnamed",
    VERIFY = "verify",
    WEIGHT_TRANSFORM = "weight-transform",
    WEIGHTED = "weighted",
    WELL_CONNECTED = "well-connected",
    WORK_DIR = "work-dir",
}
