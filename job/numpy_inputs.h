// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that are NumPy files: their headers say what the records and, by default, the keys are.
//
// In: the paths of the inputs, and the keys that the request names. Out: the layout, and the rule for headers.
// Cost: rank 0 reads the header of the first input; each rank reads those of the inputs that it opens.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "io/format/header.h"
#include "io/format/numpy.h"
#include "job/request/request.h"
#include "sort/model/record_order.h"

namespace hetsort::job {

struct NumpyInputs {
  sort::RecordLayout layout;
  io::HeaderRule header;
};

/// The layout of inputs that are no NumPy files. Names of fields do not count: numpy_inputs() finds or refuses them.
/// Throws: RequestError.
sort::RecordLayout layout_without_names(RecordRequest request);

/// What the header of the first input says, on all ranks, if it is a NumPy file and the request does not describe
/// records otherwise. "-" and pipes are none.
/// Collective. Throws: io::Error for a damaged file; RequestError for a type or a key that does not fit, and for keys
/// that are names of fields if it is no NumPy file.
std::optional<NumpyInputs> numpy_inputs(const std::vector<std::string>& paths, const RecordRequest& request,
                                        comm::Communicator& ranks);

/// Makes the sort one of NumPy files, if the first input is such a file. Collective. Throws: as numpy_inputs().
void take_numpy_inputs(sort::SortOptions& options, const SortRequest& request, comm::Communicator& ranks);

/// The keys of elements of this type. `names`: fields, with ":desc" or ":asc" behind them; none = all fields, in their
/// order. `file`: named in messages. Throws: RequestError.
std::vector<sort::KeyField> numpy_keys(const io::NumpyType& type, const std::vector<std::string>& names,
                                       const std::string& file);

}  // namespace hetsort::job
