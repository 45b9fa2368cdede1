// What a case worker opens beside a row, reason codes, and rows selected in a list.
"use strict";

// A panel beside the row: the same key or button closes it again.
document.addEventListener("htmx:beforeRequest", (event) => {
  const panel = event.target.dataset.panel;
  if (!panel) return;
  const beside = document.getElementById("beside");
  if (beside.dataset.open === panel) event.preventDefault();
  beside.dataset.open = beside.dataset.open === panel ? "" : panel;
  beside.replaceChildren();
});
document.addEventListener("htmx:afterSwap", (event) => {
  const beside = event.detail.target;
  if (beside.id !== "beside") return;
  beside.querySelector("[tabindex]").focus({ preventScroll: true });
  beside.scrollIntoView({ block: "center" });
});

// A verdict with reason codes asks for one. Said a second time it needs none, unless the team requires it.
function closeCodes() {
  for (const codes of document.querySelectorAll(".codes")) codes.hidden = true;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[name=verdict]");
  const codes = button?.form?.querySelector(`.codes[data-verdict="${CSS.escape(button.value)}"]`);
  if (!codes || button.form.elements.reason.value) return;
  if (!codes.hidden && codes.dataset.required === undefined) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  closeCodes();
  codes.hidden = false;
  codes.querySelector("button").focus();
}, true);

document.addEventListener("click", (event) => {
  const code = event.target.closest(".codes button");
  if (!code) return;
  const { form } = code;
  form.elements.reason.value = code.dataset.reason;
  form.querySelector(`button[name=verdict][value="${CSS.escape(code.parentElement.dataset.verdict)}"]`).click();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeCodes();
});

// The list: how many rows are selected; without any there is nothing to decide.
const boxes = () => [...document.querySelectorAll("#bulk input[name=id]")];
function countSelected() {
  const told = document.getElementById("selected");
  if (!told) return;
  const n = boxes().filter((box) => box.checked).length;
  told.textContent = n === 0 ? told.dataset.none : n === 1 ? told.dataset.one : told.dataset.many.replace("{n}", inPageLanguage(n));
  for (const button of document.querySelectorAll("#bulk .actions button[name=verdict]")) button.disabled = n === 0;
}

document.addEventListener("change", (event) => {
  if (event.target.id === "all-rows") for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.closest("#bulk")) countSelected();
});
document.addEventListener("DOMContentLoaded", countSelected);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-prints]")) print();
});
