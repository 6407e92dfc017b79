// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps size bytes of f and gives the function that undoes it.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	handle, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	// The view keeps the mapping object alive.
	defer func() { _ = windows.CloseHandle(handle) }()
	address, err := windows.MapViewOfFile(handle, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, err
	}
	// The address is the system's, not Go's; going through a pointer to it keeps vet content.
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size)
	return data, func() error { return windows.UnmapViewOfFile(address) }, nil
}

// releasePages asks the system to take pages out of the working set: unlocking pages that are not locked does that.
func releasePages(pages []byte) {
	_ = windows.VirtualUnlock(uintptr(unsafe.Pointer(unsafe.SliceData(pages))), uintptr(len(pages)))
}
