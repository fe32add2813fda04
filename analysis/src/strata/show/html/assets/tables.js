// Tables that a click on a column's head sorts. Values are compared as numbers where all cells of
// the column have one (data-value, or a duration or a count as text), else as text.
(function (strata) {
  "use strict";

  const UNITS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, "%": 1, "": 1 };

  function valueOf(cell) {
    if (!cell) return null;
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.replace(/\u00a0/g, " ").replace(/,/g, "").trim();
    const found = /^#?(-?[\d.]+(?:e-?\d+)?)\s*(ns|us|µs|ms|s|%|)$/.exec(text);
    return found ? Number(found[1]) * UNITS[found[2]] : null;
  }

  function turn(head) {
    const now = head.getAttribute("aria-sort");
    const down = now === "ascending" || (now === null && head.classList.contains("num"));
    head.closest("table").querySelectorAll("th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    sort(head);
  }

  function sort(head) {
    const body = head.closest("table").tBodies[0], column = head.cellIndex;
    const rows = Array.from(body.rows), down = head.getAttribute("aria-sort") === "descending";
    const values = new Map(rows.map(function (row) { return [row, valueOf(row.cells[column])]; }));
    const known = rows.filter(function (row) { return row.cells[column] && row.cells[column].textContent.trim() !== "-"; });
    const numeric = known.length > 0 && known.every(function (row) { return values.get(row) !== null; });
    const text = function (row) { return row.cells[column] ? row.cells[column].textContent.trim() : ""; };
    rows.sort(function (a, b) {
      const x = values.get(a), y = values.get(b);
      if (numeric && (x === null || y === null)) return (x === null) - (y === null);
      const order = numeric ? x - y : text(a).localeCompare(text(b));
      return down ? -order : order;
    });
    rows.forEach(function (row) { body.append(row); });
  }

  // New rows in the order that the reader chose.
  strata.sortAgain = function (table) {
    const head = table.querySelector("th[aria-sort]");
    if (head) sort(head);
  };

  // Rows that continue the one above (an executor's next thread) would lose it.
  function isSortable(table) {
    return table.tHead && table.tBodies.length === 1 && table.tBodies[0].rows.length > 1 &&
      !table.querySelector("tbody td.name.muted:first-child, tbody [rowspan]") && table.dataset.sortable !== "no";
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("table").forEach(function (table) {
      if (!isSortable(table) && table.id !== "message-table") return;
      Array.from(table.tHead.rows[0].cells).forEach(function (head) {
        if (!head.textContent.trim() || head.querySelector("button")) return;
        const button = document.createElement("button");
        button.type = "button";
        button.className = "sort";
        button.append.apply(button, Array.from(head.childNodes));
        button.addEventListener("click", function () { turn(head); });
        head.append(button);
      });
    });
    const wide = new ResizeObserver(function (entries) { entries.forEach(function (entry) { reach(entry.target); }); });
    document.querySelectorAll(".scroll:not(.tall)").forEach(function (item) { wide.observe(item); });
  });

  // What scrolls sideways can be reached by the keyboard, so that the arrow keys move it.
  function reach(item) {
    if (item.scrollWidth > item.clientWidth + 1) item.setAttribute("tabindex", "0");
    else item.removeAttribute("tabindex");
  }
})(window.strata = window.strata || {});
