// Files that users have and fringe does not read: what they are, and the lines that convert them.

#include "internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SAVES                                                                                      \
    "numpy.savez('graph.npz', edge_index=data.edge_index, x=data.x, y=data.y, "                    \
    "train_mask=data.train_mask, val_mask=data.val_mask, test_mask=data.test_mask)"

static const struct {
    const char *ending, *magic; // either may be NULL
    const char *sentence;
} refused[] = {
    {".pt", NULL,
     "is a file of PyTorch (a pickle), which is not read; convert it in Python: data = "
     "torch.load(path, weights_only=False); data = data[0] if isinstance(data, (list, tuple)) else "
     "data; " SAVES},
    {".pth", NULL,
     "is a file of PyTorch (a pickle), which is not read; convert it in Python: data = "
     "torch.load(path, weights_only=False); " SAVES},
    {".zip", NULL, // an npz is a zip, too, so only the name tells
     "is an archive as it was downloaded; unzip it and name the folder that it makes (with raw/, "
     "or with reddit_data.npz, or with adj_full.npz)"},
    {".bin", NULL,
     "may be a file of DGL, which is not read; convert it in Python: g = "
     "dgl.load_graphs(path)[0][0]; "
     "numpy.savez('graph.npz', edge_index=numpy.stack([e.numpy() for e in g.edges()]), "
     "x=g.ndata['feat'], y=g.ndata['label'], train_mask=g.ndata['train_mask'], "
     "val_mask=g.ndata['val_mask'], test_mask=g.ndata['test_mask'])"},
    {".parquet", "PAR1",
     "is a Parquet table, which is not read; convert it in Python: "
     "pandas.read_parquet(path).to_csv('edges.csv', index=False)"},
    {".pkl", "\x80",
     "is a pickle of Python, which is not read since it may run any program; load it in Python "
     "and save its arrays: numpy.savez('graph.npz', edge_index=..., x=..., y=..., train_idx=..., "
     "val_idx=..., test_idx=...)"},
    {".pickle", NULL,
     "is a pickle of Python, which is not read since it may run any program; load it in Python "
     "and save its arrays: numpy.savez('graph.npz', edge_index=..., x=..., y=..., train_idx=..., "
     "val_idx=..., test_idx=...)"},
};

static bool begins_with(const char *path, const char *magic) {
    char head[8] = {0};
    int64_t size;
    FILE *file = magic == NULL ? NULL : file_stream(path, &size, &(Error){0});
    if (file == NULL)
        return false;
    size_t length = strlen(magic);
    bool same = fread(head, 1, length, file) == length && memcmp(head, magic, length) == 0;
    fclose(file);
    return same;
}

bool format_is_refused(const char *path, Error *err) {
    const char *dot = strrchr(path_name(path), '.');
    for (size_t i = 0; !file_is_folder(path) && i < sizeof refused / sizeof *refused; i++)
        if ((dot != NULL && strcasecmp(dot, refused[i].ending) == 0) ||
            begins_with(path, refused[i].magic))
            return !error_set(err, EXIT_DATA, "%s %s", path, refused[i].sentence);
    return false;
}
