// One message as the layers of each hop: every row begins where the one above ends.
(function (strata) {
  "use strict";

  // The first hop names where the message began, the others go on from the node above.
  function hopName(data, chain, step) {
    const nodes = chain.nodes.split(" -> "), hop = data.hops[chain.hops[step]];
    const topic = hop ? hop.topic + " → " : "";
    return (step ? "" : nodes[0] + " → ") + topic + nodes[step + 1];
  }

  strata.drawLayers = function (place, data, chain, row) {
    place.replaceChildren();
    const whole = Math.max(chain.latency[row], 1);
    let begin = 0, step = -1, track = null, sum = null, inHop = 0;
    const holder = strata.element("div", { class: "one-layers", role: "img", "aria-label": words(data, chain, row) });
    chain.columns.forEach(function (column, at) {
      const ns = chain.durations[at][row];
      if (column[0] !== step) {
        step = column[0];
        inHop = 0;
        const line = strata.element("div", { class: "one-hop" });
        track = strata.element("div", { class: "track" });
        sum = strata.element("div", { class: "sum" });
        line.append(strata.element("div", { class: "place" }, hopName(data, chain, step)), track, sum);
        holder.append(line);
      }
      inHop += ns;
      sum.textContent = strata.duration(inHop);
      if (ns <= 0) return;
      const part = strata.element("div", { class: "segment layer-" + column[2], title: column[1] + " " + strata.duration(ns) });
      // The last layer may be thinner than the two pixels that it has at least.
      part.style.left = "min(" + (100 * begin / whole).toFixed(3) + "%, 100% - 2px)";
      part.style.width = (100 * ns / whole).toFixed(3) + "%";
      part.append(strata.element("span", {}, column[1] + " " + strata.duration(ns)));
      track.append(part);
      begin += ns;
    });
    place.append(holder);
  };

  function words(data, chain, row) {
    const parts = chain.columns.map(function (column, at) {
      return [chain.durations[at][row], column[1] + " of hop " + (column[0] + 1) + " " + strata.duration(chain.durations[at][row])];
    }).filter(function (part) { return part[0] > 0; }).sort(function (a, b) { return b[0] - a[0]; });
    return "Layers, the longest first: " + parts.slice(0, 8).map(function (part) { return part[1]; }).join(", ");
  }
})(window.strata = window.strata || {});
