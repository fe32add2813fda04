// Draws every figure of the page: one <script type="application/json"> each, named by its place.
// Paints them again when the page turns dark or light.
window.strata = window.strata || {};
(function (strata) {
  "use strict";

  const drawn = [];

  function fail(place, error) {
    place.textContent = "This figure could not be drawn: " + error;
    place.dataset.state = "failed";
  }

  function plots(model) {
    if (model.type === "Row" || model.type === "Column") return model.children.flatMap(plots);
    return model.type === "Plot" || model.type === "Figure" ? [model] : [];
  }

  function paint(plot, colour) {
    plot.background_fill_color = colour("--card");
    plot.border_fill_color = colour("--card");
    plot.setv && plot.center.concat(plot.below, plot.left).forEach(function (part) {
      if (part.type === "Grid") part.grid_line_color = colour("--line");
      if ("major_label_text_color" in part) {
        part.major_label_text_color = colour("--text");
        part.axis_label_text_color = colour("--text");
        part.axis_line_color = colour("--muted");
        part.major_tick_line_color = colour("--muted");
      }
      if (part.type === "Legend") part.label_text_color = colour("--text");
      if (part.type === "Span") part.line_color = colour("--text");
    });
  }

  function repaint() {
    const style = getComputedStyle(document.documentElement);
    const colour = function (name) { return style.getPropertyValue(name).trim(); };
    drawn.forEach(function (root) { plots(root).forEach(function (plot) { paint(plot, colour); }); });
  }

  // A legend is as wide as its longest name in each column: in a narrow window it has fewer columns.
  function narrow(plot, width) {
    plot.below.forEach(function (part) {
      if (part.type !== "Legend") return;
      const longest = Math.max.apply(null, part.items.map(function (item) { return item.label.value.length; }));
      part.ncols = Math.max(1, Math.min(part.ncols, Math.floor((width - 60) / (44 + 6.6 * longest))));
    });
  }

  function draw(holder) {
    const place = document.getElementById(holder.dataset.figure);
    return Bokeh.embed.embed_item(JSON.parse(holder.textContent)).then(
      function (views) {
        const view = [].concat(views)[0];
        const roots = view.roots ? [].concat(Array.from(view.roots)).map(function (v) { return v.model; }) : [view.model];
        drawn.push.apply(drawn, roots);
        roots.flatMap(plots).forEach(function (plot) { narrow(plot, place.clientWidth); });
        place.dataset.state = "drawn";
        repaint();
        document.dispatchEvent(new CustomEvent("strata:drawn", { detail: { place: place.id, root: roots[0] } }));
      },
      function (error) { fail(place, error); }
    );
  }

  // A figure far below is drawn when it comes near, or when there is nothing else to do: the first
  // screen is there at once, and a print has them all.
  function drawAll() {
    const waiting = new Map(Array.from(document.querySelectorAll("script[data-figure]")).map(function (holder) {
      return [document.getElementById(holder.dataset.figure), holder];
    }));
    function begin(place) {
      const holder = waiting.get(place);
      if (!waiting.delete(place)) return Promise.resolve();
      near.unobserve(place);
      return draw(holder);
    }
    function rest() {
      if (waiting.size) begin(waiting.keys().next().value).then(function () { idle(rest); });
    }
    const idle = window.requestIdleCallback || function (next) { setTimeout(next, 100); };
    const near = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) { if (entry.isIntersecting) begin(entry.target); });
    }, { rootMargin: "800px" });
    Array.from(waiting.keys()).forEach(function (place) { near.observe(place); });
    window.addEventListener("load", function () { setTimeout(function () { idle(rest); }, 1000); });
    window.addEventListener("beforeprint", function () { Array.from(waiting.keys()).forEach(begin); });
  }

  strata.repaintFigures = repaint;
  document.addEventListener("DOMContentLoaded", drawAll);
})(window.strata);
