// Draws the figures of the page one after the other, so that it can be read and scrolled meanwhile:
// those in the window first. Each is a <script type="application/json">, named by its place.
(function () {
  "use strict";

  const waiting = new Map();

  function fail(place, error) {
    place.textContent = "This figure could not be drawn: " + error;
    place.dataset.state = "failed";
  }

  function draw(holder) {
    const place = document.getElementById(holder.dataset.figure);
    return Bokeh.embed.embed_item(JSON.parse(holder.textContent)).then(
      function () { place.dataset.state = "drawn"; },
      function (error) { fail(place, error); }
    );
  }

  function isSeen(id) {
    const box = document.getElementById(id).getBoundingClientRect();
    return box.height > 0 && box.bottom > -200 && box.top < innerHeight + 400;
  }

  function next() {
    let id = waiting.keys().next().value;
    if (id === undefined) return;
    for (const other of waiting.keys()) {
      if (isSeen(other)) { id = other; break; }
    }
    const holder = waiting.get(id);
    waiting.delete(id);
    draw(holder).then(function () { setTimeout(next, 0); });
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("script[data-figure]").forEach(function (holder) {
      waiting.set(holder.dataset.figure, holder);
    });
    next();
  });
})();
