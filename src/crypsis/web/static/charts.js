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
    axis: { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, labelLimit: 150 },
    legend: { labelColor: soft, titleColor: soft, labelFontSize: 12, titleFontSize: 12 },
    title: { color: ink, subtitleColor: soft },
    style: { "guide-label": { fill: soft, fontSize: 12 }, "guide-title": { fill: soft, fontSize: 12 }, "group-title": text, "group-subtitle": { fill: soft }, cell: { stroke: line } },
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

// A chart that is wider than its place is drawn again, narrower, so that its letters stay as large.
async function fit(figure, view) {
  const place = figure.closest("main").clientWidth - 40;
  for (let turn = 0; turn < 3; turn += 1) {
    const wide = figure.querySelector("svg").viewBox.baseVal.width;
    if (wide <= place || view.width() <= 120) return;
    await view.width(Math.max(120, Math.floor(view.width() - (wide - place)))).resize().runAsync();
  }
}

async function drawEach(figures) {
  const embed = await vega();
  const config = colours();
  for (const figure of figures) {
    const data = figure.querySelector("script");
    const place = figure.querySelector(".live");
    const sign = document.documentElement.dataset.theme + "!";
    if (!data || figure.dataset.drawn === sign) continue;
    figure.dataset.drawn = sign;
    const options = { actions: false, renderer: "svg", ast: true, mode: "vega", defaultStyle: false, tooltip: { disableDefaultStyle: true, id: "tooltip" }, logLevel: 1 };
    const drawn = await embed(place, themed(JSON.parse(data.textContent), config), options);
    figure.view = drawn.view;
    await fit(figure, drawn.view);
    figure.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }
}

// What is seen is drawn first; then the tabs that are hidden, for they are printed, too. A chart that is
// printed before it is drawn is printed in words.
export async function draw(root = document) {
  const figures = [...root.querySelectorAll("figure.chart")];
  if (!figures.length) return;
  const hidden = (one) => one.offsetParent === null;
  await drawEach([...figures].sort((a, b) => hidden(a) - hidden(b)));
}

export function redraw() {
  for (const figure of document.querySelectorAll("figure.chart")) delete figure.dataset.drawn;
  return draw();
}
