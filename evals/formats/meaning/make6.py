"""Rules of what edges and nodes mean: recognition by what only a format has, delimiters, weights, identifiers, sections, directions."""
from lib import *

NODES = "outcore cluster e.csv --nodes {} --method components -o - -q"
MEMBERS = {"e.csv": "source,target\n1,2\n2,3\n"}
EXPORT = "outcore build {0} -o g --directed -q && outcore export g -o - -q"
def lines(rows): return "".join("\t".join(map(str, row)) + "\n" for row in rows)

# ---- 1. A format is recognized by what only it has: tables of many small whole numbers are no search results.
grid = lambda n, w, f: [[f(i, k) for k in range(w)] for i in range(n)]
for width in (12, 13, 14, 16, 20, 32):
    case(f"1-knn-{width}", lines(grid(20, width, lambda i, k: (i * 7 + k * k * 3 + k) % 41)), "refuse", why="row i lists the neighbors of point i")
    case(f"1-matrix-01-{width}", lines(grid(width, width, lambda i, k: int((i * k + i) % 5 == 0))), "refuse", why="an adjacency matrix")
case("1-counts-names", lines([[f"g{i}", f"chr{i % 3}"] + [(i * k) % 50 for k in range(12)] for i in range(20)]), "refuse", why="counts of a gene in twelve samples")
case("1-one-hot", lines([[f"s{i}", "A" if i % 2 else "B"] + [int(k == i % 10) for k in range(10)] for i in range(20)]), "refuse")
case("1-percent-only", lines([[f"s{i}", f"t{i}", 50 + i] + [(i + k) % 9 for k in range(9)] for i in range(20)]), "refuse", why="no E-value, no spans")
case("1-votes-12", lines([[f"u{i}", f"u{i + 1}"] + [(i + k) % 6 for k in range(10)] for i in range(12)]), "refuse")
case("1-month-table", lines([[f"p{i}", f"q{i}"] + [10 * k + i for k in range(12)] for i in range(12)]), "refuse", why="sums of twelve months")
case("1-dice", lines([[1 + (i * k) % 6 for k in range(1, 13)] for i in range(30)]), "refuse")
case("1-clusters-ragged-12", lines([list(range(i * 20, i * 20 + 12 + i % 3)) for i in range(6)]), "refuse", why="a line lists a community")
case("1-clusters-two", "1 2 3 4 5 6 7 8 9 10 11 12 13\n20 21 22 23 24 25 26 27 28 29 30 31\n".replace(" ", "\t"), "refuse")
case("1-clusters-names-13", lines([[f"p{i}_{k}" for k in range(13)] for i in range(5)]), "refuse")
case("1-paf-like", lines([[f"r{i}", i, 2, 3, "+", f"r{i + 1}", 5, 4, 3, 2, 1, 0] for i in range(9)]), "refuse", why="starts beyond ends and lengths")
case("1-vsearch-like", lines([[f"a{i}", f"b{i}", 90, 5, 4, 3, 9, 1, 8, 2, -1, 0] for i in range(9)]), "either", "; ".join(f"a{i} b{i} 90" for i in range(9)))
B = lambda q, s, p="98.5", n=200, mm=3, g=0, a=1, b=200, c=5, d=204, e="1e-50", bits="380": "\t".join(map(str, (q, s, p, n, mm, g, a, b, c, d, e, bits))) + "\n"
case("1-blast-usual", B("q1", "s1") + B("q2", "s2", bits="150"), "read", "q1 s1 380; q2 s2 150")
case("1-blast-minus-strand", B("q1", "s1", c=900, d=701) + B("q2", "s2", bits="150"), "read", "q1 s1 380; q2 s2 150")
case("1-blast-all-minus", B("q1", "s1", c=900, d=701) + B("q2", "s2", c=500, d=301), "read", "q1 s1 380; q2 s2 380")
case("1-blastx", B("c1", "p1", n=66, a=1, b=198, c=1, d=66) + B("c1", "p2", n=50, a=150, b=1, c=11, d=60), "read", "c1 p1 380; c1 p2 380", why="the query counts nucleotides")
case("1-tblastn", B("p1", "c1", n=66, a=1, b=66, c=1, d=198) + B("p1", "c2", n=50, a=1, b=50, c=400, d=251), "read", "p1 c1 380; p1 c2 380")
case("1-blast-identical", B("q1", "s1", p="100", n=80, mm=0, a=1, b=80, c=1, d=80, e="0.0", bits="160") + B("q2", "s1", p="100.00", n=80, mm=0, a=1, b=80, c=1, d=80, e="0.0", bits="160"), "read", "q1 s1 160; q2 s1 160")
case("1-blast-numbers-as-names", B(101, 205) + B(102, 205, e="3e-9", bits="99"), "read", "101 205 380; 102 205 99")
case("1-blast-gaps", B("q1", "s1", n=230, g=4, a=1, b=210, c=5, d=224) + B("q1", "s2", n=201, g=1), "read", "q1 s1 380; q1 s2 380")
case("1-blast-one-line", B("q1", "s1"), "read", "q1 s1 380")
case("1-mmseqs-usual", B("q1", "s1", p="0.985") + B("q1", "s2", p="0.312", e="1.2E-03", bits="44"), "read", "q1 s1 380; q1 s2 44")
case("1-diamond-fraction-bits", B("q1", "s1", bits="380.5") + B("q1", "s2", bits="77.8"), "read", "q1 s1 380.5; q1 s2 77.8")
case("1-blast-14-columns", "".join(line[:-1] + "\t300\t310\n" for line in (B("q1", "s1"), B("q1", "s2", bits="120"))), "read", "q1 s1 380; q1 s2 120", why="qlen and slen after the usual twelve")
case("1-blast-and-rest-late", "".join(B(f"q{i}", f"s{i}") for i in range(300)) + B("x", "y", e="0.0", bits="500"), "read", "; ".join(f"q{i} s{i} 380" for i in range(300)) + "; x y 500")
case("1-paf", lines([["r1", 5000, 10, 4000, "+", "r2", 6000, 100, 4100, 3500, 4000, 60], ["r1", 5000, 10, 3000, "-", "r3", 7000, 100, 3100, 2500, 3000, 60]]), "read", "r1 r2 3500; r1 r3 2500")
case("1-hybrid-cols-12-text", lines([["g1", "g2", "x"] + list(range(9)), ["g2", "g3", "y"] + list(range(9))]), "refuse")
case("1-g6-line", "E?bw\n", "refuse", file="one.g6", contains=["graph6"])
case("1-g6-many", "DQc\nDqK\nD~{\n", "refuse", file="all.g6", contains=["graph6"])
case("1-s6", ":Fa@x^\n:DaGn\n", "refuse", file="two.s6", contains=["sparse6"])
case("1-d6", "&B?G\n&BP_\n", "refuse", file="two.d6", contains=["digraph6"])
case("1-infomap-star-first", "*Multilayer\n1 1 1 2 1\n1 2 2 1 1\n", "refuse", contains=["*Multilayer"])
case("1-infomap-inter", "*Inter\n1 1 2 1\n2 2 1 1\n", "refuse", contains=["*Inter"])
case("1-infomap-states", "*States\n1 1 a\n2 1 b\n*Links\n1 2 1\n", "refuse", contains=["*States"])
case("1-infomap-contexts", "# trigrams\n*Contexts\n1 2 1 1\n2 1 2 1\n", "refuse", contains=["*Contexts"])
case("1-star-unknown", "*Matrix\n0 1 1\n1 0 1\n1 1 0\n", "refuse", contains=["*Matrix"])
case("1-star-tie", "*Tie data\n*node data\na b\nb c\n", "refuse")
case("1-train2id", "3\n0 1 0\n2 1 1\n3 4 1\n", "refuse", why="a count first; the third is a relation")
case("1-entity2id", "2\nann\t0\nbob\t1\n", "refuse")
case("1-count-then-edges", "4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n", "either", "0 1; 1 2; 2 3; 3 0; 0 2", "4 5; 0 1; 1 2; 2 3; 3 0; 0 2", why="numbers of nodes and edges, or an edge")
case("1-count-alone-first", "5\na b\nb c\n", "refuse")

# ---- 2. A delimiter leaves no other inside its fields.
def both(name, text, rule="refuse", *edges, **more): case("2-" + name, text, rule, *edges, **more)
both("tab-four-semicolon", t("g1 g2 a;b 0.5\ng2 g3 c;d 0.25"))
both("tab-four-comma", t("g1 g2 a,b 0.5\ng2 g3 c,d 0.25"))
both("tab-four-pipe", t("g1 g2 a|b 0.5\ng2 g3 c|d 0.25"))
both("tab-five-comma", t("g1 g2 x a,b 1\ng2 g3 y c,d 2"))
both("semicolon-four-comma", s("a, x;b;p;1\nb, y;c;q;2"))
both("semicolon-four-pipe", s("a|x;b;p;q\nb|y;c;q;r"))
both("comma-four-pipe", s("a|x,b,p,q\nb|y,c,q,r"))
both("comma-four-semicolon", s("a;1,b,p,q\nb;2,c,q,r"))
both("pipe-four-comma", s("a|b|x, y|p\nb|c|x, z|q"))
both("pipe-four-tab", "sp|P1|A\tsp|P2|B\tq\tr\nsp|P2|B\tsp|P3|C\tq\tr\n")
both("spaces-in-tab-four", t("New~York Boston x 1\nNew~Haven Boston y 2"))
both("date-semicolons", s("May 1, 2020;a;b;x\nMay 2, 2020;b;c;y"))
both("amount-comma", s("a;b;1,5;x\nb;c;2,5;y"), "refuse", why="decimal commas between semicolons, two more columns")
both("uniprot-extra", "tr|Q1\tg2\tx\t0.5\ntr|Q2\tg3\ty\t0.25\n")
both("go-terms", t("p1 p2 GO:1;GO:2 exp\np2 p3 GO:3;GO:4 exp"))
both("lists-in-cells", t("a b x,y q\nb c z,w q"))
both("coordinates", t("chr1:1-5 chr2:3-9 a;b n\nchr1:7-9 chr2:4-6 a;c n"))
both("json-cells", 'a\tb\tx\t{"k":1,"v":2}\nb\tc\ty\t{"k":1,"v":3}\n')
both("name-last-first", s("Lee, Ann;Ray, Bob\nRay, Bob;Doe, Cyd"), "either", [["Lee, Ann", "Ray, Bob", 1.0], ["Ray, Bob", "Doe, Cyd", 1.0]])
both("name-last-first-tab", t("Lee,~Ann Ray,~Bob\nRay,~Bob Doe,~Cyd"), "read", [["Lee, Ann", "Ray, Bob", 1.0], ["Ray, Bob", "Doe, Cyd", 1.0]], why="tab: nothing else could be meant")
both("uniprot-tab", "sp|P1|A\tsp|P2|B\nsp|P2|B\tsp|P3|C\n", "read", "sp|P1|A sp|P2|B; sp|P2|B sp|P3|C")
both("uniprot-tab-weight", "sp|P1|A\tsp|P2|B\t0.5\nsp|P2|B\tsp|P3|C\t2\n", "read", "sp|P1|A sp|P2|B .5; sp|P2|B sp|P3|C 2")
both("header-decides", s("source,target,score,terms\na,b,1,x;y\nb,c,2,z;w"), "read", "a b 1; b c 2")
both("header-decides-tab", t("source target score terms") + t("a b 1 x,y\nb c 2 z,w"), "read", "a b 1; b c 2")
both("header-semicolon-comma", s("source;target;weight\na, x;b;1\nb;c, y;2"), "read", [["a, x", "b", 1.0], ["b", "c, y", 2.0]])
both("tab-two-comma-once", t("a,x b\nb c"), "read", "a,x b; b c")
both("quoted-comma", '"a,1","b,2"\n"b,2","c,3"\n', "read", "a,1 b,2; b,2 c,3")
both("quoted-tabs-four", '"a\t1","b","x","y"\n"b\t2","c","x","z"\n')
both("decimal-comma", s("a;b;1,5\nb;c;2,5"), "read", "a b 1.5; b c 2.5")
both("spaces-commas", s("a, b, 1\nb, c, 2"), "read", "a b 1; b c 2")
both("space-pairs-tab", "1 2\t1 99\n3 4\t5 6\n", "refuse")
both("colon-space", s("a: b\nb: c"), "refuse", why="is `a:` a name?")
both("comma-pairs-by-semicolon", s("a,b;c,d\nb,c;d,e"), "refuse", why="two edges a line, or two names with commas")
both("comma-pairs-by-pipe", s("a,b|c,d\nb,c|d,e"), "refuse")
both("tab-pairs-by-semicolon", "a\tb;c\td\nb\tc;d\te\n", "refuse")
both("tab-pairs-by-pipe", "a\tb|c\td\ne\tf|g\th\n", "refuse")
both("tab-three-semicolon-weight", "a\tb;c\t0.5\nb\tc;d\t0.25\n", "either", [["a", "b;c", 0.5], ["b", "c;d", 0.25]])
both("tab-labels-comma-three", t("a b x,1\nb c y,2"), "refuse")
both("comma-tab-mix-three", "a\tb,c,1\nb\tc,d,2\n", "refuse")
both("emails-semicolon", s("ann@x.org;bob@x.org\nbob@x.org;cid@x.org"), "read", "ann@x.org bob@x.org; bob@x.org cid@x.org")
both("urls", "http://x.org/a,b http://x.org/c,d\nhttp://x.org/c,d http://x.org/e,f\n", "either", "http://x.org/a,b http://x.org/c,d; http://x.org/c,d http://x.org/e,f")

# ---- 3. The only other number is a weight only if its name says strength.
OTHER = "match_key layer rule block cluster sign status chromosome year era stage phase version batch replicate plate kind mode color flag code level tier round season week month day hour sequence_no line page fold component class_id group community module label_code rank_group is_directed direction relation_id edge_type type"
for word in OTHER.split():
    case(f"3-{word}", s(f"source,target,{word}\na,b,1\nb,c,2\nc,d,2"), "either", "a b; b c; c d", why="a kind, a place or a time: no weight, or a question")
STRONG = "weight score similarity count value strength n_shared num_papers cooccurrences confidence jaccard cosine_similarity correlation bitscore edge_weight Weight shared_papers interactions_count match_probability frequency intensity overlap"
for word in STRONG.split():
    case(f"3-strong-{word}", s(f"source,target,{word}\na,b,1\nb,c,2\nc,d,2"), "read", "a b 1; b c 2; c d 2")
for word in "foo x3 attr mi importance papers flow trips amount".split():
    case(f"3-unknown-{word}", s(f"source,target,{word}\na,b,1\nb,c,2\nc,d,2"), "either", "a b 1; b c 2; c d 2", why="its name says neither: the weight is named, or a question")
case("3-no-header", s("a,b,1\nb,c,2"), "read", "a b 1; b c 2")
case("3-key-and-weight", s("source,target,match_key,weight\na,b,0,1\nb,c,1,2"), "read", "a b 1; b c 2")
case("3-layer-and-score", t("from to layer score") + t("a b 1 5\nb c 2 7"), "read", "a b 5; b c 7")
case("3-two-kinds", t("from to layer year") + t("a b 1 2001\nb c 2 2002"), "either", "a b; b c")

# ---- 4. An identifier that is unique only with its source.
SP = "{0}_l,{1}_l,{0}_r,{1}_r,match_probability\nA,1,B,2,0.5\nA,2,B,3,0.25\n"
for source, key in (("source_dataset", "unique_id"), ("source", "id"), ("dataset", "record_id"), ("source_table", "id"), ("origin", "id"), ("source_dataset", "rec_id")):
    text = SP.format(source, key)
    case(f"4-{source}-{key}", text, "either", "A1 B2 0.5; A2 B3 0.25", shape=True, why="record 2 of A is not record 2 of B")
case("4-clusters-order", s("unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,match_weight\n1,A,1,B,3\n2,A,1,B,4"), "either", "A1 B1 3; A2 B1 4", shape=True)
case("4-suffix-numbers", s("source1,id1,source2,id2,score\nA,1,B,1,0.5\nA,2,B,1,0.25"), "either", "A1 B1 0.5; A2 B1 0.25", shape=True)
case("4-suffix-letters", s("dataset_a,id_a,dataset_b,id_b,score\nA,1,B,1,0.5\nA,2,B,1,0.25"), "either", "A1 B1 0.5; A2 B1 0.25", shape=True)
case("4-left-right", s("left_source,left_id,right_source,right_id,score\nA,1,B,1,0.5\nA,2,B,1,0.25"), "either", "A1 B1 0.5; A2 B1 0.25", shape=True)
case("4-db", t("db_a id_a db_b id_b") + t("uniprot 1 ensembl 1\nuniprot 2 ensembl 1"), "either", "u1 e1; u2 e1", shape=True)
case("4-one-dataset", s("unique_id_l,unique_id_r,match_probability\n1,2,0.5\n2,3,0.25"), "read", "1 2 0.5; 2 3 0.25")

# ---- 5. Lists of nodes obey the header rule of edges.
for word in "unique_id doc_id node_id gene_id accession barcode record_id user_id id name node ID document_id cell_id isolate_id protein_id".split():
    case(f"5-header-{word}", {**MEMBERS, "n.csv": f"{word}\n1\n2\n3\n7\n"}, "either", cmd=NODES.format("n.csv"), contains=["\n7\t"], lacks=[word + "\t"], why="a header above numbers, never a record of that name")
    case(f"5-table-{word}", {**MEMBERS, "n.csv": f"{word},length\n1,10\n7,30\n"}, "either", cmd=NODES.format("n.csv"), contains=["\n7\t"], lacks=[word + "\t", "10\t", "30\t"])
case("5-several", {**MEMBERS, "n.csv": "doc_id,url_id,length\n1,9,10\n7,8,30\n"}, "refuse", cmd=NODES.format("n.csv"), contains=["doc_id", "url_id"])
case("5-id-and-other-id", {**MEMBERS, "n.csv": "sample_id,barcode\n1,9\n7,8\n"}, "refuse", cmd=NODES.format("n.csv"), contains=["sample_id", "barcode"])
case("5-no-candidate", {**MEMBERS, "n.csv": "length,depth\n1,9\n7,8\n"}, "refuse", cmd=NODES.format("n.csv"))
case("5-names-alone", {**MEMBERS, "n.csv": "1\n7\n"}, "read", cmd=NODES.format("n.csv"), contains=["\n7\t"])
case("5-words-no-header", {"e.csv": "source,target\nann,bob\n", "n.txt": "cid\nann\n"}, "read", cmd=NODES.format("n.txt"), contains=["cid\t"])
case("5-column-word-recurs", {"e.csv": "source,target\nname,id\n", "n.txt": "zoe\nname\nid\n"}, "read", cmd=NODES.format("n.txt"), contains=["zoe\t", "name\t", "id\t"])
case("5-index-first", {**MEMBERS, "n.csv": ",doc_id,length\n0,1,10\n1,7,30\n"}, "either", cmd=NODES.format("n.csv"), contains=["\n7\t"], lacks=["10\t", "0\t0\n0\t"])
case("5-id-beside-label", {**MEMBERS, "n.csv": "id,label\n1,one\n7,seven\n"}, "read", cmd=NODES.format("n.csv"), contains=["\n7\t"])

# ---- 7. Fractions, exponents and NaN in a column of names.
for name, a, b in (("float-target", "2", "2.0"), ("float-both", "1.0", "2.0"), ("exponent", "1e+05", "2e+05"), ("exponent-mixed", "100000", "1e+05"), ("float-large", "12345678.0", "12345679.0")):
    case(f"7-{name}", s(f"source,target\n{a},{b}\n{b},{a}\n3,{b}"), "refuse", why="numbers that a program wrote as fractions: `2.0` is not the name `2`")
for word in ("nan", "NaN", "NA", "None", "null", "NULL", "<NA>", "N/A"):
    case(f"7-missing-{word.strip('<>').replace('/', '-')}-{sum(map(ord, word))}", s(f"source,target\na,{word}\nb,{word}\nc,d"), "refuse", why="what is missing joins what does not belong together")
case("7-nan-number", s("source,target\n1,nan\n2,nan\n3,4"), "refuse")
case("7-points", s("0,0.5,0.25\n1,0.125,0.5\n2,0.5,0.5"), "refuse", why="a point and its place")
case("7-points-spaces", s("0 0.5 0.25\n1 0.125 0.5\n2 0.5 0.5"), "refuse")
case("7-negative-fractions", s("-0.5,0.25\n0.5,-0.125"), "refuse")
case("7-float-no-header", s("1.0,2.0\n2.0,3.0"), "refuse")
case("7-float-tab-weight", t("1.0 2.0 0.5\n2.0 3.0 0.25"), "refuse")
case("7-versions", s("source,target\n1.2.3,1.2.4\n1.2.4,2.0.0"), "read", "1.2.3 1.2.4; 1.2.4 2.0.0")
case("7-addresses", s("10.0.0.1,10.0.0.2\n10.0.0.2,10.0.0.3"), "read", "10.0.0.1 10.0.0.2; 10.0.0.2 10.0.0.3")
case("7-gene-models", t("AT1G01010.1 AT1G01020.2\nAT1G01020.2 AT2G01010.1"), "read", "AT1G01010.1 AT1G01020.2; AT1G01020.2 AT2G01010.1")
case("7-ec-numbers", t("1.1.1.1 2.7.1.1\n2.7.1.1 3.1.3.9"), "read", "1.1.1.1 2.7.1.1; 2.7.1.1 3.1.3.9")
case("7-hex", t("1e5a 2e6b\n2e6b 3e7c"), "read", "1e5a 2e6b; 2e6b 3e7c")
case("7-name-nancy", s("nancy,nan1\nnan1,ann"), "read", "nancy nan1; nan1 ann")
case("7-leading-zeros", s("007,012\n012,100"), "read", "007 012; 012 100")
case("7-negative-whole", s("-1,2\n2,-3"), "read", "-1 2; 2 -3")
case("7-big-whole", s("9007199254740993,2\n2,9007199254740995"), "read", "9007199254740993 2; 2 9007199254740995")

# ---- 8. Two tables in one file.
case("8-nodes-then-edges", s("0,Ann\n1,Bob\n2,Cy\n\n0,1\n1,2"), "refuse")
case("8-edges-then-nodes", s("0,1\n1,2\n\n0,Ann\n1,Bob"), "refuse")
case("8-tab", t("0 Ann\n1 Bob") + "\n" + t("0 1\n1 0"), "refuse")
case("8-spaces", s("a 1.5\nb 2.5\n\na b\nb c"), "refuse")
case("8-header-twice", s("id,name\n1,Ann\n2,Bob\n\nsource,target\n1,2"), "refuse")
case("8-edges-header-nodes", s("source,target\n1,2\n2,3\n\nid,name\n1,Ann\n2,Bob"), "refuse")
case("8-three-then-two", s("a b 1\nb c 2\n\na x\nb y"), "refuse")
case("8-weights-then-words", s("a b 1\nb c 2\n\na b knows\nb c likes"), "refuse")
case("8-same-kind", s("a,b\nb,c\n\nc,d\nd,e"), "read", "a b; b c; c d; d e", why="a blank line alone divides nothing")
case("8-same-numbers", s("1 2\n2 3\n\n\n3 4"), "read", "1 2; 2 3; 3 4")
case("8-blank-at-end", s("1 2\n2 3") + "\n\n", "read", "1 2; 2 3")
case("8-blank-after-header", s("source,target\n\na,b\nb,c"), "read", "a b; b c")
case("8-many-blank", s("1 2\n\n2 3\n\n3 4\n\n4 5"), "read", "1 2; 2 3; 3 4; 4 5")
case("8-stored-weights", s("a b 1\nb c 2\n\nc d 3\nd e 4"), "read", "a b 1; b c 2; c d 3; d e 4")

# ---- Numbers and a word for each: dictionaries, colors and names of features of other programs.
case("8-dictionary", t("0 nul\n1 een\n2 twee\n3 drie"), "refuse", why="a table of nodes and their labels, as mcl writes")
case("8-dictionary-gaps", s("11 elf\n22 zwei\n33 drei\n44 vier"), "refuse")
case("8-colors", s("0 cyan\n5 black\n13 black\n14 red"), "refuse")
case("8-feature-names", "0\t birthday;feature 5\n1\t education;id;feature 14\n2\t work;feature 3\n", "refuse")
case("8-dictionary-declared", t("0 nul\n1 een\n2 twee"), "read", "0 nul; 1 een; 2 twee", cmd=COMPONENTS.format("input") + " --columns 1,2")
case("8-users-and-things", s("1 pear\n1 fig\n2 pear\n3 fig"), "read", "1 pear; 1 fig; 2 pear; 3 fig", why="a number leads to several: edges")

# ---- 9. What a file says of direction or of kinds is used, refused or mentioned.
for name, text in (("konect-sym", "% sym unweighted\n1 2\n2 3\n"), ("konect-sym-weighted", "% sym positive\n1 2 4\n2 3 5\n")):
    case("9-" + name, text, "either", cmd=EXPORT.format("out.x"), file="out.x", contains=["1\t2", "2\t1", "2\t3", "3\t2"])
case("9-gephi-undirected", s("Source,Target,Type\na,b,Undirected\nb,c,Undirected"), "either", cmd=EXPORT.format("e.csv"), file="e.csv", contains=["a\tb", "b\ta", "b\tc", "c\tb"])
case("9-gephi-undirected-weight", s("Source,Target,Type,Weight\na,b,Undirected,2\nb,c,Undirected,3"), "either", cmd=EXPORT.format("e.csv"), file="e.csv", contains=["a\tb", "b\ta"])
case("9-gephi-mixed", s("Source,Target,Type\na,b,Directed\nb,c,Undirected"), "either", cmd=EXPORT.format("e.csv"), file="e.csv", contains=["a\tb", "b\tc", "c\tb"], lacks=["b\ta"])
UNDIRECTED = "outcore build {} -o g"
case("9-gephi-directed", s("Source,Target,Type\na,b,Directed\nb,c,Directed"), "read", cmd=UNDIRECTED.format("e.csv"), file="e.csv", contains=["irected"], why="a directed file that is read as undirected is mentioned")
case("9-konect-asym", "% asym unweighted\n1 2\n2 3\n", "read", cmd=UNDIRECTED.format("out.x"), file="out.x", contains=["irected"])
case("9-graphml-directed", '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>\n', "read", cmd=UNDIRECTED.format("g.graphml"), file="g.graphml", contains=["irected"])
case("9-gml-directed", "graph [\n directed 1\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]\n", "read", cmd=UNDIRECTED.format("g.gml"), file="g.gml", contains=["irected"])
case("9-gexf-directed", '<gexf version="1.2"><graph defaultedgetype="directed"><nodes><node id="a"/><node id="b"/></nodes><edges><edge source="a" target="b"/></edges></graph></gexf>\n', "read", cmd=UNDIRECTED.format("g.gexf"), file="g.gexf", contains=["irected"])
case("9-pajek-arcs", "*Vertices 3\n*Arcs\n1 2 1\n2 3 1\n", "read", cmd=UNDIRECTED.format("g.net"), file="g.net", contains=["irected"])
KIND = "outcore cluster {} --method modularity --output-header -o - -q"
for name, file, text in (("konect-bip", "out.x", "% bip unweighted\n1 1\n1 2\n2 2\n3 3\n"), ("pajek-two-mode", "p.net", "*Vertices 5 2\n*Edges\n1 3 1\n1 4 1\n2 5 2\n2 4 1\n"),
                         ("pajek-two-mode-labels", "p.net", '*Vertices 5 2\n1 "a"\n2 "b"\n3 "x"\n4 "y"\n5 "z"\n*Edges\n1 3 1\n1 4 1\n2 5 2\n2 4 1\n'), ("infomap-bipartite", "b.net", "*Vertices 5\n*Bipartite 3\n1 3 1\n1 4 1\n2 5 2\n2 4 1\n")):
    case("9-" + name, text, "either", cmd=KIND.format(file), file=file, contains=["kind"])
case("9-pajek-inside-kind", "*Vertices 5 2\n*Edges\n1 2 1\n1 4 1\n2 5 2\n", "refuse", cmd=KIND.format("p.net"), file="p.net", why="an edge inside a kind")

# ---- 11. Formats: weights in SIF, ends that were never declared.
case("11-sif-colon-weights", "A -> B:0.5\nA -> C:2\n", "either", "A B 0.5; A C 2", file="f.sif")
case("11-sif-colon-weights-tab", t("A pp B:0.5\nA pp C:2"), "either", "A B 0.5; A C 2", file="f.sif")
case("11-sif-numbers", s("A 0.5 B\nA 2 C\nB 1 D"), "either", "A B 0.5; A C 2; B D 1", file="f.sif")
case("11-sif-exponents", s("A 5e-1 B\nA 2.0 C"), "either", "A B 0.5; A C 2", file="f.sif")
case("11-sif-usual", s("A pp B\nA pd C D\nE"), "read", "A B; A C; A D; E", file="f.sif")
case("11-sif-curies", s("GO:1 is_a GO:2\nGO:2 is_a GO:3"), "read", "GO:1 GO:2; GO:2 GO:3", file="f.sif", why="`GO:2` is a name: sources have the same form")
case("11-sif-number-names", s("1 pp 2\n2 pp 3"), "read", "1 2; 2 3", file="f.sif")
GRAPHML = '<graphml><graph edgedefault="undirected">{}</graph></graphml>\n'
case("11-graphml-undeclared", GRAPHML.format('<node id="a"/><node id="b"/><edge source="a" target="b"/><edge source="b" target="z"/>'), "refuse", file="g.graphml", contains=["z"])
case("11-graphml-undeclared-source", GRAPHML.format('<node id="a"/><edge source="q" target="a"/>'), "refuse", file="g.graphml", contains=["q"])
case("11-graphml-declared-late", GRAPHML.format('<edge source="a" target="b"/><node id="a"/><node id="b"/>'), "either", "a b", file="g.graphml")
case("11-graphml-no-nodes", GRAPHML.format('<edge source="a" target="b"/>'), "either", "a b", file="g.graphml")
case("11-graphml-fine", GRAPHML.format('<node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/>'), "read", "a b; c", file="g.graphml")
case("11-gml-undeclared", "graph [\n node [ id 1 ]\n edge [ source 1 target 2 ]\n]\n", "refuse", file="g.gml", contains=["2"])
case("11-gexf-undeclared", '<gexf><graph><nodes><node id="a"/></nodes><edges><edge source="a" target="b"/></edges></graph></gexf>\n', "refuse", file="g.gexf", contains=["b"])
case("11-tgf-undeclared", "1 a\n2 b\n#\n1 2\n2 9\n", "either", "1 2; 2 9", file="g.tgf", why="nodes are labels there: those without one need no line")

# ---- 12. R's row names.
case("12-r-rows-filtered", '"from"\t"to"\t"weight"\n"17"\t"a"\t"b"\t3\n"4"\t"b"\t"c"\t2\n"9"\t"c"\t"d"\t2\n', "either", "a b 3; b c 2; c d 2")
case("12-r-rows-words", '"from" "to" "weight"\n"r1" "a" "b" 3\n"r2" "b" "c" 2\n', "either", "a b 3; b c 2")
case("12-r-rows-plain", "from to\n1 a b\n2 b c\n3 c d\n", "either", "a b; b c; c d")
case("12-r-rows-falling", "from\tto\tscore\n9\ta\tb\t3\n5\tb\tc\t2\n", "either", "a b 3; b c 2")
case("12-r-rows-repeat", "from,to\n1,a,b\n1,b,c\n", "either", "a b; b c", why="a header one field shorter, as R writes it, or a bad line")
case("12-csv-row-index", '"","from","to"\n"1","a","b"\n"2","b","c"\n', "read", "a b; b c")

# ---- 17. Every documented pair of names is one of plain source and target, or of two kinds, in one table.
PLAIN = "source,target;from,to;src,dst;query,target;citing,cited;node1,node2;protein_a,protein_b;id_l,id_r;ltable_id,rtable_id;l_id,r_id;_lid,_rid;ltable_record_id,rtable_record_id;left_id,right_id;head,tail;caller,callee;sender,recipient"
for pair in PLAIN.split(";"):
    a, b = pair.split(",")
    case(f"17-{a}-{b}", s(f"{a},{b},score\n1,2,0.5\n2,3,0.25"), "read" if a not in ("_lid", "l_id") else "either", "1 2 0.5; 2 3 0.25")
for pair in "user_id,item_id;gene,disease;customer_id,product_id;author,paper;actor,movie".split(";"):
    a, b = pair.split(",")
    case(f"17-{a}-{b}", s(f"{a},{b}\n1,1\n1,2\n2,2"), "read", "a1 b1; a1 b2; a2 b2", shape=True)
