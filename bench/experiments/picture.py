# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of an experiment. Each contender is a box as high as its lower quartile, with a line from its lowest to its
highest seconds. gnuplot draws it."""
import gnuplot

from . import samples

HEAD = gnuplot.head(960, 540, """set style fill solid 0.8 border -1
set boxwidth 0.8
set grid y
set yrange [0:*]
set xtics rotate by -30
set ylabel 'seconds'
""")


def script(title, settings):
    """The commands for gnuplot. Settings are side by side, each in its colour."""
    lines, plots, place = [HEAD + f"set title {gnuplot.quoted(title)}"], [], 0
    for number, setting in enumerate(one for one in settings if one["reports"]):
        lines.append(f"$data{number} << END_OF_DATA")
        for name in setting["reports"]:
            times = samples.seconds(setting, name)
            lines.append(f"{place} {gnuplot.field(name)} {samples.lower_quartile(setting, name)} {min(times)} {max(times)}")
            place += 1
        lines.append("END_OF_DATA")
        place += 1
        colour = gnuplot.COLOURS[number % len(gnuplot.COLOURS)]
        plots.append(f"$data{number} using 1:3:xtic(2) with boxes linecolor rgb '{colour}' title {gnuplot.quoted(setting['title'])}")
        plots.append(f"$data{number} using 1:3:4:5 with yerrorbars linecolor rgb 'black' pointtype 0 notitle")
    return "\n".join([*lines, "plot " + ", ".join(plots), ""])


def draw(title, settings):
    """As gnuplot.draw()."""
    return gnuplot.draw(script(title, settings))
