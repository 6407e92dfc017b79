// SPDX-License-Identifier: Apache-2.0

package weights

import "io/fs"

// A MissingError says in full which file is not there and what to do. It is an fs.ErrNotExist, whose own words would say the
// same once more.
type MissingError string

func (e MissingError) Error() string { return string(e) }

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e MissingError) Is(target error) bool { return target == fs.ErrNotExist }
