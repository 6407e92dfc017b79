# SPDX-License-Identifier: Apache-2.0
"""Runs the functions of a module whose names begin with test_."""

import sys
import traceback


def run(names):
    failed = 0
    for name, test in list(names.items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print("ok  ", name)
        except Exception:
            failed += 1
            print("FAIL", name)
            traceback.print_exc()
    if failed:
        sys.exit(1)
