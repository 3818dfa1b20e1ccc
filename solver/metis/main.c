// fringe-metis: calls METIS on a graph in shared memory (include/fringe/metis_job.h) and writes the
// parts there. It ends with its parent, and is the first to be ended when memory runs out.
//
//   fringe-metis DESCRIPTOR

#include "fringe/metis_job.h"

#include <metis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USAGE = 64, UNREADABLE = 66, STOPPED = 75 };

static MetisJob *map_job(int descriptor) {
    struct stat about;
    if (fstat(descriptor, &about) != 0 || (size_t)about.st_size < sizeof(MetisJob))
        return NULL;
    void *at = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    MetisJob *job = at == MAP_FAILED ? NULL : at;
    bool fits = job != NULL && metis_job_is_whole(job, (uint64_t)about.st_size) &&
                job->index_bytes == sizeof(idx_t);
    return fits ? job : NULL;
}

// The kernel then takes this process, not a rank.
static void offer_to_be_ended(void) {
    FILE *file = fopen("/proc/self/oom_score_adj", "w");
    if (file == NULL)
        return;
    fputs("1000", file);
    fclose(file);
}

int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); // the parent decides when to stop
    signal(SIGTERM, SIG_IGN);
    MetisJob *job = argc == 2 ? map_job(atoi(argv[1])) : NULL;
    if (job == NULL) {
        fprintf(stderr, "fringe-metis is started by fringe to cut a graph\n");
        return argc == 2 ? UNREADABLE : USAGE;
    }
    if (getppid() != job->parent) // it has ended since
        return STOPPED;
    offer_to_be_ended();
    idx_t options[METIS_NOPTIONS], cut = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_CUT;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_DBGLVL] = 0;
    options[METIS_OPTION_SEED] = (idx_t)(job->seed & INT32_MAX);
    idx_t nodes = (idx_t)job->nodes, constraints = (idx_t)job->constraints,
          parts = (idx_t)job->parts;
    int status = METIS_PartGraphKway(&nodes, &constraints, metis_job_array(job, job->offset),
                                     metis_job_array(job, job->neighbour),
                                     metis_job_array(job, job->node_weight), NULL,
                                     metis_job_array(job, job->edge_weight), &parts, NULL, NULL,
                                     options, &cut, metis_job_array(job, job->part));
    job->cut = cut;
    job->status = status;
    return 0;
}
