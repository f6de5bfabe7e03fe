// The sort eval's job done with STXXL: sort random records of 16 bytes within a memory limit, consume them in order.
//
//   stxxl_sort --records N --memory-mib M --dir DIR [--seed S] [--io cached|direct]
//
// Prints one line of JSON: {"seconds": .., "records": .., "checksum": ..}. The time runs from the first record made to
// the last one read back, as in the other programs of this eval. Fails when order, count or checksum is wrong.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include <stxxl/bits/mng/block_manager.h>
#include <stxxl/bits/mng/config.h>
#include <stxxl/sorter>

namespace {

struct Record {
    std::uint64_t key;
    std::uint64_t value;
};

struct ByKeyThenValue {
    bool operator()(const Record& left, const Record& right) const {
        return left.key != right.key ? left.key < right.key : left.value < right.value;
    }
    static Record min_value() { return {0, 0}; }
    static Record max_value() {
        constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
        return {highest, highest};
    }
};

// splitmix64 (Steele, Lea, Flood 2014; public domain reference by Vigna).
class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

private:
    std::uint64_t state_;
};

// A sum over records, so that it does not depend on their order.
std::uint64_t digest(const Record& record) { return record.key * 3 + (record.value ^ (record.value >> 7)); }

struct Options {
    std::uint64_t records = 0;
    std::uint64_t memory_mib = 512;
    std::uint64_t seed = 1;
    std::string dir;
    bool direct = false;
};

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "stxxl_sort: %s\n", message.c_str());
    std::exit(1);
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string flag = argv[i];
        const std::string value = argv[i + 1];
        if (flag == "--records") options.records = std::stoull(value);
        else if (flag == "--memory-mib") options.memory_mib = std::stoull(value);
        else if (flag == "--seed") options.seed = std::stoull(value);
        else if (flag == "--dir") options.dir = value;
        else if (flag == "--io") options.direct = value == "direct";
        else fail("unknown flag " + flag);
    }
    if (options.records == 0 || options.dir.empty()) {
        fail("usage: stxxl_sort --records N --memory-mib M --dir DIR [--seed S] [--io cached|direct]");
    }
    return options;
}

void use_disk(const Options& options) {
    // Room for the records and a block of each run. The file is visible while it lives, so that its size can be watched.
    const std::uint64_t bytes = options.records * sizeof(Record);
    stxxl::disk_config disk(options.dir + "/stxxl.disk", bytes + bytes / 16 + (std::uint64_t(256) << 20), "syscall");
    disk.delete_on_exit = true;
    disk.unlink_on_open = false;
    disk.direct = options.direct ? stxxl::disk_config::DIRECT_TRY : stxxl::disk_config::DIRECT_OFF;
    stxxl::config::get_instance()->add_disk(disk);
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    use_disk(options);

    const auto start = std::chrono::steady_clock::now();
    // The runs creator keeps to its figure; the merger allocates after the creator has given its memory back.
    stxxl::sorter<Record, ByKeyThenValue> sorter(ByKeyThenValue(), options.memory_mib << 20);

    SplitMix64 random(options.seed);
    std::uint64_t pushed = 0;
    for (std::uint64_t i = 0; i < options.records; ++i) {
        const std::uint64_t key = random.next();
        const Record record{key, random.next()};
        pushed += digest(record);
        sorter.push(record);
    }
    sorter.sort();

    std::uint64_t count = 0;
    std::uint64_t checksum = 0;
    Record previous = ByKeyThenValue::min_value();
    for (; !sorter.empty(); ++sorter) {
        const Record record = *sorter;
        if (ByKeyThenValue()(record, previous)) fail("records out of order");
        previous = record;
        checksum += digest(record);
        ++count;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

    if (count != options.records) fail("records lost or gained");
    if (checksum != pushed) fail("checksum differs");
    std::printf("{\"seconds\": %.6f, \"records\": %llu, \"checksum\": %llu}\n", elapsed.count(),
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(checksum));
    return 0;
}
