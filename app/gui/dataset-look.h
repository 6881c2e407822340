/* SPDX-License-Identifier: MIT */
/* Reading a run's dataset at a selection: labels and values, with every index and type checked (a dataset may come from
 * a file that is older or younger than this program). NaN and NULL stand for what is not there. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

gsize mhar_look_n_sites (const MharDataset *set);
int mhar_look_n_heads (const MharDataset *set, int site);                    /* 0: no such site */
int mhar_look_n_sources (const MharDataset *set, int site);                  /* likewise */
const char *mhar_look_site (const MharDataset *set, int site);               /* "L3.mlp"; never NULL */
const char *mhar_look_source (const MharDataset *set, int site, int source); /* "embed"; never NULL */
int mhar_look_site_named (const MharDataset *set, const char *label);        /* −1: none */
/* Index of the named source of the site; −1: none. */
int mhar_look_source_named (const MharDataset *set, int site, const char *label);

/* `name` [site, head, source] at the cell; head −1: its mean over the site's heads. */
double mhar_look_cell (const MharDataset *set, const char *name, int site, int head, int source);
/* The site and head with most weight on the source of that label, of sites that have another source too; FALSE where no
 * site does. */
gboolean mhar_look_most_read (const MharDataset *set, const char *label, int *site, int *head, double *weight);
/* `name` [site, head]; head −1: the mean over heads. */
double mhar_look_head (const MharDataset *set, const char *name, int site, int head);

/* Standard deviation between tokens of a weight; of the consensus only where the site has one head. */
double mhar_look_spread (const MharDataset *set, int site, int head, int source);

/* The p-value of a cell's deviation, as that of a whole head is: (1 + draws whose largest deviation at any site is at
 * least as large) / (1 + draws). NaN where the run has no draws. */
double mhar_look_deviation_p (const MharDataset *set, double deviation);

/* The head at which the site can be compared with that of the same label in the other dataset: `head`, or −1, the mean over
 * heads, where they have not as many heads (mhar_pairing_head). */
int mhar_look_common_head (const MharDataset *set, const MharDataset *other, int site, int head);
/* Whether there is a site of both that can be compared at that head. */
gboolean mhar_look_shares_head (const MharDataset *set, const MharDataset *other, int head);
/* The two at the cell, of the site and source of the same labels and at mhar_look_common_head; NaN where one has none. */
void mhar_look_pair (const MharDataset *set, const MharDataset *other, const char *name, int site, int head, int source,
                     double *here, double *there);

typedef struct {
  double trained;       /* nats */
  double low, high;     /* ends of its 95 % interval */
  double null, null_sd; /* of the null's queries: mean over draws, standard deviation (n − 1; NaN for fewer than two) */
  double p;             /* share of draws that reach it */
} MharDisagreement;

/* Slice disagreement where the site has one head, head disagreement else; all NaN where there is neither. */
MharDisagreement mhar_look_disagreement (const MharDataset *set, int site);
/* Whether the run's sites are of several heads (then it is the head disagreement that its summary is about). */
gboolean mhar_look_many_heads (const MharDataset *set);

G_END_DECLS
