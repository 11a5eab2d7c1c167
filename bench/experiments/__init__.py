# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments on hosts of bench/lab: README.md in this folder lists them, main.py has the command."""
