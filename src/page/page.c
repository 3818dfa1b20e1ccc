// Puts the page together: one HTML file with its style, D3, the numbers as JSON, and the script
// that draws them. Its content security policy forbids every request to a network.

#include "internal.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<title>fringe report</title>\n<style>\n";
static const char body[] =
    "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n"
    "<noscript>The plots of this page need JavaScript, which is switched off here.</noscript>\n"
    "<!--\nThe plots are drawn with D3.\n";

// JSON within HTML: "<" could begin "</script>".
static bool put_json(FileWriter *file, const JsonWriter *json, Error *err) {
    const char *at = json->text, *end = at + json->bytes;
    bool ok = true;
    while (ok && at < end) {
        const char *less = memchr(at, '<', (size_t)(end - at));
        const char *until = less != NULL ? less : end;
        ok = file_writer_put(file, at, (size_t)(until - at), err) &&
             (less == NULL || file_writer_put(file, "\\u003c", 6, err));
        at = until + (less != NULL);
    }
    return ok;
}

static bool put(FileWriter *file, const char *text, Error *err) {
    return file_writer_put(file, text, strlen(text), err);
}

static bool put_page(FileWriter *file, const JsonWriter *data, Error *err) {
    return put(file, head, err) && put(file, page_style, err) && put(file, body, err) &&
           put(file, page_d3_license, err) && put(file, "-->\n<script>\n", err) &&
           put(file, page_d3, err) &&
           put(file, "\n</script>\n<script type=\"application/json\" id=\"data\">", err) &&
           put_json(file, data, err) && put(file, "</script>\n<script>\n", err) &&
           put(file, page_charts, err) && put(file, page_script, err) &&
           put(file, "</script>\n</body>\n</html>\n", err);
}

bool page_write(const char *path, const RunRecords *records, Error *err) {
    FileWriter file;
    CLEARED(json_writer_clear) JsonWriter data = {0};
    if (!file_writer_replace(&file, path, err))
        return false;
    json_writer_init(&data, false);
    page_put_data(&data, records);
    bool whole = put_page(&file, &data, err);
    return file_writer_take_place(&file, whole, err);
}
