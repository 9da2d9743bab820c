// Sizes, durations and shares as users write them.
#include "tests/unit/unit.h"

#include "ir/base/quantity.h"

static void sizes_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t n_bytes;
    } sizes[] = {
        {"0", 0},
        {"4096", 4096},
        {"9223372036854775807", INT64_MAX},
        {"1K", 1024},
        {"1kB", 1000},
        {"64MiB", 64 << 20},
        {"4GiB", (int64_t)4 << 30},
        {"1.5GB", 1500000000},
        {"2T", (int64_t)2 << 40},
        {"0.1GB", 100000000},
        {"12B", 12},
        {"4G", (int64_t)4 << 30},
        {"4GB", 4000000000},
        {"512M", 512 << 20},
        {"512mib", 512 << 20},
        {"4gb", 4000000000},
        {"4gib", (int64_t)4 << 30},
        {"1KB", 1000},
        {"8t", (int64_t)8 << 40},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n = -1;
        assert_true(quantity_parse_bytes(sizes[i].text, &n));
        assert_int_equal(n, sizes[i].n_bytes);
    }
}

static void bad_sizes_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "-1",
        "4Q",
        ".",
        "9e9",
        "GiB",
        "4 GiB",
        "4GiBs",
        "0x1",
        " 4GB",
        "4i",
        "4Gi",
        "1.2.3MB",
        "+4",
        "inf",
        "9223372036854775808",
        "99999999999GiB",
        "9000000T",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t n;
        if (quantity_parse_bytes(bad[i], &n))
            fail_msg("\"%s\" was accepted", bad[i]);
    }
}

static void durations(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {
        {"0", 0},       {"20", 20},     {"20s", 20},     {"2m", 120},  {"1h", 3600},
        {"1.5h", 5400}, {"500ms", 0.5}, {"0.5", 0.5},    {".5s", 0.5}, {"2min", 120},
        {"1e3", 1000},  {"2H", 7200},   {"250MS", 0.25}, {"1e9", 1e9}, {"0s", 0},
    };
    static const char *const bad[] = {
        "",        "s",      "20x",  "-1s", "-1",   "20 s",  " 20s", "20ss",
        "1h30m",   "inf",    "infs", "nan", "0x10", "1e999", "1e10", "1e9h",
        "300000h", "1.2.3s", "+5",   "h",   "1d",   "20,5s",
    };
    double x;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(quantity_parse_seconds(good[i].text, &x));
        assert_true(x == good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (quantity_parse_seconds(bad[i], &x))
            fail_msg("\"%s\" was accepted", bad[i]);
}

static void shares(void **state) {
    (void)state;
    double x;
    int64_t millionths;
    assert_true(quantity_parse_share("10%", &x) && x == 0.1);
    assert_true(quantity_parse_share("0.25", &x) && x == 0.25);
    assert_true(quantity_parse_share("0", &x) && x == 0);
    assert_true(quantity_parse_percent("62.5%", &millionths) && millionths == 625000);
    static const char *const bad[] = {"", "%", "-3%", "60 %", "x", "nan", "inf%", "1%%", "0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (quantity_parse_share(bad[i], &x) || quantity_parse_percent(bad[i], &millionths))
            fail_msg("\"%s\" was accepted", bad[i]);
    assert_false(quantity_parse_percent("60", &millionths));
    assert_false(quantity_parse_percent("99999999999%", &millionths));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_exact),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(durations),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
