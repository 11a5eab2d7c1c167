# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Unequal hosts out of one Linux machine: README.md in this folder shows them, main.py has the commands."""
