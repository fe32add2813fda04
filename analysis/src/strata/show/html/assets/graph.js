// The graph of nodes: switches its views, selects the messages of what is clicked.
(function (strata) {
  "use strict";

  function views() { return Array.from(document.querySelectorAll(".graph-view")); }

  function picks(view) { return Array.from(view.querySelectorAll(".pick")); }

  function act(pick) {
    if (pick.dataset.open) return strata.address.set({ graph: pick.dataset.open, at: undefined });
    if (pick.dataset.selects) return strata.choose(pick.dataset.selects);
    if (!pick.dataset.hops) return;
    const kind = pick.classList.contains("box") ? "callbacks:" : "hops:";
    strata.choose(kind + pick.dataset.hops.split(" ").join(","));
  }

  // One stop for the tabulator; arrow keys go from one part to the next.
  function move(pick, by) {
    const all = picks(pick.closest(".graph-view")), next = all[all.indexOf(pick) + by];
    if (!next) return;
    pick.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  strata.graph = {
    show: function (chain, state) {
      const all = views();
      if (!all.length) return;
      const wanted = all.find(function (view) { return view.dataset.view === state.graph; }) ||
        all.find(function (view) { return view.dataset.first !== undefined; });
      all.forEach(function (view) { view.hidden = view !== wanted; });
      document.querySelectorAll("[data-graph]").forEach(function (button) {
        button.setAttribute("aria-pressed", String(wanted.dataset.view.split(":")[0] === button.dataset.graph));
      });
      const sel = state.sel || "", selected = sel.slice(sel.indexOf(":") + 1);
      picks(wanted).forEach(function (pick) {
        const hops = (pick.dataset.hops || "").split(" ").filter(Boolean);
        const isBox = pick.classList.contains("box");
        const kind = isBox ? "callbacks" : "hops";
        pick.classList.toggle("picked", sel.startsWith(kind + ":") && hops.join(",") === selected);
        pick.classList.toggle("on-chain", !isBox && hops.some(function (hop) { return chain.hops.includes(Number(hop)); }));
      });
    }
  };

  document.addEventListener("DOMContentLoaded", function () {
    views().forEach(function (view) {
      const first = view.querySelector(".pick");
      if (first) first.setAttribute("tabindex", "0");
    });
    document.addEventListener("click", function (event) {
      const pick = event.target.closest && event.target.closest(".graph .pick");
      if (pick) return act(pick);
      const button = event.target.closest && event.target.closest("[data-graph]");
      if (button) strata.address.set({ graph: button.dataset.graph, at: undefined });
    });
    document.addEventListener("keydown", function (event) {
      const pick = event.target.closest && event.target.closest(".graph .pick");
      if (!pick) return;
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(pick); }
      else if (event.key === "ArrowRight" || event.key === "ArrowDown") { event.preventDefault(); move(pick, 1); }
      else if (event.key === "ArrowLeft" || event.key === "ArrowUp") { event.preventDefault(); move(pick, -1); }
    });
  });
})(window.strata = window.strata || {});
