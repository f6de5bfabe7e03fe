"""Rules of what files of communities mean: delimiters, tables, labels, and warnings of every method."""
from lib import *

EDGES = "a\tb\nb\tc\nc\ta\nc\td\nd\te\ne\tf\nf\td\n"
TRUTH = "a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n"
SCORE = "outcore build e.tsv -o g -q && outcore score g {}"
COMPARE = "outcore compare {} t.tsv -q"
SAME = ["in both         6 nodes", "moved           0 nodes"]
def scored(name, file, text, rule="refuse", contains=None, why=""):
    case(name, {"e.tsv": EDGES, file: text}, rule, cmd=SCORE.format(file), contains=contains, why=why)
def compared(name, file, text, rule="either", contains=SAME, why=""):
    case(name, {file: text, "t.tsv": TRUTH}, rule, cmd=COMPARE.format(file), contains=contains if rule != "refuse" else None, why=why)

# ---- 2. Delimiters of files of communities.
for other, sign in (("comma", ", "), ("semicolon", ";"), ("pipe", "|"), ("comma-close", ",")):
    compared(f"2-communities-tab-three-{other}", "c.txt", "".join(f"{n}\t{k}\tCD4{sign}x\n" for n, k in zip("abcdef", "000111")), "refuse")
compared("2-communities-tab-comma-names", "c.tsv", "a\t0,x\nb\t0,x\nc\t0,x\nd\t1,y\ne\t1,y\nf\t1,y\n", "read", why="two columns between tabs")
compared("2-communities-comma-semicolon", "c.csv", "a;x,0\nb;y,0\nc;z,1\n", "refuse")
compared("2-communities-semicolon-comma", "c.csv", "a;0,5\nb;0,5\nc;1,5\n", "either", ["only in B       3 nodes"])
compared("2-communities-spaces-tab", "c.txt", "a b\tc d\ne f\ta c\n", "either", ["only in"])
compared("2-communities-csv", "c.csv", "a,0\nb,0\nc,0\nd,1\ne,1\nf,1\n", "read")
compared("2-communities-semicolon", "c.csv", "a;0\nb;0\nc;0\nd;1\ne;1\nf;1\n", "read")
compared("2-communities-spaces", "c.txt", "a 0\nb 0\nc 0\nd 1\ne 1\nf 1\n", "read")

# ---- 6. Tables of communities.
def table(header, rows, sign=","): return "\n".join([sign.join(header.split(",")), *(sign.join(row) for row in rows)]) + "\n"
K = "000111"
for sign, ending in ((",", "csv"), ("\t", "tsv")):
    compared(f"6-index-leiden-{ending}", f"o.{ending}", table(",leiden", [(n, k) for n, k in zip("abcdef", K)], sign), "read", why="the index of pandas is the node")
    compared(f"6-index-genes-leiden-{ending}", f"o.{ending}", table(",n_genes,leiden", [(n, "1" + k, k) for n, k in zip("abcdef", K)], sign), "either")
    compared(f"6-index-name-{ending}", f"o.{ending}", table("index,cluster", [(n, k) for n, k in zip("abcdef", K)], sign), "either")
    for names in ("leiden_0.5,leiden_1.0", "leiden,louvain", "leiden_r0.5,leiden_r1,louvain", "cluster_a,cluster_b", "community,module", "seurat_clusters,RNA_snn_res.0.8", "group1,group2", "n_genes,leiden_r0.5,leiden_r1"):
        columns = names.count(",") + 1
        scored(f"6-several-{names.replace(',', '-')}-{ending}", f"o.{ending}", table("," + names, [(n, *(str((int(k) + j) % 3) for j in range(columns))) for n, k in zip("abcdef", K)], sign), "refuse", contains=names.split(",")[-2:])
    scored(f"6-several-nodes-{ending}", f"o.{ending}", table("gene_id,protein_id,cluster", [(n, n * 2, k) for n, k in zip("abcdef", K)], sign), "refuse", contains=["gene_id", "protein_id"])
compared("6-named-first", "o.csv", table("node,community,extra", [(n, k, "x") for n, k in zip("abcdef", K)]), "read")
compared("6-barcode-leiden", "o.csv", table("barcode,leiden", [(n, k) for n, k in zip("abcdef", K)]), "read")
compared("6-gene-module", "o.csv", table("gene,module,kME", [(n, k, "0.5") for n, k in zip("abcdef", K)]), "read")
compared("6-unnamed-both", "o.csv", table(",", [(n, k) for n, k in zip("abcdef", K)]), "either")
compared("6-r-write-csv", "o.csv", '"","node","cluster"\n' + "".join(f'"{i}","{n}",{k}\n' for i, (n, k) in enumerate(zip("abcdef", K), 1)), "either")
compared("6-r-write-table", "o.txt", '"cluster"\n' + "".join(f'"{n}" {k}\n' for n, k in zip("abcdef", K)), "either", why="row names of R are the nodes")
for label in ("group_1", "OG0000000", "family1", "circle0", "Cluster_1", "community-3", "HOG0001", "1", "module1"):
    compared(f"6-label-colon-{label}", "g.txt", f"{label}: a b c\n{label}x: d e f\n", why="what ends in `:` is no member")
    compared(f"6-label-colon-tab-{label}", "g.txt", f"{label}:\ta\tb\tc\n{label}x:\td\te\tf\n")
for label in ("group", "family", "circle", "cluster", "community"):
    compared(f"6-label-word-{label}", "g.txt", f"{label}0\ta\tb\tc\n{label}1\td\te\tf\n", "either", why="a first field that says what the line is")
    compared(f"6-label-word-ragged-{label}", "g.txt", f"{label}0\ta\tb\tc\td\n{label}1\te\tf\n", "either", contains=["in both         6 nodes"])
compared("6-snap-circles", "0.circles", "circle0\ta\tb\tc\ncircle1\td\te\n", "either", contains=["in both         5 nodes"])
compared("6-members-usual", "g.txt", "a\tb\tc\nd\te\tf\n", "either")
compared("6-members-ragged", "g.txt", "a\tb\tc\td\ne\tf\n", "read", contains=["in both         6 nodes"])
compared("6-members-spaces", "g.txt", "a b c d\ne f\n", "read", contains=["in both         6 nodes"])
compared("6-header-ragged", "g.tsv", "Orthogroup\tsp1\tsp2\nOG1\ta, b\tc\nOG2\td, e\t\nOG3\tf\n", "refuse")
compared("6-orthofinder", "Orthogroups.tsv", "Orthogroup\tHuman\tMouse\tFly\nOG0000000\ta, b\tc\t\nOG0000001\td\te\tf\n", "either")
compared("6-orthofinder-n0", "N0.tsv", "HOG\tOG\tGene Tree Parent Clade\tHuman\tMouse\nN0.HOG0000000\tOG0000000\tn0\ta, b\tc\nN0.HOG0000001\tOG0000001\tn1\td\te, f\n", "either")
compared("6-orthofinder-counts", "Orthogroups.GeneCount.tsv", "Orthogroup\tHuman\tMouse\tTotal\nOG0000000\t2\t1\t3\nOG0000001\t1\t2\t3\n", "refuse")
compared("6-empty-cells", "g.tsv", "a\tb\t\tc\nd\t\te\tf\n", "refuse", why="an empty cell is of a table")
compared("6-empty-cells-comma", "g.csv", "a,b,,c\nd,,e,f\n", "refuse")
compared("6-header-clusters", "g.csv", "cluster_1,cluster_2\na,d\nb,e\nc,f\n", "refuse", why="a column for each cluster")
compared("6-size-column", "g.tsv", "cluster\tsize\tmembers\n0\t3\ta,b,c\n1\t3\td,e,f\n", "refuse")
compared("6-members-cell", "g.csv", 'cluster,members\n0,"a,b,c"\n1,"d,e,f"\n', "refuse")
for name, text in (("cdlib", '{"communities": [["a","b","c"],["d","e","f"]], "algorithm": "louvain", "params": {}, "overlap": false, "coverage": 1.0}\n'), ("lists", '[["a","b","c"],["d","e","f"]]\n'), ("object", '{"a": 0, "b": 0, "c": 0, "d": 1, "e": 1, "f": 1}\n'),
                   ("pretty", '{\n "communities": [\n  ["a", "b"],\n  ["c"]\n ]\n}\n'), ("networkx", '{"directed": false, "nodes": [{"id": "a", "community": 0}], "links": []}\n')):
    compared(f"6-json-{name}", "d.json", text, "either")

# ---- 10. Own results are read back without an option, whatever the names are.
def back(name, rows, options, out, why=""):
    text = "source,target,weight\n" + "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row[:2]) + f",{row[2]}\n" for row in rows)
    nodes = len({cell for row in rows for cell in row[:2]})
    nodes = f"in both         {nodes} nodes"
    # Two columns without a header, and JSON, do not say that they are nodes: see the cases of lists below.
    as_nodes = "" if (options, out[-3:]) == ("", "tsv") or out.endswith("jsonl") else f"outcore cluster e.csv --nodes {out} --method components -o n.tsv -q && "
    case(name, {"e.csv": text}, "read", why=why, contains=[nodes, "moved           0 nodes"],
         cmd=f"outcore build e.csv -o g -q && outcore cluster g --method components -o c.parquet -q && outcore cluster g --method components {options} -o {out} -q && outcore compare c.parquet {out} -q && outcore score g {out} -q >/dev/null && outcore cluster g --initial {out} --method modularity -o i.tsv -q && outcore cluster g --method components --match {out} -o m.tsv -q && {as_nodes}outcore export g --communities {out} -o x.graphml -q")
ODD = {
    "spaces": [(" a", "b ", 1), ("b ", " c ", 2), ("d", " e", 1)],
    "hash": [("#a", "#b", 3), ("#b", "c", 1), ("#d", "%e", 2)],
    "percent": [("%a", "%b", 3), ("%b", "c", 1), ("d", "e", 2)],
    "header": [("node", "community", 1), ("community", "id", 2), ("cluster", "path", 1)],
    "quotes": [('"a', 'b"', 1), ('b"', 'c""d', 2), ("e", '"', 1)],
    "commas": [("a,b", "c, d", 1), ("c, d", "e;f", 2), ("x|y", "z", 1)],
    "numbers": [("1", "2", 1), ("2", "10", 2), ("7", "8", 1)],
    "zeros": [("0", "00", 1), ("00", "000", 2), ("7", "07", 1)],
    "colons": [("a:", "b:", 1), ("b:", "1:2", 2), ("0:0", "0:1", 1)],
    "words": [("group_1:", "circle0", 1), ("circle0", "family", 2), ("OG1", "x", 1)],
    "missing": [("na", "x", 1), ("x", "none", 2), ("q", "r", 1)],
    "dashes": [("-", "--", 1), ("--", "- a", 2), ("q", "r", 1)],
}
FORMS = {"tsv": ("", "r.tsv"), "csv": ("", "r.csv"), "jsonl": ("", "r.jsonl"), "header": ("--output-header", "r.tsv"), "weights": ("--member-weights", "r.tsv"), "flow": ("--flow", "r.tsv"), "weights-csv": ("--member-weights", "r.csv")}
for odd, rows in ODD.items():
    for form, (options, out) in FORMS.items():
        back(f"10-{odd}-{form}", rows, options, out)

for form, text in (("tsv", "1\t0\n2\t0\n7\t1\n"), ("jsonl", '{"node":"1","community":0}\n{"node":"2","community":0}\n{"node":"7","community":1}\n')):
    case(f"10-nodes-{form}", {"e.csv": "source,target\n1,2\n", f"c.{form}": text}, "either", cmd=f"outcore cluster e.csv --nodes c.{form} --method components -o - -q", contains=["7\t1"])

# ---- 13. One warning for one fact in every method.
CHAIN = "".join(f"d{i}\td{i + 1}\t0.9\n" for i in range(40)) + "x\ty\t0.9\n"
for name, options in (("components", "--method components"), ("components-threshold", "--method components --min-weight 0.5"), ("modularity-one", "--method modularity --resolution 0.0001"), ("label-propagation", "--method label-propagation --resolution 0")):
    if name != "label-propagation":
        case(f"13-{name}", {"e.tsv": CHAIN}, "read", cmd=f"outcore cluster e.tsv {options} -o c.tsv", contains=["half"], lacks=["--resolution"] if "components" in options else None, why="one component holds more than half of the nodes")
case("13-graph", {"e.tsv": CHAIN}, "read", cmd="outcore build e.tsv -o g -q && outcore cluster g --method components -o c.tsv", contains=["half"], lacks=["--resolution"])
case("13-none", {"e.tsv": "a\tb\nc\td\ne\tf\n"}, "read", cmd="outcore cluster e.tsv --method components -o c.tsv", lacks=["half"], contains=["nodes"])
