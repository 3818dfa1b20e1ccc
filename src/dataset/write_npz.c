// npz: the arrays of npz_arrays.c as members of a zip archive, which libzip puts together. libzip
// asks for the bytes of a member piece by piece and gives those of the archive piece by piece, so
// neither is ever in memory as a whole. They are deflated already (deflater.c), by all threads:
// libzip copies what says that it is. Times are those of numpy: none.

#include "deflater.h"
#include "npy_input.h"
#include "npz_layout.h"
#include "writers.h"

#include <errno.h>
#include <unistd.h>
#include <zip.h>

enum { PIECE = 1 << 18, ZIP_DAY = 0x21, LEVEL = 6 }; // bytes; 1 January 1980; of deflate

// ---- a member: its header, then its elements

typedef struct Member {
    NpzOut array;
    char header[NPY_WRITTEN];
    size_t header_bytes;
    char piece[PIECE];
    const char *at; // what libzip has not taken yet: in the header or the piece
    size_t left;
    int64_t made;       // elements
    Deflater *deflater; // borrowed; NULL: stored
    bool over;          // its last batch has been compressed
    Error *err;         // of its elements
} Member;

static int64_t elements_of(const NpzOut *array) {
    return array->rank == 1 ? array->shape[0] : array->shape[0] * array->shape[1];
}

static void member_begin(Member *m) {
    m->at = m->header;
    m->left = m->header_bytes;
    m->made = 0;
    m->over = false;
    if (m->deflater != NULL)
        deflater_begin(m->deflater);
}

static void member_make(Member *m) {
    int64_t most = PIECE / (int64_t)m->array.item, rest = elements_of(&m->array) - m->made;
    int64_t count = rest < most ? rest : most;
    if (count > 0 && !m->array.make(m->array.context, m->made, count, m->piece, m->err))
        count = 0; // member_call then ends the archive
    m->made += count;
    m->at = m->piece;
    m->left = (size_t)count * m->array.item;
}

static size_t member_bytes(const Member *m) {
    return m->header_bytes + (size_t)elements_of(&m->array) * m->array.item;
}

static size_t read_plain(Member *m, char *out, size_t room) {
    size_t done = 0;
    while (done < room) {
        if (m->left == 0)
            member_make(m);
        if (m->left == 0)
            break;
        size_t take = m->left < room - done ? m->left : room - done;
        memcpy(out + done, m->at, take);
        m->at += take;
        m->left -= take;
        done += take;
    }
    return done;
}

// All of a batch is taken before the next one is made.
static size_t read_deflated(Member *m, char *out, size_t room) {
    size_t done = deflater_take(m->deflater, out, room);
    while (done == 0 && !m->over) {
        size_t bytes = read_plain(m, deflater_room(m->deflater), DEFLATER_BATCH);
        if (m->err->code != 0)
            break;
        m->over = m->left == 0 && m->made == elements_of(&m->array);
        deflater_compress(m->deflater, bytes, m->over);
        done = deflater_take(m->deflater, out, room);
    }
    return done;
}

// The checksum is known once the whole has been read.
static zip_int64_t member_tell(const Member *m, zip_stat_t *stat) {
    zip_stat_init(stat);
    stat->valid = ZIP_STAT_SIZE;
    stat->size = member_bytes(m);
    if (m->deflater == NULL)
        return (zip_int64_t)sizeof *stat;
    stat->valid |= ZIP_STAT_COMP_METHOD;
    stat->comp_method = ZIP_CM_DEFLATE;
    if (m->over) {
        stat->valid |= ZIP_STAT_CRC | ZIP_STAT_COMP_SIZE;
        stat->crc = deflater_crc(m->deflater);
        stat->comp_size = deflater_out_bytes(m->deflater);
    }
    return (zip_int64_t)sizeof *stat;
}

static zip_int64_t member_call(void *context, void *data, zip_uint64_t bytes,
                               zip_source_cmd_t command) {
    Member *m = context;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        member_begin(m);
        return 0;
    case ZIP_SOURCE_READ: {
        size_t read = (m->deflater != NULL ? read_deflated : read_plain)(m, data, bytes);
        return m->err->code == 0 ? (zip_int64_t)read : -1;
    }
    case ZIP_SOURCE_STAT:
        return member_tell(m, data);
    case ZIP_SOURCE_CLOSE:
        return 0;
    case ZIP_SOURCE_FREE:
        memory_free(m);
        return 0;
    case ZIP_SOURCE_ERROR: {
        zip_error_t none;
        zip_error_init(&none);
        return zip_error_to_data(&none, data, bytes);
    }
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    default:
        return -1;
    }
}

// ---- the archive: a file that libzip writes, and goes back in for the sizes of members

typedef struct Archive {
    FileWriter file;
    Error *err; // of the file
    zip_int64_t at;
} Archive;

static zip_int64_t archive_write(Archive *a, const void *data, zip_uint64_t bytes) {
    if (!file_writer_put(&a->file, data, bytes, a->err))
        return -1;
    a->at += (zip_int64_t)bytes;
    return (zip_int64_t)bytes;
}

static zip_int64_t archive_seek(Archive *a, void *data, zip_uint64_t bytes) {
    zip_error_t error;
    zip_error_init(&error);
    zip_int64_t at = zip_source_seek_compute_offset((zip_uint64_t)a->at, (zip_uint64_t)INT64_MAX,
                                                    data, bytes, &error);
    zip_error_fini(&error);
    if (at < 0 || lseek(a->file.descriptor, (off_t)at, SEEK_SET) < 0)
        return -1;
    a->at = at;
    return 0;
}

static zip_int64_t archive_call(void *context, void *data, zip_uint64_t bytes,
                                zip_source_cmd_t command) {
    Archive *a = context;
    switch (command) {
    case ZIP_SOURCE_WRITE:
        return archive_write(a, data, bytes);
    case ZIP_SOURCE_SEEK_WRITE:
        return archive_seek(a, data, bytes);
    case ZIP_SOURCE_TELL_WRITE:
        return a->at;
    case ZIP_SOURCE_STAT:
        zip_stat_init(data);
        return (zip_int64_t)sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR: {
        zip_error_t error;
        zip_error_init(&error);
        zip_error_set(&error, ZIP_ER_WRITE, errno);
        return zip_error_to_data(&error, data, bytes);
    }
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
            ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_SEEK_WRITE,
            ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_REMOVE, -1);
    default: // open, close, begin, commit, roll back, free: the caller opens and closes the file
        return 0;
    }
}

// ---- putting it together

static bool refused_by_zip(zip_t *zip, Error *err) {
    return error_set(err, EXIT_IO, "the archive cannot be written: %s", zip_strerror(zip));
}

// libzip frees the source, and with it the member, once it has been added.
static bool add_member(zip_t *zip, const NpzOut *array, Deflater *deflater, Error *err) {
    char name[64];
    Member *m = TRY(Member, 1, "an array to write", err);
    if (m == NULL)
        return false;
    m->array = *array;
    m->deflater = deflater;
    m->err = err;
    m->header_bytes = npy_header(m->header, array->descr, array->rank, array->shape);
    snprintf(name, sizeof name, "%s.npy", array->key);
    zip_source_t *source = zip_source_function(zip, member_call, m);
    if (source == NULL) {
        memory_free(m);
        return refused_by_zip(zip, err);
    }
    zip_int64_t index = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0)
        zip_source_free(source);
    return (index >= 0 && zip_file_set_dostime(zip, (zip_uint64_t)index, 0, ZIP_DAY, 0) == 0 &&
            zip_set_file_compression(zip, (zip_uint64_t)index,
                                     deflater == NULL ? ZIP_CM_STORE : ZIP_CM_DEFLATE,
                                     LEVEL) == 0) ||
           refused_by_zip(zip, err);
}

static void say_progress(UNUSED zip_t *zip, double part, UNUSED void *context) {
    progress_update("%.0f %%", 100 * part);
}

// Without a deflater all are stored.
static bool fill_archive(Archive *archive, const NpzOut *array, int count, Deflater *deflater,
                         Error *err) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *target = zip_source_function_create(archive_call, archive, &error);
    zip_t *zip =
        target == NULL ? NULL : zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error);
    if (zip == NULL) {
        zip_source_free(target);
        error_set(err, EXIT_IO, "the archive cannot be made: %s", zip_error_strerror(&error));
        zip_error_fini(&error);
        return false;
    }
    zip_register_progress_callback_with_state(zip, 0.01, say_progress, NULL, NULL);
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = add_member(zip, &array[i], array[i].packed ? deflater : NULL, err);
    ok = ok && (zip_close(zip) == 0 || refused_by_zip(zip, err));
    if (!ok)
        zip_discard(zip);
    return ok;
}

bool npz_write(const char *path, const NpzOut *array, int count, Error *err) {
    Archive archive = {.err = err};
    bool packed = false;
    assert(count <= NPZ_OUT);
    for (int i = 0; i < count; i++)
        packed = packed || array[i].packed;
    if (!file_writer_replace(&archive.file, path, err))
        return false;
    Deflater *deflater = packed ? deflater_new(LEVEL, err) : NULL;
    bool whole = err->code == 0 && fill_archive(&archive, array, count, deflater, err);
    deflater_free(deflater);
    return file_writer_take_place(&archive.file, whole || npz_name_file(err, path), err);
}

static bool write_archive(const Writing *writing, Error *err) {
    DatasetArrays arrays = {.dataset = writing->dataset, .packed = !writing->to->stored};
    npz_arrays(&arrays);
    return npz_write(writing->path, arrays.out, arrays.count, err);
}

// ---- what it cannot hold

static bool fits(const Writing *writing, UNUSED Error *err) {
    remark_classes(writing);
    return true;
}

const FormatWriter writer_npz = {
    .name = "npz", .endings = ".npz", .fits = fits, .write = write_archive};
