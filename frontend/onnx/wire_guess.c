// Recognizes common file formats by their first bytes, for messages about files that are not ONNX:
// see wire.h.
#include <string.h>

#include "frontend/onnx/wire.h"

enum { HEAD_BYTES = 64 };

static const char *guess(const uint8_t *bytes, size_t n) {
    static const struct {
        size_t at, n;
        const char *magic, *what;
    } signs[] = {
        {0, 4, "PK\3\4",
         "a zip archive (or a PyTorch or Keras file, which are zip archives); export it to ONNX "
         "first"},
        {0, 4, "\x89PNG", "a PNG image"},
        {0, 3, "\xff\xd8\xff", "a JPEG image"},
        {0, 3, "GIF", "a GIF image"},
        {0, 4, "%PDF", "a PDF document"},
        {0, 2, "\x1f\x8b", "compressed with gzip; unpack it first"},
        {0, 4, "\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"},
        {0, 6,
         "\xfd"
         "7zXZ\0",
         "compressed with xz; unpack it first"},
        {0, 4,
         "\x7f"
         "ELF",
         "an executable program"},
        {0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?); export it to ONNX first"},
        {0, 6, "\x93NUMPY", "a NumPy array"},
        {4, 4, "ORTM", "a model in the ORT format; use the .onnx file it was converted from"},
        {4, 4, "TFL3", "a TensorFlow Lite model; export it to ONNX first"},
        {0, 4, "GGUF", "a GGUF model; export it to ONNX first"},
        {0, 7, "version", "a Git LFS pointer (run git lfs pull to fetch the file) or other text"},
        {0, 4, "mfc ", "mfc's text form"},
        {0, 1, "{", "text (JSON?)"},
        {0, 1, "<", "text (HTML or XML?)"},
    };
    if (n == 0)
        return "empty";
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (n >= signs[i].at + signs[i].n &&
            memcmp(bytes + signs[i].at, signs[i].magic, signs[i].n) == 0)
            return signs[i].what;
    // The last character may be truncated.
    if (str_utf8_error((const char *)bytes, n) + 3 < n)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if ((bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') ||
            bytes[i] == 0x7f)
            return NULL;
    return "text";
}

const char *wire_guess(const struct source *s) {
    uint8_t head[HEAD_BYTES];
    size_t n = s->n_bytes < HEAD_BYTES ? (size_t)s->n_bytes : HEAD_BYTES;
    // A read error here was reported before: its diagnostic goes to an arena without memory.
    struct mem none = mem_make(0);
    struct arena nowhere = arena_make(&none);
    struct diags ignored = diags_make(&nowhere);
    return source_read(s, &ignored, 0, head, n) ? NULL : guess(head, n);
}
