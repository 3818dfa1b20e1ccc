// fringe report: reads runs, finished or not, and writes a page of them.

#include "internal.h"

#include "fringe/page.h"

static bool write_page(const Options *options, const char *path, Error *err) {
    CLEARED(records_clear) RunRecords records = {0};
    bool ok = true;
    progress_begin("report", "reading runs");
    for (int i = 0; i < options->arguments && ok; i++)
        ok = records_add(&records, options->argument[i], &terminal_sink, err);
    ok = ok && page_write(path, &records, err);
    progress_end("");
    if (ok)
        terminal_note("report     %d run%s\n", records.count, records.count == 1 ? "" : "s");
    return ok;
}

// --- of a comparison or a sweep that has ended

bool report_folder(const char *folder, Error *err) {
    RunRecords records = {0};
    const char *path = PATH_IN(folder, "report.html");
    progress_begin("report", "reading runs");
    bool ok = records_add(&records, folder, &terminal_sink, err) && page_write(path, &records, err);
    records_clear(&records);
    progress_drop();
    if (ok)
        terminal_note("report     %s\n", SHOWN(path));
    return ok;
}

ExitCode cmd_report(const Options *options, Error *err) {
    const char *path = options->output != NULL ? options->output : "report.html";
    if (write_page(options, path, err))
        terminal_print("%s\n", SHOWN(path));
    return (ExitCode)err->code;
}
