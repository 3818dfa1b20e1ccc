// A stub of a CUDA-aware MPI library, in front of the one that is there: it sends from and receives
// into memory that the host cannot touch, when MPI does and not when streams would, so that what
// MPI is given too early shows. For tests on the emulated device.
#pragma once

#include "../support.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) { return 1; }

// A message in device memory, and the host's copy that travels.
typedef struct DeviceMessage {
    void *device, *host;
    size_t bytes;
    bool incoming;
    const MPI_Request *request; // NULL: the slot is free
} DeviceMessage;

enum { DEVICE_MESSAGES = 1024 };
static DeviceMessage device_message[DEVICE_MESSAGES];
static int64_t device_messages; // so far

// The system does not write to a pipe what the host may not read.
static bool host_can_read(const void *at) {
    static int ends[2] = {-1, -1};
    if (ends[0] < 0)
        CHECK(pipe2(ends, O_NONBLOCK) == 0, EXIT_BUG, "pipe2 failed");
    char byte;
    return write(ends[1], at, 1) == 1 && read(ends[0], &byte, 1) == 1;
}

static void protect(const void *at, size_t bytes, int rights) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)at / page * page;
    CHECK(mprotect((void *)begin, (uintptr_t)at + bytes - begin, rights) == 0, EXIT_BUG,
          "mprotect failed");
}

static void copy_past_the_fence(void *to, const void *from, size_t bytes, const void *device) {
    protect(device, bytes, PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    protect(device, bytes, PROT_NONE);
}

// Where the bytes travel from or to; NULL if the host can touch them where they are.
static void *host_copy(const void *at, size_t bytes, bool incoming, const MPI_Request *request) {
    if (bytes == 0 || host_can_read(at))
        return NULL;
    DeviceMessage *m = device_message;
    while (m < device_message + DEVICE_MESSAGES && m->request != NULL)
        m++;
    CHECK(m < device_message + DEVICE_MESSAGES, EXIT_BUG, "more messages in flight than slots");
    *m = (DeviceMessage){(void *)at, malloc(bytes), bytes, incoming, request};
    if (!incoming)
        copy_past_the_fence(m->host, at, bytes, at);
    device_messages++;
    return m->host;
}

static void has_completed(const MPI_Request *request) {
    for (DeviceMessage *m = device_message; m < device_message + DEVICE_MESSAGES; m++)
        if (m->request == request) {
            if (m->incoming)
                copy_past_the_fence(m->device, m->host, m->bytes, m->device);
            free(m->host);
            m->request = NULL;
        }
}

int MPI_Isend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    void *host = type == MPI_BYTE ? host_copy(at, (size_t)count, false, request) : NULL;
    return PMPI_Isend(host != NULL ? host : at, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    void *host = type == MPI_BYTE ? host_copy(at, (size_t)count, true, request) : NULL;
    return PMPI_Irecv(host != NULL ? host : at, count, type, from, tag, comm, request);
}

int MPI_Testsome(int count, MPI_Request request[], int *done, int which[], MPI_Status status[]) {
    int code = PMPI_Testsome(count, request, done, which, status);
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++)
        has_completed(&request[which[i]]);
    return code;
}
