// Splits a text into words at spaces and line breaks. The error for an unexpected word gives its
// line.
#ifndef FRINGE_BITWIDTH_TOKENIZER_H
#define FRINGE_BITWIDTH_TOKENIZER_H

#include "fringe/base.h"

#include <stdio.h>

enum { LONGEST_WORD = 63 };

typedef struct Words {
    const char *what; // name of the text in messages: "the problem"
    char *text, *at, *end;
    int64_t line;
    char word[LONGEST_WORD + 1];
    Error *err;
} Words;

// Reads the file to its end.
bool words_open(Words *words, const char *what, FILE *file, Error *err);
void words_close(Words *words);
// Puts the next word into words->word, or the empty word at the end of the text.
void words_next(Words *words);
// Each reads the next word and expects this name, a whole number in [low, high], an int, or a
// finite number. False with a sentence if the word is something else.
bool words_name(Words *words, const char *name);
bool words_int(Words *words, const char *what, int64_t low, int64_t high, int64_t *out);
bool words_small(Words *words, const char *what, int *out);
bool words_double(Words *words, const char *what, double *out);
// Reports that the last word is not the expected one; returns false.
bool words_refuse(Words *words, const char *expected);

#endif
