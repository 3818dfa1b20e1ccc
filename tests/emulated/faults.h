// Programs that are wrong, each in a process of its own, and how each must end. They are the second
// half of tests/kernels/test_emulated.cpp, which includes this.
#pragma once

// ---- a process that ends badly

typedef void Fault();

static void run_fault(Fault *fault, int to) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (int number : {SIGSEGV, SIGBUS, SIGABRT})
        signal(number, SIG_DFL); // not cmocka's, nor MPI's
    dup2(to, STDERR_FILENO);
    fault();
    cudaDeviceSynchronize();
    _exit(0);
}

// Fails unless the process is killed, or ended by AddressSanitizer, with this part of a sentence.
static void expect_end(Fault *fault, const char *part, const char *how) {
    char text[1 << 14];
    size_t length = 0;
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0)
        run_fault(fault, ends[1]);
    close(ends[1]);
    for (ssize_t got = 1; got > 0; length += (size_t)got)
        got = read(ends[0], text + length, sizeof text - 1 - length);
    text[length] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) || strstr(text, part) == NULL)
        fail_msg("%s: expected an end with '%s', found status %d and '%s'", how, part, status,
                 text);
}

// ---- threads

#define FAULTY_KERNEL(name, block, ...)                                                            \
    __global__ static void name##_kernel(int *out) { __VA_ARGS__ }                                 \
    static void name() {                                                                           \
        launch(name##_kernel, 2, (block), 64 * sizeof(int), device_new<int>(64));                  \
        cudaStreamSynchronize(first);                                                              \
    }

FAULTY_KERNEL(partner_missing, 64, {
    (void)out;
    if (threadIdx.x != 0)
        __syncthreads();
})
__device__ static void one_of_two_barriers() {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}
FAULTY_KERNEL(two_barriers, 64, { one_of_two_barriers(), (void)out; })
FAULTY_KERNEL(outside_own_mask, 32, {
    if (threadIdx.x == 20)
        *out = __shfl_sync(0x0000ffffu, 1, 0);
})
FAULTY_KERNEL(reads_outside_mask, 32, {
    if (threadIdx.x < 16)
        *out = __shfl_xor_sync(0x0000ffffu, 1, 16);
})
FAULTY_KERNEL(other_mask, 32,
              { *out = (int)__ballot_sync(threadIdx.x < 16 ? 0xffffffffu : 0xffff0001u, 1); })
FAULTY_KERNEL(other_call, 32, {
    if (threadIdx.x < 16)
        __syncwarp();
    else
        *out = __any_sync(0xffffffffu, 1);
})
FAULTY_KERNEL(lane_has_ended, 32, {
    if (threadIdx.x != 0)
        *out = __shfl_down_sync(0xffffffffu, 1, 1);
})
FAULTY_KERNEL(lane_is_not_there, 24, { *out = __all_sync(0xffffffffu, 1); })
FAULTY_KERNEL(barrier_and_warp, 64, {
    (void)out;
    if (threadIdx.x == 5)
        __syncwarp();
    else
        __syncthreads();
})

// Lane 0 of warp 1 waits at the barrier, which waits for lane 1, which waits for lane 0.
FAULTY_KERNEL(for_good, 64, {
    (void)out;
    if (threadIdx.x == 33)
        __syncwarp(2u | 1u);
    else
        __syncthreads();
})
FAULTY_KERNEL(no_shared_memory_there, 32, {
    SHARED(int, number);
    number[64 + threadIdx.x] = 1;
    *out = number[64];
})
FAULTY_KERNEL(one_behind_shared_memory, 32, {
    SHARED(int, number);
    if (threadIdx.x == 3)
        number[64] = *out;
})

STREAMS_TEST(faults_of_threads_end_the_program) {
    static const struct {
        Fault *fault;
        const char *part;
    } faults[] = {
        {partner_missing, "__syncthreads"},
        {two_barriers, "__syncthreads: others wait at the one of"},
        {outside_own_mask, "lane 20 is not in its own mask 0x0000ffff (block "},
        {reads_outside_mask, "which is not in the mask 0x0000ffff (block "},
        {other_mask, " with the mask 0xffff"},
        {other_call, "__any_sync"},
        {lane_has_ended, "lane 0 "},
        {lane_is_not_there, "names lane 24, which the block does not have"},
        {barrier_and_warp, "__syncthreads"},
        {for_good, "__syncthreads"},
        {no_shared_memory_there, has_asan ? "heap-buffer-overflow" : ""},
        {one_behind_shared_memory, has_asan ? "heap-buffer-overflow" : ""},
    };
    for (const char *order : orders)
        for (const auto &f : faults) {
            emulated_set_order(order);
            expect_end(f.fault, f.part, order);
        }
}

// Lane 0 ends first in one order and last in the other.
STREAMS_TEST(who_ends_and_who_waits_is_told) {
    emulated_set_order("forward");
    expect_end(lane_has_ended, "lane 0 of the mask 0xffffffff has ended", "forward");
    expect_end(partner_missing, "__syncthreads: 1 threads of the block have ended", "forward");
    emulated_set_order("backward");
    expect_end(lane_has_ended, "lane 0 ends, but lane 1 waits for it", "backward");
    expect_end(partner_missing, "the thread ends, but 63 others wait for it", "backward");
}

// ---- memory

static void host_reads_device() {
    volatile int *at = device_new<int>(4);
    cudaDeviceSynchronize();
    printf("%d", at[0]);
}
static void block_freed_twice() {
    int *at = device_new<int>(4);
    cudaFree(at);
    cudaFree(at);
}
static void copy_beyond_a_block() {
    int host[5] = {};
    cudaMemcpyAsync(device_new<int>(4), host, sizeof host, cudaMemcpyHostToDevice, first);
}
static void copy_of_a_host_address() {
    int host[2][4] = {};
    cudaMemcpyAsync(host[0], host[1], sizeof host[0], cudaMemcpyDeviceToHost, first);
}
static void copy_onto_itself() {
    int *at = device_new<int>(4);
    cudaMemcpyAsync(at, at + 1, 8, cudaMemcpyDeviceToDevice, first);
}
static void order_without_a_name() {
    emulated_set_order("sideways");
    launch(note_turns, 1, 1, 0, device_new<int>(1), device_new<int>(1));
}

__global__ static void write_at(int *at, int i) { at[i] = 1; }

static void one_behind_a_block() {
    int *at = device_new<int>(5);
    launch(write_at, 1, 1, 0, at, 5);
    cudaFree(at);
}
static void one_before_a_block() {
    int *at = device_new<int>(5);
    launch(write_at, 1, 1, 0, at, -1);
    cudaFree(at);
}
static void far_behind_a_block() { launch(write_at, 1, 1, 0, device_new<int>(1024), 1024); }
static void block_that_was_freed() {
    int *at = device_new<int>(5);
    cudaFree(at);
    launch(write_at, 1, 1, 0, at, 0);
}

STREAMS_TEST(faults_of_memory_end_the_program) {
    static const struct {
        Fault *fault;
        const char *part, *with_asan;
    } faults[] = {
        {host_reads_device, "", ""},
        {block_freed_twice, "was freed before", "was freed before"},
        {copy_beyond_a_block, "do not lie in one living block", "do not lie in one living block"},
        {copy_of_a_host_address, "is no address of the device", "is no address of the device"},
        {copy_onto_itself, "source and destination overlap", "source and destination overlap"},
        {order_without_a_name, "is 'sideways', which is no order", "which is no order"},
        {one_behind_a_block, "wrote behind the block of 20 bytes", "use-after-poison"},
        {one_before_a_block, "wrote before the block of 20 bytes", "use-after-poison"},
        {far_behind_a_block, "", ""},
        {block_that_was_freed, "", ""},
    };
    for (const auto &f : faults)
        expect_end(f.fault, has_asan ? f.with_asan : f.part, "memory");
}
