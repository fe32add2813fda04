// The page of a comparison: shows what its address selects (#diff=hop:3), the rows of the table,
// how far the quantiles moved, and the layers of both sides.
(function (strata) {
  "use strict";

  let data = {}, rows = [], figure = null;

  function byId(id) { return document.getElementById(id); }

  // Whether a row is of what is selected: a subject, a node, or a layer of anything.
  function isOf(row, diff) {
    const at = diff.indexOf(":"), kind = diff.slice(0, at), name = diff.slice(at + 1);
    if (kind === "node") return row.dataset.nodes.split(" ").includes(name);
    if (kind === "layer") return row.dataset.layer === name;
    return row.dataset.subject === diff;
  }

  function words(diff) {
    const name = diff.slice(diff.indexOf(":") + 1);
    if (diff.startsWith("node:")) return "hops to " + name + " and its callbacks";
    if (diff.startsWith("layer:")) return "layer " + name;
    return data[diff].name;
  }

  // The subject whose quantiles and layers are shown: of several, that of the first row.
  function subjectOf(diff, selected) {
    if (diff && data[diff]) return diff;
    return selected.length ? selected[0].dataset.subject : Object.keys(data)[0];
  }

  function draw(state) {
    const asked = state.diff || "";
    const selected = asked ? rows.filter(function (row) { return isOf(row, asked); }) : [];
    // An address of another page may name what this one does not have.
    const diff = selected.length ? asked : "";
    const subject = subjectOf(diff, selected);
    drawRows(diff, selected, state.rows === "all");
    byId("chosen-words").textContent = diff && !data[diff] ? "of the selected " + words(diff) : asked && !diff ? "This page does not have what its address selects." : "";
    byId("diff-clear").hidden = !asked;
    document.querySelectorAll("[data-selects]").forEach(function (part) {
      const isPicked = part.dataset.selects === diff;
      part.classList.toggle("picked", isPicked);
      part.setAttribute("aria-pressed", String(isPicked));
    });
    if (subject) drawSubject(subject);
  }

  function drawRows(diff, selected, everything) {
    const wanted = new Set(selected);
    let count = 0;
    rows.forEach(function (row) {
      const isShown = diff ? wanted.has(row) : everything || !row.classList.contains("minor");
      row.hidden = !isShown;
      count += isShown ? 1 : 0;
    });
    byId("every").checked = everything || Boolean(diff);
    byId("every").disabled = Boolean(diff);
    byId("shown").textContent = count.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " shown" + (diff ? ": " + words(diff) : "");
    byId("no-rows").hidden = count > 0;
  }

  function drawSubject(subject) {
    const one = data[subject];
    byId("subject").value = subject;
    byId("found-words").textContent = one.found;
    drawCurve(one.curve);
    let hasLayers = false;
    document.querySelectorAll("[data-layers-of]").forEach(function (part) {
      part.hidden = part.dataset.layersOf !== subject;
      hasLayers = hasLayers || !part.hidden;
    });
    byId("no-layers").hidden = hasLayers;
  }

  function drawCurve(curve) {
    const place = byId("shift");
    byId("no-shift").hidden = Boolean(curve);
    if (!place) return;
    place.hidden = !curve;
    if (!curve) return;
    place.setAttribute("aria-label", "How far each quantile moved: " + curve.summary);
    if (!figure || figure.curve === curve) return;
    figure.curve = curve;
    figure.points.data = curve.points;
    figure.band.data = curve.band;
    const plot = figure.plot, at = curve.points.x;
    plot.y_range.start = curve.low; plot.y_range.end = curve.high;
    plot.x_range.end = at.length - 0.6;
    plot.left[0].axis_label = "B - A (" + curve.unit + ")";
    plot.below[0].major_label_overrides = new Map(at.map(function (x, number) { return [x, curve.points.name[number]]; }));
    plot.below[0].ticker.ticks = at;
    plot.center.forEach(function (part) { if (part.type === "Grid" && part.ticker && part.dimension === 0) part.ticker.ticks = at; });
  }

  document.addEventListener("strata:drawn", function (event) {
    if (event.detail.place !== "shift") return;
    const plot = event.detail.root, model = plot.document;
    figure = { plot: plot, points: model.get_model_by_name("points"), band: model.get_model_by_name("band"), curve: null };
    draw(strata.address.get());
  });

  // Select, or select nothing where that is selected already.
  strata.choose = function (diff) {
    if (diff === "only") return byId("only").scrollIntoView();
    strata.address.set({ diff: strata.address.get().diff === diff ? undefined : diff, at: undefined });
  };

  // What the search box finds beside what it finds on every page.
  strata.searched = function () {
    const nodes = new Set(), layers = new Set();
    rows.forEach(function (row) {
      row.dataset.nodes.split(" ").filter(Boolean).forEach(function (name) { nodes.add(name); });
      if (row.dataset.layer) layers.add(row.dataset.layer);
    });
    function entry(kind, name, diff) {
      return { kind: kind, name: name, act: function () { strata.address.set({ diff: diff, at: undefined }); } };
    }
    const found = Array.from(nodes, function (name) { return entry("node", name, "node:" + name); });
    Object.keys(data).forEach(function (key) {
      const kind = key.slice(0, key.indexOf(":"));
      found.push(entry(kind, data[key].name.slice(kind.length + 1), key));
    });
    return found.concat(Array.from(layers, function (name) { return entry("layer", name, "layer:" + name); }));
  };

  document.addEventListener("DOMContentLoaded", function () {
    data = JSON.parse(byId("comparison-data").textContent);
    rows = Array.from(byId("rows").tBodies[0].rows);
    document.addEventListener("click", function (event) {
      const button = event.target.closest("button[data-selects]");
      if (button) strata.choose(button.dataset.selects);
    });
    byId("subject").addEventListener("change", function () { strata.address.set({ diff: byId("subject").value, at: undefined }); });
    byId("every").addEventListener("change", function () { strata.address.set({ rows: byId("every").checked ? "all" : undefined, at: undefined }); });
    byId("diff-clear").addEventListener("click", function () { strata.address.set({ diff: undefined }); });
    document.addEventListener("keydown", function (event) {
      if (event.key === "Escape" && !event.target.closest("input, select")) strata.address.set({ diff: undefined });
    });
    strata.address.onChange(draw);
    strata.address.start();
  });
})(window.strata = window.strata || {});
