// SPDX-License-Identifier: Apache-2.0

package cli

// posixModes says that a file's mode tells who may read it. On Windows the folder's access list does.
const posixModes = false
