// Makes an element with attributes and text.
window.strata = window.strata || {};
window.strata.element = function (name, attributes, text) {
  "use strict";
  const made = document.createElement(name);
  Object.entries(attributes || {}).forEach(function (item) { made.setAttribute(item[0], item[1]); });
  if (text !== undefined) made.textContent = text;
  return made;
};
