// Sorts the tables of a report by a column and filters their rows. Without JavaScript, a table stays as it was written.
(() => {
  "use strict";
  // A table with fewer rows is read faster than filtered.
  const LEAST_FILTERED = 8;
  const compare = new Intl.Collator("en", { numeric: true }).compare;

  // Cells hold rounded numbers in readable units; the exact one stands beside them.
  const valueOf = (row, place, number) => {
    const cell = row.cells[place];
    if (!number) return cell.textContent.trim();
    return cell.dataset.value === undefined ? "" : Number(cell.dataset.value);
  };

  // In the order of a column; rows without a value are last in both directions, equal ones stay in the order of the report.
  const ordered = (rows, place, number, way) => {
    const known = rows.map((row) => [valueOf(row, place, number), row]);
    const both = number ? (a, b) => a - b : compare;
    return known.sort(([a], [b]) => (a === "" || b === "" ? (a === "") - (b === "") : way * both(a, b))).map(([, row]) => row);
  };

  const sortable = (table, rows) => {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    for (const [place, head] of heads.entries()) {
      const number = head.classList.contains("number");
      // Of numbers, the largest are first of interest.
      const ways = number ? ["descending", "ascending", ""] : ["ascending", "descending", ""];
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const way = ways[(ways.indexOf(head.getAttribute("aria-sort") ?? "") + 1) % ways.length];
        for (const other of heads) other.removeAttribute("aria-sort");
        if (way) head.setAttribute("aria-sort", way);
        body.append(...(way ? ordered(rows, place, number, way === "ascending" ? 1 : -1) : rows));
      });
    }
  };

  const filterable = (region, rows) => {
    const bar = document.createElement("p"), label = document.createElement("label");
    const input = document.createElement("input"), count = document.createElement("output");
    bar.className = "filter";
    input.type = "search";
    label.append("Filter rows ", input);
    bar.append(label, count);
    region.before(bar);
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\n").toLowerCase());
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [place, row] of rows.entries()) {
        row.hidden = !words.every((word) => texts[place].includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const region of document.querySelectorAll(".scroll[data-sortable]")) {
      const table = region.querySelector("table"), rows = [...table.tBodies[0].rows];
      if (rows.length > 1) sortable(table, rows);
      if (rows.length >= LEAST_FILTERED) filterable(region, rows);
    }
  });
})();
