// --hosts: the machines on which mpirun starts the ranks: names, or a hostfile of Open MPI.

#include "internal.h"

static bool refuse(const char *hosts, const char *why, Error *err) {
    return error_usage(
        err,
        "--hosts %s: %s; give HOST,HOST,... or HOST:RANKS,HOST:RANKS,... or a hostfile of Open MPI",
        SHOWN(hosts), why);
}

bool hosts_are_file(const char *hosts) {
    return strchr(hosts, '/') != NULL || (file_exists(hosts) && !file_is_folder(hosts));
}

// Reads the name at *at, "HOST" or "HOST:RANKS", and moves to what follows it. *ranks: -1 where it
// has none, 0 where that is no number above 0. The length of the name.
static int next_host(const char **at, int *ranks) {
    int length = (int)strcspn(*at, ",:");
    char *end = (char *)*at + length;
    *ranks = -1;
    if (*end == ':') {
        long number = strtol(end + 1, &end, 10);
        *ranks = number > 0 && number < 65536 && (*end == 0 || *end == ',') ? (int)number : 0;
    }
    *at = end + strcspn(end, ",");
    return length;
}

typedef struct Hosts {
    int count, counted; // names, and those with a number of ranks
    long places;        // the sum of these
} Hosts;

static bool count_hosts(Hosts *hosts, const char *text, Error *err) {
    *hosts = (Hosts){0};
    for (const char *at = text;; at++) {
        int ranks;
        if (next_host(&at, &ranks) == 0 || ranks == 0)
            return refuse(text, "not a list of hosts", err);
        hosts->count++;
        hosts->counted += ranks > 0;
        hosts->places += ranks > 0 ? ranks : 0;
        if (*at == 0)
            break;
    }
    return hosts->counted == 0 || hosts->counted == hosts->count ||
           refuse(text, "some hosts have a number of ranks and others have none", err);
}

bool hosts_fit(const char *text, int ranks, Error *err) {
    Hosts hosts;
    if (ranks == 0)
        return error_usage(err, "--hosts %s: how many ranks? add --ranks P", SHOWN(text));
    if (hosts_are_file(text))
        return file_exists(text) ||
               error_set(err, EXIT_NO_INPUT, "--hosts %s: this hostfile does not exist",
                         SHOWN(text));
    if (!count_hosts(&hosts, text, err))
        return false;
    if (hosts.count > ranks)
        return error_usage(err, "--hosts: %d hosts for --ranks %d; name at most %d", hosts.count,
                           ranks, ranks);
    return hosts.counted == 0 || hosts.places >= ranks ||
           error_usage(err, "--hosts %s: that is %ld ranks, but --ranks is %d", SHOWN(text),
                       hosts.places, ranks);
}

char *hosts_for_mpirun(const char *text, int ranks) {
    size_t bytes = 2 * strlen(text) + 8 * (size_t)ranks + 1, used = 0;
    char *list = ALLOC(char, bytes, "names of hosts");
    Hosts hosts;
    if (!count_hosts(&hosts, text, &(Error){0}) || hosts.counted > 0)
        snprintf(list, bytes, "%s", text);
    else
        for (int i = 0; i < hosts.count; i++) {
            const char *name = text;
            int unused, length = next_host(&text, &unused);
            text += *text == ',';
            int each = ranks / hosts.count + (i < ranks % hosts.count);
            used += (size_t)snprintf(list + used, bytes - used, "%s%.*s:%d", i > 0 ? "," : "",
                                     length, name, each);
        }
    return list;
}
