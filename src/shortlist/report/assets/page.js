"use strict";
// Draws the charts of the page from its own JSON; colours come from the style sheet, so dark mode and print follow.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const seriesColour = (i) => colour(`--c${i % 8}`);
  const faded = (hex) => hex + "33";

  const number = (value, percent) => {
    if (value == null) return "";
    if (percent) return (100 * value).toFixed(Math.abs(value) < 0.1 ? 1 : 0) + " %";
    return value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1000 ? 6 : 3 });
  };
  const short = (value, percent) => {
    if (value == null) return "";
    if (percent) return +(100 * value).toFixed(2) + "%";
    return value.toLocaleString("en", { notation: Math.abs(value) >= 10000 ? "compact" : "standard", maximumSignificantDigits: 4 });
  };

  const named = (chart) => chart.x.some((value) => typeof value === "string");

  // How the names below a chart are written, and how much room the last one needs beyond its place.
  function names(chart, width) {
    const each = Math.max(width - 80, 80) / chart.x.length;
    const longest = Math.max(...chart.x.map((name) => String(name).length));
    // Bars need every name; of points on a line some may go without, but long names would run into each other.
    const bars = chart.kind === "bars";
    const tilted = (bars || longest > 12) && each < 7.5 * longest;
    const step = tilted && bars ? 1 : Math.max(1, Math.ceil((tilted ? 20 : 78) / each));
    return { longest, tilted, step, beyond: tilted ? 10 : Math.max(10, Math.ceil(4 * longest - each / 2)) };
  }

  function axes(chart, width) {
    const common = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    let room = 62;
    const x = { ...common, label: chart.xLabel, labelSize: 22, space: width < 450 ? 55 : 70 };
    if (named(chart)) {
      const { longest, tilted, step } = names(chart, width);
      x.splits = () => chart.x.map((_, i) => i).filter((i) => i % step === 0);
      x.values = (_, at) => at.map((i) => clip(String(chart.x[i] ?? ""), 40));
      x.grid = { show: false };
      // As much room below as the longest name needs at that angle.
      if (tilted) Object.assign(x, { rotate: 40, size: 30 + Math.ceil(4.6 * Math.min(longest, 40)), gap: 4 });
      // The first name reaches to the left, below the y axis.
      room = tilted ? Math.max(62, Math.ceil(5.2 * Math.min(longest, 40)) - 30) : room;
    } else if (chart.logX) {
      x.splits = (_, axis, from, to) => logSplits(from, to, width < 450 ? [1] : [1, 3]);
      x.values = (_, at) => at.map((v) => short(v, false));
    }
    const y = { ...common, label: chart.yLabel, labelSize: 22, size: room, values: (_, at) => at.map((v) => short(v, chart.percent)) };
    return [x, y];
  }
  const logSplits = (from, to, firsts) => {
    const at = [];
    for (let ten = 1; ten <= to; ten *= 10) firsts.forEach((first) => at.push(first * ten));
    return at.filter((value) => value >= from && value <= to);
  };
  const clip = (text, letters) => (text.length > letters ? text.slice(0, letters - 1) + "…" : text);

  function series(chart) {
    const list = [{ label: chart.xLabel, value: (_, v) => (v == null ? "" : named(chart) ? chart.x[v] ?? "" : number(v, false)) }];
    chart.lines.forEach((line, i) => {
      const one = { label: line.name, stroke: seriesColour(i), width: 2, value: (_, v) => number(v, chart.percent), points: { show: chart.x.length < 15 } };
      if (chart.kind === "bars") {
        Object.assign(one, { paths: uPlot.paths.bars({ size: [0.62, 80] }), fill: faded(seriesColour(i)), points: { show: false } });
      }
      list.push(one);
    });
    return list;
  }

  function intervals(chart) {
    // Whiskers on bars; uPlot has bands for lines.
    return (u) => {
      const { ctx } = u;
      chart.lines.forEach((line, s) => {
        if (!line.low || chart.kind !== "bars" || !u.series[s + 1].show) return;
        ctx.save();
        ctx.strokeStyle = colour("--ink");
        ctx.lineWidth = 1.5 * devicePixelRatio;
        line.low.forEach((low, i) => {
          if (low == null || line.high[i] == null) return;
          const x = u.valToPos(i, "x", true), cap = 5 * devicePixelRatio;
          const from = u.valToPos(low, "y", true), to = u.valToPos(line.high[i], "y", true);
          ctx.beginPath();
          ctx.moveTo(x, from); ctx.lineTo(x, to);
          ctx.moveTo(x - cap, from); ctx.lineTo(x + cap, from);
          ctx.moveTo(x - cap, to); ctx.lineTo(x + cap, to);
          ctx.stroke();
        });
        ctx.restore();
      });
    };
  }

  function mark(chart) {
    return (u) => {
      if (chart.mark == null) return;
      const { ctx, bbox } = u, x = Math.round(u.valToPos(chart.mark, "x", true));
      ctx.save();
      ctx.strokeStyle = colour("--quiet");
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      ctx.restore();
    };
  }

  function range(chart) {
    const values = chart.lines.flatMap((line) => [...line.values, ...(line.low ?? []), ...(line.high ?? [])]).filter((v) => v != null);
    const top = Math.max(...values), bottom = Math.min(...values);
    if (bottom >= 0) return [0, top > 0 ? top * 1.06 : 1];
    const air = (top - bottom) * 0.06 || 1;
    return [bottom - air, top > 0 ? top + air : air];
  }

  function draw(box) {
    const chart = charts[+box.dataset.chart], width = Math.max(box.clientWidth, 200);
    const x = named(chart) ? chart.x.map((_, i) => i) : chart.x;
    const edge = named(chart) ? { range: [-0.5, Math.max(x.length - 0.5, 0.5)] } : chart.logX ? { distr: 3, range: [x[0], x[x.length - 1]] } : {};
    const bands = [], data = [x, ...chart.lines.map((line) => line.values)], all = series(chart);
    if (chart.kind === "lines") {
      chart.lines.forEach((line, i) => {
        if (!line.low) return;
        const quiet = { stroke: "transparent", width: 0, points: { show: false }, class: "bound" };
        data.push(line.high, line.low);
        all.push({ ...quiet, label: line.name + " high" }, { ...quiet, label: line.name + " low" });
        bands.push({ series: [data.length - 2, data.length - 1], fill: faded(seriesColour(i)) });
      });
    }
    const [below, beside] = axes(chart, width);
    // What stands beside the y axis is written along it, above the names of the x axis, and has to fit there.
    const least = (below.size ?? 50) + below.labelSize + 8 * (chart.yLabel ?? "").length;
    const options = {
      width, height: Math.max(width < 450 ? 280 : 320, least), series: all, bands, axes: [below, beside],
      padding: [null, named(chart) ? names(chart, width).beyond : null, null, null],
      scales: { x: { time: false, ...edge }, y: { range: () => range(chart) } },
      legend: { live: width >= 450, show: chart.kind !== "bars" || chart.lines.length > 1 },
      hooks: {
        draw: [mark(chart), intervals(chart)],
        setCursor: [(u) => u.root.classList.toggle("pointing", u.cursor.idx != null && u.cursor.left >= 0)],
      },
    };
    box.replaceChildren();
    box.plot = new uPlot(options, data, box);
    box.dataset.drawn = "yes";
  }

  document.querySelectorAll(".unfold").forEach((button) => button.addEventListener("click", () => {
    button.closest("section").querySelector(".rest").hidden = false;
    button.remove();
  }));

  const drawAll = () => document.querySelectorAll("[data-chart]").forEach(draw);
  drawAll();
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", drawAll);
})();
