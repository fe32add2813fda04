// Light or dark: as the system is set, until the button says otherwise.
(function (strata) {
  "use strict";

  const KEY = "strata-appearance";
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function stored() {
    try { return localStorage.getItem(KEY); } catch (error) { return null; }
  }

  function isDark() {
    return document.documentElement.dataset.appearance === "dark";
  }

  function show(name) {
    document.documentElement.dataset.appearance = name;
    const button = document.getElementById("appearance");
    if (button) {
      button.textContent = name === "dark" ? "Light" : "Dark";
      button.setAttribute("aria-label", "Switch to the " + (name === "dark" ? "light" : "dark") + " appearance");
    }
    if (strata.repaintFigures) strata.repaintFigures();
  }

  function current() {
    return stored() || (system.matches ? "dark" : "light");
  }

  // Before the page is painted, so that it does not flash.
  document.documentElement.dataset.appearance = current();
  system.addEventListener("change", function () { show(current()); });
  document.addEventListener("DOMContentLoaded", function () {
    show(current());
    document.getElementById("appearance").addEventListener("click", function () {
      const name = isDark() ? "light" : "dark";
      try { localStorage.setItem(KEY, name); } catch (error) { /* Kept for this visit alone. */ }
      show(name);
    });
    let before = null;
    window.addEventListener("beforeprint", function () { before = isDark(); if (before) show("light"); });
    window.addEventListener("afterprint", function () { if (before) show("dark"); });
  });
})(window.strata = window.strata || {});
