// A METIS that never ends, for fringe-metis.
#include <unistd.h>

int METIS_PartGraphKway(void);
int METIS_PartGraphKway(void) {
    for (;;)
        pause();
}
