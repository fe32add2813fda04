// What is selected is in the page's address, as in #msg=399&chain=2, so that it can be shared.
(function (strata) {
  "use strict";

  const listeners = [];
  let state = {};

  function read() {
    const text = decodeURIComponent(location.hash.slice(1));
    const found = {};
    if (text.includes("=")) {
      text.split("&").forEach(function (part) {
        const at = part.indexOf("=");
        if (at > 0) found[part.slice(0, at)] = part.slice(at + 1);
      });
    } else if (text) {
      found.at = text;
    }
    return found;
  }

  function write(next, replace) {
    const keys = ["msg", "chain", "sel", "graph", "diff", "rows", "at"].filter(function (key) { return next[key] !== undefined && next[key] !== ""; });
    const hash = keys.map(function (key) { return key + "=" + encodeURIComponent(next[key]).replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ","); }).join("&");
    history[replace ? "replaceState" : "pushState"](null, "", hash ? "#" + hash : location.pathname + location.search);
  }

  function changed() {
    listeners.forEach(function (listener) { listener(state); });
  }

  strata.address = {
    get: function () { return state; },
    // Change some of the state; undefined removes a key.
    set: function (change, replace) {
      const next = Object.assign({}, state, change);
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      state = next;
      write(state, replace);
      changed();
    },
    onChange: function (listener) { listeners.push(listener); },
    start: function () { state = read(); changed(); scroll(); }
  };

  function scroll() {
    const target = state.at && document.getElementById(state.at);
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView();
  }

  window.addEventListener("popstate", function () { state = read(); changed(); scroll(); });
  window.addEventListener("hashchange", function () { state = read(); changed(); });
  document.addEventListener("click", function (event) {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
    if (!target) return;
    event.preventDefault();
    strata.address.set({ at: target.id });
    scroll();
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  });
})(window.strata = window.strata || {});
