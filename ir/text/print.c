// Printer of the text form: see text.h and docs/ir.md. This file has the primitives of all print_*
// files and the entry point print_model. Stages: statements of the model, main graph
// (print_graph.c), functions. The output depends on the model only, not on ids, addresses or
// locale.
#include "ir/text/print.h"

#include <assert.h>
#include <string.h>

#include "ir/fact.h"

static bool is_bare(const char *word) {
    size_t n = strlen(word);
    if (n == 0 || word[0] == ':' || word[n - 1] == ':' || strcmp(word, "_") == 0)
        return false;
    return strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:-") == n;
}

void print_word(struct str *out, const char *word) {
    if (word && is_bare(word))
        str_add(out, word);
    else
        print_quoted(out, word ? word : "");
}

void print_quoted(struct str *out, const char *text) {
    if (text)
        str_add_quoted(out, text, strlen(text));
    else
        str_add_char(out, '_');
}

void print_value(struct str *out, const struct value *v) {
    str_add_char(out, '%');
    print_word(out, v->name);
}

void print_hex(struct str *out, const uint8_t *bytes, size_t n) {
    static const char digits[] = "0123456789abcdef";
    str_add(out, "x\"");
    for (size_t i = 0; i < n; i++) {
        str_add_char(out, digits[bytes[i] >> 4]);
        str_add_char(out, digits[bytes[i] & 15]);
    }
    str_add_char(out, '"');
}

static void print_pair(struct str *out, const struct pair *p) {
    if (p->key)
        print_word(out, p->key);
    else
        str_add_char(out, '_');
    str_add_char(out, '=');
    print_quoted(out, p->value);
    if (p->extra.n) {
        str_add(out, " with ");
        print_hex(out, p->extra.at, p->extra.n);
    }
}

void print_pairs(struct str *out, const struct pairs *p) {
    str_add_char(out, '{');
    for (size_t i = 0; i < p->n; i++) {
        str_add(out, i ? ", " : "");
        print_pair(out, &p->at[i]);
    }
    str_add_char(out, '}');
}

void print_begin(struct printer *p, const char *keyword) {
    for (int i = 0; i < p->indent; i++)
        str_add(p->out, "  ");
    str_add(p->out, keyword);
}

void print_end(struct printer *p) {
    str_add_char(p->out, '\n');
}

void print_text_line(struct printer *p, const char *keyword, const char *text) {
    if (!text)
        return;
    print_begin(p, keyword);
    str_add_char(p->out, ' ');
    print_quoted(p->out, text);
    print_end(p);
}

void print_hex_line(struct printer *p, const char *keyword, struct bytes b) {
    print_begin(p, keyword);
    str_add_char(p->out, ' ');
    print_hex(p->out, b.at, b.n);
    print_end(p);
}

void print_metadata_lines(struct printer *p, const struct pairs *pairs) {
    for (size_t i = 0; i < pairs->n; i++) {
        print_begin(p, "metadata ");
        print_pair(p->out, &pairs->at[i]);
        print_end(p);
    }
}

static void opset_line(struct printer *p, const struct opset *o) {
    print_begin(p, "opset ");
    if (o->domain) { // NULL and "" both mean the standard domain; they print differently
        print_word(p->out, o->domain);
        str_add_char(p->out, ' ');
    }
    str_addf(p->out, "%lld", (long long)o->version);
    if (o->extra.n) {
        str_add(p->out, " extra=");
        print_hex(p->out, o->extra.at, o->extra.n);
    }
    print_end(p);
}

void print_operator(struct str *out, const char *name, const char *domain, const char *overload) {
    print_word(out, name ? name : "");
    if ((domain && *domain) || overload) {
        str_add_char(out, '<');
        print_word(out, domain ? domain : "");
        if (overload) {
            str_add(out, ", ");
            print_word(out, overload);
        }
        str_add_char(out, '>');
    }
}

static void print_function(struct printer *p, const struct function *f) {
    str_add(p->out, "function ");
    print_operator(p->out, f->name, f->domain, f->overload);
    str_add(p->out, " {\n");
    p->indent++;
    print_text_line(p, "doc", f->doc);
    print_metadata_lines(p, &f->metadata);
    if (f->extra.n)
        print_hex_line(p, "extra", f->extra);
    for (size_t i = 0; i < f->n_opsets; i++)
        opset_line(p, &f->opsets[i]);
    for (size_t i = 0; i < f->n_attrs; i++) {
        print_begin(p, "attribute ");
        print_word(p->out, f->attrs[i]);
        print_end(p);
    }
    for (size_t i = 0; i < f->n_defaults; i++) {
        print_begin(p, "attribute ");
        print_attr(p, &f->defaults[i]);
        print_end(p);
    }
    print_graph_lines(p, f->body);
    p->indent--;
    str_add(p->out, "}\n");
}

static void model_lines(struct printer *p, const struct model *m) {
    str_add(p->out, "mfc 1\n");
    if (m->ir_version)
        str_addf(p->out, "ir_version %lld\n", (long long)m->ir_version);
    print_text_line(p, "producer", m->producer);
    print_text_line(p, "producer_version", m->producer_version);
    print_text_line(p, "domain", m->domain);
    if (m->version)
        str_addf(p->out, "model_version %lld\n", (long long)m->version);
    print_text_line(p, "doc", m->doc);
    for (size_t i = 0; i < m->opsets.n; i++)
        opset_line(p, &m->opsets.at[i]);
    print_metadata_lines(p, &m->metadata);
    for (size_t i = 0; i < m->device_names.n; i++)
        print_text_line(p, "device", m->device_names.at[i]);
    for (size_t i = 0; i < m->configurations.n; i++)
        print_hex_line(p, "configuration", m->configurations.at[i]);
    for (size_t i = 0; i < m->training.n; i++) {
        str_add(p->out, "training ");
        print_span(p, m->training.at[i]);
        print_end(p);
    }
    if (m->extra.n)
        print_hex_line(p, "extra", m->extra);
    // The order of the lines shows FACT_TOPO; the other facts are printed.
    if (m->facts & ~(unsigned)FACT_TOPO) {
        str_add(p->out, "facts ");
        fact_print(p->out, m->facts & ~(unsigned)FACT_TOPO);
        print_end(p);
    }
}

status print_model(struct str *out, const struct model *m, const char *folder, struct diags *d) {
    assert(out && m && m->graph && folder && d);
    struct printer p = {.out = out, .d = d, .folder = folder, .scratch = arena_make(m->arena->mem)};
    model_lines(&p, m);
    str_add(out, "graph ");
    if (m->graph->name) {
        print_quoted(out, m->graph->name);
        str_add_char(out, ' ');
    }
    print_graph_body(&p, m->graph);
    print_end(&p);
    for (size_t i = 0; i < m->functions.n; i++)
        print_function(&p, &m->functions.at[i]);
    if (p.n_outside)
        diag_note(d, DIAG_EXTERNAL_KEPT, loc_file(p.outside),
                  "is not in the folder of the text, which refers to it for %zu tensors; copy the "
                  "file to the folder of the text",
                  p.n_outside);
    arena_free(&p.scratch);
    return p.st ? p.st : out->failed ? diag_out_of_memory(d) : ST_OK;
}
