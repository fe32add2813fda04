// The page of several recordings: goes to the section that its address names.
document.addEventListener("DOMContentLoaded", function () { window.strata.address.start(); });
