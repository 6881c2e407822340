/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share. A target is one file, fuzz-NAME.c: LLVMFuzzerTestOneInput over bytes that nobody vouches
 * for. libFuzzer drives it where clang builds with -Dfuzz=true; elsewhere replay.c does, over the same corpus. */
#pragma once

#include "core/error.h"

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

G_BEGIN_DECLS

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
/* Only of targets whose files carry checksums, replayed: sets them right after an edit. */
void fuzz_repair (uint8_t *data, size_t size);

/* The bytes as the file `name` of a folder that is this process's alone, removed at exit, in memory where the system
 * has /dev/shm. The path is valid until the program ends. */
const char *fuzz_file (const char *name, const uint8_t *data, size_t size);
const char *fuzz_folder (void);
/* The file `name` of the source tree's tests folder. Free with g_free. */
char *fuzz_source (const char *name);

/* What every loader promises: a result or an error, and the error is one printable line in MHAR_ERROR that does not end
 * in a full stop. Frees the error. */
void fuzz_check (gboolean loaded, GError *error);

/* Reads every byte, so that a range that is not there is noticed. */
void fuzz_touch (const void *bytes, size_t size);

G_END_DECLS
