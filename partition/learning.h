// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost curves learned from measurements (Cerin, Dubacq, Roch 2006, section 3.3, and a better fit as the default).
// In: measured (records, seconds) of a node. Out: a cost function for the node, for the strategy "learned" (the folder
// learning/).
//
// A curve is a list of points: at about n records, the mean seconds of `count` measurements and their variance. New
// measurements update the points with a bounded weight, and a fit turns the points into a cost function. Nothing here
// reads files: save_curves and load_curves work on text.
#pragma once

#include "learning/curve.h"
#include "learning/curve_fit.h"
#include "learning/curve_learner.h"
#include "learning/curve_text.h"
