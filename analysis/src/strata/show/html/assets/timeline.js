// One message over processes and threads: a lane for each thread, spans of the message's own layers,
// and what else ran on those threads meanwhile. Wheel, buttons or + and - zoom; dragging moves.
(function (strata) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const LANE = 46, BAR = 20, TOP = 26, FEW = 0.6;
  let shown = null;

  function svg(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(function (item) { made.setAttribute(item[0], item[1]); });
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function laneName(lane) {
    if (lane.kind !== "thread") return "";
    const process = lane.process || (lane.vpid !== null && lane.vpid !== undefined ? "process " + lane.vpid : "unknown thread");
    return process + (lane.vtid !== null && lane.vtid !== undefined ? ", thread " + lane.vtid : "") + (lane.host && lane.severalHosts ? " on " + lane.host : "");
  }

  function describe(item, span) {
    const parts = [(span.own ? span.layer : span.kind) + ": " + span.label, strata.duration(span.end - span.begin)];
    parts.push("from " + strata.duration(span.begin) + " after the first publish");
    if (span.placed) parts.push("how long is exact, where it lies is not known");
    if (span.waited) parts.push("a message of this route waited " + strata.duration(span.waited) + " behind it");
    if (span.unfinished) parts.push("its end was not recorded");
    if (span.unsynchronised) parts.push("measured by the clocks of two hosts");
    const ran = span.own && item.scheduling.find(function (one) { return one.hop === span.hop && one.layer === span.layer; });
    if (ran) parts.push(schedulingWords(ran));
    return parts.filter(Boolean).join("; ");
  }

  function schedulingWords(one) {
    const states = [["running", one.running], ["preempted", one.preempted], ["blocked", one.blocked]].filter(function (state) { return state[1] > 0; });
    let words = states.map(function (state) { return state[0] + " " + strata.duration(state[1]); }).join(", ");
    if (one.by.length) words += " (CPU taken by " + one.by.slice(0, 3).map(function (who) { return who[0] + " " + strata.duration(who[1]); }).join(", ") + ")";
    if (one.cpuWait) words += (words ? ", " : "") + "waited for a CPU about " + strata.duration(one.cpuWait);
    return words;
  }

  function tickStep(span, count) {
    const rough = span / count, power = Math.pow(10, Math.floor(Math.log10(rough)));
    return power * [1, 2, 5, 10].find(function (m) { return m * power >= rough; });
  }

  function fit(text, width) {
    const most = Math.floor(width / 6.2);
    return most < 3 ? "" : text.length <= most ? text : text.slice(0, most - 1) + "…";
  }

  function draw() {
    const item = shown.item, place = shown.canvas, wide = Math.max(place.clientWidth || 700, 300);
    const left = Math.min(230, Math.max(110, wide * 0.27)), right = 10, inner = wide - left - right;
    const from = shown.from, to = shown.to;
    const x = function (ns) { return left + inner * (ns - from) / Math.max(to - from, 1); };
    const height = TOP + item.lanes.length * LANE + 6;
    const picture = svg("svg", { class: "timeline", viewBox: "0 0 " + wide + " " + height, height: height, role: "group", "aria-label": shown.words });
    const defs = svg("defs", {});
    const pattern = svg("pattern", { id: "other-work", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    pattern.append(svg("rect", { width: 6, height: 6, fill: "var(--card)" }), svg("rect", { width: 2, height: 6, fill: "var(--muted)", opacity: ".45" }));
    const clip = svg("clipPath", { id: "timeline-clip" });
    clip.append(svg("rect", { x: left, y: 0, width: inner, height: height }));
    defs.append(pattern, clip);
    picture.append(defs);
    drawLanes(picture, item, left, inner);
    const inside = svg("g", { "clip-path": "url(#timeline-clip)" });
    drawTicks(picture, x, from, to, left, inner, height);
    drawSpans(inside, item, x);
    drawArrows(inside, item, x);
    [0, item.latency].forEach(function (ns) { inside.append(svg("line", { class: "edge", x1: x(ns), x2: x(ns), y1: TOP - 6, y2: height })); });
    picture.append(inside);
    const focused = place.contains(document.activeElement) && document.activeElement.strataSpan;
    place.replaceChildren(picture);
    const groups = Array.from(picture.querySelectorAll(".span"));
    const stop = groups.find(function (group) { return group.strataSpan === focused; }) || groups[0];
    if (stop) stop.setAttribute("tabindex", "0");
    if (stop && focused) stop.focus({ preventScroll: true });
  }

  function drawLanes(picture, item, left, inner) {
    item.lanes.forEach(function (lane, at) {
      const y = TOP + at * LANE, group = svg("g", { class: lane.kind });
      group.append(svg("rect", { class: "ground", x: left, y: y, width: inner, height: LANE - 6, rx: 3 }));
      const name = laneName(lane), role = fit(lane.role, left - 8);
      if (name) group.append(svg("text", { class: "lane-name", x: 0, y: y + 15 }, fit(name, left - 8)));
      group.append(svg("text", { class: "lane-role", x: 0, y: y + (name ? 30 : 22) }, role));
      const title = svg("title", {}, (name ? name + ": " : "") + lane.role);
      group.append(title);
      picture.append(group);
    });
  }

  function drawTicks(picture, x, from, to, left, inner, height) {
    const step = tickStep(to - from, Math.max(3, inner / 95));
    for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step) {
      picture.append(svg("line", { class: "grid", x1: x(ns), x2: x(ns), y1: TOP - 4, y2: height }));
      picture.append(svg("text", { class: "tick", x: Math.min(x(ns), left + inner - 24), y: 12, "text-anchor": "middle" }, ns === 0 ? "0" : strata.duration(ns).replace(/(\.\d*?)0+ /, "$1 ").replace(/\. /, " ")));
    }
  }

  function drawSpans(inside, item, x) {
    // Other work first: the message's own spans lie over it.
    item.spans.slice().sort(function (a, b) { return a.own - b.own; }).forEach(function (span) {
      const begin = x(Math.min(span.begin, span.end)), width = Math.max(x(Math.max(span.begin, span.end)) - begin, FEW);
      const y = TOP + span.lane * LANE + (span.own ? 3 : 14), high = span.own ? BAR : BAR + 2;
      const words = describe(item, span);
      const group = svg("g", { class: "span" + (shown.chosen === span ? " chosen" : ""), role: "button", tabindex: "-1", "aria-label": words });
      const kind = span.own ? "own layer-" + span.slug : "other" + (span.waited ? " behind" : "");
      group.append(svg("rect", { class: kind, x: begin, y: y, width: width, height: high, rx: 2 }));
      group.append(svg("title", {}, words));
      const text = fit(span.own ? span.layer : span.label, width - 6);
      if (text) group.append(svg("text", { class: span.own ? "own-text layer-" + span.slug : "other-text", x: begin + 3, y: y + (span.own ? 14 : 17) }, text));
      group.strataSpan = span;
      inside.append(group);
    });
  }

  function drawArrows(inside, item, x) {
    item.arrows.forEach(function (arrow) {
      const y0 = TOP + arrow.fromLane * LANE + BAR / 2, y1 = TOP + arrow.toLane * LANE + BAR / 2;
      const x0 = x(arrow.from), x1 = x(arrow.to);
      if (arrow.fromLane === arrow.toLane) return;
      const group = svg("g", { class: "arrow" });
      group.append(svg("path", { class: "arrow-line", d: "M" + x0 + " " + y0 + "L" + x1 + " " + y1 }));
      const angle = Math.atan2(y1 - y0, x1 - x0), tip = 7;
      const points = [0.4, -0.4].map(function (turn) { return (x1 - tip * Math.cos(angle - turn)) + " " + (y1 - tip * Math.sin(angle - turn)); });
      group.append(svg("path", { d: "M" + x1 + " " + y1 + "L" + points[0] + "L" + points[1] + "z", fill: "var(--text)" }));
      group.append(svg("title", {}, "message #" + arrow.message + " of " + arrow.topic));
      inside.append(group);
    });
  }

  function zoom(factor, around) {
    const span = shown.to - shown.from, whole = shown.item.window[1] - shown.item.window[0];
    const next = Math.min(Math.max(span * factor, 200), whole);
    const at = around === undefined ? 0.5 : around;
    let from = shown.from + (span - next) * at;
    from = Math.min(Math.max(from, shown.item.window[0]), shown.item.window[1] - next);
    shown.from = from;
    shown.to = from + next;
    draw();
  }

  function show(span) {
    shown.chosen = span;
    shown.detail.textContent = span ? describe(shown.item, span) : "";
  }

  function tools(item) {
    const line = strata.element("div", { class: "timeline-tools" });
    [["zoom in", 0.5], ["zoom out", 2], ["whole message", 0]].forEach(function (tool) {
      const button = strata.element("button", { type: "button" }, tool[0]);
      button.addEventListener("click", function () {
        if (tool[1]) return zoom(tool[1]);
        shown.from = item.window[0]; shown.to = item.window[1];
        draw();
      });
      line.append(button);
    });
    line.append(strata.element("span", { class: "muted" }, "Filled: layers of this message. Hatched: other work of the same thread; framed in red where the message waited behind it."));
    return line;
  }

  function listen(canvas) {
    canvas.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1));
    }, { passive: false });
    canvas.addEventListener("click", function (event) {
      const group = event.target.closest(".span");
      if (!group) return;
      show(group.strataSpan);
      // Drawn anew, it would not be there for the second click of two.
      canvas.querySelectorAll(".span").forEach(function (other) { other.classList.toggle("chosen", other === group); });
    });
    canvas.addEventListener("dblclick", function (event) {
      const group = event.target.closest(".span");
      if (group) zoomTo(group.strataSpan);
    });
    canvas.addEventListener("focusin", function (event) {
      const group = event.target.closest(".span");
      if (group) shown.detail.textContent = describe(shown.item, group.strataSpan);
    });
    canvas.addEventListener("keydown", function (event) {
      if (event.key === "+" || event.key === "=") return zoom(0.5);
      if (event.key === "-") return zoom(2);
      const group = event.target.closest(".span");
      if (!group) return;
      if (event.key === "Enter") return zoomTo(group.strataSpan);
      const all = Array.from(canvas.querySelectorAll(".span")).sort(function (a, b) { return a.strataSpan.begin - b.strataSpan.begin; });
      const next = all[all.indexOf(group) + (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : NaN)];
      if (!next) return;
      event.preventDefault();
      group.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }

  function zoomTo(span) {
    const wide = Math.max((span.end - span.begin) * 1.6, 200), whole = shown.item.window;
    shown.from = Math.max(span.begin - (wide - (span.end - span.begin)) / 2, whole[0]);
    shown.to = Math.min(shown.from + wide, whole[1]);
    show(span);
    draw();
  }

  function waitedBehind(item) {
    if (!item.behind.length) return null;
    const most = item.behind.slice().sort(function (a, b) { return b.ns - a.ns; }).slice(0, 5);
    const list = strata.element("ul", { class: "note" });
    most.forEach(function (one) { list.append(strata.element("li", {}, strata.duration(one.ns) + " behind " + one.label)); });
    const holder = strata.element("div", {});
    holder.append(strata.element("p", { class: "note" }, "While it waited for its executor, that ran:"), list);
    return holder;
  }

  strata.hasTimeline = function (data, chain, id) { return Boolean(data.timelines.of[chain + ":" + id]); };

  strata.drawTimeline = function (place, data, chain, id) {
    place.replaceChildren();
    const given = data.timelines.of[chain + ":" + id];
    if (!given) {
      place.append(strata.element("p", { class: "empty" }, "The threads of this message are not on this page, which holds those of the slowest messages and of a sample of all" +
        (data.timelines.left_out ? " (" + data.timelines.left_out.toLocaleString("en") + " of them found no space)" : "") + "; the command below shows its path."));
      shown = null;
      return;
    }
    const item = strata.readTimeline(data.timelines, given);
    shown = { item: item, from: item.window[0], to: item.window[1], chosen: null };
    shown.words = "Timeline of message " + id + " over " + item.lanes.length + " lanes, " + strata.duration(item.latency);
    shown.canvas = strata.element("div", { class: "timeline-canvas" });
    shown.detail = strata.element("p", { id: "timeline-detail", role: "status" });
    place.append(strata.element("h3", {}, "Over processes and threads"), tools(item), shown.canvas, shown.detail);
    if (item.leftOut) place.append(strata.element("p", { class: "note" }, item.leftOut + (item.leftOut === 1 ? " shorter stretch" : " shorter stretches") + " of other work left out, " + strata.duration(item.leftOutNs) + " in all."));
    if (item.why.length) place.append(strata.element("p", { class: "note" }, "On this page as " + item.why.slice(0, 3).join("; ") + "."));
    const behind = waitedBehind(item);
    if (behind) place.append(behind);
    listen(shown.canvas);
    draw();
  };

  let pending = 0;
  window.addEventListener("resize", function () {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(function () { if (shown) draw(); });
  });
})(window.strata = window.strata || {});
