// If this failed, a look-alike would not have the readers of a row that it was asked for, or a
// report would count them wrongly.
#include "cut.h"
#include "method.h"

// Of rows that any other part reads: how many do, in the mean; by definition.
static double counted(const Dataset *d, const int32_t *part, int parts) {
    int64_t readers = 0, read = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        bool by[8] = {false};
        int of_row = 0;
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            by[part[d->target[e]]] = true;
        for (int p = 0; p < parts; p++)
            of_row += by[p] && p != part[i];
        readers += of_row;
        read += of_row > 0;
    }
    return (double)readers / (double)read;
}

static double reported(const Dataset *d, const int32_t *part, int parts) {
    const char *folder = test_path("multiplicity");
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    assert_ok(test_write_shards(d, part, parts, true, folder, &err));
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    assert_ok(partition_put_report(&writer, folder, NULL, &err));
    json_end_object(&writer);
    OWNED(Json) *json = assert_ok(json_parse(writer.text, writer.bytes, "report", &err));
    double value = json_number(json_get(json, "multiplicity"));
    return value;
}

TEST(test_look_alikes_have_the_readers_that_they_were_asked_for) {
    static const struct {
        double wanted;
        int parts;
    } asked[] = {{1.2, 4}, {1.7, 4}, {1.6, 8}, {2.6, 8}};
    for (int i = 0; i < 4; i++) {
        OWNED(Dataset) d = {0};
        Config config = config_for("metis");
        const char *name =
            test_text("dcsbm:nodes=6000,edges=120000,features=0,multiplicity=%g,parts=%d",
                      asked[i].wanted, asked[i].parts);
        assert_ok(dataset_generate(&d, name, 1, &err));
        int32_t *part = TEST_ARRAY(int32_t, d.nodes);
        assert_ok(partition_cut(part, &d, asked[i].parts, &config, &err, &(Warnings){0}));
        double found = counted(&d, part, asked[i].parts);
        if (fabs(found / asked[i].wanted - 1) > 0.12)
            fail_msg("%s: %g", name, found);
        assert_near(reported(&d, part, asked[i].parts), found, 1e-9);
    }
}
