package memory

import (
	"errors"
	"fmt"
	"os"
)

// NewFile returns a temporary file for content that is received slowly, or is of any size, and must not take memory
// meanwhile. It has no name, and is gone with the process, however that ends.
func NewFile(prefix string) (*os.File, error) {
	file, err := os.CreateTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlinking a temporary file: %w", err), file.Close())
	}
	return file, nil
}
