// The first screen and the messages below it: draws what the address selects.
(function (strata) {
  "use strict";

  const MOST_ROWS = 200;
  let data, figure = null, ownChange = false, current = null;

  function byId(id) { return document.getElementById(id); }

  const element = strata.element;

  function chainOf(state) {
    const wanted = Number(state.chain);
    const named = data.chains.find(function (chain) { return chain.id === wanted; });
    if (named) return named;
    const message = Number(state.msg);
    return data.chains.find(function (chain) { return chain.message.includes(message); }) || data.chains[0];
  }

  function rowOf(chain, state) {
    return state.msg === undefined ? -1 : chain.message.indexOf(Number(state.msg));
  }

  function draw(state) {
    const preferred = chainOf(state);
    if (!preferred) {
      strata.graph.show({ hops: [] }, state);
      return;
    }
    const selection = strata.select(data, preferred, state.sel);
    let row = rowOf(selection.chain, state);
    // Without a choice of the reader's, the first message of the selection is shown.
    if (row < 0 && selection.rows.length) row = selection.rows[0];
    current = { selection: selection, row: row, chain: selection.chain };
    const place = focused();
    drawChain(selection.chain);
    drawFigure(selection, row, Boolean(state.sel));
    drawList(selection, row, state.sel);
    drawMessage(selection, row);
    document.querySelectorAll("[data-selects]").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.selects === state.sel));
    });
    strata.graph.show(selection.chain, state);
    if (place) (document.querySelector(place) || document.body).focus({ preventScroll: true });
  }

  // What has the keyboard, of what is made anew: the same button gets it again.
  function focused() {
    const button = document.activeElement.closest("#message-rows [data-message], #chain-causes [data-selects]");
    if (!button) return "";
    return button.dataset.message ? '#message-rows [data-message="' + button.dataset.message + '"]' : '#chain-causes [data-selects="' + button.dataset.selects + '"]';
  }

  // Causes of the chain, as buttons.
  function drawChain(chain) {
    const select = byId("chain-choice");
    if (select) select.value = String(chain.id);
    const list = byId("chain-causes");
    list.replaceChildren();
    const weight = function (cause) { return Math.max(cause.typical, cause.slowest); };
    const known = chain.causes.map(function (cause, number) { return { cause: cause, number: number }; })
      .filter(function (item) { return item.cause.typical !== null; })
      .sort(function (a, b) { return weight(b.cause) - weight(a.cause); }).slice(0, 6);
    known.forEach(function (item) { list.append(causeButton("cause:" + item.number, item.cause)); });
  }

  function causeButton(selects, cause) {
    const item = element("li"), button = element("button", { type: "button", "data-selects": selects, class: "cause" });
    const head = element("span", { class: "cause-name" });
    head.append(element("span", { class: "swatch layer-" + cause.slug, "aria-hidden": "true" }), element("b", {}, cause.layer), " " + cause.where);
    button.append(head);
    [["typical messages", cause.typical, cause.typical_ns], ["slowest 1 %", cause.slowest, cause.slowest_ns]].forEach(function (group) {
      const line = element("span", { class: "cause-group" }), bar = element("span", { class: "gauge", "aria-hidden": "true" }), fill = element("span", { class: "layer-" + cause.slug });
      fill.style.width = (100 * group[1]).toFixed(1) + "%";
      bar.append(fill);
      line.append(element("span", {}, group[0]), bar, element("span", { class: "cause-share" }, Math.round(100 * group[1]) + " %, " + strata.duration(group[2])));
      button.append(line);
    });
    item.append(button);
    return item;
  }

  function drawFigure(selection, row, chosen) {
    if (!figure) return;
    const chain = selection.chain;
    ownChange = true;
    if (figure.chain !== chain) fillFigure(chain);
    figure.messages.selected.indices = chosen ? selection.rows.slice() : [];
    figure.current.data = row < 0 ? { x: [], y: [] } : { x: [chain.begin[row] / 1e9], y: [chain.latency[row]] };
    ownChange = false;
    byId("latency-words").textContent = chain.count.toLocaleString("en") + " messages: median " +
      strata.duration(chain.p50) + ", p99 " + strata.duration(chain.p99) + ", max " + strata.duration(chain.max) +
      (chain.message.length < chain.count ? "; " + chain.message.length.toLocaleString("en") + " of them are points here (of each stretch of time the fastest, the median and the slowest)" : "");
  }

  const STEPS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8]];

  function ticks(low, high) {
    let chosen = [];
    STEPS.forEach(function (steps) {
      const found = [];
      for (let power = 0; power < 12; power += 1) steps.forEach(function (step) {
        const value = step * Math.pow(10, power);
        if (value >= low && value <= high) found.push(Number(value.toFixed(1)));
      });
      if (found.length <= 7 || !chosen.length) chosen = found;
    });
    return chosen;
  }

  function fillFigure(chain) {
    const first = figure.chain === null;
    figure.chain = chain;
    if (first && chain === data.chains[0]) return;
    const seconds = chain.begin.map(function (ns) { return ns / 1e9; });
    figure.messages.data = {
      x: seconds, y: chain.latency, message: chain.message,
      layer: chain.largest.map(function (at) { return chain.layers[at]; }),
      fill: chain.largest.map(function (at) { return data.fills[chain.layers[at]]; }),
      text: chain.latency.map(strata.duration)
    };
    const edges = chain.histogram.edges, low = edges.slice(0, -1), high = edges.slice(1);
    figure.bars.data = {
      low: low, high: high, count: chain.histogram.counts,
      text: low.map(function (value, at) { return strata.duration(value) + " to " + strata.duration(high[at]); })
    };
    const least = Math.max(Math.min.apply(null, chain.latency), 1) / 1.3, most = Math.max(Math.max.apply(null, chain.latency), 2) * 1.3;
    const begin = Math.min.apply(null, seconds), end = Math.max.apply(null, seconds), pad = Math.max((end - begin) * 0.02, 0.001);
    const plot = figure.plot;
    plot.x_range.start = begin - pad; plot.x_range.end = end + pad;
    plot.y_range.start = least; plot.y_range.end = most;
    figure.beside.x_range.end = Math.max.apply(null, chain.histogram.counts) * 1.05;
    const shown = ticks(least, most);
    [plot, figure.beside].forEach(function (part) { part.left[0].ticker.ticks = shown; });
    figure.p50.location = chain.p50; figure.p99.location = chain.p99;
  }

  document.addEventListener("strata:drawn", function (event) {
    if (event.detail.place !== "latency") return;
    const root = event.detail.root, model = root.document;
    const named = function (name) { return model.get_model_by_name(name); };
    figure = {
      chain: null, plot: root.children[0], beside: root.children[1], messages: named("messages"), current: named("current"),
      bars: named("bars"), p50: named("p50"), p99: named("p99")
    };
    figure.messages.selected.properties.indices.change.connect(function () {
      const rows = figure.messages.selected.indices;
      if (ownChange || !rows.length) return;
      const row = rows.reduce(function (best, at) { return figure.chain.latency[at] > figure.chain.latency[best] ? at : best; });
      strata.address.set({ msg: figure.chain.message[row], chain: figure.chain.id, sel: undefined, at: undefined });
    });
    figure.bars.selected.properties.indices.change.connect(function () {
      const bars = figure.bars.selected.indices;
      if (ownChange || !bars.length) return;
      strata.choose("bar:" + bars[0], figure.chain.id);
    });
    draw(strata.address.get());
  });

  // Select messages, and show the slowest of them.
  strata.choose = function (sel, chain) {
    if (!data.chains.length) return;
    const now = strata.address.get();
    if (now.sel === sel) return strata.address.set({ sel: undefined, at: undefined });
    const preferred = chainOf(chain === undefined ? now : { chain: chain });
    const found = strata.select(data, preferred, sel);
    const row = found.rows[0];
    strata.address.set({
      sel: sel, chain: found.chain.id, at: undefined,
      msg: row === undefined ? undefined : found.chain.message[row]
    });
  };

  function drawList(selection, row, sel) {
    const chain = selection.chain, rows = selection.rows;
    const all = chain.message.length;
    let words = rows.length.toLocaleString("en") + " of " + all.toLocaleString("en") + " messages";
    if (chain.message.length < chain.count) words += " that are on this page (" + chain.count.toLocaleString("en") + " in all)";
    byId("selection-words").textContent = selection.missed
      ? "No message of these chains is behind that. All messages are shown."
      : (selection.label ? selection.label + ": " : "") + words + (selection.value ? ", those longest in it first" : ", the slowest first");
    byId("selection-clear").hidden = !sel;
    const body = byId("message-rows");
    body.replaceChildren();
    byId("selection-head").textContent = selection.head;
    byId("selection-head").hidden = !selection.value;
    rows.slice(0, MOST_ROWS).forEach(function (at) { body.append(listRow(selection, at, at === row)); });
    strata.sortAgain(byId("message-table"));
    byId("message-more").textContent = rows.length > MOST_ROWS ? "The first " + MOST_ROWS + " are listed; previous and next go through all." : "";
  }

  function listRow(selection, at, isCurrent) {
    const chain = selection.chain, id = chain.message[at];
    const line = element("tr", isCurrent ? { "aria-current": "true" } : {});
    const cell = element("td"), button = element("button", { type: "button", class: "as-link", "data-message": id }, "#" + id);
    cell.append(button);
    const cause = chain.causes[chain.cause[at]];
    const named = element("td", { class: "name" });
    if (cause) named.append(element("span", { class: "swatch layer-" + cause.slug, "aria-hidden": "true" }), cause.layer + " " + cause.where);
    line.append(cell, element("td", { class: "num" }, strata.timeOfDay(data, chain.begin[at])),
      numeric(chain.latency[at]));
    if (selection.value) line.append(numeric(selection.value[at]));
    line.append(named, element("td", {}, strata.hasTimeline(data, chain.id, id) ? "●" : ""));
    return line;
  }

  function numeric(ns) {
    return element("td", { class: "num", "data-value": ns }, strata.duration(ns));
  }

  function drawMessage(selection, row) {
    const place = byId("one-message");
    const chain = selection.chain, at = selection.rows.indexOf(row);
    byId("previous").disabled = at <= 0;
    byId("next").disabled = !selection.rows.length || at >= selection.rows.length - 1;
    place.hidden = row < 0;
    byId("no-message").hidden = row >= 0;
    if (row < 0) return;
    const id = chain.message[row], slower = chain.latency.filter(function (value) { return value > chain.latency[row]; }).length;
    byId("message-head").textContent = "Message #" + id + ": " + strata.duration(chain.latency[row]);
    byId("message-words").textContent = "Published at " + strata.timeOfDay(data, chain.begin[row]) + " UTC on " + chain.nodes.replace(/ -> /g, " → ") +
      "; " + (slower ? slower.toLocaleString("en") + " of the " + chain.message.length.toLocaleString("en") + " messages on this page were slower." : "the slowest message of this chain.");
    byId("message-command").textContent = "strata path " + strata.quoted(data.trace) + " --message " + id;
    strata.drawLayers(byId("message-layers"), data, chain, row);
    strata.drawTimeline(byId("timeline"), data, chain.id, id);
  }

  strata.quoted = function (text) {
    return /^[\w./:@%+=-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
  };

  function step(by) {
    const rows = current.selection.rows;
    const at = rows.indexOf(current.row);
    const next = rows[at < 0 ? 0 : at + by];
    if (next !== undefined) strata.address.set({ msg: current.chain.message[next], chain: current.chain.id, at: undefined });
  }

  document.addEventListener("DOMContentLoaded", function () {
    const holder = byId("explorer-data");
    if (!holder) return;
    data = JSON.parse(holder.textContent);
    strata.data = data;
    strata.address.onChange(draw);
    if (data.chains.length) listen();
    strata.address.start();
  });

  function listen() {
    document.addEventListener("click", function (event) {
      const button = event.target.closest("[data-selects]");
      if (button) return strata.choose(button.dataset.selects, button.dataset.chain);
      const message = event.target.closest("[data-message]");
      if (message) strata.address.set({ msg: message.dataset.message, chain: current.chain.id, at: undefined });
    });
    byId("previous").addEventListener("click", function () { step(-1); });
    byId("next").addEventListener("click", function () { step(1); });
    byId("selection-clear").addEventListener("click", function () { strata.address.set({ sel: undefined }); });
    const choice = byId("chain-choice");
    if (choice) choice.addEventListener("change", function () {
      strata.address.set({ chain: choice.value, msg: undefined, sel: undefined, at: undefined });
    });
    document.addEventListener("keydown", function (event) {
      if (event.target.closest("input, select, textarea, .bk-root, svg") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n" || event.key === "j") step(1);
      else if (event.key === "p" || event.key === "k") step(-1);
      else if (event.key === "Escape") strata.address.set({ sel: undefined, msg: undefined });
    });
  }
})(window.strata = window.strata || {});
