// Draws every figure of the page: one <script type="application/json"> each, named by its place.
(function () {
  "use strict";

  function fail(place, error) {
    place.textContent = "This figure could not be drawn: " + error;
    place.dataset.state = "failed";
  }

  function draw(holder) {
    const place = document.getElementById(holder.dataset.figure);
    Bokeh.embed.embed_item(JSON.parse(holder.textContent)).then(
      function () { place.dataset.state = "drawn"; },
      function (error) { fail(place, error); }
    );
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("script[data-figure]").forEach(draw);
  });
})();
