// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures by gnuplot, which is run without a shell and without anybody's start-up files.
#pragma once

#include <string>

#include "cli/options/command_line.h"

namespace hetsort::cli {

/// There is no gnuplot on this machine.
class GnuplotMissing : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Runs `script` and returns what gnuplot printed: SVG, when the script sets that terminal and no output. gnuplot's
/// complaints are dropped. Requires: no text of a user stands in `script` but inside gnuplot_text() or data_field().
/// Throws: GnuplotMissing; UsageError when gnuplot fails; io::Error.
std::string run_gnuplot(const std::string& script);

/// `text` in single quotes for gnuplot, which doubles those inside and reads everything else as it is. Line ends, which
/// would end the quotes, become question marks.
std::string gnuplot_text(const std::string& text);

/// `text` as a field of a data block: no quotes, no escapes, no control characters.
std::string data_field(const std::string& text);

}  // namespace hetsort::cli
