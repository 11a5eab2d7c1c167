# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What every part uses: the one error, words for the user, and programs run to their end."""
import os
import subprocess
import sys

# ip and tc live in sbin, which is not on everybody's PATH.
ENVIRONMENT = {**os.environ, "PATH": os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin", "LC_ALL": "C"}
PATIENCE_SECONDS = 30  # ip, tc and their like answer in milliseconds


class LabError(Exception):
    """Ends the command with its text and exit code 2."""


def say(text):
    """To standard error: standard output belongs to tables and to the command that is run."""
    print(f"lab: {text}", file=sys.stderr, flush=True)


def run(command):
    """Runs a system program. Throws: LabError with the command and what it said."""
    try:
        done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, check=False)
    except FileNotFoundError as error:
        raise LabError(f"{command[0]} is not installed; './dev setup' installs what is needed") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"'{' '.join(command)}' did not end within {PATIENCE_SECONDS} s") from error
    if done.returncode:
        told = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise LabError(f"'{' '.join(command)}' failed: {told}")
    return done.stdout


def reason(error):
    """An OSError in words."""
    return os.strerror(error.errno) if error.errno else str(error)
