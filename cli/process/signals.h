// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP end the process at once with exit code 128 + n and leave nothing behind. SIGBUS at a
// mapped input that became shorter ends it as an error does: one message, exit code 2. Under a launcher a signal ends a
// rank without a message: launchers end all ranks by SIGTERM when one has failed or died, which was reported already.
#pragma once

#include <string>

namespace hetsort::cli {

/// Call first in main(). Gives SIGINT, SIGTERM and SIGHUP their default action back if a library has taken them before:
/// UCX, which MPICH uses, takes SIGHUP when it is loaded, and the process would live on. Ignored signals stay ignored.
void release_signals();

/// Call once, before the work starts. Signals that are ignored (nohup) stay ignored.
void end_cleanly_on_signals();

/// From now on SIGTERM and SIGUSR1, the warnings of batch systems, end the process with exit code 75 (EX_TEMPFAIL), and
/// the message of each signal ends with the `advice`. Under a launcher rank 0 prints this message, unless it has
/// printed why the job ends: launchers end the ranks by SIGTERM when one has died. Call it once, after
/// end_cleanly_on_signals().
void continue_after_signals(const std::string& advice);

/// The job has ended and its message is printed: from now on signals are no news.
void leave_report_to_outcome();

/// Raises the limit on open files, which is usually 1024: every INPUT stays open.
void allow_many_files();

}  // namespace hetsort::cli
