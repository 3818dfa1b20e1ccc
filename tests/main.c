// The main of a test program that has none (support.h).

#include "support.h"

int main(int argc, char **argv) { return test_main(&argc, &argv); }
