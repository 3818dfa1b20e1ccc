// The kinds of charts of a report page. Each function takes plain data and returns an <svg> element. Colours are
// CSS variables, so that dark, light and print need no second drawing.
"use strict";

const FEW = 7; // colours; further variants repeat them with another dash
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];
const colour = (i) => `var(--c${i % FEW})`;
const part_colour = (i) => `var(--p${i})`; // of the parts of an epoch's time, which are no variants
const dash = (i) => DASHES[Math.floor(i / FEW) % DASHES.length];

// --- numbers as people read them

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

function digits(value, figures = 3) {
    if (value === null || value === undefined || Number.isNaN(value)) return "none";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e15 || size < 1e-9) return value.toExponential(figures - 1);
    const places = Math.max(0, figures - 1 - Math.floor(Math.log10(size)));
    return d3.format(`,.${Math.min(places, 12)}f`)(value);
}

function with_prefix(value, unit) {
    if (!(value > 0)) return `0 ${unit}`;
    const [size, name] = PREFIXES.find(([least]) => value >= least) || [1, ""];
    return `${digits(value / size)} ${name}${unit}`;
}

const bytes_text = (value) => with_prefix(value, "B");

function seconds_text(value) {
    if (value >= 1 || !(value > 0)) return `${digits(value)} s`;
    return value >= 1e-3 ? `${digits(1e3 * value)} ms` : `${digits(1e6 * value)} µs`;
}

const short = (value) => String(+value.toPrecision(4));
const seconds_tick = (v) => (v === 0 ? "0" : v >= 1 ? `${short(v)} s` : v >= 1e-3 ? `${short(1e3 * v)} ms`
    : `${short(1e6 * v)} µs`);
const bytes_tick = (v) => {
    const [size, name] = PREFIXES.find(([least]) => v >= least) || [1, ""];
    return v === 0 ? "0" : `${short(v / size)} ${name}B`;
};

// --- statistics

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// Mean and deviation of the sample (n - 1) of those values that are known.
function spread(values) {
    const kept = values.filter(known);
    const mean = kept.length ? d3.mean(kept) : NaN;
    return {mean, sd: kept.length > 1 ? d3.deviation(kept) : 0, n: kept.length, values: kept};
}

const spread_text = (of, text) => (of.n > 1 ? `${text(of.mean)} ± ${text(of.sd)}` : text(of.mean));

// Whether the mean of one spread lies above another's by more than their deviations; of single runs nobody knows.
const surely_above = (a, b) => a.n > 1 && b.n > 1 && a.mean - b.mean > Math.hypot(a.sd, b.sd);

// The points of a curve: at each epoch, over the runs that have a value there.
function points_of(variant, y, x) {
    const at = new Map();
    variant.done.forEach((run) => run.curve.epoch.forEach((epoch, i) => {
        if (!known(run.curve[y][i])) return;
        if (!at.has(epoch)) at.set(epoch, {x: [], y: []});
        at.get(epoch).y.push(run.curve[y][i]);
        at.get(epoch).x.push(run.curve[x][i]);
    }));
    return [...at.entries()].sort((a, b) => a[0] - b[0]).map(([epoch, of]) => {
        const s = spread(of.y);
        return {x: d3.mean(of.x), epoch, mean: s.mean, sd: s.sd, n: s.n};
    });
}

// --- the box with values under the pointer

const tip = d3.select("body").append("div").attr("id", "tip").attr("role", "tooltip").style("display", "none");

function show_tip(event, lines) {
    tip.style("display", "block").selectAll("div").data(lines).join("div").each(function (line) {
        const row = d3.select(this).text("");
        if (line.colour) row.append("i").style("background", line.colour);
        row.append("span").text(line.text === undefined ? line : line.text);
    });
    const box = tip.node().getBoundingClientRect();
    const left = event.clientX + 14 + box.width > window.innerWidth ? event.clientX - 14 - box.width
        : event.clientX + 14;
    const top = Math.min(event.clientY + 12, window.innerHeight - box.height - 4);
    tip.style("left", `${Math.max(4, left)}px`).style("top", `${top}px`);
}

const hide_tip = () => tip.style("display", "none");

// Not through D3, because versions of D3 pass events on in different ways.
function follow(node, move, leave) {
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerleave", leave);
}

// Values on hover, and a <title> for those who read the page without a pointer.
function explain(selection, text) {
    selection.each(function (d) {
        const words = text(d);
        d3.select(this).append("title").text(words);
        follow(this, (event) => show_tip(event, words.split("\n")), hide_tip);
    });
    return selection;
}

// --- frames

function drawing(width, height, label) {
    return d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
}

function axis_below(svg, x, y, ticks, format) {
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${y})`)
        .call(d3.axisBottom(x).ticks(ticks).tickFormat(format || null).tickSizeOuter(0));
}

function axis_left(svg, y, left, right, format) {
    const axis = svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`)
        .call(d3.axisLeft(y).ticks(5).tickFormat(format || null).tickSizeOuter(0).tickSizeInner(left - right));
    axis.select(".domain").remove();
}

const unit_text = (svg, text, x, y, anchor) =>
    svg.append("text").attr("class", "unit").attr("x", x).attr("y", y).attr("text-anchor", anchor).text(text);

// --- bit widths

// rows by width, summed over seeds: Map("layer 1 forward" -> Map(epoch -> Map(width -> rows)))
function widths_of(variant) {
    const all = new Map();
    variant.done.forEach((run) => run.assignments.forEach(({taken, parts}) => parts.forEach((part) => {
        const key = `layer ${part.layer} ${part.direction}`;
        if (!all.has(key)) all.set(key, new Map());
        if (!all.get(key).has(taken)) all.get(key).set(taken, new Map());
        const counts = all.get(key).get(taken);
        Object.entries(part.rows).forEach(([w, rows]) => counts.set(+w, (counts.get(+w) || 0) + rows));
    })));
    return all;
}

// layer 1 forward, layer 1 backward, layer 2 forward, ...
const by_layer = ([a], [b]) => parseInt(a.slice(6), 10) - parseInt(b.slice(6), 10) || d3.descending(a, b);

function mean_bits(epochs) {
    const pairs = [...epochs.values()].flatMap((counts) => [...counts.entries()]);
    return d3.sum(pairs, ([w, rows]) => w * rows) / d3.sum(pairs, ([, rows]) => rows);
}

// --- pictures and tables as files of their own

function save_button(where, name, type, text) {
    where.append("button").attr("type", "button").attr("class", "save").text(name.split(".").pop().toUpperCase())
        .attr("title", `save ${name}`).on("click", () => {
            const link = document.createElement("a");
            link.href = URL.createObjectURL(new Blob([text()], {type}));
            link.download = name;
            link.click();
        });
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "display", "font", "text-anchor"];

// With the style that the page gives it, because a file has no sheet.
function svg_text(svg) {
    const copy = svg.cloneNode(true), nodes = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((node, i) => {
        const style = getComputedStyle(nodes[i]);
        node.setAttribute("style", STYLES.map((name) => `${name}: ${style.getPropertyValue(name)}`).join("; "));
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy);
}

const csv_text = (table) => [...table.rows].map((row) => [...row.cells].map((cell) =>
    `"${cell.textContent.replace(/"/g, '""')}"`).join(",")).join("\n") + "\n";

// --- legends

const swatch = (where, fill, dashes) => {
    const svg = where.append("svg").attr("viewBox", "0 0 22 12");
    if (dashes === undefined)
        return svg.append("rect").attr("x", 4).attr("width", 12).attr("height", 12).attr("fill", fill);
    return svg.append("line").attr("x2", 22).attr("y1", 6).attr("y2", 6).attr("stroke", fill)
        .attr("stroke-width", 3).attr("stroke-dasharray", dashes);
};
const legend = (where, entries) => {
    const box = where.append("div").attr("class", "legend");
    entries.forEach(({name, fill}) => swatch(box.append("span"), fill) && box.select("span:last-child")
        .append("b").style("font-weight", 400).text(name));
};

// --- curves: one line per variant, with a band of one deviation on each side
//     lines: [{variant, label, points: [{x, mean, sd, n, epoch}]}]

//     cut: "low" leaves out the lowest means, "high" the highest; zero: the axis begins at 0

function domain_of(lines, cut, zero) {
    const means = lines.flatMap((line) => line.points.map((p) => p.mean)).sort(d3.ascending);
    const low = d3.min(lines, (line) => d3.min(line.points, (p) => p.mean - p.sd));
    const high = d3.max(lines, (line) => d3.max(line.points, (p) => p.mean + p.sd));
    if (low === high && !zero) return [low - 0.5 * Math.abs(low) - 1e-9, high + 0.5 * Math.abs(high) + 1e-9];
    return [zero ? 0 : cut === "low" ? d3.quantile(means, 0.04) : low, cut === "high" ? d3.quantile(means, 0.97) : high];
}

function draw_line(plot, line, x, y) {
    const group = plot.append("g").attr("data-variant", line.variant);
    if (line.points.some((p) => p.sd > 0))
        group.append("path").attr("fill", colour(line.variant)).attr("opacity", 0.2).attr("d",
            d3.area().x((p) => x(p.x)).y0((p) => y(p.mean - p.sd)).y1((p) => y(p.mean + p.sd))(line.points));
    group.append("path").attr("fill", "none").attr("stroke", colour(line.variant)).attr("stroke-width", 2)
        .attr("stroke-dasharray", dash(line.variant)).attr("stroke-linejoin", "round")
        .attr("d", d3.line().x((p) => x(p.x)).y((p) => y(p.mean))(line.points));
    if (line.points.length === 1)
        group.append("circle").attr("cx", x(line.points[0].x)).attr("cy", y(line.points[0].mean)).attr("r", 4)
            .attr("fill", colour(line.variant));
}

function nearest(line, at) {
    const i = d3.bisector((p) => p.x).left(line.points, at);
    const [a, b] = [line.points[i - 1], line.points[i]];
    return a && (!b || at - a.x < b.x - at) ? a : b;
}

function follow_pointer(svg, lines, x, box, name, text) {
    const cross = svg.append("line").attr("class", "cross").attr("y1", box.top).attr("y2", box.bottom)
        .style("display", "none");
    const area = svg.append("rect").attr("class", "catch").attr("x", box.left).attr("y", box.top)
        .attr("width", box.right - box.left).attr("height", box.bottom - box.top).attr("fill", "transparent");
    follow(area.node(), (event) => {
        const drawn = area.node().getBoundingClientRect();
        const at = x.invert(box.left + (event.clientX - drawn.left) / drawn.width * (box.right - box.left));
        const shown = lines.filter((line) => line.points.length && !hidden_variants.has(line.variant));
        const close = shown.map((line) => ({line, point: nearest(line, at)}));
        if (!close.length) return;
        const x_at = x(d3.least(close, (c) => Math.abs(c.point.x - at)).point.x);
        cross.style("display", null).attr("x1", x_at).attr("x2", x_at);
        show_tip(event, [name(x.invert(x_at)), ...close.map(({line, point}) => ({
            colour: colour(line.variant), text: `${line.label}: ${spread_text(point, text)}`}))]);
    }, () => { cross.style("display", "none"); hide_tip(); });
}

let clips = 0;
const hidden_variants = new Set(); // switched off in the legend

function curves({lines, label, x_text, x_unit, y_text, y_tick, x_tick, cut, zero}) {
    const [width, height, left, right, top, bottom] = [560, 300, 62, 10, 12, 40];
    const svg = drawing(width, height, label);
    const x = d3.scaleLinear().range([left, width - right])
        .domain([d3.min(lines, (l) => l.points[0].x), d3.max(lines, (l) => l.points[l.points.length - 1].x)]);
    const y = d3.scaleLinear().range([height - bottom, top]).domain(domain_of(lines, cut, zero)).nice();
    axis_left(svg, y, left, width - right, y_tick);
    axis_below(svg, x, height - bottom, 7, x_tick);
    unit_text(svg, x_unit, width - right, height - 6, "end");
    const clip = `clip${clips++}`;
    svg.append("clipPath").attr("id", clip).append("rect").attr("x", left).attr("y", top - 2)
        .attr("width", width - left - right).attr("height", height - top - bottom + 4);
    const plot = svg.append("g").attr("clip-path", `url(#${clip})`);
    lines.forEach((line) => draw_line(plot, line, x, y));
    follow_pointer(svg, lines, x, {left, right: width - right, top, bottom: height - bottom}, x_text, y_text);
    return svg.node();
}

// --- rows: one per variant, its label to the left

const ROW = 30;

function rows_frame(variants, label, width) {
    const longest = d3.max(variants, (variant) => variant.label.length);
    const left = Math.min(Math.max(7 * longest + 14, 60), 250), bottom = 34;
    const svg = drawing(width, ROW * variants.length + bottom + 6, label);
    const most = Math.floor((left - 14) / 6.6);
    const rows = svg.selectAll("g.row").data(variants).join("g").attr("class", "row")
        .attr("data-variant", (variant) => variant.index)
        .attr("transform", (_, i) => `translate(0,${6 + ROW * i})`);
    rows.append("text").attr("x", left - 8).attr("y", ROW / 2 + 4).attr("text-anchor", "end")
        .text((variant) => (variant.label.length > most ? `${variant.label.slice(0, most - 1)}…` : variant.label))
        .append("title").text((variant) => variant.label);
    return {svg, rows, left, right: width - 16, floor: ROW * variants.length + 6};
}

// Mean, deviation and the single seeds. Bars begin at 0; dots do not, because a score has no useful zero.
function means({variants, value, label, text, tick, dots}) {
    const {svg, rows, left, right, floor} = rows_frame(variants, label, 560);
    const of = variants.map((variant) => spread(value(variant)));
    const high = d3.max(of, (s) => d3.max([s.mean + s.sd, ...s.values]));
    const low = dots ? d3.min(of, (s) => d3.min([s.mean - s.sd, ...s.values])) : 0;
    const gap = dots ? 0.1 * (high - low || 0.1 * Math.abs(high) || 1) : 0;
    const x = d3.scaleLinear().range([left, right]).domain([low - gap, high + gap || 1]).nice(6);
    axis_below(svg, x, floor, (right - left) / 66, tick);
    rows.each(function (variant, i) {
        const row = d3.select(this), s = of[i];
        if (!s.n) return;
        row.append("rect").attr("x", left).attr("y", 0).attr("width", right - left).attr("height", ROW)
            .attr("fill", "transparent");
        if (!dots)
            row.append("rect").attr("x", left).attr("y", 5).attr("height", ROW - 10)
                .attr("width", Math.max(1, x(s.mean) - left)).attr("fill", colour(variant.index));
        row.selectAll("circle").data(s.n > 1 ? s.values : []).join("circle").attr("class", "seed").attr("r", 2.6)
            .attr("cx", (v) => x(v)).attr("cy", ROW / 2 + (dots ? 9 : 0));
        if (s.n > 1) {
            const [a, b] = [Math.max(left, x(s.mean - s.sd)), x(s.mean + s.sd)];
            const end = a > left ? `M${a},11V19` : ""; // what lies below the axis is cut off, and has no end
            row.append("path").attr("class", "error").attr("fill", "none").attr("d", `${end}M${a},15H${b}M${b},11V19`);
        }
        if (dots)
            row.append("circle").attr("cx", x(s.mean)).attr("cy", ROW / 2).attr("r", 5).attr("fill", colour(variant.index));
        explain(row, () => `${variant.label}\n${spread_text(s, text)}${s.n > 1 ? `, ${s.n} runs` : ""}`);
    });
    return svg.node();
}

// parts: [{name, value(variant), colour}]
function stacks({variants, parts, label, text, tick, width = 1140}) {
    const {svg, rows, left, right, floor} = rows_frame(variants, label, width);
    const sum = (variant) => d3.sum(parts, (part) => part.value(variant));
    const x = d3.scaleLinear().range([left, right]).domain([0, d3.max(variants, sum) || 1]).nice();
    axis_below(svg, x, floor, (right - left) / 80, tick);
    rows.each(function (variant) {
        let from = 0;
        parts.forEach((part) => {
            const value = part.value(variant);
            if (!(value > 0)) return;
            const box = d3.select(this).append("rect").attr("x", x(from)).attr("y", 4).attr("height", ROW - 8)
                .attr("width", x(from + value) - x(from)).attr("fill", part.colour)
                .attr("data-part", part.name).attr("data-value", value);
            explain(box, () => `${variant.label}: ${part.name} ${text(value)}\n${(100 * value / sum(variant)).toFixed(1)} % of ${
                text(sum(variant))}`);
            from += value;
        });
    });
    return svg.node();
}

// --- columns: the share of each width at each assignment
//     columns: [{name, counts: Map(width -> rows)}]

const width_colour = (width, widths) =>
    d3.interpolateViridis(widths.length < 2 ? 0.5 : 0.12 + 0.78 * widths.indexOf(width) / (widths.length - 1));

function shares({columns, widths, label}) {
    const [width, height, left, bottom] = [300, 150, 40, 34];
    const svg = drawing(width, height, label);
    const x = d3.scaleBand().domain(columns.map((c) => c.name)).range([left, width - 6]).padding(0.15);
    const y = d3.scaleLinear().domain([0, 1]).range([height - bottom, 8]);
    axis_left(svg, y, left, width - 6, d3.format(".0%"));
    const every = Math.ceil(columns.length / 8);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`)
        .call(d3.axisBottom(x).tickSizeOuter(0).tickValues(x.domain().filter((_, i) => i % every === 0)));
    unit_text(svg, "from epoch", width - 6, height - 3, "end");
    columns.forEach((column) => {
        const all = d3.sum(column.counts.values());
        let from = 0;
        widths.filter((w) => column.counts.get(w)).forEach((w) => {
            const share = column.counts.get(w) / all;
            const box = svg.append("rect").attr("x", x(column.name)).attr("width", x.bandwidth())
                .attr("y", y(from + share)).attr("height", y(from) - y(from + share)).attr("fill", width_colour(w, widths));
            explain(box, () => `from epoch ${column.name}: ${w} bit\n${d3.format(",")(column.counts.get(w))} rows, ${
                (100 * share).toFixed(1)} %`);
            from += share;
        });
    });
    return svg.node();
}

// --- heat map of a square matrix: sender down, reader across

function heat({matrix, most, label, text}) {
    const size = matrix.length, left = 40, top = 36, room = 300;
    const cell = Math.min(room / size, 75);
    const svg = drawing(left + room + 8, top + cell * size + 8, label);
    const every = Math.ceil(size / 16);
    const cells = matrix.flatMap((row, a) => row.map((value, b) => ({a, b, value}))).filter((c) => c.a !== c.b);
    const shade = d3.scaleSequential(d3.interpolateCividis).domain([0, most || 1]);
    d3.range(0, size, every).forEach((i) => {
        unit_text(svg, i, left + cell * (i + 0.5), top - 5, "middle");
        unit_text(svg, i, left - 6, top + cell * (i + 0.5) + 4, "end");
    });
    unit_text(svg, "reader", left, 12, "start");
    unit_text(svg, "sender", 0, top - 5, "start");
    explain(svg.selectAll("rect").data(cells).join("rect").attr("x", (c) => left + cell * c.b + 0.5)
        .attr("y", (c) => top + cell * c.a + 0.5).attr("width", Math.max(cell - 1, 0.5))
        .attr("height", Math.max(cell - 1, 0.5)).attr("fill", (c) => shade(c.value)), text);
    if (cell >= 36)
        svg.selectAll("text.cell").data(cells).join("text").attr("class", "cell").attr("text-anchor", "middle")
            .attr("x", (c) => left + cell * (c.b + 0.5)).attr("y", (c) => top + cell * (c.a + 0.5) + 4)
            .style("fill", (c) => (c.value > 0.55 * most ? "#000" : "#fff")).style("pointer-events", "none")
            .text((c) => d3.format(".2~s")(c.value)).append("tspan").text("B");
    return svg.node();
}
