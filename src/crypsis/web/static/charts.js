// Draws every figure that carries a specification. Expressions are interpreted, never compiled,
// so that the page needs no permission to run code made of text.
let loading = null;
const vega = () => (loading ??= import("./vega.js").then(() => window.crypsisEmbed));

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, line] = ["--ink", "--soft", "--line"].map((name) => style.getPropertyValue(name).trim());
  const text = { fill: ink };
  return {
    background: null,
    axis: { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line },
    legend: { labelColor: soft, titleColor: soft },
    title: { color: ink, subtitleColor: soft },
    style: { "guide-label": { fill: soft }, "guide-title": { fill: soft }, "group-title": text, "group-subtitle": { fill: soft }, cell: { stroke: line } },
    text,
  };
}

// A compiled specification has its colours written into it; those of text and lines follow the page.
function themed(spec, config) {
  const copy = structuredClone(spec);
  copy.background = "transparent";
  copy.config = { ...(copy.config ?? {}), ...config, style: { ...(copy.config?.style ?? {}), ...config.style } };
  return copy;
}

export async function draw(root = document) {
  const figures = [...root.querySelectorAll("figure.chart")].filter((one) => one.offsetParent !== null);
  if (!figures.length) return;
  const embed = await vega();
  const config = colours();
  for (const figure of figures) {
    const data = figure.querySelector("script");
    const place = figure.querySelector(".live");
    if (!data || figure.dataset.drawn === document.documentElement.dataset.theme + "!") continue;
    figure.dataset.drawn = document.documentElement.dataset.theme + "!";
    const options = { actions: false, renderer: "svg", ast: true, mode: "vega", defaultStyle: false, tooltip: { disableDefaultStyle: true, id: "tooltip" }, logLevel: 1 };
    const drawn = await embed(place, themed(JSON.parse(data.textContent), config), options);
    figure.view = drawn.view;
    figure.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }
}

export function redraw() {
  for (const figure of document.querySelectorAll("figure.chart")) delete figure.dataset.drawn;
  return draw();
}
