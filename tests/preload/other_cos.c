// A machine with another math library: in the rank that FRINGE_OTHER_COS names, or with "N-" in
// rank N and those above, cos is off by 1e-5 of its value.
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double cos(double x) {
    double (*behind)(double) = (double (*)(double))dlsym(RTLD_NEXT, "cos");
    const char *mine = getenv("OMPI_COMM_WORLD_RANK"), *wanted = getenv("FRINGE_OTHER_COS");
    int other = mine != NULL && wanted != NULL && *wanted != 0 &&
                (strchr(wanted, '-') ? atoi(mine) >= atoi(wanted) : atoi(mine) == atoi(wanted));
    return behind(x) * (other ? 1 + 1e-5 : 1);
}
