// Which messages of a chain are selected, and in which order: a pure function of the page's data
// and its address.
(function (strata) {
  "use strict";

  function numbers(text) {
    return text.split(",").filter(Boolean).map(Number);
  }

  // The time of each message in some columns (a layer of a hop) of its chain, in ns.
  function timeIn(chain, wanted) {
    const columns = [];
    chain.columns.forEach(function (column, at) { if (wanted(chain.hops[column[0]], column[1])) columns.push(chain.durations[at]); });
    if (!columns.length) return null;
    return chain.message.map(function (_, row) {
      return columns.reduce(function (sum, column) { return sum + column[row]; }, 0);
    });
  }

  function everything(chain) {
    return chain.message.map(function (_, row) { return row; });
  }

  function slowest(rows, value) {
    return rows.sort(function (a, b) { return value[b] - value[a] || a - b; });
  }

  function byTime(chain, label, head, wanted) {
    const value = timeIn(chain, wanted);
    if (!value) return null;
    const rows = everything(chain).filter(function (row) { return value[row] > 0; });
    return { label: label, head: head, value: value, rows: slowest(rows, value) };
  }

  function ofSystem(data, chain, number) {
    const cause = data.system[number];
    if (!cause || !cause.layers.length) return null;
    return byTime(chain, cause.label, "in it", function (hop, layer) {
      return cause.hops.includes(hop) && cause.layers.includes(layer);
    });
  }

  function ofHops(data, chain, hops, inNode) {
    const names = hops.map(function (hop) { return data.hops[hop]; }).filter(Boolean);
    const topics = Array.from(new Set(names.map(function (name) { return inNode ? name.to : name.topic; })));
    const label = (inNode ? "callbacks in " : "over ") + topics.slice(0, 3).join(", ") + (topics.length > 3 ? ", ..." : "");
    return byTime(chain, label, inNode ? "in callbacks" : "to callback", function (hop, layer) {
      return hops.includes(hop) && data.in_node.includes(layer) === inNode;
    });
  }

  function filtered(chain, label, keep) {
    return { label: label, head: "", value: null, rows: slowest(everything(chain).filter(keep), chain.latency) };
  }

  function select(data, chain, text) {
    const at = (text || "").indexOf(":");
    const kind = at < 0 ? "" : text.slice(0, at), what = at < 0 ? "" : text.slice(at + 1);
    if (kind === "cause" && chain.causes[what]) {
      const cause = chain.causes[what];
      return filtered(chain, "mostly " + cause.layer + " " + cause.where, function (row) { return chain.cause[row] === Number(what); });
    }
    if (kind === "layer") {
      const number = chain.layers.indexOf(what);
      return filtered(chain, "mostly " + what, function (row) { return chain.largest[row] === number; });
    }
    if (kind === "bar" && chain.histogram.counts[what] !== undefined) {
      const low = chain.histogram.edges[what], high = chain.histogram.edges[Number(what) + 1];
      return filtered(chain, strata.duration(low) + " to " + strata.duration(high), function (row) {
        return chain.latency[row] >= low && chain.latency[row] < high;
      });
    }
    if (kind === "system") return ofSystem(data, chain, what);
    if (kind === "hops" || kind === "callbacks") return ofHops(data, chain, numbers(what), kind === "callbacks");
    return filtered(chain, "", function () { return true; });
  }

  // The selection in a chain, or in the first other chain that it says something of.
  strata.select = function (data, preferred, text) {
    const chains = [preferred].concat(data.chains.filter(function (chain) { return chain !== preferred; }));
    for (const chain of chains) {
      const found = select(data, chain, text);
      if (found && (found.rows.length || chain === preferred && !text)) return Object.assign(found, { chain: chain });
    }
    return Object.assign(select(data, preferred, ""), { chain: preferred, missed: Boolean(text) });
  };

  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

  // A duration with three significant digits, as strata.units.format_ns writes it.
  strata.duration = function (ns) {
    if (ns === null || ns === undefined || Number.isNaN(ns)) return "-";
    const sign = ns < 0 ? "-" : "";
    const value = Number(Math.abs(ns).toPrecision(3));
    const unit = UNITS.find(function (item) { return value >= item[0]; }) || UNITS[3];
    const number = Math.abs(ns) / unit[0];
    if (unit[0] === 1) return sign + Math.round(number) + " ns";
    const digits = Math.floor(Math.log10(Number(number.toPrecision(3)))) + 1;
    const decimals = Math.max(0, 3 - digits), scale = Math.pow(10, decimals), whole = Math.floor(number * scale);
    // What lies in the middle (exactly: an eighth) goes to the even digit, as in Python.
    const isMiddle = number * 8 % 1 === 0 && number * scale - whole === 0.5;
    const rounded = isMiddle && whole % 2 === 0 ? whole / scale : number;
    return sign + rounded.toFixed(decimals).replace(/\B(?=(\d{3})+(?!\d))/, ",") + " " + unit[1];
  };

  // The time of day (UTC) of a time in ns since the trace began.
  strata.timeOfDay = function (data, ns) {
    const all = BigInt(data.begin_ns) + BigInt(ns);
    const ms = new Date(Number(all / 1000000n)).toISOString().slice(11, 23);
    return ms;
  };
})(window.strata = window.strata || {});
