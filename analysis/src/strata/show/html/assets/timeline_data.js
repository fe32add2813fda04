// Reads the timelines that are in the page: texts and lanes are numbers there, times are ns after
// the message's first publish.
(function (strata) {
  "use strict";

  strata.readTimeline = function (all, given) {
    const text = function (at) { return at < 0 ? null : all.texts[at]; };
    const lanes = given.lanes.map(function (at) {
      const lane = all.lanes[at];
      return { kind: text(lane[0]), role: text(lane[1]), host: text(lane[2]), process: text(lane[3]), vpid: lane[4], vtid: lane[5], name: text(lane[6]) };
    });
    const hosts = new Set(lanes.map(function (lane) { return lane.host; }).filter(Boolean));
    lanes.forEach(function (lane) { lane.severalHosts = hosts.size > 1; });
    return {
      latency: given.latency,
      window: given.window,
      lanes: lanes,
      spans: given.spans.map(function (span) {
        const flags = span[7];
        return {
          lane: span[0], begin: span[1], end: span[1] + span[2], kind: text(span[3]), label: text(span[4]),
          own: span[5] >= 0, layer: text(span[5]), slug: span[5] < 0 ? null : all.slugs[text(span[5])], hop: span[6],
          placed: Boolean(flags & 1), unsynchronised: Boolean(flags & 2), unfinished: Boolean(flags & 4), waited: span[8] || 0
        };
      }),
      arrows: given.arrows.map(function (arrow) {
        return { message: arrow[0], topic: text(arrow[1]), fromLane: arrow[2], from: arrow[3], toLane: arrow[4], to: arrow[5] };
      }),
      behind: given.behind.map(function (one) { return { label: text(one[0]), ns: one[1] }; }),
      scheduling: given.scheduling.map(function (one) {
        return {
          hop: one[0], layer: text(one[1]), running: one[2], preempted: one[3], blocked: one[4], cpuWait: one[5],
          by: one[6].map(function (who) { return [text(who[0]), who[1]]; })
        };
      }),
      leftOut: given.left_out, leftOutNs: given.left_out_ns
    };
  };
})(window.strata = window.strata || {});
