// Writes quantities for people, short and in a unit that fits, such as "12.3 ms" or "23.5 MB".
#pragma once

enum { QUANTITY = 32 };

// All return out.
const char *quantity_seconds(char out[QUANTITY], double seconds); // "0.157 s"; "none" for NaN
const char *quantity_bytes(char out[QUANTITY], double bytes);     // "23.5 MB", powers of 1000
const char *quantity_memory(char out[QUANTITY], double bytes);    // "1.5 GiB", powers of 1024
const char *quantity_clock(char out[QUANTITY], double seconds);   // "0:14", "1:02:05"
const char *quantity_age(char out[QUANTITY], double seconds);     // "5 min", "3 h", "12 d"
const char *quantity_percent(char out[QUANTITY], double share);   // "93.00 %"; "none" for NaN

// The same in a text of the enclosing block, for lines that are printed.
#define SHOWN_SECONDS(seconds) quantity_seconds((char[QUANTITY]){0}, (seconds))
#define SHOWN_BYTES(bytes) quantity_bytes((char[QUANTITY]){0}, (bytes))
#define SHOWN_MEMORY(bytes) quantity_memory((char[QUANTITY]){0}, (bytes))
#define SHOWN_CLOCK(seconds) quantity_clock((char[QUANTITY]){0}, (seconds))
#define SHOWN_AGE(seconds) quantity_age((char[QUANTITY]){0}, (seconds))
