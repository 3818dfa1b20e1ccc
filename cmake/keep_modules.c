// Sanitizer builds only: modules that MPI loads stay loaded. The leak report at the end names the
// module that each leak came from, and MPI's own (tests/leaks.txt) are told from ours by that name.

int dlclose(void *module);
int dlclose(void *module) {
    (void)module;
    return 0;
}
