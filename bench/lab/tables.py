# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The tables that up and probe print."""

MIB = 1 << 20


def _cores(value):
    return f"{value:.3f}"


def _mebibytes(value):
    return f"{value / MIB:.0f} MiB"


def _rate(value):
    return f"{value / 1e6:.4g} MB/s"


def _link(value):
    return f"{value * 8 / 1e6:.4g} mbit"


def _time(value):
    return f"{value * 1e3:.3g} ms"


COLUMNS = [("cpu", _cores), ("memory", _mebibytes), ("disk_read", _rate), ("disk_write", _rate), ("bandwidth", _link),
           ("latency", _time)]


def _cell(value, write):
    return "-" if value is None else write(value)


def _lines(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def nominal(hosts):
    """The values of the file; `-` is not limited. In a lab of burners also the part of a core that niceness gives."""
    parts = any("part" in host for host in hosts)
    rows = [["host", "address", *(name for name, _ in COLUMNS), *["part"] * parts]]
    for host in hosts:
        rows.append([host["name"], host["address"], *(_cell(host[name], write) for name, write in COLUMNS),
                     *[_cores(host.get("part", 0))] * parts])
    return _lines(rows)


def compared(hosts, measured):
    """Nominal and measured values side by side. Memory is not measured."""
    columns = [(name, write) for name, write in COLUMNS if name != "memory"]
    head, below = ["", *("" for _ in columns for _ in "nm")], ["host"]
    for column, (name, _) in enumerate(columns):
        head[1 + 2 * column] = name
        below += ["nominal", "measured"]
    rows = [head, below]
    for host, values in zip(hosts, measured):
        row = [host["name"]]
        for name, write in columns:
            row += [_cell(host[name], write), _cell(values[name], write)]
        rows.append(row)
    return _lines(rows)


def speeds(measured):
    """The measured speeds, as an argument of `hetsort plan --speeds`."""
    return ",".join(f"{values['cpu']:.3f}" for values in measured)
