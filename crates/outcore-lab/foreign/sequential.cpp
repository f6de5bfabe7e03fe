// Sums the blocks of a file with `std::ifstream`; makes one run and prints one line with its cost.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sys/resource.h>
#include <vector>

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double seconds(const timeval &time) { return time.tv_sec + time.tv_usec * 1e-6; }

static uint64_t operations = 0, bytes = 0;

static bool get(std::ifstream &file, void *into, size_t count) {
    file.read(static_cast<char *>(into), static_cast<std::streamsize>(count));
    operations += 1;
    bytes += count;
    return static_cast<size_t>(file.gcount()) == count;
}

static bool sum(const char *path, uint32_t &checksum) {
    std::ifstream file(path, std::ios::binary);
    uint32_t blocks = 0, even = 0, odd = 0;
    if (!file || !get(file, &blocks, sizeof blocks)) return false;
    std::vector<uint32_t> block;
    for (uint32_t number = 0; number < blocks; number++) {
        uint32_t count = 0;
        if (!get(file, &count, sizeof count)) return false;
        if (block.size() < count) block.resize(count);
        if (!get(file, block.data(), count * sizeof(uint32_t))) return false;
        for (uint32_t at = 0; at + 1 < count; at += 2) {
            even += block[at];
            odd += block[at + 1];
        }
    }
    checksum = even + 2 * odd;
    return true;
}

int main(int count, char **arguments) {
    if (count != 3 || strcmp(arguments[1], "ifstream") != 0) return 2;
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    const double start = now();
    uint32_t checksum = 0;
    if (!sum(arguments[2], checksum)) {
        fprintf(stderr, "cannot read the file\n");
        return 1;
    }
    const double wall = now() - start;
    getrusage(RUSAGE_SELF, &after);
    printf("wall=%.9f user=%.6f system=%.6f minor=%ld major=%ld operations=%llu bytes=%llu checksum=%lu\n",
           wall, seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime), after.ru_minflt - before.ru_minflt,
           after.ru_majflt - before.ru_majflt, static_cast<unsigned long long>(operations),
           static_cast<unsigned long long>(bytes), static_cast<unsigned long>(checksum));
    return 0;
}
