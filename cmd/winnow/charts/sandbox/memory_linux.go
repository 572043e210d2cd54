// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchMemory calls exceed once a process has more memory than the limit. It ends with the context.
func watchMemory(ctx context.Context, pid int, limit int64, exceed func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		used, err := residentMemory(pid)
		switch {
		case err != nil: // it has ended
			return
		case used > limit:
			exceed()
			return
		}
	}
}

// residentMemory returns the memory that a process has now, in bytes.
func residentMemory(pid int) (int64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(content)
	if len(fields) < 2 {
		return 0, fmt.Errorf("reading the memory of process %d: %q", pid, content)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}
