# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
serve_libraries
go run .
