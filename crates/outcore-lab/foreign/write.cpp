// Writes lines with `std::ofstream` and its own buffer; makes one run and prints one line with its cost.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sys/resource.h>

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double seconds(const timeval &time) { return time.tv_sec + time.tv_usec * 1e-6; }

static bool write(const char *path, bool edges, uint32_t lines) {
    std::ofstream file(path, std::ios::binary);
    const char *text = "test data";
    if (edges) file << std::fixed << std::setprecision(3);
    for (uint32_t line = 0; line < lines; line++) {
        if (edges) {
            file << line / 20 << '\t' << ((line * 2654435761u) >> 12) << '\t'
                 << line * 40503u % 100000 / 1000.0 << '\n';
        } else {
            file << text << '\n';
        }
    }
    file.close();
    return !file.fail();
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    const bool edges = strcmp(arguments[1], "edges") == 0;
    if (!edges && strcmp(arguments[1], "text") != 0) return 2;
    const uint32_t lines = static_cast<uint32_t>(strtoul(arguments[3], nullptr, 10));
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    const double start = now();
    if (!write(arguments[2], edges, lines)) {
        fprintf(stderr, "cannot write the file\n");
        return 1;
    }
    const double wall = now() - start;
    getrusage(RUSAGE_SELF, &after);
    printf("wall=%.9f user=%.6f system=%.6f minor=%ld major=%ld operations=%lu bytes=0 checksum=0\n",
           wall, seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime), after.ru_minflt - before.ru_minflt,
           after.ru_majflt - before.ru_majflt, static_cast<unsigned long>(lines));
    return 0;
}
