// The report page: reads the numbers of the runs from the JSON in the page, and draws tables and charts of them.
"use strict";

(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const page = d3.select("#page");
    const arms = data.arms.filter((arm) => arm.runs.some((run) => run.epochs > 0));
    arms.forEach((arm, index) => {
        arm.index = index;
        arm.done = arm.runs.filter((run) => run.epochs > 0);
        arm.exchanges = arm.exchanges || [];
        arm.values = d3.sum(arm.exchanges, (e) => e.rows * e.columns); // sent per epoch, by all ranks
        arm.epoch_seconds = d3.mean(arm.done, (run) => run.median_seconds);
        arm.bytes = d3.mean(arm.done, (run) => run.bytes);
        arm.reduce_bytes = d3.mean(arm.done, (run) => run.reduce_bytes);
    });
    const several = arms.length > 1;
    const one_task = new Set(arms.map((arm) => arm.data)).size === 1; // else no arm is the best one
    const seeds = d3.max(arms, (arm) => arm.done.length) || 0;

    // --- pieces of the page

    const section = (title, note) => {
        page.append("h2").text(title);
        if (note) page.append("p").attr("class", "note").text(note);
    };
    const grid = (kind, where) => (where || page).append("div").attr("class", `grid ${kind || ""}`);
    // Where charts of single arms go: with many arms, into a part of the page that opens on a click.
    const folded = (count) => {
        if (arms.length <= FEW) return page;
        const box = page.append("details");
        box.append("summary").text(`Charts of each arm (${count})`);
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

    // --- what is said of an arm

    // The settings of data and model that are not the same in all arms.
    const network = (arm) => JSON.stringify(Object.entries(arm.settings || {})
        .filter(([key]) => /^config\.(data|model)\./.test(key)));
    // The vanilla training of the same data and model; with as many ranks if there is one.
    function baseline_of(arm) {
        const alike = arms.filter((a) => a.mode === "vanilla" && a.data === arm.data && a.layer === arm.layer
            && network(a) === network(arm));
        return alike.find((a) => a.ranks === arm.ranks && a.ranks > 1) || alike[0] || null;
    }
    const score = (arm, when, split) => spread(arm.done.map((run) => run[when][split]));
    const {metric, plain, lower} = arms[0] || {};
    const scale = plain ? 1 : 100, unit = plain ? "" : "\u00a0%";
    const score_text = (value) => (value === null || Number.isNaN(value) ? "none"
        : `${(scale * value).toFixed(2)}${plain ? "" : " %"}`);
    const score_tick = (v) => `${+(scale * v).toFixed(2)}${plain ? "" : " %"}`;
    const scores = (of) => (of.n ? `${(scale * of.mean).toFixed(2)}${of.n > 1 ? ` ± ${(scale * of.sd).toFixed(2)}` : ""}`
        : "none");
    const best_score = (arm) => spread(arm.done.map((run) => run.last.test).filter(known).map((v) => (lower ? -v : v)));
    const throughput = (arm) => 1 / arm.epoch_seconds;
    const rates = (arm) => spread(arm.done.map((run) => 1 / run.median_seconds));
    const speed_up = (arm) => {
        const base = baseline_of(arm);
        return base ? `${(base.epoch_seconds / arm.epoch_seconds).toFixed(2)}×` : "none";
    };
    const bits = (arm) => (arm.values > 0 ? 8 * arm.bytes / arm.values : NaN);
    const time = (arm, part) => d3.mean(arm.done, (run) => run.time[part]);
    const training_seconds = (arm) => spread(arm.done.map((run) => run.total_seconds));

    // --- the head of the page

    function facts() {
        const one = (name) => [...new Set(arms.map((arm) => arm[name]))].filter(known);
        const first = arms[0];
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
        const runs = d3.sum(data.arms, (arm) => arm.runs.length);
        const open = data.arms.flatMap((arm) => arm.runs).filter((run) => run.state !== "finished");
        const names = [...new Set(arms.map((arm) => arm.data))].join(", ");
        document.title = `fringe report: ${names}`;
        page.append("h1").text(names);
        page.append("p").attr("id", "verdict").text(verdict());
        page.append("div").attr("class", "facts").text(facts());
        page.append("div").attr("class", "facts").text(`${runs} run${runs === 1 ? "" : "s"}${
            several ? `, ${arms.length} arms` : ""}${open.length ? `; ${open.length} not finished` : ""}.${
            seeds > 1 ? " Values are mean ± standard deviation over the seeds of an arm." : ""}`);
    }

    // What the fastest arm with a baseline gained over it, in bytes, time and score.
    function verdict() {
        const compared = arms.filter((arm) => baseline_of(arm) && baseline_of(arm) !== arm);
        const arm = d3.least(compared, (a) => a.epoch_seconds / baseline_of(a).epoch_seconds);
        if (!arm) return "";
        const base = baseline_of(arm), ratio = base.epoch_seconds / arm.epoch_seconds;
        const gain = score(arm, "last", "test").mean - score(base, "last", "test").mean;
        const sent = !(base.bytes > 0) ? "" : arm.bytes > 0 ? `sends ${digits(base.bytes / arm.bytes)} times fewer bytes, `
            : "sends no halo rows, ";
        const doubt = (a, b) => (a.n < 2 || b.n < 2 ? " (single runs)" : surely_above(a, b) || surely_above(b, a) ? ""
            : " (within the deviation)");
        const scored = Number.isNaN(gain) ? "" : `, and its test ${metric} is ${Math.abs(scale * gain).toFixed(2)}${
            plain ? "" : " points"} ${gain < 0 ? "lower" : "higher"}${doubt(best_score(arm), best_score(base))}`;
        return `Against ${base.label}, ${arm.label} ${sent}takes ${digits(1 / ratio)} of the time of an epoch (${
            seconds_text(arm.epoch_seconds)} to ${seconds_text(base.epoch_seconds)})${doubt(rates(arm), rates(base))}${scored}.`.replace(") (", "; ");
    }

    function arm_legend() {
        const box = page.append("div").attr("class", "legend arms");
        arms.forEach((arm) => {
            const chip = box.append("button").attr("type", "button").attr("aria-pressed", "true")
                .attr("title", "show or hide it in the charts")
                .on("click", () => {
                    if (!hidden_arms.delete(arm.index)) hidden_arms.add(arm.index);
                    const off = hidden_arms.has(arm.index);
                    chip.attr("aria-pressed", String(!off));
                    d3.selectAll(`path[data-arm="${arm.index}"], g[data-arm="${arm.index}"]`).classed("off", off);
                });
            swatch(chip, colour(arm.index), dash(arm.index));
            chip.append("span").style("padding", 0).text(arm.label);
        });
    }

    // --- comparison

    function comparison() {
        section("Comparison", several ? "Speed-up: of the median epoch, over vanilla with the same data and model. "
            + "Bits per value: bytes of halo rows sent, divided by the values in them. Gradients: bytes of their sum." : "");
        table(page, arms, [
            {name: several ? "arm" : "mode", text: (arm) => arm.label, left: true},
            {name: "runs", text: (arm) => arm.done.length},
            {name: `test ${metric}${unit}`, text: (arm) => scores(score(arm, "last", "test")),
             best: best_score},
            {name: `at best validation${unit}`, text: (arm) => scores(score(arm, "best", "test"))},
            {name: `best validation${unit}`, text: (arm) => scores(score(arm, "best", "validation"))},
            {name: "epochs/s", text: (arm) => digits(throughput(arm), 4), best: rates},
            {name: "speed\u2011up", text: speed_up},
            {name: "sent per epoch", text: (arm) => bytes_text(arm.bytes)},
            {name: "bits per value", text: (arm) => digits(bits(arm))},
            {name: "gradients per epoch", text: (arm) => bytes_text(arm.reduce_bytes)},
            {name: "training", text: (arm) => spread_text(training_seconds(arm), seconds_text)},
        ], "comparison");
        if (!several && seeds < 2) return;
        const where = grid();
        if (score(arms[0], "last", "test").n)
            figure(where, `Test ${metric}`, "last evaluation; small circles are single seeds", means({arms, dots: true,
                value: (arm) => arm.done.map((run) => run.last.test), label: "test score of each arm",
                text: score_text, tick: score_tick}));
        figure(where, "Median epoch", "epochs per second in the table are 1 / this mean", means({arms,
            value: (arm) => arm.done.map((run) => run.median_seconds), label: "seconds of the median epoch of each arm",
            text: seconds_text, tick: seconds_tick}));
        figure(where, "Training time", "all epochs with assignments, without evaluation", means({arms,
            value: (arm) => arm.done.map((run) => run.total_seconds), label: "training time of each arm",
            text: seconds_text, tick: seconds_tick}));
        figure(where, "Halo rows sent", "bytes of an epoch, all ranks", means({arms,
            value: (arm) => arm.done.map((run) => run.bytes), label: "bytes per epoch of each arm",
            text: bytes_text, tick: bytes_tick}));
    }

    // --- curves

    const lines_of = (y, x) => arms.map((arm) => ({arm: arm.index, label: arm.label, points: points_of(arm, y, x)}))
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
    function ranks_of(arm) {
        const runs = arm.done.filter((run) => run.rank_times);
        return d3.range(runs[0].rank_times.compute.length).map((i) => {
            const rank = {label: `rank ${i}`, index: arm.index};
            PARTS.slice(0, 4).forEach(([name]) => { rank[name] = d3.mean(runs, (run) => run.rank_times[name][i]); });
            return rank;
        });
    }

    function times() {
        section("Time per epoch", "Means over all epochs and ranks. compute: sums over neighbours, dense products, "
            + "element-wise work. pack: encode and decode messages. wait: for messages that no computation hides. "
            + "reduce: the sum of weight gradients. assignment, evaluation: spread over all epochs.");
        const parts = PARTS.map(([name, c]) => ({name, colour: part_colour(c), value: (arm) => time(arm, name)}));
        const box = figure(grid(), "Where the time of an epoch goes", "", stacks({arms, parts,
            label: "parts of an epoch for each arm", text: seconds_text, tick: seconds_tick}), true);
        legend(box, parts.map((part) => ({name: part.name, fill: part.colour})));
        table(page, arms, [{name: several ? "arm" : "mode", text: (arm) => arm.label, left: true},
            ...parts.map((part) => ({name: part.name, text: (arm) => seconds_text(part.value(arm))})),
            {name: "epoch", text: (arm) => seconds_text(d3.mean(arm.done, (run) => run.mean_seconds))}], "times");
        const timed = arms.filter((arm) => arm.done.some((run) => run.rank_times) && arm.ranks > 1);
        const where = grid("", timed.length ? folded(timed.length) : page);
        timed.forEach((arm) => figure(where,
            `Ranks: ${arm.label}`, "seconds of an epoch on each rank", stacks({width: 560, arms: ranks_of(arm),
                parts: PARTS.slice(0, 4).map(([name, c]) => ({name, colour: part_colour(c), value: (rank) => rank[name]})),
                label: `times of the ranks, ${arm.label}`, text: seconds_text, tick: seconds_tick})));
        curve(where, "Seconds of each epoch", "without evaluation and assignment", "seconds", "epoch",
            {y_text: seconds_text, y_tick: seconds_tick, cut: "high", zero: true});
    }

    // --- messages

    function volumes() {
        if (!arms.some((arm) => arm.bytes + arm.reduce_bytes > 0)) return;
        section("Messages", "Halo rows and weight gradients that all ranks send in an epoch of training.");
        const where = grid();
        curve(where, "Bytes per epoch", "halo rows", "bytes", "epoch", {y_text: bytes_text, y_tick: bytes_tick, zero: true});
        const lines = lines_of("bytes", "epoch").filter((line) => arms[line.arm].values > 0);
        lines.forEach((line) => line.points.forEach((p) => {
            p.mean *= 8 / arms[line.arm].values;
            p.sd *= 8 / arms[line.arm].values;
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
        const chosen = arms.map((arm) => ({arm, all: widths_of(arm)})).filter(({all}) => all.size);
        if (!chosen.length) return;
        const widths = [...new Set(chosen.flatMap(({all}) => [...all.values()].flatMap((epochs) =>
            [...epochs.values()].flatMap((counts) => [...counts.keys()]))))].sort(d3.ascending);
        section("Bit widths", "Share of the rows of each exchange that travel in so many bits, after each assignment.");
        legend(page, widths.map((w) => ({name: `${w} bit`, fill: width_colour(w, widths)})));
        const box = folded(chosen.length);
        chosen.forEach(({arm, all}) => {
            if (several) box.append("p").text(arm.label);
            const where = grid("small", box);
            [...all.entries()].sort(by_layer).forEach(([name, epochs]) => {
                const columns = [...epochs.entries()].sort((a, b) => a[0] - b[0])
                    .map(([epoch, counts]) => ({name: epoch, counts}));
                figure(where, name, `mean ${mean_bits(epochs).toFixed(2)} bit`,
                    shares({columns, widths, label: `widths of ${name}, ${arm.label}`}));
            });
        });
    }

    function matrices() {
        const shown = arms.filter((arm) => arm.messages && arm.messages.values);
        const sums = arms.filter((arm) => arm.messages && arm.messages.sent && !arm.messages.values);
        if (!shown.length && !sums.length) return;
        section("Messages between ranks", "Bytes that one rank sends to another in an epoch: the bytes of all halo rows, "
            + "shared out by the values (rows times columns) of each pair. All maps have one scale.");
        const per_value = (arm) => arm.bytes / arm.values || 0;
        const bytes_of = (arm) => arm.messages.values.map((row) => row.map((value) => value * per_value(arm)));
        const most = d3.max(shown, (arm) => d3.max(bytes_of(arm).flat()));
        const where = grid("small", folded(shown.length + sums.length));
        shown.forEach((arm) => figure(where, arm.label, `${bytes_text(arm.bytes)} per epoch`,
            heat({matrix: bytes_of(arm), most, label: `messages between ranks, ${arm.label}`,
                text: ({a, b, value}) => `rank ${a} to rank ${b}\n${bytes_text(value)}\n${
                    d3.format(",")(arm.messages.values[a][b])} values\n${
                    d3.format(",")(arm.messages.values_of_sources[a][b])} if rows of sources alone were sent`})));
        sums.forEach((arm) => figure(where, `${arm.label}: sent by each rank`, "", means({dots: false,
            arms: arm.messages.sent.map((value, i) => ({label: `rank ${i}`, index: arm.index, value: value * per_value(arm)})),
            value: (rank) => [rank.value], label: "bytes sent by each rank", text: bytes_text, tick: bytes_tick})));
    }

    // --- the tables of the AdaQP paper

    function paper_tables() {
        if (!arms.some((arm) => arm.mode === "vanilla") || !several) return;
        section("Tables in the layout of the AdaQP paper", "Throughput: epochs per second of the median epoch, in "
            + "brackets the speed-up over vanilla. Comm.: wait for halo rows and sum of weight gradients; Comp.: "
            + "computation; Quant.: encode and decode messages.");
        const rows = [...arms].sort((a, b) => d3.ascending(a.data, b.data) || d3.ascending(a.layer, b.layer)
            || a.index - b.index);
        const model = (arm) => `${(arm.layer || "?").toUpperCase()}, ${arm.layers} layers`;
        const what = [{name: "Dataset", text: (arm) => arm.data, left: true},
            {name: "Partitions", text: (arm) => arm.ranks},
            {name: "Model", text: model, left: true},
            {name: "Method", text: (arm) => arm.label, left: true}];
        table(page, rows, [...what,
            {name: {"accuracy": "Accuracy (%)", "micro-F1": "F1-micro (%)"}[metric] || metric,
             text: (arm) => scores(score(arm, "last", "test")), best: best_score},
            {name: "Throughput (epoch/s)", text: (arm) => digits(throughput(arm))
                + (arm === baseline_of(arm) ? "" : ` (${speed_up(arm)})`), best: rates}], "accuracy");
        const cell = (value) => digits(value, 3);
        table(page, rows, [...what,
            {name: "Comm. (s)", text: (arm) => cell(time(arm, "wait") + time(arm, "reduce"))},
            {name: "Comp. (s)", text: (arm) => cell(time(arm, "compute") + time(arm, "rest"))},
            {name: "Quant. (s)", text: (arm) => cell(time(arm, "pack"))},
            {name: "Epoch (s)", text: (arm) => cell(d3.mean(arm.done, (run) => run.mean_seconds))},
            {name: "Assign, whole run (s)", text: (arm) => cell(d3.mean(arm.done, (run) => run.time.assignment * run.epochs))},
            {name: "Training (s)", text: (arm) => cell(training_seconds(arm).mean)}], "breakdown");
    }

    // --- the runs themselves

    // Every setting of the first run that no arm has otherwise, and that is not of a single run.
    function common_settings() {
        const of_runs = ["run.dir", "run.seed", "data.cache"];
        const all = Object.entries(data.config || {}).flatMap(([section, of]) => (of instanceof Object && !Array.isArray(of)
            ? Object.entries(of).map(([key, value]) => [`${section}.${key}`, value]) : [[section, of]]));
        const rows = all.filter(([key]) => !of_runs.includes(key) && !arms.some((arm) => `config.${key}` in arm.settings));
        const box = page.append("details");
        box.append("summary").text(`Common settings (${rows.length})`);
        table(box, rows, [{name: "key", text: ([key]) => key, left: true},
            {name: "value", text: ([, value]) => JSON.stringify(value), left: true}], "common");
    }

    function settings() {
        const keys = several ? [...new Set(arms.flatMap((arm) => Object.keys(arm.settings)))] : [];
        if (!keys.length) return;
        const box = page.append("details");
        box.append("summary").text(`Settings that differ (${keys.length})`);
        table(box, keys, [{name: "key", text: (key) => key.replace(/^config\./, ""), left: true}, ...arms.map((arm) => ({
            name: arm.label, text: (key) => arm.settings[key] || "", left: true}))], "settings");
    }

    function runs() {
        section("Runs");
        common_settings();
        settings();
        const all = data.arms.flatMap((arm) => arm.runs.map((run) => ({arm, run})));
        const box = page.append("details").attr("open", all.length <= 20 ? "" : null);
        box.append("summary").text(`Each run (${all.length})`);
        const of = (run, when, split) => score_text(known(run[when][split]) ? run[when][split] : null);
        table(box, all, [
            {name: "run", text: ({run}) => run.folder, left: true},
            {name: "arm", text: ({arm}) => arm.label, left: true},
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

    if (!arms.length) {
        page.append("h1").text("fringe report");
        page.append("p").text("None of these runs has finished an epoch yet.");
        runs();
        return;
    }
    head();
    arm_legend();
    [comparison, learning, times, volumes, histograms, matrices, paper_tables, runs].forEach((draw) => draw());
})();
