// Keys, the chart, and a verdict that survives a server that is away. All else is HTML and htmx.
"use strict";

const typing = (element) => element.matches("input, select, textarea");
const byKey = (key) => document.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  const note = document.getElementById("note");
  const fields = document.querySelector("#all-fields");
  if (key === "c" && note) note.focus();
  else if (key === "f" && fields) fields.open = !fields.open;
  else if (byKey(key)) byKey(key).click();
  else return;
  event.preventDefault();
});

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

function localNumbers() {
  for (const element of document.querySelectorAll("[data-number]")) {
    const value = Number(element.dataset.number);
    const digits = Math.abs(value) >= 1000 ? 0 : 3;
    element.textContent = value.toLocaleString(undefined, { maximumFractionDigits: digits });
  }
}

function drawChart() {
  const box = document.getElementById("chart");
  if (!box || typeof uPlot === "undefined") return;
  const curve = JSON.parse(box.dataset.curve);
  const chance = box.dataset.chance === "" ? null : Number(box.dataset.chance);
  const x = [0, ...curve.map((_, i) => i + 1)];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const budget = Number(box.dataset.budget);
  const last = Math.min(budget, Math.max(10, Math.ceil(curve.length * 1.25)));
  const most = Math.max(3, ...curve);
  box.replaceChildren();
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: box.clientHeight - 26,
      cursor: { show: false },
      legend: { live: false, markers: { width: 0, fill: (u, i) => u.series[i].stroke() } },
      scales: { x: { time: false, range: [0, last] }, y: { range: [0, most * 1.1] } },
      axes: [{ ...axis, size: 28 }, { ...axis, size: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }],
      series: [
        { label: "rows" },
        { label: "found", stroke: colour("--accent"), width: 2, points: { show: false } },
        { label: chance === null ? "chance (needs random checks)" : "chance", stroke: colour("--soft"), width: 1.5, dash: [5, 4], points: { show: false } },
      ],
    },
    [x, [0, ...curve], x.map((n) => (chance === null ? null : n * chance))],
    box,
  );
  return plot;
}

function freshRow() {
  localNumbers();
  drawChart();
}

document.addEventListener("htmx:afterSwap", () => {
  waits = 0;
  away.hidden = true;
  freshRow();
  document.getElementById("row-title")?.focus({ preventScroll: true });
});
document.addEventListener("DOMContentLoaded", freshRow);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawChart);
addEventListener("resize", drawChart);
