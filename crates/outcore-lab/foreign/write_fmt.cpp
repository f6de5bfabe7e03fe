// Writes lines with {fmt}; makes one run and prints one line with its cost. `version` prints the version of {fmt}.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/os.h>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double seconds(const timeval &time) { return time.tv_sec + time.tv_usec * 1e-6; }

// Formats for `output_file`, which accepts compiled formats only before {fmt} 8.
#if FMT_VERSION < 80000
#define FORMAT(text) FMT_COMPILE(text)
#else
#define FORMAT(text) text
#endif

static bool print(const char *path, bool edges, size_t size, uint32_t lines) {
    auto file = fmt::output_file(path, fmt::buffer_size = size);
    const char *text = "test data";
    for (uint32_t line = 0; line < lines; line++) {
        if (edges) {
            file.print(FORMAT("{}\t{}\t{:.3f}\n"), line / 20, (line * 2654435761u) >> 12,
                       line * 40503u % 100000 / 1000.0);
        } else {
            file.print(FORMAT("{}\n"), text);
        }
    }
    file.close();
    return true;
}

static bool put(int file, fmt::memory_buffer &buffer) {
    for (size_t done = 0; done < buffer.size();) {
        const ssize_t count = write(file, buffer.data() + done, buffer.size() - done);
        if (count < 0) return false;
        done += static_cast<size_t>(count);
    }
    buffer.clear();
    return true;
}

// Writes with compiled formats into a separate buffer, which is written whenever it is full.
static bool compiled(const char *path, bool edges, size_t size, uint32_t lines) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return false;
    fmt::memory_buffer buffer;
    buffer.reserve(size + 64);
    const char *text = "test data";
    for (uint32_t line = 0; line < lines; line++) {
        if (edges) {
            fmt::format_to(std::back_inserter(buffer), FMT_COMPILE("{}\t{}\t{:.3f}\n"), line / 20,
                           (line * 2654435761u) >> 12, line * 40503u % 100000 / 1000.0);
        } else {
            fmt::format_to(std::back_inserter(buffer), FMT_COMPILE("{}\n"), text);
        }
        if (buffer.size() >= size && !put(file, buffer)) return false;
    }
    return put(file, buffer) && close(file) == 0;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "version") == 0) {
        printf("%d.%d.%d\n", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
        return 0;
    }
    if (count != 6) return 2;
    const bool edges = strcmp(arguments[2], "edges") == 0;
    const bool prints = strcmp(arguments[1], "print") == 0;
    if (!prints && strcmp(arguments[1], "compiled") != 0) return 2;
    const size_t size = strtoul(arguments[4], nullptr, 10);
    const uint32_t lines = static_cast<uint32_t>(strtoul(arguments[5], nullptr, 10));
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    const double start = now();
    if (!(prints ? print : compiled)(arguments[3], edges, size, lines)) {
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
