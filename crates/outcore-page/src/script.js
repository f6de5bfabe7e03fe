"use strict";
// Sorts tables by a click on a heading, and keeps the drawing in place when one of its circles is chosen. Without this
// script the page shows the same: rows as they are, and circles that lead to their cards.
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
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
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

document.addEventListener("click", (event) => {
  const link = event.target.closest("svg.network a, .cards a");
  const card = link && cardOf(targetOf(link));
  if (!card || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [x, y] = [scrollX, scrollY];
  location.hash = card.id;
  scrollTo(x, y);
  card.scrollIntoView({ block: "nearest" });
});
