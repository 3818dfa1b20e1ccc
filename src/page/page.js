// The report page: reads the numbers of the runs from the JSON in the page, and draws tables and charts of them.
"use strict";

(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const page = d3.select("#page");
    const variants = data.variants.filter((variant) => variant.runs.some((run) => run.epochs > 0));
    variants.forEach((variant, index) => {
        variant.index = index;
        variant.done = variant.runs.filter((run) => run.epochs > 0);
        variant.exchanges = variant.exchanges || [];
        variant.values = d3.sum(variant.exchanges, (e) => e.rows * e.columns); // sent per epoch, by all ranks
        variant.epoch_seconds = d3.mean(variant.done, (run) => run.median_seconds);
        variant.bytes = d3.mean(variant.done, (run) => run.bytes);
        variant.reduce_bytes = d3.mean(variant.done, (run) => run.reduce_bytes);
    });
    const several = variants.length > 1;
    const one_task = new Set(variants.map((variant) => variant.data)).size === 1; // else no variant is the best one
    const seeds = d3.max(variants, (variant) => variant.done.length) || 0;

    // --- pieces of the page

    const section = (title, note) => {
        page.append("h2").text(title);
        if (note) page.append("p").attr("class", "note").text(note);
    };
    const grid = (kind, where) => (where || page).append("div").attr("class", `grid ${kind || ""}`);
    // Where charts of single variants go: with many variants, into a part of the page that opens on a click.
    const folded = (count) => {
        if (variants.length <= FEW) return page;
        const box = page.append("details");
        box.append("summary").text(`Charts of each variant (${count})`);
        return box;
    };
    const figure = (where, title, note, node, wide) => {
        const box = where.append("figure").classed("wide", Boolean(wide));
        const caption = box.append("figcaption").text(title);
        if (note) caption.append("span").attr("class", "note").text(note);
        box.append(() => node);
        save_button(caption, `${title}.svg`, "image/svg+xml", () => svg_text(node));
        return box;
    };
    // columns: [{name, text(row), best?(row) -> spread, left?}]; the `best` surely above all others of a task is bold
    function table(where, rows, columns, id) {
        const box = where.append("div").attr("class", "table").append("table").attr("id", id || null);
        box.append("thead").append("tr").selectAll("th").data(columns).join("th")
            .attr("class", (c) => (c.left ? "text" : null)).text((c) => c.name);
        const is_best = (c, row) => c.best && one_task && rows.length > 1
            && rows.every((other) => other === row || surely_above(c.best(row), c.best(other)));
        box.append("tbody").selectAll("tr").data(rows).join("tr").selectAll("td")
            .data((row) => columns.map((column) => ({row, column}))).join("td")
            .classed("text", ({column}) => Boolean(column.left))
            .classed("best", ({row, column}) => Boolean(is_best(column, row)))
            .text(({row, column}) => column.text(row));
        save_button(where, `${id}.csv`, "text/csv", () => csv_text(box.node()));
    }

    // --- what is said of a variant

    // The settings of data and model that are not the same in all variants.
    const network = (variant) => JSON.stringify(Object.entries(variant.settings || {})
        .filter(([key]) => /^config\.(data|model)\./.test(key)));
    // The vanilla training of the same data and model; with as many ranks if there is one.
    function baseline_of(variant) {
        const alike = variants.filter((a) => a.mode === "vanilla" && a.data === variant.data && a.layer === variant.layer
            && network(a) === network(variant));
        return alike.find((a) => a.ranks === variant.ranks && a.ranks > 1) || alike[0] || null;
    }
    const score = (variant, when, split) => spread(variant.done.map((run) => run[when][split]));
    const {metric, plain, lower} = variants[0] || {};
    const scale = plain ? 1 : 100, unit = plain ? "" : "\u00a0%";
    const score_text = (value) => (value === null || Number.isNaN(value) ? "none"
        : `${(scale * value).toFixed(2)}${plain ? "" : " %"}`);
    const score_tick = (v) => `${+(scale * v).toFixed(2)}${plain ? "" : " %"}`;
    const scores = (of) => (of.n ? `${(scale * of.mean).toFixed(2)}${of.n > 1 ? ` ± ${(scale * of.sd).toFixed(2)}` : ""}`
        : "none");
    const best_score = (v) => spread(v.done.map((run) => run.last.test).filter(known).map((x) => (lower ? -x : x)));
    const throughput = (variant) => 1 / variant.epoch_seconds;
    const rates = (variant) => spread(variant.done.map((run) => 1 / run.median_seconds));
    const speed_up = (variant) => {
        const base = baseline_of(variant);
        return base ? `${(base.epoch_seconds / variant.epoch_seconds).toFixed(2)}×` : "none";
    };
    const bits = (variant) => (variant.values > 0 ? 8 * variant.bytes / variant.values : NaN);
    const time = (variant, part) => d3.mean(variant.done, (run) => run.time[part]);
    const training_seconds = (variant) => spread(variant.done.map((run) => run.total_seconds));

    // --- the head of the page

    function facts() {
        const one = (name) => [...new Set(variants.map((variant) => variant[name]))].filter(known);
        const first = variants[0];
        const words = [];
        if (one("data").length === 1)
            words.push(`${first.data}: ${first.size}, ${first.features} features, ${first.classes} classes`);
        if (one("validation_nodes").join() === "0")
            words.push("no validation nodes: scores are those after the last epoch");
        words.push(`${one("layer").join(", ")} with ${one("layers").join(", ")} layers`);
        words.push(`${one("ranks").sort(d3.ascending).join(" or ")} rank${one("ranks").join() === "1" ? "" : "s"}`);
        if (one("cpu").length) words.push(one("cpu").join(", "));
        words.push(`fringe ${data.fringe}`);
        return words.join(" · ");
    }

    function head() {
        const runs = d3.sum(data.variants, (variant) => variant.runs.length);
        const open = data.variants.flatMap((variant) => variant.runs).filter((run) => run.state !== "finished");
        const names = [...new Set(variants.map((variant) => variant.data))].join(", ");
        document.title = `fringe report: ${names}`;
        page.append("h1").text(names);
        page.append("p").attr("id", "verdict").text(verdict());
        page.append("div").attr("class", "facts").text(facts());
        page.append("div").attr("class", "facts").text(`${runs} run${runs === 1 ? "" : "s"}${
            several ? `, ${variants.length} variants` : ""}${open.length ? `; ${open.length} not finished` : ""}.${
            seeds > 1 ? " Values are mean ± standard deviation over the seeds of a variant." : ""}`);
    }

    // What the fastest variant with a baseline gained over it, in bytes, time and score.
    function verdict() {
        const compared = variants.filter((variant) => baseline_of(variant) && baseline_of(variant) !== variant);
        const variant = d3.least(compared, (a) => a.epoch_seconds / baseline_of(a).epoch_seconds);
        if (!variant) return "";
        const base = baseline_of(variant), ratio = base.epoch_seconds / variant.epoch_seconds;
        const gain = score(variant, "last", "test").mean - score(base, "last", "test").mean;
        const sent = !(base.bytes > 0) ? ""
            : variant.bytes > 0 ? `sends ${digits(base.bytes / variant.bytes)} times fewer bytes, ` : "sends no halo rows, ";
        const doubt = (a, b) => (a.n < 2 || b.n < 2 ? " (single runs)" : surely_above(a, b) || surely_above(b, a) ? ""
            : " (within the deviation)");
        const scored = Number.isNaN(gain) ? "" : gain === 0 ? `, and its test ${metric} is the same` : `, and its test ${metric} is ${Math.abs(scale * gain).toFixed(2)}${
            plain ? "" : " points"} ${gain < 0 ? "lower" : "higher"}${doubt(best_score(variant), best_score(base))}`;
        return `Against ${base.label}, ${variant.label} ${sent}takes ${digits(1 / ratio)} of the time of an epoch (${
            seconds_text(variant.epoch_seconds)} to ${seconds_text(base.epoch_seconds)})${
            doubt(rates(variant), rates(base))}${scored}.`.replace(") (", "; ");
    }

    function variant_legend() {
        const box = page.append("div").attr("class", "legend variants");
        variants.forEach((variant) => {
            const chip = box.append("button").attr("type", "button").attr("aria-pressed", "true")
                .attr("title", "show or hide it in the charts")
                .on("click", () => {
                    if (!hidden_variants.delete(variant.index)) hidden_variants.add(variant.index);
                    const off = hidden_variants.has(variant.index);
                    chip.attr("aria-pressed", String(!off));
                    const drawn = `[data-variant="${variant.index}"]`;
                    d3.selectAll(`path${drawn}, g${drawn}`).classed("off", off);
                });
            swatch(chip, colour(variant.index), dash(variant.index));
            chip.append("span").style("padding", 0).text(variant.label);
        });
    }

    // --- comparison

    function comparison() {
        section("Comparison", several ? "Speed-up: of the median epoch, over vanilla with the same data and model. "
            + "Bits per value: bytes of halo rows sent, divided by the values in them. Gradients: bytes of their sum." : "");
        table(page, variants, [
            {name: several ? "variant" : "mode", text: (variant) => variant.label, left: true},
            {name: "runs", text: (variant) => variant.done.length},
            {name: `test ${metric}${unit}`, text: (variant) => scores(score(variant, "last", "test")),
             best: best_score},
            {name: `at best validation${unit}`, text: (variant) => scores(score(variant, "best", "test"))},
            {name: `best validation${unit}`, text: (variant) => scores(score(variant, "best", "validation"))},
            {name: "epochs/s", text: (variant) => digits(throughput(variant), 4), best: rates},
            {name: "speed\u2011up", text: speed_up},
            {name: "sent per epoch", text: (variant) => bytes_text(variant.bytes)},
            {name: "bits per value", text: (variant) => digits(bits(variant))},
            {name: "gradients per epoch", text: (variant) => bytes_text(variant.reduce_bytes)},
            {name: "training", text: (variant) => spread_text(training_seconds(variant), seconds_text)},
        ], "comparison");
        if (!several && seeds < 2) return;
        const where = grid();
        if (score(variants[0], "last", "test").n)
            figure(where, `Test ${metric}`, "last evaluation; small circles are single seeds", means({variants, dots: true,
                value: (variant) => variant.done.map((run) => run.last.test), label: "test score of each variant",
                text: score_text, tick: score_tick}));
        figure(where, "Median epoch", "epochs per second in the table are 1 / this mean", means({variants,
            value: (v) => v.done.map((run) => run.median_seconds), label: "seconds of the median epoch of each variant",
            text: seconds_text, tick: seconds_tick}));
        figure(where, "Training time", "all epochs with assignments, without evaluation", means({variants,
            value: (variant) => variant.done.map((run) => run.total_seconds), label: "training time of each variant",
            text: seconds_text, tick: seconds_tick}));
        figure(where, "Halo rows sent", "bytes of an epoch, all ranks", means({variants,
            value: (variant) => variant.done.map((run) => run.bytes), label: "bytes per epoch of each variant",
            text: bytes_text, tick: bytes_tick}));
    }

    // --- curves

    const lines_of = (y, x) => variants.map((v) => ({variant: v.index, label: v.label, points: points_of(v, y, x)}))
        .filter((line) => line.points.length);
    const by_epoch = {x_unit: "epoch", x_text: (x) => `epoch ${Math.round(x)}`};
    const by_clock = {x_unit: "training", x_tick: seconds_tick, x_text: (x) => `after ${seconds_text(x)}`};

    function curve(where, title, note, y, x, style) {
        const lines = lines_of(y, x);
        if (lines.length)
            figure(where, title, note, curves({lines, label: `${title} against ${x}`,
                ...(x === "epoch" ? by_epoch : by_clock), ...style}));
    }

    const as_score = {y_text: score_text, y_tick: score_tick, cut: lower ? "high" : "low"};

    function learning() {
        section("Learning", `${seeds > 1 ? "Lines are means over seeds, bands are one standard deviation. " : ""}${
            data.epochs_per_point > 1 ? `One point stands for ${data.epochs_per_point} epochs. ` : ""
        }The lowest scores and the highest losses of the first epochs may lie outside.`);
        const where = grid();
        curve(where, "Training loss", "", "loss", "epoch", {y_text: (v) => digits(v, 4), cut: "high"});
        curve(where, `Validation ${metric}`, "", "validation", "epoch", as_score);
        curve(where, `Test ${metric}`, "", "test", "epoch", as_score);
        curve(where, `Validation ${metric} over time`, "seconds of training and assignments, without evaluation",
            "validation", "clock", as_score);
    }

    // --- time

    const PARTS = ["compute", "pack", "wait", "reduce", "rest", "assignment", "evaluation"].map((name, i) => [name, i]);

    // [{label: "rank 0", compute, pack, wait, reduce}, ...], means over seeds
    function ranks_of(variant) {
        const runs = variant.done.filter((run) => run.rank_times);
        return d3.range(runs[0].rank_times.compute.length).map((i) => {
            const rank = {label: `rank ${i}`, index: variant.index};
            PARTS.slice(0, 4).forEach(([name]) => { rank[name] = d3.mean(runs, (run) => run.rank_times[name][i]); });
            return rank;
        });
    }

    function times() {
        section("Time per epoch", "Means over all epochs and ranks. compute: sums over neighbours, dense products, "
            + "element-wise work. pack: encode and decode messages. wait: for messages that no computation hides. "
            + "reduce: the sum of weight gradients. assignment, evaluation: spread over all epochs.");
        const parts = PARTS.map(([name, c]) => ({name, colour: part_colour(c), value: (variant) => time(variant, name)}));
        const box = figure(grid(), "Where the time of an epoch goes", "", stacks({variants, parts,
            label: "parts of an epoch for each variant", text: seconds_text, tick: seconds_tick}), true);
        legend(box, parts.map((part) => ({name: part.name, fill: part.colour})));
        table(page, variants, [{name: several ? "variant" : "mode", text: (variant) => variant.label, left: true},
            ...parts.map((part) => ({name: part.name, text: (variant) => seconds_text(part.value(variant))})),
            {name: "epoch", text: (variant) => seconds_text(d3.mean(variant.done, (run) => run.mean_seconds))}], "times");
        const timed = variants.filter((variant) => variant.done.some((run) => run.rank_times) && variant.ranks > 1);
        const where = grid("", timed.length ? folded(timed.length) : page);
        timed.forEach((variant) => figure(where,
            `Ranks: ${variant.label}`, "seconds of an epoch on each rank", stacks({width: 560, variants: ranks_of(variant),
                parts: PARTS.slice(0, 4).map(([name, c]) => ({name, colour: part_colour(c), value: (rank) => rank[name]})),
                label: `times of the ranks, ${variant.label}`, text: seconds_text, tick: seconds_tick})));
        curve(where, "Seconds of each epoch", "without evaluation and assignment", "seconds", "epoch",
            {y_text: seconds_text, y_tick: seconds_tick, cut: "high", zero: true});
    }

    // --- messages

    function volumes() {
        if (!variants.some((variant) => variant.bytes + variant.reduce_bytes > 0)) return;
        section("Messages", "Halo rows and weight gradients that all ranks send in an epoch of training.");
        const where = grid();
        curve(where, "Bytes per epoch", "halo rows", "bytes", "epoch", {y_text: bytes_text, y_tick: bytes_tick, zero: true});
        const lines = lines_of("bytes", "epoch").filter((line) => variants[line.variant].values > 0);
        lines.forEach((line) => line.points.forEach((p) => {
            p.mean *= 8 / variants[line.variant].values;
            p.sd *= 8 / variants[line.variant].values;
        }));
        if (lines.length)
            figure(where, "Bits per value", "with the scales and headers of the messages",
                curves({lines, label: "bits per value against epoch", ...by_epoch, zero: true,
                    y_text: (v) => `${digits(v)} bit`}));
        curve(where, "Bytes of gradients per epoch", "their sum over ranks", "reduce_bytes", "epoch",
            {y_text: bytes_text, y_tick: bytes_tick, zero: true});
        curve(where, "Bits of gradients", "of a value, where gradients.bits_rule chooses them", "gradient_bits", "epoch",
            {y_text: (v) => `${digits(v)} bit`, zero: true});
    }

    function histograms() {
        const chosen = variants.map((variant) => ({variant, all: widths_of(variant)})).filter(({all}) => all.size);
        if (!chosen.length) return;
        const widths = [...new Set(chosen.flatMap(({all}) => [...all.values()].flatMap((epochs) =>
            [...epochs.values()].flatMap((counts) => [...counts.keys()]))))].sort(d3.ascending);
        section("Bit widths", "Share of the rows of each exchange that travel in so many bits, after each assignment.");
        legend(page, widths.map((w) => ({name: `${w} bit`, fill: width_colour(w, widths)})));
        const box = folded(chosen.length);
        chosen.forEach(({variant, all}) => {
            if (several) box.append("p").text(variant.label);
            const where = grid("small", box);
            [...all.entries()].sort(by_layer).forEach(([name, epochs]) => {
                const columns = [...epochs.entries()].sort((a, b) => a[0] - b[0])
                    .map(([epoch, counts]) => ({name: epoch, counts}));
                figure(where, name, `mean ${mean_bits(epochs).toFixed(2)} bit`,
                    shares({columns, widths, label: `widths of ${name}, ${variant.label}`}));
            });
        });
    }

    function matrices() {
        const shown = variants.filter((variant) => variant.messages && variant.messages.values);
        const sums = variants.filter((variant) => variant.messages && variant.messages.sent && !variant.messages.values);
        if (!shown.length && !sums.length) return;
        section("Messages between ranks", "Bytes that one rank sends to another in an epoch: the bytes of all halo rows, "
            + "shared out by the values (rows times columns) of each pair. All maps have one scale.");
        const per_value = (variant) => variant.bytes / variant.values || 0;
        const bytes_of = (variant) => variant.messages.values.map((row) => row.map((value) => value * per_value(variant)));
        const most = d3.max(shown, (variant) => d3.max(bytes_of(variant).flat()));
        const where = grid("small", folded(shown.length + sums.length));
        shown.forEach((variant) => figure(where, variant.label, `${bytes_text(variant.bytes)} per epoch`,
            heat({matrix: bytes_of(variant), most, label: `messages between ranks, ${variant.label}`,
                text: ({a, b, value}) => `rank ${a} to rank ${b}\n${bytes_text(value)}\n${
                    d3.format(",")(variant.messages.values[a][b])} values\n${
                    d3.format(",")(variant.messages.values_of_sources[a][b])} if rows of sources alone were sent`})));
        sums.forEach((variant) => figure(where, `${variant.label}: sent by each rank`, "", means({dots: false,
            variants: variant.messages.sent.map((value, i) => ({label: `rank ${i}`, index: variant.index,
                value: value * per_value(variant)})),
            value: (rank) => [rank.value], label: "bytes sent by each rank", text: bytes_text, tick: bytes_tick})));
    }

    // --- the tables of the AdaQP paper

    function paper_tables() {
        if (!variants.some((variant) => variant.mode === "vanilla") || !several) return;
        section("Tables in the layout of the AdaQP paper", "Throughput: epochs per second of the median epoch, in "
            + "brackets the speed-up over vanilla. Comm.: wait for halo rows and sum of weight gradients; Comp.: "
            + "computation; Quant.: encode and decode messages.");
        const rows = [...variants].sort((a, b) => d3.ascending(a.data, b.data) || d3.ascending(a.layer, b.layer)
            || a.index - b.index);
        const model = (variant) => `${(variant.layer || "?").toUpperCase()}, ${variant.layers} layers`;
        const what = [{name: "Dataset", text: (variant) => variant.data, left: true},
            {name: "Partitions", text: (variant) => variant.ranks},
            {name: "Model", text: model, left: true},
            {name: "Method", text: (variant) => variant.label, left: true}];
        table(page, rows, [...what,
            {name: {"accuracy": "Accuracy (%)", "micro-F1": "F1-micro (%)"}[metric] || metric,
             text: (variant) => scores(score(variant, "last", "test")), best: best_score},
            {name: "Throughput (epoch/s)", text: (variant) => digits(throughput(variant))
                + (variant === baseline_of(variant) ? "" : ` (${speed_up(variant)})`), best: rates}], "accuracy");
        const cell = (value) => digits(value, 3);
        table(page, rows, [...what,
            {name: "Comm. (s)", text: (variant) => cell(time(variant, "wait") + time(variant, "reduce"))},
            {name: "Comp. (s)", text: (variant) => cell(time(variant, "compute") + time(variant, "rest"))},
            {name: "Quant. (s)", text: (variant) => cell(time(variant, "pack"))},
            {name: "Epoch (s)", text: (variant) => cell(d3.mean(variant.done, (run) => run.mean_seconds))},
            {name: "Assign, whole run (s)", text: (v) => cell(d3.mean(v.done, (run) => run.time.assignment * run.epochs))},
            {name: "Training (s)", text: (variant) => cell(training_seconds(variant).mean)}], "breakdown");
    }

    // --- the runs themselves

    // Every setting of the first run that no variant has otherwise, and that is not of a single run.
    function common_settings() {
        const of_runs = ["run.dir", "run.seed", "data.cache"];
        const all = Object.entries(data.config || {}).flatMap(([section, of]) => (of instanceof Object && !Array.isArray(of)
            ? Object.entries(of).map(([key, value]) => [`${section}.${key}`, value]) : [[section, of]]));
        const rows = all.filter(([key]) => !of_runs.includes(key) && !variants.some((v) => `config.${key}` in v.settings));
        const box = page.append("details");
        box.append("summary").text(`Common settings (${rows.length})`);
        table(box, rows, [{name: "key", text: ([key]) => key, left: true},
            {name: "value", text: ([, value]) => JSON.stringify(value), left: true}], "common");
    }

    function settings() {
        const keys = several ? [...new Set(variants.flatMap((variant) => Object.keys(variant.settings)))] : [];
        if (!keys.length) return;
        const box = page.append("details");
        box.append("summary").text(`Settings that differ (${keys.length})`);
        const names = {name: "key", text: (key) => key.replace(/^config\./, ""), left: true};
        table(box, keys, [names, ...variants.map((variant) => ({
            name: variant.label, text: (key) => variant.settings[key] || "", left: true}))], "settings");
    }

    function runs() {
        section("Runs");
        common_settings();
        settings();
        const all = data.variants.flatMap((variant) => variant.runs.map((run) => ({variant, run})));
        const box = page.append("details").attr("open", all.length <= 20 ? "" : null);
        box.append("summary").text(`Each run (${all.length})`);
        const of = (run, when, split) => score_text(known(run[when][split]) ? run[when][split] : null);
        table(box, all, [
            {name: "run", text: ({run}) => run.folder, left: true},
            {name: "variant", text: ({variant}) => variant.label, left: true},
            {name: "seed", text: ({run}) => (known(run.seed) ? run.seed : "")},
            {name: "state", text: ({run}) => run.state, left: true},
            {name: "epochs", text: ({run}) => run.epochs},
            {name: "last test", text: ({run}) => of(run, "last", "test")},
            {name: "best validation", text: ({run}) => of(run, "best", "validation")},
            {name: "its epoch", text: ({run}) => (known(run.best.epoch) ? run.best.epoch : "")},
            {name: "its test", text: ({run}) => of(run, "best", "test")},
            {name: "median epoch", text: ({run}) => (run.epochs ? seconds_text(run.median_seconds) : "")},
            {name: "sent per epoch", text: ({run}) => (run.epochs ? bytes_text(run.bytes) : "")},
        ], "runs");
    }

    if (!variants.length) {
        page.append("h1").text("fringe report");
        page.append("p").text("None of these runs has finished an epoch yet.");
        runs();
        return;
    }
    head();
    variant_legend();
    [comparison, learning, times, volumes, histograms, matrices, paper_tables, runs].forEach((draw) => draw());
})();
