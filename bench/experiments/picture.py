# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of an experiment. Each contender is a box as high as its lower quartile, with a line from its lowest to its
highest seconds. gnuplot draws it."""
import subprocess

from . import samples

HEAD = """set terminal svg size 960,540 noenhanced background rgb 'white'
set style fill solid 0.8 border -1
set boxwidth 0.8
set grid y
set yrange [0:*]
set xtics rotate by -30
set key outside bottom center horizontal
set ylabel 'seconds'
"""
COLOURS = ["#4c78a8", "#f58518", "#54a24b"]


def _quoted(text):
    return "'" + text.replace("'", "''").replace("\n", " ") + "'"


def _field(text):
    return '"' + "".join("?" if one in '"\\' or one < " " else one for one in text) + '"'


def script(title, settings):
    """The commands for gnuplot. Settings are side by side, each in its colour."""
    lines, plots, place = [HEAD + f"set title {_quoted(title)}"], [], 0
    for number, setting in enumerate(one for one in settings if one["reports"]):
        lines.append(f"$data{number} << END_OF_DATA")
        for name in setting["reports"]:
            times = samples.seconds(setting, name)
            lines.append(f"{place} {_field(name)} {samples.lower_quartile(setting, name)} {min(times)} {max(times)}")
            place += 1
        lines.append("END_OF_DATA")
        place += 1
        colour = COLOURS[number % len(COLOURS)]
        plots.append(f"$data{number} using 1:3:xtic(2) with boxes linecolor rgb '{colour}' title {_quoted(setting['title'])}")
        plots.append(f"$data{number} using 1:3:4:5 with yerrorbars linecolor rgb 'black' pointtype 0 notitle")
    return "\n".join([*lines, "plot " + ", ".join(plots), ""])


def draw(title, settings):
    """The text of the SVG, or "" if gnuplot is not installed. Throws: subprocess.CalledProcessError."""
    try:
        done = subprocess.run(["gnuplot", "-d"], input=script(title, settings), capture_output=True, text=True, check=True)
    except FileNotFoundError:
        return ""
    return done.stdout
