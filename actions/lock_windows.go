package actions

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens the file at path for this process alone: a share mode of 0 is Windows' own lock, and it ends when
// the file is closed.
func openLocked(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// isLocked reports whether somebody has the lock on the file at path: then it cannot be opened.
func isLocked(path string) (bool, error) {
	const sharingViolation = syscall.Errno(32)
	f, err := os.Open(path)
	if errors.Is(err, sharingViolation) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, f.Close()
}

// syncDir does nothing: Windows keeps names by itself.
func syncDir(string) error { return nil }

// keepOwner does nothing: Windows files take their rights from the folder.
func keepOwner(*os.File, os.FileInfo) {}
