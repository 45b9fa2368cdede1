// Keys, the chart, and a verdict that survives a server that is away. All else is HTML and htmx.
"use strict";

// The page hands over what the script says in its language.
const words = JSON.parse(document.body.dataset.words);
const _ = (text) => words[text] ?? text;
const inPageLanguage = (number) => number.toLocaleString(document.documentElement.lang); // which may not be the browser's

const typing = (element) => element.matches("input:not([type=checkbox]), select, textarea");
const isSeen = (element) => element.getClientRects().length > 0;
const byKey = (key) => [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]:not(:disabled)`)].find(isSeen);
document.documentElement.classList.add("js");

// Layouts without Latin letters: there the place of a key counts, as printed on an English keyboard.
function keyOf(event) {
  const key = event.key.toLowerCase();
  if (key.length > 1 || /[a-z0-9?/]/.test(key)) return key;
  return event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : key;
}

document.addEventListener("keydown", (event) => {
  if (typing(event.target)) {
    if (event.key === "Escape" || (event.key === "Enter" && event.target.id === "note")) event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  const key = keyOf(event);
  const note = document.getElementById("note");
  const fields = document.querySelector("#all-fields");
  const find = document.getElementById("find");
  if (key === "c" && note) note.focus();
  else if ((key === "/" || (event.code === "Slash" && key === ".")) && find) find.focus();
  else if (key === "f" && fields) fields.open = !fields.open;
  else if (byKey(key)) byKey(key).click();
  else return;
  event.preventDefault();
});

// Whoever opens all fields wants them on the next row too.
let allFields = false;
document.addEventListener("toggle", (event) => {
  if (event.target.id === "all-fields") allFields = event.target.open;
}, true);

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
});

// A verdict that got no answer is sent again until it gets one. It answers one shown row, so it counts once.
const away = document.getElementById("away");
let waits = 0;

function sendAgain(event) {
  const form = event.detail.elt.closest("form");
  if (!form || !form.isConnected) return;
  const submitter = event.detail.requestConfig.triggeringEvent?.submitter;
  away.hidden = false;
  waits += 1;
  setTimeout(() => form.isConnected && form.requestSubmit(submitter), Math.min(500 * 2 ** waits, 8000));
}

document.addEventListener("htmx:sendError", sendAgain);
document.addEventListener("htmx:timeout", sendAgain);
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status >= 500) sendAgain(event);
  else location.reload(); // signed out or moved on: the whole page says so
});

function drawChart() {
  const box = document.getElementById("chart");
  if (!box || typeof uPlot === "undefined") return;
  const curve = JSON.parse(box.dataset.curve);
  const chance = JSON.parse(box.dataset.chance); // the least and the most that chance finds per row
  const x = [0, ...curve.map((found, i) => i + 1)];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const values = (chart, ticks) => ticks.map(inPageLanguage);
  const incrs = [1, 2, 5].flatMap((n) => [1, 10, 100, 1000, 10000, 100000].map((by) => n * by)).sort((a, b) => a - b); // whole rows
  const axis = { incrs, values, stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const budget = Number(box.dataset.budget);
  const last = Math.min(budget, Math.max(10, Math.ceil(curve.length * 1.25)));
  const most = Math.max(3, ...curve);
  box.replaceChildren();
  new uPlot(
    {
      width: box.clientWidth,
      height: box.clientHeight,
      cursor: { show: false },
      legend: { show: false }, // the page has one of its own, which wraps
      scales: { x: { time: false, range: [0, last] }, y: { range: [0, most * 1.1] } },
      axes: [{ ...axis, size: 28 }, { ...axis, size: 34 }],
      series: [
        {},
        { stroke: colour("--soft"), width: 1.5, dash: [5, 4], points: { show: false } },
        { stroke: colour("--soft"), width: 1.5, dash: [5, 4], points: { show: false } },
        { stroke: colour("--accent"), width: 2, points: { show: false } }, // above what chance finds
      ],
      bands: [{ series: [2, 1], fill: `${colour("--line")}80` }],
    },
    [x, ...[0, 1].map((end) => x.map((n) => (chance.length ? n * chance[end] : null))), [0, ...curve]],
    box,
  );
}

function freshRow() {
  const fields = document.getElementById("all-fields");
  if (fields) fields.open = allFields;
  drawChart();
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "main") return;
  waits = 0;
  away.hidden = true;
  freshRow();
  document.getElementById("row-title")?.focus({ preventScroll: true });
  scrollTo(0, 0);
});
document.addEventListener("DOMContentLoaded", freshRow);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawChart);
addEventListener("resize", drawChart);
