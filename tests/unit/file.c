// Files: outputs appear whole or not at all, under every failure that can be arranged without
// special rights.
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/file.h"

struct here {
    struct scene scene;
    char folder[64];
};

static int set_up(void **state) {
    struct here *h = calloc(1, sizeof *h);
    scene_open(&h->scene);
    strcpy(h->folder, "mfc-file-XXXXXX");
    assert_non_null(mkdtemp(h->folder));
    assert_int_equal(chdir(h->folder), 0);
    *state = h;
    return 0;
}

static int n_entries(void) {
    DIR *dir = opendir(".");
    int n = -2; // . and ..
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static int tear_down(void **state) {
    struct here *h = *state;
    DIR *dir = opendir(".");
    for (struct dirent *e; (e = readdir(dir));)
        if (unlink(e->d_name) < 0)
            rmdir(e->d_name);
    closedir(dir);
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir(h->folder), 0);
    scene_close(&h->scene);
    free(h);
    return 0;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void expect(const char *path, const char *text) {
    char got[256] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

static status write_text(struct here *h, const char *path, const char *text) {
    struct output o;
    status st = output_open(&h->scene.arena, &h->scene.diags, path, &o);
    if (!st)
        st = output_write(&o, &h->scene.diags, text, strlen(text));
    if (!st)
        st = output_commit(&o, &h->scene.diags);
    output_abort(&o);
    return st;
}

static void new_file_obeys_umask(void **state) {
    mode_t old = umask(027);
    assert_int_equal(write_text(*state, "a", "new"), ST_OK);
    umask(old);
    struct stat st;
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    expect("a", "new");
    assert_int_equal(n_entries(), 1);
}

static void replaced_file_keeps_mode(void **state) {
    put("a", "old");
    assert_int_equal(chmod("a", 0604), 0);
    assert_int_equal(write_text(*state, "./a", "new"), ST_OK);
    struct stat st;
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    expect("a", "new");
}

static void nothing_shows_before_commit(void **state) {
    struct here *h = *state;
    put("a", "old");
    struct output o;
    assert_int_equal(output_open(&h->scene.arena, &h->scene.diags, "a", &o), ST_OK);
    assert_int_equal(output_write(&o, &h->scene.diags, "new", 3), ST_OK);
    assert_int_equal(output_sync(&o, &h->scene.diags), ST_OK);
    expect("a", "old");
    assert_int_equal(n_entries(), o.is_named ? 2 : 1);
    output_abort(&o);
    output_abort(&o);
    expect("a", "old");
    assert_int_equal(n_entries(), 1);
}

static void two_writers_do_not_meet(void **state) {
    struct here *h = *state;
    struct output o, p;
    assert_int_equal(output_open(&h->scene.arena, &h->scene.diags, "a", &o), ST_OK);
    assert_int_equal(output_open(&h->scene.arena, &h->scene.diags, "a", &p), ST_OK);
    assert_int_equal(output_write(&o, &h->scene.diags, "one", 3), ST_OK);
    assert_int_equal(output_write(&p, &h->scene.diags, "two", 3), ST_OK);
    assert_int_equal(output_commit(&o, &h->scene.diags), ST_OK);
    expect("a", "one");
    assert_int_equal(output_commit(&p, &h->scene.diags), ST_OK);
    expect("a", "two");
    assert_int_equal(n_entries(), 1);
}

static void links_stay_links(void **state) {
    put("real", "old");
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(symlink("../real", "sub/one"), 0);
    assert_int_equal(symlink("sub/one", "two"), 0);
    assert_int_equal(write_text(*state, "two", "new"), ST_OK);
    expect("real", "new");
    struct stat st;
    assert_int_equal(lstat("two", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat("sub/one", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("yet to come", "three"), 0);
    assert_int_equal(write_text(*state, "three", "here"), ST_OK);
    expect("yet to come", "here");
    assert_int_equal(symlink("five", "four"), 0);
    assert_int_equal(symlink("four", "five"), 0);
    assert_int_equal(write_text(*state, "four", "never"), ST_IO);
    unlink("sub/one");
}

static void bad_targets_are_refused(void **state) {
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(write_text(*state, "folder", "x"), ST_IO);
    assert_int_equal(write_text(*state, "folder/", "x"), ST_IO);
    assert_int_equal(write_text(*state, "absent/", "x"), ST_IO);
    assert_int_equal(write_text(*state, "absent/a", "x"), ST_IO);
    assert_int_equal(write_text(*state, "", "x"), ST_IO);
    put("file", "old");
    assert_int_equal(write_text(*state, "file/a", "x"), ST_IO);
    expect("file", "old");
    assert_int_equal(n_entries(), 2);
    if (geteuid() != 0) { // root may write everywhere
        assert_int_equal(chmod("file", 0444), 0);
        assert_int_equal(write_text(*state, "file", "x"), ST_IO);
        assert_int_equal(chmod("folder", 0555), 0);
        assert_int_equal(write_text(*state, "folder/a", "x"), ST_IO);
    }
}

static void devices_are_streams(void **state) {
    struct here *h = *state;
    assert_int_equal(write_text(h, "/dev/null", "x"), ST_OK);
    assert_int_equal(write_text(h, "/dev/full", "x"), ST_IO);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void *slow_reader(void *fd) {
    char block[4096];
    intptr_t n = 0, m;
    while ((m = read((int)(intptr_t)fd, block, sizeof block)) > 0)
        n += m;
    return (void *)n;
}

// More than a pipe holds, into one that does not block.
static void pipes_are_fed(void **state) {
    struct here *h = *state;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    int in = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_int_equal(fcntl(in, F_SETFL, 0), 0);
    struct output o;
    assert_int_equal(output_open(&h->scene.arena, &h->scene.diags, "pipe", &o), ST_OK);
    assert_int_equal(fcntl(o.stream, F_SETFL, O_NONBLOCK), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, slow_reader, (void *)(intptr_t)in), 0);
    char block[5000] = {1};
    for (int i = 0; i < 100; i++)
        assert_int_equal(output_write(&o, &h->scene.diags, block, sizeof block), ST_OK);
    assert_int_equal(output_commit(&o, &h->scene.diags), ST_OK);
    void *n;
    pthread_join(thread, &n);
    assert_int_equal((intptr_t)n, 500000);
    close(in);
}

// A limit on file size stands in for a full disk: the write fails in the middle.
static void full_disk_leaves_the_old_file(void **state) {
    struct here *h = *state;
    put("a", "old");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit was, low = {100000, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &was);
    low.rlim_max = was.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    struct output o;
    char block[1000] = {0};
    status st = output_open(&h->scene.arena, &h->scene.diags, "a", &o);
    for (int i = 0; i < 1000 && !st; i++)
        st = output_write(&o, &h->scene.diags, block, sizeof block);
    assert_int_equal(st, ST_IO);
    output_abort(&o);
    // The same for what is only found out at the end.
    st = output_open(&h->scene.arena, &h->scene.diags, "a", &o);
    assert_int_equal(st, ST_OK);
    assert_int_equal(output_skip(&o, &h->scene.diags, 200000), ST_OK);
    assert_int_equal(output_commit(&o, &h->scene.diags), ST_IO);
    setrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_DFL);
    expect("a", "old");
    assert_int_equal(n_entries(), 1);
}

static void long_names_fit(void **state) {
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    assert_int_equal(write_text(*state, name, "new"), ST_OK);
    expect(name, "new");
    assert_int_equal(n_entries(), 1);
}

static void big_and_sparse_copies_are_exact(void **state) {
    struct here *h = *state;
    struct diags *d = &h->scene.diags;
    // 1 MiB hole, 300 kB data, 1 MiB hole, 7 bytes, hole to the end.
    enum { MIB = 1 << 20, TOTAL = 4 * MIB };
    static char data[300000], want[TOTAL], got[TOTAL + 10];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7 + 1);
    memcpy(want + MIB, data, sizeof data);
    memcpy(want + 3 * MIB, data, 7);
    int fd = open("in", O_RDWR | O_CREAT, 0666);
    assert_int_equal(ftruncate(fd, TOTAL), 0);
    assert_int_equal(pwrite(fd, data, sizeof data, MIB), sizeof data);
    assert_int_equal(pwrite(fd, data, 7, 3 * MIB), 7);
    struct source *s;
    assert_int_equal(source_open(&h->scene.arena, d, "in", &s), ST_OK);
    const struct span spans[] = {{s, 0, TOTAL}, {s, MIB - 5, 100000}, {s, MIB + 3, 2}, {s, 9, 0}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        struct output o;
        assert_int_equal(output_open(&h->scene.arena, d, "out", &o), ST_OK);
        assert_int_equal(output_write(&o, d, "ab", 2), ST_OK);
        assert_int_equal(output_copy(&o, d, spans[i]), ST_OK);
        assert_int_equal(output_write(&o, d, "c", 1), ST_OK);
        assert_int_equal(o.n_bytes, 3 + spans[i].n_bytes);
        assert_int_equal(output_commit(&o, d), ST_OK);
        int back = open("out", O_RDONLY);
        int64_t n = spans[i].n_bytes;
        assert_int_equal(read(back, got, sizeof got), n + 3);
        assert_memory_equal(got, "ab", 2);
        assert_memory_equal(got + 2, want + spans[i].offset, (size_t)n);
        assert_int_equal(got[n + 2], 'c');
        close(back);
    }
    struct output o;
    assert_int_equal(output_open(&h->scene.arena, d, "out", &o), ST_OK);
    assert_int_equal(output_copy(&o, d, (struct span){s, TOTAL - 3, 4}), ST_MALFORMED);
    // A file that shrinks while it is copied is an error, not zeros.
    assert_int_equal(ftruncate(fd, 2 * MIB), 0);
    assert_int_equal(output_copy(&o, d, (struct span){s, 0, TOTAL}), ST_IO);
    output_abort(&o);
    source_close(s);
    close(fd);
}

static void out_of_memory_is_a_status(void **state) {
    struct here *h = *state;
    assert_int_equal(symlink("x", "link"), 0);
    for (int k = 0;; k++) {
        struct mem mem = mem_make(MEM_UNLIMITED);
        struct arena a = arena_make(&mem);
        atomic_store(&mem.fail_after, k);
        struct output o;
        status st = output_open(&a, &h->scene.diags, "link", &o);
        if (!st)
            st = output_commit(&o, &h->scene.diags);
        output_abort(&o);
        atomic_store(&mem.fail_after, -1);
        arena_free(&a);
        if (!st) {
            assert_true(k > 0);
            break;
        }
        assert_int_equal(st, ST_LIMIT);
        assert_int_equal(n_entries(), 1);
    }
}

static void paths(void **state) {
    struct arena *a = &((struct here *)*state)->scene.arena;
    assert_string_equal(file_folder(a, "a"), ".");
    assert_string_equal(file_folder(a, "/a"), "/");
    assert_string_equal(file_folder(a, "x/y/a"), "x/y");
    assert_string_equal(file_name("x/y/a"), "a");
    assert_string_equal(file_name("a"), "a");
    assert_string_equal(file_join(a, ".", "a"), "a");
    assert_string_equal(file_join(a, "/", "a"), "/a");
    assert_string_equal(file_join(a, "x", "a"), "x/a");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(new_file_obeys_umask),
        TEST(replaced_file_keeps_mode),
        TEST(nothing_shows_before_commit),
        TEST(two_writers_do_not_meet),
        TEST(links_stay_links),
        TEST(bad_targets_are_refused),
        TEST(devices_are_streams),
        TEST(pipes_are_fed),
        TEST(full_disk_leaves_the_old_file),
        TEST(long_names_fit),
        TEST(big_and_sparse_copies_are_exact),
        TEST(out_of_memory_is_a_status),
        TEST(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
