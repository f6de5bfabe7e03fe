"use strict";
// Sorts tables by a click on a heading, keeps the drawing in place when one of its circles is chosen, finds names,
// saves drawings, and goes into a community and back. Without this script the page shows the same: rows as they are, and
// circles that lead to their cards.

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const collator = new Intl.Collator("en", { numeric: true });

function sortBy(table, column, sign) {
  const body = table.tBodies[0];
  const isText = table.tHead.rows[0].cells[column].classList.contains("words");
  const keyed = [...body.rows].map((row) => {
    const text = row.cells[column].textContent.trim();
    return { row, text, number: parseFloat(text.replaceAll(",", "")) };
  });
  const isMissing = ({ text, number }) => text === "" || (!isText && Number.isNaN(number));
  keyed.sort((a, b) => {
    const missing = isMissing(a) - isMissing(b);
    if (missing !== 0 || isMissing(a)) return missing;
    return sign * (isText ? collator.compare(a.text, b.text) : a.number - b.number);
  });
  body.append(...keyed.map(({ row }) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column, all) => {
    const button = element("button", { type: "button" }, ...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const first = heading.classList.contains("words") ? "ascending" : "descending";
      const second = first === "ascending" ? "descending" : "ascending";
      const next = heading.getAttribute("aria-sort") === first ? second : first;
      all.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", next);
      sortBy(table, column, next === "ascending" ? 1 : -1);
    });
  });
}

const targetOf = (link) => link.getAttribute("href").slice(1);

function cardOf(id) {
  const element = document.getElementById(id);
  return element && element.classList.contains("card") ? element : null;
}

// Marks the circle of the chosen card, and the lines that end at it.
function mark() {
  const id = location.hash.slice(1);
  const chosen = cardOf(id) ? id : null;
  for (const svg of document.querySelectorAll("svg.network")) {
    const links = [...svg.querySelectorAll("a")];
    svg.classList.toggle("marked", links.some((link) => targetOf(link) === chosen));
    links.forEach((link) => link.classList.toggle("chosen", targetOf(link) === chosen));
    for (const line of svg.querySelectorAll("[data-ends]")) {
      line.classList.toggle("near", line.dataset.ends.split(" ").includes(chosen));
    }
  }
}

addEventListener("hashchange", mark);
mark();

// Shows a card, or the groups inside a community, without moving the drawing.
function show(target) {
  const [x, y] = [scrollX, scrollY];
  location.hash = target.id;
  scrollTo(x, y);
  target.scrollIntoView({ block: "nearest" });
}

// Returns what a link shows. A circle that is chosen already leads to the groups inside.
function leadsTo(link) {
  const target = document.getElementById(targetOf(link));
  const inside = link.classList.contains("chosen") && target?.querySelector("a.into");
  return inside ? leadsTo(inside) : target;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("svg.network a, .cards a, .search a, .trail a");
  const target = link && leadsTo(link);
  if (!target?.matches(".card, .within") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(target);
  if (target.matches(".within")) target.focus({ preventScroll: true });
  if (!link.matches(".trail a")) return;
  const circles = [...document.querySelectorAll("svg.network a")].filter((circle) => targetOf(circle) === target.id);
  circles.find((circle) => circle.getClientRects().length > 0)?.focus({ preventScroll: true });
});

document.addEventListener("keydown", (event) => {
  const back = document.querySelector(".within:is(:target, :has(:target)) .trail a:last-of-type");
  if (event.key === "Escape" && !event.target.matches("input")) back?.click();
});

// Maximum number of names that are listed.
const FOUND_MAX = 8;

// Returns what can be found in a network: communities by their numbers, and the nodes on their cards.
function findable(network) {
  return [...network.querySelectorAll("article.card")].flatMap((card) => {
    const title = card.querySelector("h3").textContent;
    const names = [...card.querySelectorAll("bdi.node")].map((node) => node.dataset.name ?? node.textContent);
    const nodes = [...new Set(names)].map((text) => ({ text, isNode: true, title, card }));
    return [{ text: card.dataset.number, isNode: false, title, card }, ...nodes];
  });
}

// Returns how well a text fits: 0 if it is the one that is sought, 4 if it does not contain it.
function misfit(text, sought) {
  const [all, part] = [text.toLowerCase(), sought.toLowerCase()];
  if (text === sought || all === part) return text === sought ? 0 : 1;
  return all.startsWith(part) ? 2 : all.includes(part) ? 3 : 4;
}

// Returns a text as an argument in a shell.
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// Returns what is said of a text that is sought: where it is on the page, or the command that finds it in the result.
function answer(all, result, sought) {
  const fits = all.map((each) => ({ ...each, fit: misfit(each.text, sought) })).filter(({ fit }) => fit < 4);
  fits.sort((a, b) => a.fit - b.fit);
  const items = fits.slice(0, FOUND_MAX).map(({ text, isNode, title, card }) => {
    const words = isNode ? [element("bdi", {}, text), `, in ${title}`] : [title];
    return element("li", {}, element("a", { href: `#${card.id}` }, ...words));
  });
  const more = fits.length - items.length;
  if (more > 0) items.push(element("li", {}, `and ${more} more`));
  const list = items.length ? [element("ul", {}, ...items)] : [];
  if (fits.some(({ fit, isNode }) => fit === 0 && isNode)) return list;
  const file = result.startsWith("-") ? `./${result}` : result;
  const command = `outcore inspect ${quoted(file)} --node ${quoted(sought)}`;
  const words = `No node on this page has exactly this name. Type this to find it in the result:`;
  return [...list, element("p", {}, words, " ", element("code", {}, command))];
}

for (const search of document.querySelectorAll(".search")) {
  const input = element("input", { type: "search", autocomplete: "off", spellcheck: false });
  const answers = element("div", { role: "status" });
  search.append(element("label", {}, "Find a community or a node ", input), answers);
  let all;
  input.addEventListener("input", () => {
    all ??= findable(search.parentElement);
    const sought = input.value.trim();
    answers.replaceChildren(...(sought ? answer(all, search.dataset.result, sought) : []));
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") answers.querySelector("a")?.click();
  });
}

// Properties of the style sheet that a drawing outside of the page needs; all but the first pass on to the parts of an element.
const DRAWN = [
  "opacity", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "paint-order", "font-family", "font-size", "text-anchor",
];

// Returns a value in the words of SVG, which has no mixed colors.
function plain(value) {
  const parts = /^color\(srgb (\S+) (\S+) (\S+)\)$/.exec(value);
  return parts ? `rgb(${parts.slice(1).map((part) => Math.round(255 * part)).join(", ")})` : value;
}

// Returns a drawing, as it is seen, as a file of its own.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const copies = copy.querySelectorAll("*");
  const style = (from, to, parent) => {
    const [own, above] = [getComputedStyle(from), parent && getComputedStyle(parent)];
    for (const property of DRAWN) {
      const value = own.getPropertyValue(property);
      const isSame = property === "opacity" ? value === "1" : value === above?.getPropertyValue(property);
      if (!isSame) to.setAttribute(property, plain(value));
    }
    ["class", "data-ends", "data-of"].forEach((name) => to.removeAttribute(name));
  };
  svg.querySelectorAll("*").forEach((from, at) => style(from, copies[at], from.parentNode));
  style(svg, copy);
  // What leads to other parts of the page leads nowhere.
  for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  const { width, height } = svg.viewBox.baseVal;
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  const fill = getComputedStyle(document.body).backgroundColor;
  Object.entries({ width, height, fill, stroke: "none" }).forEach(([name, value]) => paper.setAttribute(name, value));
  copy.prepend(paper);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
}

for (const svg of document.querySelectorAll("svg.wide.network, svg.wide.alluvial")) {
  const figure = svg.closest("figure");
  const save = element("button", { type: "button", className: "save" }, "Save the drawing as SVG");
  figure.append(save);
  save.addEventListener("click", () => {
    const seen = [...figure.querySelectorAll("svg")].find((each) => each.getClientRects().length > 0);
    const href = URL.createObjectURL(new Blob([standalone(seen)], { type: "image/svg+xml" }));
    const name = svg.getAttribute("aria-label").toLowerCase().replace(/[^a-z0-9.]+/g, "-").slice(0, 60);
    element("a", { href, download: `${name}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  });
}
