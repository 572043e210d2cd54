// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"errors"
	"fmt"
	"os"
)

// NewFile returns a temporary file, for content that arrives slowly or has no limit and so must not be in memory. The
// file has no name, and ends with the process.
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
