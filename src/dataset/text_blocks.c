// A text file, plain or gzip, in blocks of whole lines: one thread reads and inflates while others
// parse.
//
// The idea: blocks are numbered by the lines before them, so that what they hold lands at places
// that do not depend on threads. They are taken in the order of the file, so the earliest of all
// errors is always found.

#include "internal.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 4 << 20, INPUT = 1 << 18, PARSERS = 16, BLOCKS = PARSERS + 2 };

typedef struct Source { // the bytes of the file
    int descriptor;     // -1: all of them are in the input
    bool packed;
    z_stream stream;
    const unsigned char *input; // [at + bytes]
    unsigned char *own;         // [INPUT] where a file is read to
    size_t at, bytes;           // what of the input is not used yet
    bool over;
} Source;

typedef struct Block {
    char *data; // [room + 1] owned
    size_t bytes;
    int64_t first; // lines before it
} Block;

typedef struct Reader {
    const char *path;
    TextTaker *take;
    void *context;
    size_t room; // bytes of a block
    int parsers; // threads; 0: blocks are parsed where they are read
    Block block[BLOCKS];
    int blocks;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int spare[BLOCKS], spares;        // blocks that may be filled
    int ready[BLOCKS], begin, filled; // a ring of blocks to parse, in the file's order
    bool over;                        // no more blocks will come
    int64_t failed;                   // lines before the earliest block with an error; -1: none
    Error err;
} Reader;

// ---- bytes

// False if the file ends or cannot be read.
static bool refill(Source *s, Error *err) {
    ssize_t got = 0;
    if (s->descriptor < 0)
        return false;
    do
        got = read(s->descriptor, s->own, INPUT);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_set(err, EXIT_IO, "cannot be read to its end: %s", strerror(errno));
    s->at = 0;
    s->bytes = (size_t)got;
    return got > 0;
}

// Looks at the first bytes, which are in the input.
static bool source_begin(Source *s, const char *path, Error *err) {
    static const unsigned char magic[2] = {0x1f, 0x8b};
    s->over = s->bytes == 0;
    s->packed = s->bytes >= 2 && memcmp(s->input, magic, 2) == 0;
    if (!s->packed && path_ends(path, ".gz"))
        return error_set(err, EXIT_DATA, "is not a gzip file although its name says so");
    if (s->packed && inflateInit2(&s->stream, 15 + 16) != Z_OK)
        return error_set(err, EXIT_MEMORY, "no memory to inflate it");
    return err->code == 0;
}

static bool source_open(Source *s, const char *path, Error *err) {
    int64_t size;
    *s = (Source){.descriptor = file_open(path, &size, err)};
    if (s->descriptor < 0)
        return false;
    s->input = s->own = TRY(unsigned char, INPUT, "the text of a file", err);
    if (s->own == NULL)
        return false;
    refill(s, err);
    return source_begin(s, path, err);
}

static bool source_lend(Source *s, const void *bytes, size_t count, const char *path, Error *err) {
    *s = (Source){.descriptor = -1, .input = bytes, .bytes = count};
    return source_begin(s, path, err);
}

static void source_close(Source *s) {
    if (s->packed)
        inflateEnd(&s->stream);
    if (s->descriptor >= 0)
        close(s->descriptor);
    memory_free(s->own);
}

// One step of zlib; another member may follow the end of one.
static bool inflate_some(Source *s, char *out, size_t room, size_t *got, Error *err) {
    s->stream.next_in = (z_const Bytef *)(uintptr_t)(s->input + s->at);
    s->stream.avail_in = (uInt)s->bytes;
    s->stream.next_out = (Bytef *)out;
    s->stream.avail_out = (uInt)room;
    int status = inflate(&s->stream, Z_NO_FLUSH);
    s->at += s->bytes - s->stream.avail_in;
    s->bytes = s->stream.avail_in;
    *got = room - s->stream.avail_out;
    if (status == Z_STREAM_END) {
        if (s->bytes == 0)
            s->over = !refill(s, err);
        return err->code == 0 && (s->over || inflateReset(&s->stream) == Z_OK);
    }
    if (status == Z_OK || (status == Z_BUF_ERROR && s->bytes == 0))
        return true;
    return error_set(err, EXIT_DATA, "its gzip stream is damaged%s%s",
                     s->stream.msg != NULL ? ": " : "", s->stream.msg != NULL ? s->stream.msg : "");
}

// Fills `out` as far as the file goes; returns the bytes.
static size_t source_read(Source *s, char *out, size_t room, Error *err) {
    size_t done = 0;
    while (done < room && !s->over && err->code == 0) {
        size_t got = 0;
        if (s->bytes == 0 && !refill(s, err)) {
            s->over = true;
            if (s->packed && err->code == 0)
                error_set(err, EXIT_DATA, "cannot be read to its end: the gzip stream is cut");
        } else if (s->packed) {
            inflate_some(s, out + done, room - done, &got, err);
        } else {
            got = s->bytes < room - done ? s->bytes : room - done;
            memcpy(out + done, s->input + s->at, got);
            s->at += got;
            s->bytes -= got;
        }
        done += got;
    }
    return done;
}

// ---- blocks

static int64_t count_lines(const char *data, size_t bytes) {
    int64_t lines = 0;
    const char *at = data, *end = data + bytes;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

// Waits for a block that may be filled; NULL after an error of a parser.
static Block *spare_block(Reader *r) {
    pthread_mutex_lock(&r->lock);
    while (r->spares == 0 && r->failed < 0)
        pthread_cond_wait(&r->changed, &r->lock);
    Block *block = r->failed < 0 ? &r->block[r->spare[--r->spares]] : NULL;
    pthread_mutex_unlock(&r->lock);
    return block;
}

static void parse_block(Reader *r, Block *block);

static void hand_over(Reader *r, Block *block) {
    if (r->parsers == 0) {
        parse_block(r, block);
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->ready[(r->begin + r->filled++) % BLOCKS] = (int)(block - r->block);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void note_error(Reader *r, int64_t first, const Error *err) {
    if (r->failed < 0 || first < r->failed) {
        r->failed = first;
        r->err = *err;
    }
}

// Where the last whole line of a block ends; all of it at the end of the file.
static size_t whole_lines(const Reader *r, const Source *s, const Block *block, size_t bytes,
                          int64_t line, Error *err) {
    if (memchr(block->data, 0, bytes) != NULL)
        error_set(err, EXIT_DATA, "is not a text file (it holds a zero byte)");
    if (s->over)
        return bytes;
    const char *last = memrchr(block->data, '\n', bytes);
    if (last == NULL)
        error_set(err, EXIT_DATA, "line %lld is longer than %zu MiB", (long long)line + 1,
                  r->room >> 20);
    return last == NULL ? 0 : (size_t)(last + 1 - block->data);
}

// Reads the file in blocks; what follows the last whole line of a block begins the next one.
static int64_t fill_blocks(Reader *r, Source *s, Error *err) {
    int64_t lines = 0;
    char *rest = TRY(char, r->room, "the text of a file", err);
    size_t kept = 0;
    Block *block;
    while (rest != NULL && err->code == 0 && (!s->over || kept > 0) &&
           (block = spare_block(r)) != NULL) {
        memcpy(block->data, rest, kept);
        size_t bytes = kept + source_read(s, block->data + kept, r->room - kept, err);
        block->bytes = err->code == 0 ? whole_lines(r, s, block, bytes, lines, err) : 0;
        kept = bytes - block->bytes;
        memcpy(rest, block->data + block->bytes, kept);
        block->data[block->bytes] = 0;
        block->first = lines;
        lines += count_lines(block->data, block->bytes);
        lines += block->bytes > 0 && block->data[block->bytes - 1] != '\n';
        hand_over(r, block);
        kept = s->over ? 0 : kept;
    }
    memory_free(rest);
    return lines;
}

// ---- parsers

// The next block of the file; NULL at its end, or after an error.
static Block *next_block(Reader *r) {
    pthread_mutex_lock(&r->lock);
    while (r->filled == 0 && !r->over && r->failed < 0)
        pthread_cond_wait(&r->changed, &r->lock);
    Block *block = NULL;
    if (r->filled > 0 && r->failed < 0) {
        block = &r->block[r->ready[r->begin]];
        r->begin = (r->begin + 1) % BLOCKS;
        r->filled--;
    }
    pthread_mutex_unlock(&r->lock);
    return block;
}

static void parse_block(Reader *r, Block *block) {
    Error err = {0};
    TextBlock text = {{block->data, block->data + block->bytes, block->first + 1, r->path},
                      block->first};
    bool ok = r->take(r->context, &text, &err);
    pthread_mutex_lock(&r->lock);
    if (!ok)
        note_error(r, block->first, &err);
    r->spare[r->spares++] = (int)(block - r->block);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void *parse(void *reader) {
    Block *block;
    while ((block = next_block(reader)) != NULL)
        parse_block(reader, block);
    return NULL;
}

static bool alloc_blocks(Reader *r, Error *err) {
    for (int i = 0; i < r->parsers + 2; i++) {
        r->block[i].data = TRY(char, r->room + 1, "the text of a file", err);
        if (r->block[i].data == NULL)
            return false;
        r->spare[r->spares++] = i;
    }
    return true;
}

static void finish(Reader *r, const Error *err) {
    pthread_mutex_lock(&r->lock);
    if (err->code != 0)
        note_error(r, INT64_MAX, err); // whatever a parser found lies before it
    r->over = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static int64_t read_all(Reader *r, Source *s) {
    pthread_t thread[PARSERS];
    Error err = {0};
    int started = 0;
    int64_t lines = 0;
    if (alloc_blocks(r, &err)) {
        while (started < r->parsers && pthread_create(&thread[started], NULL, parse, r) == 0)
            started++;
        if (started == 0 && r->parsers > 0)
            error_set(&err, EXIT_UNAVAILABLE, "the system gives no thread to read it");
        else
            lines = fill_blocks(r, s, &err);
    }
    if (err.code != 0)
        error_prefix(&err, "%s", r->path);
    finish(r, &err);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        memory_free(r->block[i].data);
    return lines;
}

// Closes the source; `opened` is false if there is an error already.
static bool read_source(Reader *r, Source *source, bool opened, int64_t *lines, Error *err) {
    r->failed = -1;
    r->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    r->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    *lines = 0;
    if (opened)
        *lines = read_all(r, source);
    else
        error_prefix(err, "%s", r->path);
    source_close(source);
    if (r->failed >= 0)
        *err = r->err;
    return err->code == 0;
}

static int parsers(void) {
    return omp_get_max_threads() < PARSERS ? omp_get_max_threads() : PARSERS;
}

bool text_blocks(const char *path, TextTaker *take, void *context, int64_t *lines, Error *err) {
    Reader r = {
        .path = path, .take = take, .context = context, .room = BLOCK, .parsers = parsers()};
    Source source;
    bool opened = source_open(&source, path, err);
    return read_source(&r, &source, opened, lines, err);
}

bool text_blocks_lent(const TextLent *text, TextTaker *take, void *context, int64_t *lines,
                      Error *err) {
    Reader r = {.path = text->path, .take = take, .context = context, .room = text->block};
    Source source;
    bool opened = source_lend(&source, text->bytes, text->count, text->path, err);
    return read_source(&r, &source, opened, lines, err);
}

static int64_t count_columns(Source *source, Error *err) {
    char piece[4096];
    size_t got;
    int64_t columns = 0;
    while ((got = source_read(source, piece, sizeof piece, err)) > 0) {
        const char *newline = memchr(piece, '\n', got);
        size_t length = newline == NULL ? got : (size_t)(newline - piece);
        columns += columns == 0;
        for (size_t i = 0; i < length; i++)
            columns += piece[i] == ',';
        if (newline != NULL)
            break;
    }
    return columns;
}

// Closes the source.
static int64_t columns_of(Source *source, bool opened, const char *path, Error *err) {
    int64_t columns = opened ? count_columns(source, err) : 0;
    source_close(source);
    if (err->code != 0)
        error_prefix(err, "%s", path);
    return err->code == 0 ? columns : -1;
}

int64_t text_columns(const char *path, Error *err) {
    Source source;
    bool opened = source_open(&source, path, err);
    return columns_of(&source, opened, path, err);
}

int64_t text_columns_lent(const TextLent *text, Error *err) {
    Source source;
    bool opened = source_lend(&source, text->bytes, text->count, text->path, err);
    return columns_of(&source, opened, text->path, err);
}
