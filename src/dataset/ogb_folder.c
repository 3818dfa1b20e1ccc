// Finds the files of an ogb set, and refuses sets that are no graph with features of nodes.

#include "ogb.h"

bool ogb_has(const char *folder, const char *name) { return file_exists(PATH_IN(folder, name)); }

static bool holds_tables(const char *folder) {
    return ogb_has(folder, "num-node-list.csv.gz") || ogb_has(folder, "num-node-dict.csv.gz") ||
           (ogb_has(folder, "data.npz") && ogb_has(folder, "node-label.npz"));
}

// The folder that holds raw/ and split/.
static void root_of(const char *raw, char root[PATH_BYTES]) {
    char plain[PATH_BYTES];
    if (strcmp(path_name(path_plain(plain, sizeof plain, raw)), "raw") == 0)
        path_folder(root, PATH_BYTES, plain);
    else
        snprintf(root, PATH_BYTES, "%s", plain);
}

bool ogb_is(const char *path) {
    char raw[PATH_BYTES];
    return format_raw(path, holds_tables, raw);
}

// ---- what is refused

static bool is_readable(const char *raw, Error *err) {
    if (ogb_has(raw, "num-node-dict.csv.gz"))
        return error_data(err,
                          "%s: it has nodes and edges of several types (as ogbn-mag), and fringe "
                          "trains on graphs of one type; save one of them as npz",
                          raw);
    if (ogb_has(raw, "node-feat.csv.gz") || ogb_has(raw, "data.npz") ||
        !ogb_has(raw, "edge-feat.csv.gz"))
        return true;
    return error_data(
        err,
        "%s: its edges have features and its nodes have none (as ogbn-proteins), but a model needs "
        "features of nodes; average those of the edges into the nodes and save them as npz",
        raw);
}

// ---- the split

static bool check_type(const char *folder, Error *err) {
    if (ogb_has(folder, "train.csv.gz"))
        return true;
    if (!ogb_has(folder, "split_dict.pt"))
        return error_data(err, "%s: there is no train.csv.gz in it", folder);
    return error_data(err,
                      "%s/split_dict.pt is a pickle of PyTorch, which is not read; write its three "
                      "lists as text: for k, v in torch.load('split_dict.pt').items(): "
                      "numpy.savetxt(k + '.csv.gz', v, '%%d')",
                      folder);
}

// The only folder in `splits`.
static bool find_type(const char *splits, char out[PATH_BYTES], Error *err) {
    out[0] = '\0';
    for (FileNames in = file_names(splits); file_next(&in, err->code == 0);) {
        const char *path = PATH_IN(splits, in.name);
        if (in.name[0] == '.' || !file_is_folder(path))
            continue;
        if (out[0] != '\0')
            error_data(err, "%s: there are several splits in it; leave one of them there", splits);
        snprintf(out, PATH_BYTES, "%s", path);
    }
    return err->code == 0 && (out[0] == '\0' || check_type(out, err));
}

bool ogb_find(OgbFolder *f, const char *path, Error *err) {
    *f = (OgbFolder){0};
    if (!format_raw(path, holds_tables, f->raw))
        return error_data(err, "%s: there is no raw/num-node-list.csv.gz and no raw/data.npz in it",
                          path);
    root_of(f->raw, f->root);
    const char *splits = PATH_IN(f->root, "split");
    f->binary = ogb_has(f->raw, "data.npz");
    if (!is_readable(f->raw, err) || !find_type(splits, f->split, err))
        return false;
    f->inverse = strcmp(path_name(f->split), "sales_ranking") == 0;
    return true;
}
