// Run in a page under test: says what a browser made of it.
() => {
  "use strict";

  function canvases(node) {
    let found = Array.from(node.querySelectorAll("canvas"));
    node.querySelectorAll("*").forEach(function (item) {
      if (item.shadowRoot) found = found.concat(canvases(item.shadowRoot));
    });
    return found;
  }

  function colours(place) {
    const seen = new Set();
    canvases(place).forEach(function (canvas) {
      if (!canvas.width || !canvas.height) return;
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 255) {
          seen.add("#" + [data[at], data[at + 1], data[at + 2]].map(function (value) {
            return value.toString(16).padStart(2, "0");
          }).join(""));
        }
      }
    });
    return Array.from(seen);
  }

  // A box that holds its text in, and shows less of it than there is. What elides on purpose says
  // the whole under the pointer.
  function cut() {
    return Array.from(document.querySelectorAll("main *, header *, footer *")).filter(function (item) {
      const style = getComputedStyle(item);
      return item.clientWidth > 0 && item.scrollWidth > item.clientWidth + 1 &&
        style.overflowX !== "auto" && !item.closest(".segment, .plot, .scale, .hidden-text, svg") &&
        style.display !== "inline" && item.textContent.trim() && !item.title &&
        !["INPUT", "SELECT"].includes(item.tagName);
    }).map(function (item) { return item.className + ": " + item.textContent.trim().slice(0, 60); });
  }

  // A table that must be scrolled sideways to be read.
  function scrolled() {
    return Array.from(document.querySelectorAll(".scroll:not(.graph-view)")).filter(function (item) {
      return item.scrollWidth > item.clientWidth + 1;
    }).map(function (item) { return item.textContent.trim().slice(0, 60); });
  }

  const figures = Array.from(document.querySelectorAll(".plot")).map(function (place) {
    return {
      id: place.id, state: place.dataset.state || "none",
      height: place.getBoundingClientRect().height, colours: colours(place),
    };
  });
  return {
    figures: figures, cut: cut(), scrolled: scrolled(),
    width: innerWidth, wide: document.documentElement.scrollWidth,
  };
}
