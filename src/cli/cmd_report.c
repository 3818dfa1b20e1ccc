// fringe report: reads runs, finished or not, and writes a page of them.

#include "internal.h"

#include "fringe/page.h"

// Writes the page of the runs at or below the folders. Returns how many; 0 with an error.
static int write_page(const char *path, const char *const *folder, int folders, Error *err) {
    CLEARED(records_clear) RunRecords records = {0};
    bool ok = true;
    progress_begin("report", "reading runs");
    for (int i = 0; i < folders && ok; i++)
        ok = records_add(&records, folder[i], &terminal_sink, err);
    return ok && page_write(path, &records, err) ? records.count : 0;
}

bool report_folder(const char *folder, Error *err) {
    const char *path = PATH_IN(folder, "report.html");
    bool ok = write_page(path, &folder, 1, err) > 0;
    progress_drop();
    if (ok)
        terminal_note("report     %s\n", SHOWN(path));
    return ok;
}

ExitCode cmd_report(const Options *options, Error *err) {
    const char *path = options->output != NULL ? options->output : "report.html";
    int runs = write_page(path, options->argument, options->arguments, err);
    progress_end("");
    if (runs > 0) {
        terminal_note("report     %d run%s\n", runs, runs == 1 ? "" : "s");
        terminal_print("%s\n", SHOWN(path));
    }
    return (ExitCode)err->code;
}
