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

  // A figure far below is drawn when it comes near, so that the first screen is there at once.
  function later(holder, near) {
    const place = document.getElementById(holder.dataset.figure);
    place.strataHolder = holder;
    near.observe(place);
  }

  function drawAll() {
    const waiting = Array.from(document.querySelectorAll("script[data-figure]"));
    if (!("IntersectionObserver" in window)) return waiting.forEach(draw);
    const near = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) return;
        near.unobserve(entry.target);
        draw(entry.target.strataHolder);
      });
    }, { rootMargin: "800px" });
    waiting.forEach(function (holder) { later(holder, near); });
    window.addEventListener("beforeprint", function () {
      waiting.forEach(function (holder) {
        const place = document.getElementById(holder.dataset.figure);
        if (!place.dataset.state) { near.unobserve(place); draw(holder); }
      });
    });
  }

  strata.repaintFigures = repaint;
  document.addEventListener("DOMContentLoaded", drawAll);
})(window.strata);
