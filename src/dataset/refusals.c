// Files that users have and fringe does not read: what they are, by name or first bytes, and the
// command that converts them.

#include "table.h"

#include <strings.h>

typedef struct Kind {
    const char *endings, *magic; // either may be NULL
    const char *what;
    const char *unpack; // the command, of what is packed
    const char *edges;  // an awk program that prints source and target, of what it can read
    const char *cure;   // what else helps
} Kind;

#define HTML "an HTML page"
#define POINTER "a pointer of git-lfs"
#define DIMACS "a graph of DIMACS", .edges = "/^[ae] / {print $2, $3}"

// What is told by its first bytes goes before what is told by its name.
static const Kind kinds[] = {
    {NULL, "<!DOCTYPE html", .what = HTML},
    {NULL, "<html", .what = HTML},
    {NULL, "404: Not Found", .what = "the answer of a server", .cure = "download it again"},
    {NULL, "version https://git-lfs", .what = POINTER},
    {".bz2", "BZh", .what = "packed by bzip2", .unpack = "bunzip2 -k"},
    {".xz",
     "\xFD"
     "7zXZ",
     .what = "packed by xz", .unpack = "unxz -k"},
    {".zst", "\x28\xB5\x2F\xFD", .what = "packed by zstd", .unpack = "unzstd"},
    {".7z", "7z\xBC\xAF", .what = "packed by 7-Zip", .unpack = "7z x"},
    {".tar .tgz", NULL, .what = "packed by tar", .unpack = "tar -xf"},
    {".xlsx .xls .ods", "\xD0\xCF\x11\xE0", .what = "a workbook of Excel or its like",
     .cure = "save each sheet as CSV (UTF-8)"},
    {".rds", NULL, .what = "data of R",
     .cure = "write.csv(edges, 'edges.csv', row.names = FALSE) in R"},
    {".sqlite", "SQLite format 3", .what = "a database",
     .cure = "sqlite3 -header -csv writes a table"},
    {".sif", NULL, .what = "a network of Cytoscape",
     .edges = "{for (i = 3; i <= NF; i++) print $1, $i}"},
    {".parquet", "PAR1", .what = "a Parquet table"},
    {".feather", "ARROW1", .what = "a Feather table"},
    {NULL, "FEA1", .what = "a Feather table"},
    {".arrow", NULL, .what = "an Arrow table"},
    {".mat", "MATLAB 5.0", .what = "a file of MATLAB"},
    {".h5", "\x89HDF", .what = "a file of HDF5 (also MATLAB 7.3)"},
    {".pt .pth", NULL, .what = "a file of PyTorch"},
    {".bin", NULL, .what = "perhaps a file of DGL"},
    {".pkl", "\x80\x02", .what = "a pickle of Python"},
    {".pickle", "\x80\x03", .what = "a pickle of Python"},
    {".gpickle", "\x80\x04", .what = "a pickle of Python"},
    {".p", "\x80\x05", .what = "a pickle of Python"},
    {".graphml", "<graphml", .what = "GraphML"},
    {".gexf", "<gexf", .what = "GEXF"},
    {NULL, "<?xml", .what = "XML, perhaps GraphML or GEXF"},
    {".gml", "graph [", .what = "GML"},
    {".net .paj", "*Vertices", .what = "a file of Pajek"},
    {".json .jsonl", NULL, .what = "JSON"},
    {".svmlight .libsvm .svm", NULL, .what = "a file of svmlight"},
    {".adjlist", NULL, .what = "a list of neighbours of networkx"},
    {"-nverts.txt -simplices.txt", NULL, .what = "one of two lists of simplices"},
    {".g6 .graph6", ">>graph6<<", .what = "graph6"},
    {".s6 .sparse6", ">>sparse6<<", .what = "sparse6"},
    {".leda .lgr", "LEDA.GRAPH", .what = "a graph of LEDA"},
    {".lgl", NULL, .what = "a list of neighbours of LGL",
     .edges = "/^#/ {a = $2; next} {print a, $1}"},
    {".col .gr .dimacs", "p edge ", .what = DIMACS},
    {NULL, "p col ", .what = DIMACS},
    {NULL, "p sp ", .what = DIMACS},
};

bool format_begins_as_text(const char *path) {
    char head[64];
    size_t bytes = text_head(path, head, sizeof head);
    return bytes > 0 && memchr(head, '\0', bytes) == NULL && strncmp(head, "PK", 2) != 0 &&
           strncmp(head + 1, "NUMPY", 5) != 0;
}

static bool begins_with(const char *head, size_t bytes, const char *magic) {
    size_t length = magic != NULL ? strlen(magic) : 0;
    return length > 0 && bytes >= length && strncasecmp(head, magic, length) == 0;
}

static const Kind *kind_of(const char *path) {
    char head[64];
    size_t bytes = text_head(path, head, sizeof head);
    size_t skip = strspn(head, " \t\r\n");
    for (size_t i = 0; bytes > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (begins_with(head + skip, bytes - skip, kinds[i].magic))
            return &kinds[i];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].endings != NULL && text_ends(path, kinds[i].endings))
            return &kinds[i];
    return NULL;
}

// A command that runs in a tree and where the program is installed.
static const char *command_for(const char *path, char out[2 * PATH_BYTES + 128]) {
    char script[PATH_BYTES];
    if (path_shipped(script, sizeof script, "python/fringe") ||
        path_shipped(script, sizeof script, "lib/python3/dist-packages/fringe"))
        snprintf(out, 2 * PATH_BYTES + 128, "python3 '%s' convert '%s' graph.npz", script, path);
    else
        snprintf(out, 2 * PATH_BYTES + 128, "python3 -m fringe convert '%s' graph.npz", path);
    return out;
}

// Folders that others made: one has a file NAME + `tells`, and those beside it have NAME, too.
// Without `edges` all of it is converted.
static const struct {
    const char *tells, *whose, *edges, *nodes, *more;
} folders[] = {
    {.tells = ".allx", .whose = "Planetoid"},
    {.tells = "hypergraph.pickle", .whose = "HyperGCN"},
    {.tells = "-class_map.json", .whose = "GraphSAGE"},
    {.tells = "_graph_id.npy", .whose = "PPI"}, // as DGL and PyG download it
    {"meta.yaml", "DGL's CSVDataset", "edges.csv", "nodes.csv", " (or as meta.yaml names them)"},
    {"out1_graph_edges.txt", "Geom-GCN", "out1_graph_edges.txt", "out1_node_feature_label.txt", ""},
    {".cites", "LINQS", ".cites", ".content", ""},
    {"_target.csv", "MUSAE", "_edges.csv", "_target.csv",
     "; where it has new_id, with data.columns={\"id\": \"new_id\"}; data.features is its JSON of "
     "features, converted"},
};

static bool is_folder_of_others(const char *path, Error *err) {
    char command[2 * PATH_BYTES + 128];
    for (FileNames in = file_names(path); file_next(&in, err->code == 0);)
        for (size_t i = 0; i < sizeof folders / sizeof *folders && err->code == 0; i++) {
            int name = (int)strlen(in.name) - (int)strlen(folders[i].tells);
            if (!path_ends(in.name, folders[i].tells))
                continue;
            if (folders[i].edges == NULL)
                error_data(err, "%s is a folder of %s, which is not read; convert it: %s", path,
                           folders[i].whose, command_for(path, command));
            else
                error_data(err,
                           "%s is a folder of %s, which is not read as a whole; name its files: "
                           "data.path=%s/%.*s%s and data.nodes=%s/%.*s%s%s",
                           path, folders[i].whose, path, name, in.name, folders[i].edges, path,
                           name, in.name, folders[i].nodes, folders[i].more);
        }
    return err->code != 0;
}

bool format_is_refused(const char *path, Error *err) {
    char command[2 * PATH_BYTES + 128];
    if (file_is_folder(path))
        return is_folder_of_others(path, err) || is_folder_of_others(PATH_IN(path, "raw"), err);
    bool ours = strcmp(path_name(path), "dataset.json") == 0;
    const Kind *kind = ours ? NULL : kind_of(path);
    if (kind == NULL && path_ends(path, ".zip"))
        return !error_data(
            err,
            "%s is an archive as it was downloaded; unzip it and name the folder that it makes "
            "(with raw/, or with reddit_data.npz, or with adj_full.npz)",
            path);
    if (kind == NULL)
        return false;
    const char *what = kind->what;
    if (kind->unpack != NULL)
        return !error_data(err, "%s is %s, which is not read (gzip is); unpack it: %s '%s'", path,
                           what, kind->unpack, path);
    if (kind->cure != NULL)
        return !error_data(err, "%s is %s, which is not read; %s", path, what, kind->cure);
    if (kind->edges != NULL)
        return !error_data(err,
                           "%s is %s, which is not read; list its edges: awk '%s' '%s' > edges.txt",
                           path, what, kind->edges, path);
    if (strcmp(what, HTML) == 0 || strcmp(what, POINTER) == 0)
        return !error_data(err, "%s is %s, not the data under that name; download it again%s", path,
                           what, strcmp(what, POINTER) == 0 ? " (git lfs pull)" : "");
    return !error_data(err, "%s is %s, which is not read; convert it: %s", path, what,
                       command_for(path, command));
}
