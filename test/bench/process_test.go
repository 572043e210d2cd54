// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// cost is what a process took.
type cost struct {
	// processor is the time of user and system, which hardly depends on what else the machine does.
	processor time.Duration
	// peak of the memory that was resident, in bytes.
	peak int64
}

// costOf returns what a process that ended took.
func costOf(ended *os.ProcessState) cost {
	taken := cost{processor: ended.UserTime() + ended.SystemTime()}
	if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
		taken.peak = int64(usage.Maxrss) //nolint:unconvert // an int32 on some systems
		if runtime.GOOS != "darwin" {
			taken.peak <<= 10
		}
	}
	return taken
}

// keepLeast takes over what another process of the same kind took less of.
func (c *cost) keepLeast(other cost) {
	if c.processor == 0 || other.processor < c.processor {
		c.processor = other.processor
	}
	if c.peak == 0 || other.peak < c.peak {
		c.peak = other.peak
	}
}

// processorTime returns what this process has taken.
func processorTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}
