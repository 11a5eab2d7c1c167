# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of experiments: gnuplot draws them. The program itself draws without it."""
import subprocess

COLOURS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2"]


def head(width, height, settings):
    """The first commands of a picture."""
    return (f"set terminal svg size {width},{height} noenhanced background rgb 'white'\n"
            f"set key outside bottom center horizontal\n{settings}")


def quoted(text):
    """`text` as a literal of gnuplot."""
    return "'" + text.replace("'", "''").replace("\n", " ") + "'"


def field(text):
    """`text` as a field of a data block."""
    return '"' + "".join("?" if one in '"\\' or one < " " else one for one in text) + '"'


def draw(script):
    """The text of the SVG, or "" if gnuplot is not installed. Nobody's start-up files are read.
    Throws: subprocess.CalledProcessError."""
    try:
        done = subprocess.run(["gnuplot", "-d"], input=script, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        return ""
    return done.stdout
