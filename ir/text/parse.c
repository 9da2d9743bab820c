// Parser of the text form: see text.h, parse.h and docs/ir.md. This file has the primitives of all
// parse_* files, the statements of the model, error recovery, and the entry points parse_text and
// parse_file. After an error the parser skips to the next statement of the same nesting depth.
#include "ir/text/parse.h"

#include <assert.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/fact.h"
#include "ir/text/number.h"

bool parse_fail(struct parser *p, const struct token *at, const char *format, ...) {
    if (p->stop)
        return false;
    p->failed = ST_MALFORMED;
    va_list args;
    va_start(args, format);
    diag_errorv(p->d, DIAG_MALFORMED, loc_line(p->path, at->line, at->col), format, args);
    va_end(args);
    if (++p->n_errors == PARSE_ERRORS) {
        diag_note(p->d, DIAG_MALFORMED, loc_file(p->path),
                  "too many errors; the rest of the text is not parsed");
        p->stop = true;
        p->t.kind = LEX_END;
    }
    return false;
}

bool parse_stop(struct parser *p, status st) {
    p->failed = st;
    p->stop = true;
    p->t.kind = LEX_END;
    return false;
}

bool parse_out_of_memory(struct parser *p) {
    return parse_stop(p, diag_out_of_memory(p->d));
}

bool parse_expected(struct parser *p, const char *what) {
    const struct token *t = &p->t;
    if (t->kind == LEX_BAD)
        return parse_fail(p, t, "%s", t->at);
    if (t->kind == LEX_END)
        return parse_fail(p, t, "%s is expected here, but the text ends", what);
    if (t->kind == LEX_MARK)
        return parse_fail(p, t, "%s is expected here, not %c", what, t->mark);
    if (t->kind == LEX_WORD)
        return parse_fail(p, t, "%s is expected here, not %.*s", what, t->n < 60 ? (int)t->n : 60,
                          t->at);
    return parse_fail(p, t, "%s is expected here, not %s", what,
                      t->kind == LEX_VALUE ? "a value"
                      : t->kind == LEX_HEX ? "bytes"
                                           : "a string");
}

void parse_advance(struct parser *p) {
    if (!p->stop)
        p->t = lex_next(&p->lex);
    if (p->t.kind == LEX_BAD && !p->t.at)
        parse_out_of_memory(p);
}

bool parse_at(const struct parser *p, char mark) {
    return p->t.kind == LEX_MARK && p->t.mark == mark;
}

bool parse_same(struct token t, const char *word) {
    return t.kind == LEX_WORD && t.n == strlen(word) && memcmp(t.at, word, t.n) == 0;
}

bool parse_at_word(const struct parser *p, const char *word) {
    return parse_same(p->t, word);
}

bool parse_take(struct parser *p, char mark) {
    if (!parse_at(p, mark))
        return false;
    parse_advance(p);
    return true;
}

bool parse_take_word(struct parser *p, const char *word) {
    if (!parse_at_word(p, word))
        return false;
    parse_advance(p);
    return true;
}

bool parse_want(struct parser *p, char mark) {
    char what[] = {mark, 0};
    return parse_take(p, mark) || parse_expected(p, what);
}

bool parse_enter(struct parser *p) {
    if (p->depth == LIMIT_WIRE_DEPTH)
        return parse_fail(p, &p->t, "nested deeper than %d", LIMIT_WIRE_DEPTH);
    p->depth++;
    return true;
}

void parse_leave(struct parser *p) {
    p->depth--;
}

bool parse_int(struct parser *p, int64_t *x) {
    if (p->t.kind != LEX_WORD || !number_parse_int(p->t.at, p->t.n, x))
        return parse_expected(p, "a whole number");
    parse_advance(p);
    return true;
}

bool parse_intern(struct parser *p, struct token t, const char **out) {
    if (t.n && memchr(t.at, 0, t.n))
        return parse_fail(p, &t, "a zero byte cannot be part of this text");
    *out = pool_intern_n(p->m->pool, t.at, t.n);
    return *out ? true : parse_out_of_memory(p);
}

bool parse_name(struct parser *p, const char **out) {
    struct token t = p->t;
    if (t.kind != LEX_WORD && t.kind != LEX_STRING)
        return parse_expected(p, "a name");
    parse_advance(p);
    return parse_intern(p, t, out);
}

bool parse_quoted(struct parser *p, const char **out) {
    struct token t = p->t;
    *out = NULL;
    if (parse_take_word(p, "_"))
        return true;
    if (t.kind != LEX_STRING)
        return parse_expected(p, "a string");
    parse_advance(p);
    return parse_intern(p, t, out);
}

bool parse_hex(struct parser *p, struct bytes *out) {
    if (p->t.kind != LEX_HEX)
        return parse_expected(p, "x\"…\"");
    *out = (struct bytes){(const uint8_t *)p->t.at, p->t.n};
    parse_advance(p);
    return true;
}

bool parse_pair(struct parser *p, struct pair *out) {
    *out = (struct pair){0};
    if (!parse_take_word(p, "_") && !parse_name(p, &out->key))
        return false;
    return parse_want(p, '=') && parse_quoted(p, &out->value) &&
           (p->t.first || !parse_take_word(p, "with") || parse_hex(p, &out->extra));
}

bool parse_add_pair(struct parser *p, struct pairs *to, struct pair one) {
    // Doubles the capacity at each power of two; the list does not store it.
    if ((to->n & (to->n - 1)) == 0) {
        struct pair *grown = ARENA_ARRAY(p->m->arena, struct pair, to->n ? 2 * to->n : 1);
        if (!grown)
            return parse_out_of_memory(p);
        if (to->n)
            memcpy(grown, to->at, to->n * sizeof *grown);
        to->at = grown;
    }
    to->at[to->n++] = one;
    return true;
}

bool parse_pairs(struct parser *p, struct pairs *out) {
    if (!parse_want(p, '{'))
        return false;
    for (bool more = !parse_at(p, '}'); more; more = parse_take(p, ',')) {
        struct pair one;
        if (!parse_pair(p, &one) || !parse_add_pair(p, out, one))
            return false;
    }
    return parse_want(p, '}');
}

// opset 17, or opset ai.onnx.ml 3.
bool parse_opset(struct parser *p, struct opset *out) {
    struct token first = p->t;
    *out = (struct opset){0};
    const char *name;
    if (!parse_name(p, &name))
        return false;
    if (!p->t.first && p->t.kind == LEX_WORD && !parse_at_word(p, "extra")) {
        out->domain = name;
        if (!parse_int(p, &out->version))
            return false;
    } else if (first.kind != LEX_WORD || !number_parse_int(first.at, first.n, &out->version)) {
        return parse_fail(p, &first, "the version of the operator set is expected here");
    }
    return p->t.first || !parse_take_word(p, "extra") ||
           (parse_want(p, '=') && parse_hex(p, &out->extra));
}

static bool parse_facts(struct parser *p) {
    do {
        struct token at = p->t;
        const char *word;
        unsigned fact;
        if (!parse_name(p, &word))
            return false;
        if (!fact_find(word, &fact))
            return parse_fail(p, &at, "unknown fact \"%s\"", word);
        p->m->facts |= fact;
    } while (parse_take(p, ','));
    return true;
}

static bool parse_main_graph(struct parser *p, bool *seen, const struct token *at) {
    if (*seen)
        return parse_fail(p, at, "the model has a graph already");
    *seen = true;
    return (parse_at(p, '{') || parse_quoted(p, &p->m->graph->name)) &&
           parse_graph_body(p, p->m->graph);
}

// The statements that set one field of the model; *known: `key` is one of them.
static bool parse_field(struct parser *p, struct token key, bool *known) {
    struct model *m = p->m;
    const struct {
        const char *word, **text;
        int64_t *number;
    } fields[] = {{"ir_version", NULL, &m->ir_version},
                  {"producer", &m->producer, NULL},
                  {"producer_version", &m->producer_version, NULL},
                  {"domain", &m->domain, NULL},
                  {"model_version", NULL, &m->version},
                  {"doc", &m->doc, NULL}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (parse_same(key, fields[i].word))
            return fields[i].text ? parse_quoted(p, fields[i].text)
                                  : parse_int(p, fields[i].number);
    *known = false;
    return false;
}

static bool parse_entry(struct parser *p, struct token key, bool *has_graph) {
    struct model *m = p->m;
    struct opset opset;
    struct pair pair;
    struct bytes bytes;
    struct span span;
    const char *name;
    if (parse_same(key, "opset"))
        return parse_opset(p, &opset) &&
               (VEC_PUSH(m->arena, &m->opsets, opset) || parse_out_of_memory(p));
    if (parse_same(key, "metadata"))
        return parse_pair(p, &pair) && parse_add_pair(p, &m->metadata, pair);
    if (parse_same(key, "device"))
        return parse_name(p, &name) &&
               (VEC_PUSH(m->arena, &m->device_names, name) || parse_out_of_memory(p));
    if (parse_same(key, "configuration"))
        return parse_hex(p, &bytes) &&
               (VEC_PUSH(m->arena, &m->configurations, bytes) || parse_out_of_memory(p));
    if (parse_same(key, "training"))
        return parse_span(p, &span) &&
               (VEC_PUSH(m->arena, &m->training, span) || parse_out_of_memory(p));
    if (parse_same(key, "extra"))
        return parse_hex(p, &m->extra);
    if (parse_same(key, "facts"))
        return parse_facts(p);
    if (parse_same(key, "graph"))
        return parse_main_graph(p, has_graph, &key);
    if (parse_same(key, "function"))
        return parse_function(p);
    return parse_fail(p, &key, "unknown statement \"%.*s\" outside of a graph",
                      key.n < 60 ? (int)key.n : 60, key.at);
}

void parse_recover(struct parser *p, size_t from) {
    // A statement that failed at its first token must not be parsed again.
    if (p->t.end == from)
        parse_advance(p);
    for (int depth = 0; p->t.kind != LEX_END; parse_advance(p)) {
        if (p->t.first && depth == 0)
            return;
        if (parse_at(p, '{'))
            depth++;
        else if (parse_at(p, '}') && depth-- == 0)
            return;
    }
}

bool parse_line_end(struct parser *p) {
    return p->t.first || parse_at(p, '}') || parse_expected(p, "the end of the line");
}

static void parse_statements(struct parser *p) {
    bool has_graph = false;
    struct token start = p->t;
    while (p->t.kind != LEX_END) {
        struct token key = p->t;
        bool known = true, ok = key.kind == LEX_WORD || parse_expected(p, "a statement");
        if (ok) {
            parse_advance(p);
            ok = parse_field(p, key, &known);
            if (!known)
                ok = parse_entry(p, key, &has_graph);
        }
        if (!ok || (!p->t.first && !parse_expected(p, "the end of the line"))) {
            parse_recover(p, key.end);
            if (parse_take(p, '}'))
                continue; // an unmatched brace, already reported
        }
    }
    if (!has_graph && !p->n_errors)
        parse_fail(p, &start, "the model has no graph");
}

static void parse_header(struct parser *p) {
    struct token at = p->t;
    int64_t version;
    if (!parse_take_word(p, "mfc")) {
        parse_fail(p, &at, "a text model starts with the line \"mfc 1\"");
        p->stop = true;
    } else if (parse_int(p, &version) && version != 1) {
        parse_fail(p, &at, "version %lld of the text form is not supported; expected version 1",
                   (long long)version);
        p->stop = true;
    }
    if (!p->stop)
        parse_statements(p);
}

status parse_text(struct model_text text, struct arena *a, struct pool *names, struct diags *d,
                  struct model **out) {
    assert(text.at && !text.at[text.n] && text.path && a && names && d && out);
    struct model *m = *out = model_new(a, names);
    struct parser p = {.lex = lex_make(a, text.at, text.n),
                       .m = m,
                       .d = d,
                       .path = text.path,
                       .folder = file_folder(a, text.path),
                       .sources = map_make(a)};
    if (!m || !p.folder || !(m->path = pool_intern(names, text.path)))
        return diag_out_of_memory(d);
    parse_advance(&p);
    parse_header(&p);
    return p.failed;
}

status parse_file(const struct source *from, struct arena *a, struct pool *names, struct diags *d,
                  struct model **out) {
    assert(from && a && names && d && out);
    char *text;
    *out = NULL;
    status st = source_text(from, a, d, LIMIT_TEXT_BYTES, &text);
    return st ? st
              : parse_text((struct model_text){text, (size_t)from->n_bytes, from->path}, a, names,
                           d, out);
}
