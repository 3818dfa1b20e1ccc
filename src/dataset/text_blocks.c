// A text file, plain or gzip, in blocks of whole lines: one thread reads and inflates while others
// parse.
//
// The idea: blocks are numbered by the lines before them, so that what they hold lands at places
// that do not depend on threads. They are taken in the order of the file, so the earliest of all
// errors is always found.

#include "internal.h"

#include <omp.h>
#include <pthread.h>
#include <zlib.h>

enum { BLOCK = 4 << 20, PARSERS = 16, BLOCKS = PARSERS + 2 };

typedef struct Block {
    char *data; // [room + 1] owned
    size_t bytes;
    int64_t first; // lines before it
} Block;

typedef struct Reader {
    const char *path;
    gzFile file;
    bool ended; // all of the file is read
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

// ---- blocks

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
static size_t whole_lines(const Reader *r, const Block *block, size_t bytes, int64_t line,
                          Error *err) {
    if (r->ended)
        return bytes;
    const char *last = memrchr(block->data, '\n', bytes);
    if (last == NULL)
        error_data(err, "line %ld is longer than %zu MiB", line + 1, r->room >> 20);
    return last == NULL ? 0 : (size_t)(last + 1 - block->data);
}

// Reads the file in blocks; what follows the last whole line of a block begins the next one.
static int64_t fill_blocks(Reader *r, Error *err) {
    int64_t lines = 0;
    FREED char *rest = TRY(char, r->room, "the text of a file", err);
    size_t kept = 0;
    Block *block;
    while (rest != NULL && err->code == 0 && !r->ended && (block = spare_block(r)) != NULL) {
        memcpy(block->data, rest, kept);
        size_t bytes = kept + text_pull(r->file, block->data + kept, r->room - kept, err);
        r->ended = bytes < r->room;
        block->bytes = err->code == 0 ? whole_lines(r, block, bytes, lines, err) : 0;
        kept = bytes - block->bytes;
        memcpy(rest, block->data + block->bytes, kept);
        block->data[block->bytes] = 0;
        block->first = lines;
        lines += text_newlines(block->data, block->bytes);
        lines += block->bytes > 0 && block->data[block->bytes - 1] != '\n';
        hand_over(r, block);
    }
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

static int64_t read_all(Reader *r) {
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
            lines = fill_blocks(r, &err);
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

bool text_blocks_of(const char *path, size_t room, int parsers, TextTaker *take, void *context,
                    int64_t *lines, Error *err) {
    int64_t size;
    Reader r = {.path = path,
                .file = text_open(path, &size, err),
                .take = take,
                .context = context,
                .room = room,
                .parsers = parsers,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER,
                .failed = -1};
    *lines = 0;
    if (r.file == NULL)
        return false;
    *lines = read_all(&r);
    gzclose(r.file);
    if (r.failed >= 0)
        *err = r.err;
    return err->code == 0;
}

bool text_blocks(const char *path, TextTaker *take, void *context, int64_t *lines, Error *err) {
    int parsers = omp_get_max_threads() < PARSERS ? omp_get_max_threads() : PARSERS;
    return text_blocks_of(path, BLOCK, parsers, take, context, lines, err);
}

static int64_t count_columns(gzFile file, Error *err) {
    char piece[4096];
    size_t got;
    int64_t columns = 0;
    while (err->code == 0 && (got = text_pull(file, piece, sizeof piece, err)) > 0) {
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

int64_t text_columns(const char *path, Error *err) {
    int64_t size;
    gzFile file = text_open(path, &size, err);
    if (file == NULL)
        return -1;
    int64_t columns = count_columns(file, err);
    gzclose(file);
    if (err->code != 0)
        error_prefix(err, "%s", path);
    return err->code == 0 ? columns : -1;
}
