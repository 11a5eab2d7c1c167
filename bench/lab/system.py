# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Shared by all parts of the lab: the exception, messages to the user, and running programs."""
import os
import subprocess
import sys

# ip and tc are in sbin, which is not on the PATH of every user.
ENVIRONMENT = {**os.environ, "PATH": os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin", "LC_ALL": "C"}
_TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.environ.get("HETSORT_LAB_BUILD") or os.path.join(_TOP, "build", "release")
PROGRAM = os.path.join(BUILD, "hetsort")
PATIENCE_SECONDS = 30  # ip and tc take milliseconds


class LabError(Exception):
    """Ends the command with this message and exit code 2."""


def say(text):
    """Prints to standard error. Standard output is for tables and for the output of commands."""
    print(f"lab: {text}", file=sys.stderr, flush=True)


def run(command):
    """Runs a system program. Throws: LabError with the command and its output."""
    try:
        done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, check=False)
    except FileNotFoundError as error:
        raise LabError(f"{command[0]} is not installed; './dev setup' installs what is needed") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"'{' '.join(command)}' did not end within {PATIENCE_SECONDS} s") from error
    if done.returncode:
        output = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise LabError(f"'{' '.join(command)}' failed: {output}")
    return done.stdout


def reason(error):
    """The text of an OSError."""
    return os.strerror(error.errno) if error.errno else str(error)
