// The search box: nodes, topics, chains, callbacks and messages by a part of their name.
(function (strata) {
  "use strict";

  const MOST = 12;
  let entries = null, shown = [], at = -1;

  function gather() {
    const found = strata.searched ? strata.searched() : [], data = strata.data;
    if (data) {
      const hops = Object.entries(data.hops), topics = new Map(), nodes = new Map();
      hops.forEach(function (item) {
        const hop = item[1];
        topics.set(hop.topic, (topics.get(hop.topic) || []).concat(item[0]));
        nodes.set(hop.to, (nodes.get(hop.to) || []).concat(item[0]));
        if (!nodes.has(hop.from)) nodes.set(hop.from, []);
      });
      nodes.forEach(function (own, name) { found.push({ kind: "node", name: name, sel: own.length ? "callbacks:" + own.join(",") : "hops:" + hops.filter(function (item) { return item[1].from === name; }).map(function (item) { return item[0]; }).join(",") }); });
      topics.forEach(function (own, name) { found.push({ kind: "topic", name: name, sel: "hops:" + own.join(",") }); });
      data.chains.forEach(function (chain) { found.push({ kind: "chain", name: chain.nodes.replace(/ -> /g, " → "), chain: chain.id }); });
    }
    document.querySelectorAll("#callbacks tbody tr").forEach(function (row) {
      found.push({ kind: "callback", name: row.cells[0].textContent.trim() + " " + row.cells[1].textContent.trim(), row: row });
    });
    document.querySelectorAll("[data-searched]").forEach(function (place) {
      found.push({ kind: place.dataset.searched, name: place.textContent.trim().replace(/\s+/g, " "), row: place });
    });
    return found;
  }

  function matches(text) {
    entries = entries || gather();
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter(function (entry) {
      const name = entry.name.toLowerCase();
      return words.every(function (word) { return name.includes(word); });
    });
    const number = /^#?(\d+)$/.exec(text.trim());
    if (number && strata.data) {
      const id = Number(number[1]);
      strata.data.chains.forEach(function (chain) {
        if (chain.message.includes(id)) found.unshift({ kind: "message", name: "#" + id + " of " + chain.nodes.replace(/ -> /g, " → "), msg: id, chain: chain.id });
      });
    }
    return found.slice(0, MOST);
  }

  function go(entry) {
    close();
    if (entry.act) {
      entry.act();
    } else if (entry.row) {
      for (let part = entry.row; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
      entry.row.scrollIntoView({ block: "center" });
      entry.row.classList.add("found");
      setTimeout(function () { entry.row.classList.remove("found"); }, 2500);
    } else if (entry.sel) {
      strata.choose(entry.sel);
    } else {
      strata.address.set({ chain: entry.chain, msg: entry.msg, sel: undefined, at: undefined });
    }
  }

  function list() { return document.getElementById("search-found"); }
  function box() { return document.getElementById("search"); }

  function close() {
    shown = []; at = -1;
    list().hidden = true;
    list().replaceChildren();
    box().setAttribute("aria-expanded", "false");
    box().removeAttribute("aria-activedescendant");
  }

  function open(text) {
    close();
    if (!text.trim()) return;
    shown = matches(text);
    const items = shown.map(function (entry, number) {
      const item = strata.element("li", { role: "option", id: "found-" + number, "aria-selected": "false" });
      item.append(strata.element("span", { class: "chip" }, entry.kind), " " + entry.name);
      item.addEventListener("mousedown", function (event) { event.preventDefault(); go(entry); });
      return item;
    });
    if (!items.length) items.push(strata.element("li", { role: "option", "aria-selected": "false", "aria-disabled": "true" }, "Nothing on this page has that in its name."));
    list().append.apply(list(), items);
    list().hidden = false;
    box().setAttribute("aria-expanded", "true");
    if (shown.length) mark(0);
  }

  function mark(number) {
    at = (number + shown.length) % shown.length;
    Array.from(list().children).forEach(function (item, index) { item.setAttribute("aria-selected", String(index === at)); });
    box().setAttribute("aria-activedescendant", "found-" + at);
    list().children[at].scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("DOMContentLoaded", function () {
    if (!box()) return;
    box().addEventListener("input", function () { open(box().value); });
    box().addEventListener("blur", close);
    box().addEventListener("keydown", function (event) {
      if (event.key === "Escape") { box().value = ""; close(); event.stopPropagation(); }
      else if (event.key === "Enter" && shown[at]) { event.preventDefault(); go(shown[at]); }
      else if (event.key === "ArrowDown" && shown.length) { event.preventDefault(); mark(at + 1); }
      else if (event.key === "ArrowUp" && shown.length) { event.preventDefault(); mark(at - 1); }
    });
    document.addEventListener("keydown", function (event) {
      if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
      event.preventDefault();
      box().focus();
    });
  });
})(window.strata = window.strata || {});
