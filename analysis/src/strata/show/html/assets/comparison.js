// Draws the figures in light or dark, sorts and filters the table of differences.
(function () {
  "use strict";

  // Each colour that a figure has in light, and what it is in dark.
  const DARK = { "#1b1f24": "#e6e9ed", "#57606a": "#a3adb8", "#e3e6ea": "#2b323a", "#ffffff": "#171c22", "#0072b2": "#56b4e9" };
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");

  function draw(holder, dark) {
    const place = document.getElementById(holder.dataset.figure);
    const text = holder.textContent.replace(/#[0-9a-f]{6}/g, (colour) => (dark && DARK[colour]) || colour);
    place.replaceChildren();
    Bokeh.embed.embed_item(JSON.parse(text)).then(
      function () { place.dataset.state = "drawn"; },
      function (error) {
        place.textContent = "This figure could not be drawn: " + error;
        place.dataset.state = "failed";
      }
    );
  }

  function drawAll(dark) {
    document.querySelectorAll("script[data-figure]").forEach((holder) => draw(holder, dark));
  }

  function table() {
    const rows = document.getElementById("rows");
    if (!rows) { return; }
    const body = rows.tBodies[0];
    const all = Array.from(body.rows);
    const search = document.getElementById("search");
    const every = document.getElementById("every");
    const shown = document.getElementById("shown");

    function filter() {
      const wanted = search.value.trim().toLowerCase();
      let count = 0;
      all.forEach(function (row) {
        const hidden = (row.classList.contains("minor") && !every.checked) ||
          (wanted && !row.textContent.toLowerCase().includes(wanted));
        row.hidden = hidden;
        count += hidden ? 0 : 1;
      });
      shown.textContent = count + " of " + all.length + " shown";
    }

    rows.querySelectorAll("button[data-column]").forEach(function (button) {
      button.addEventListener("click", function () {
        const head = button.closest("th");
        const down = head.getAttribute("aria-sort") !== "descending";
        rows.querySelectorAll("th[aria-sort]").forEach((one) => one.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => Number(row.dataset.n.split(" ")[Number(button.dataset.column)]);
        const ordered = all.slice().sort((a, b) => (down ? value(b) - value(a) : value(a) - value(b)));
        body.append(...ordered);
      });
    });
    // A box or link of the graph searches for its node or topic.
    document.querySelectorAll(".graph .pick").forEach(function (pick) {
      function find() {
        search.value = pick.dataset.search;
        every.checked = true;
        filter();
        document.getElementById("differences").scrollIntoView();
      }
      pick.setAttribute("tabindex", "0");
      pick.addEventListener("click", find);
      pick.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); find(); }
      });
    });
    search.addEventListener("input", filter);
    every.addEventListener("change", filter);
    filter();
  }

  document.addEventListener("DOMContentLoaded", function () {
    table();
    drawAll(scheme.matches);
    scheme.addEventListener("change", (event) => drawAll(event.matches));
    window.addEventListener("beforeprint", () => drawAll(false));
    window.addEventListener("afterprint", () => drawAll(scheme.matches));
  });
})();
