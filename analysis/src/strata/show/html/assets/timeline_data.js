// Reads the timelines that are in the page (strata.timeline.document): texts are numbers of a table,
// and times become ns after the message's first publish.
(function (strata) {
  "use strict";

  const PLACED = 1, UNSYNCHRONISED = 2, UNFINISHED = 4;

  strata.readTimeline = function (all, given) {
    const text = function (at) { return at < 0 || at === undefined ? null : all.strings[at]; };
    const id = function (number) { return number < 0 ? null : number; };
    const lanes = given.lanes.map(function (lane) {
      return { kind: text(lane[0]), role: text(lane[1]), host: text(lane[2]), process: text(lane[3]), name: text(lane[4]), vpid: id(lane[5]), vtid: id(lane[6]) };
    });
    const hosts = new Set(lanes.map(function (lane) { return lane.host; }).filter(Boolean));
    lanes.forEach(function (lane) { lane.severalHosts = hosts.size > 1; });
    const span = function (lane, begin, duration, kind, label, flags, more) {
      return Object.assign({
        lane: lane, begin: begin, end: begin + duration, kind: text(kind), label: text(label),
        placed: Boolean(flags & PLACED), unsynchronised: Boolean(flags & UNSYNCHRONISED), unfinished: Boolean(flags & UNFINISHED)
      }, more);
    };
    // The message's own spans follow each other: each begins where the one before ends.
    let end = 0;
    const own = given.own.map(function (row) {
      const begin = end;
      end += row[1];
      return span(row[0], begin, row[1], row[2], row[3], row[6] || 0, {
        own: true, layer: text(row[4]), slug: all.slugs[row[4]] || "unknown", hop: row[5], waited: 0
      });
    });
    const other = given.other.map(function (row) {
      return span(row[0], row[1] - given.publish, row[2], row[3], row[4], row[5] || 0, {
        own: false, layer: null, slug: null, hop: null, waited: row[6] || 0
      });
    });
    return {
      latency: given.latency,
      window: [-given.publish, given.window - given.publish],
      lanes: lanes,
      spans: own.concat(other),
      arrows: given.arrows.map(function (arrow) {
        return { fromLane: arrow[0], from: arrow[1] - given.publish, toLane: arrow[2], to: arrow[3] - given.publish, topic: text(arrow[4]), message: arrow[5] };
      }),
      behind: given.behind.map(function (one) { return { hop: one[0], label: text(one[1]), work: text(one[2]), ns: one[3] }; }),
      scheduling: given.scheduling.map(function (one) {
        return {
          hop: one[0], layer: text(one[1]), running: one[2], preempted: one[3], blocked: one[4], unknown: one[5], cpuWait: Math.max(one[6], 0),
          by: one[7].map(function (who) { return [text(who[0]) || "an unknown thread", who[2]]; })
        };
      }),
      why: given.why.map(text),
      leftOut: given.left_out[0], leftOutNs: given.left_out[1]
    };
  };
})(window.strata = window.strata || {});
