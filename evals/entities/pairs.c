/* Writes pairs of duplicates, as matching of records finds them: `left<TAB>right<TAB>weight`, in random order.
 *
 *     pairs ids|numbers PAIRS SEED COUNT..
 *
 * The counts are those of the groups of 2, 3, 4 .. records. Each record is joined to an earlier one of its group by one
 * pair, so that a group is one component; the other pairs are drawn from all within groups, and may repeat. Records are
 * named by shuffled hexadecimal ids (rec-00f3a9c2b1), or by shuffled numbers from 0. Weights are 0.500 to 1.000. Every
 * line follows from its number alone, so memory does not grow with the pairs.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 64, SHARES = 4096, BUFFER = 1 << 20, LONGEST_LINE = 64 };

/* Groups of one size: how many, and what those of smaller sizes take of the records, joining pairs and possible pairs. */
struct class {
    uint64_t size, groups, records_before, joins_before, pairs_before;
};

static struct class classes[LARGEST];
static int class_count;
static uint64_t records, joins, possible;
/* The members of the possible pairs of a group, the same for all sizes. */
static uint8_t left_of[LARGEST * LARGEST / 2], right_of[LARGEST * LARGEST / 2];
/* The last class within each share of the possible pairs, which is a short way to that of a pair. */
static uint8_t last_class[SHARES];
static uint64_t stride;
static int hex_names;
static char hex[256][2], decimals[10000][4], thousandths[501][5];

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Returns a number below `bound` from random bits. */
static uint64_t below(uint64_t random, uint64_t bound) {
    return (uint64_t)((unsigned __int128)random * bound >> 64);
}

/* Returns a number near the golden section of `bound` without a common divisor: its multiples visit all numbers. */
static uint64_t coprime_stride(uint64_t bound) {
    for (uint64_t found = (uint64_t)((double)bound * 0.6180339887498949) | 1;; found += 2) {
        uint64_t a = found, b = bound;
        while (b != 0) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return found;
    }
}

static void set_up(int count, char **counts) {
    for (int at = 0; at < count; at++) {
        uint64_t size = (uint64_t)at + 2, groups = strtoull(counts[at], NULL, 10);
        classes[class_count++] = (struct class){size, groups, records, joins, possible};
        records += groups * size;
        joins += groups * (size - 1);
        possible += groups * (size * (size - 1) / 2);
    }
    int pair = 0;
    for (uint8_t right = 1; right < LARGEST; right++)
        for (uint8_t left = 0; left < right; left++, pair++)
            left_of[pair] = left, right_of[pair] = right;
    for (int share = 0, class = 0; share < SHARES; share++) {
        const uint64_t end = below(UINT64_MAX / SHARES * (uint64_t)(share + 1), possible) + 1;
        while (class + 1 < class_count && classes[class + 1].pairs_before <= end)
            class++;
        last_class[share] = (uint8_t)class;
    }
    char text[32];
    for (int byte = 0; byte < 256; byte++) {
        snprintf(text, sizeof text, "%02x", byte);
        memcpy(hex[byte], text, 2);
    }
    for (int number = 0; number < 10000; number++) {
        snprintf(text, sizeof text, "%04d", number);
        memcpy(decimals[number], text, 4);
    }
    for (int weight = 0; weight <= 500; weight++) {
        snprintf(text, sizeof text, "%.3f", (500 + weight) / 1000.0);
        memcpy(thousandths[weight], text, 5);
    }
    stride = coprime_stride(records);
}

/* Writes the name of a record, which is a bijection of its number. */
static char *put_name(char *at, uint64_t record) {
    if (hex_names) {
        const uint64_t bits = (UINT64_C(1) << 40) - 1;
        uint64_t name = (record + 1) * 0x9e3779b97f4a7c15u & bits;
        name = ((name ^ (name >> 20)) * 0xd1342543de82ef95u) & bits;
        name ^= name >> 17;
        memcpy(at, "rec-", 4);
        for (int byte = 0; byte < 5; byte++)
            memcpy(at + 4 + 2 * byte, hex[name >> (32 - 8 * byte) & 255], 2);
        return at + 14;
    }
    const uint32_t name = (uint32_t)(record * stride % records);
    char digits[12];
    memcpy(digits, decimals[name / 100000000], 4);
    memcpy(digits + 4, decimals[name / 10000 % 10000], 4);
    memcpy(digits + 8, decimals[name % 10000], 4);
    int first = 0;
    while (first < 11 && digits[first] == '0')
        first++;
    memcpy(at, digits + first, 12 - (size_t)first);
    return at + 12 - first;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc - 4 > LARGEST - 2) {
        fprintf(stderr, "usage: pairs ids|numbers PAIRS SEED COUNT..\n");
        return 2;
    }
    hex_names = strcmp(argv[1], "ids") == 0;
    const uint64_t pairs = strtoull(argv[2], NULL, 10), seed = mix(strtoull(argv[3], NULL, 10) + 1);
    set_up(argc - 4, argv + 4);
    if (pairs < joins || joins == 0 || records > UINT32_MAX) {
        fprintf(stderr, "pairs: %" PRIu64 " pairs cannot join %" PRIu64 " records\n", pairs, records);
        return 2;
    }

    static char buffer[BUFFER];
    char *at = buffer;
    const uint64_t step = coprime_stride(pairs);
    for (uint64_t line = 0, shuffled = 0; line < pairs; line++) {
        const uint64_t random = mix(seed + line * 0x9e3779b97f4a7c15u), more = mix(random + 1);
        const struct class *class = classes + class_count - 1;
        uint64_t group, left, right;
        if (shuffled < joins) {
            while (class->joins_before > shuffled)
                class--;
            group = (shuffled - class->joins_before) / (class->size - 1);
            right = 1 + (shuffled - class->joins_before) % (class->size - 1);
            left = below(random, right);
        } else {
            const uint64_t pair = below(random, possible);
            class = classes + last_class[random / (UINT64_MAX / SHARES + 1)];
            while (class->pairs_before > pair)
                class--;
            const uint64_t in_group = class->size * (class->size - 1) / 2;
            group = (pair - class->pairs_before) / in_group;
            const uint64_t member = (pair - class->pairs_before) % in_group;
            left = left_of[member], right = right_of[member];
        }
        const uint64_t first = class->records_before + group * class->size;
        at = put_name(at, first + (more & 1 ? left : right));
        *at++ = '\t';
        at = put_name(at, first + (more & 1 ? right : left));
        *at++ = '\t';
        memcpy(at, thousandths[below(more, 501)], 5);
        at[5] = '\n';
        at += 6;
        if (at > buffer + BUFFER - LONGEST_LINE || line + 1 == pairs) {
            if (fwrite(buffer, 1, (size_t)(at - buffer), stdout) != (size_t)(at - buffer))
                return 1;
            at = buffer;
        }
        shuffled += step;
        shuffled -= shuffled >= pairs ? pairs : 0;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
