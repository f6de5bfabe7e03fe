// Plain C with which the laboratory is compared: `plain MODE FILE BYTES OPERATIONS RUNS THREADS FORGET` prints the nanoseconds
// per operation of each run, which opens the file, reads or writes OPERATIONS times, and closes it; with `pread`, the median
// of the calls. With two THREADS, another one sleeps. FORGET bytes of other memory are written before each run: many leave
// nothing of the file in the processor's caches.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t sum;
static char *buffer;
// Nanoseconds of the single calls, if the mode measures them.
static double *calls;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

// Uses the first and the last eight bytes, so that nothing is left out.
static void use(size_t size) {
    uint64_t first, last;
    memcpy(&first, buffer, 8);
    memcpy(&last, buffer + size - 8, 8);
    sum += first + last;
}

static void by_read(const char *path, size_t size, long count) {
    const int file = open(path, O_RDONLY);
    if (file < 0) fail("open");
    for (long number = 0; number < count; number++) {
        if (read(file, buffer, size) != (ssize_t)size) fail("read");
        use(size);
    }
    close(file);
}

static void by_fread(const char *path, size_t size, long count) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("fopen");
    for (long number = 0; number < count; number++) {
        if (fread(buffer, 1, size, file) != size) fail("fread");
        use(size);
    }
    fclose(file);
}

static int by_value(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// Reads at positions in random order: multiples of a prime, modulo the number of values.
static void by_pread(const char *path, size_t size, long count) {
    const int file = open(path, O_RDONLY);
    if (file < 0) fail("open");
    const uint64_t values = (uint64_t)lseek(file, 0, SEEK_END) / size;
    double start = now();
    for (long number = 0; number < count; number++) {
        const off_t position = (off_t)((uint64_t)number * 2654435761u % values * size);
        if (pread(file, buffer, size, position) != (ssize_t)size) fail("pread");
        const double end = now();
        calls[number] = end - start;
        start = end;
    }
    close(file);
    qsort(calls, (size_t)count, sizeof *calls, by_value);
}

static void by_fprintf(const char *path, size_t size, long count) {
    (void)size;
    const char *volatile text = "test data";
    FILE *file = fopen(path, "wb");
    if (!file) fail("fopen");
    for (long line = 0; line < count; line++) {
        if (fprintf(file, "%s\n", text) < 0) fail("fprintf");
    }
    if (fclose(file)) fail("fclose");
}

static void by_fprintf_edges(const char *path, size_t size, long count) {
    (void)size;
    FILE *file = fopen(path, "wb");
    if (!file) fail("fopen");
    for (uint32_t line = 0; line < (uint32_t)count; line++) {
        const double weight = line * 40503u % 100000 / 1000.0;
        if (fprintf(file, "%u\t%u\t%.3f\n", line / 20, (line * 2654435761u) >> 12, weight) < 0) fail("fprintf");
    }
    if (fclose(file)) fail("fclose");
}

static const struct {
    const char *name;
    void (*run)(const char *path, size_t size, long count);
    int writes;
} modes[] = {
    {"read", by_read, 0},
    {"fread", by_fread, 0},
    {"pread", by_pread, 0},
    {"fprintf", by_fprintf, 1},
    {"fprintf-edges", by_fprintf_edges, 1},
};

static void forget(size_t bytes) {
    volatile char *memory = malloc(bytes);
    if (!memory) fail("malloc");
    for (size_t at = 0; at < bytes; at += 64) memory[at] = (char)at;
    free((void *)memory);
}

static void *sleeps(void *nothing) {
    pause();
    return nothing;
}

int main(int given, char **argument) {
    if (given != 8) return 2;
    pthread_t other;
    if (atoi(argument[6]) > 1 && pthread_create(&other, NULL, sleeps, NULL)) return 1;
    const char *path = argument[2];
    const size_t size = strtoul(argument[3], NULL, 10), forgotten = strtoul(argument[7], NULL, 10);
    const long count = atol(argument[4]), runs = atol(argument[5]);
    size_t mode = 0;
    while (mode < sizeof modes / sizeof *modes && strcmp(modes[mode].name, argument[1])) mode++;
    if (mode == sizeof modes / sizeof *modes) return 2;
    buffer = calloc(size + 8, 1);
    calls = calloc((size_t)count, sizeof *calls);
    if (!buffer || !calls) fail("calloc");
    for (long run = 0; run < runs; run++) {
        if (modes[mode].writes) unlink(path);
        if (forgotten) forget(forgotten);
        const double start = now();
        modes[mode].run(path, size, count);
        const double mean = (now() - start) / (double)count;
        printf("%.3f\n", modes[mode].run == by_pread ? calls[count / 2] : mean);
    }
    fprintf(stderr, "%llu\n", (unsigned long long)sum);
    return 0;
}
