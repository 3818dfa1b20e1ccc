// Versions of the compiler and all libraries. The build passes in those of libraries that only one
// room may include (CMakeLists.txt asks pkg-config and metis.h).

#include "fringe/report.h"

#include <gnu/libc-version.h>

#ifndef LIBRARY_VERSIONS // "METIS 5.1.0|cJSON 1.7.15|..."
#define LIBRARY_VERSIONS ""
#endif

static void say(JsonWriter *writer, const Sink *out, const char *what, const char *version) {
    if (writer != NULL)
        json_put_string(writer, what, version);
    else
        sink_print(out, "%-10s %s\n", what, version);
}

// "METIS 5.1.0|cJSON 1.7.15" -> two lines
static void say_libraries(JsonWriter *writer, const Sink *out) {
    char name[64], version[64];
    int used = 0;
    for (const char *at = LIBRARY_VERSIONS;
         sscanf(at, "%63[^ |] %63[^|]%n", name, version, &used) == 2;
         at += used + (at[used] == '|'))
        say(writer, out, name, version);
}

// Of every backend that is part of the program; `fringe doctor` looks for devices.
static void say_backends(const Sink *out) {
    for (int i = 0; i < backend_family.count; i++) {
        const Backend *backend = family_member(&backend_family, i);
        if (!backend->is_device && backend->start(&(BackendStart){0}, &(Error){0}))
            say(NULL, out, "kernels", backend->describe());
    }
}

void report_versions(JsonWriter *writer, const Sink *out, const Backend *started) {
    char mpi[COMM_LIBRARY];
    say(writer, out, "fringe", FRINGE_VERSION);
    say(writer, out, "compiler", "gcc " __VERSION__);
    say(writer, out, "libc", gnu_get_libc_version());
    say(writer, out, "MPI", comm_library(mpi));
    if (started != NULL)
        say(writer, out, "kernels", started->describe());
    else
        say_backends(out);
    say_libraries(writer, out);
}
