// Plain {fmt} with which the laboratory is compared: `plain_fmt KIND FILE BUFFER LINES RUNS` prints the nanoseconds per line
// of each run, which writes a new file of lines of one string (`text`) or of two indexes and a weight (`edges`).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fmt/os.h>
#include <string>
#include <unistd.h>

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void lines(const char *path, bool edges, size_t size, uint32_t count) {
    auto file = fmt::output_file(path, fmt::buffer_size = size);
    const char *const volatile text = "test data";
    for (uint32_t line = 0; line < count; line++) {
        if (edges) {
            const double weight = line * 40503u % 100000 / 1000.0;
            file.print("{}\t{}\t{:.3f}\n", line / 20, (line * 2654435761u) >> 12, weight);
        } else {
            file.print("{}\n", text);
        }
    }
    file.close();
}

int main(int given, char **argument) {
    if (given != 6) return 2;
    const size_t size = strtoul(argument[3], nullptr, 10);
    const uint32_t count = strtoul(argument[4], nullptr, 10);
    for (long run = atol(argument[5]); run > 0; run--) {
        unlink(argument[2]);
        const double start = now();
        lines(argument[2], std::string(argument[1]) == "edges", size, count);
        std::printf("%.3f\n", (now() - start) / count);
    }
}
