// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"time"
)

// Limits bound a process. The process itself keeps them as well, with some room, so that it ends without its parent.
type Limits struct {
	// Time that it may run.
	Time time.Duration `json:"time"`
	// Memory that it may have, in bytes.
	Memory int64 `json:"memory"`
	// Output that it may write, in bytes.
	Output int64 `json:"output"`
}

// Default returns limits with room for the largest charts: charts of real projects take a few seconds, 200 MiB and 10 MiB.
func Default() Limits { return Limits{Time: 30 * time.Second, Memory: 1 << 30, Output: 64 << 20} }

// LimitError is returned for a chart that exceeds a limit. Rendering it again exceeds it again, but for the time on a machine
// that is busy.
type LimitError struct {
	// What is exceeded: "time", "memory" or "output".
	What   string
	limits Limits
}

// Error returns the limit.
func (e *LimitError) Error() string {
	switch e.What {
	case "time":
		return fmt.Sprintf("rendering it takes more than %s", e.limits.Time)
	case "memory":
		return fmt.Sprintf("rendering it takes more than %d MiB of memory", e.limits.Memory>>20)
	}
	return fmt.Sprintf("it renders to more than %d MiB", e.limits.Output>>20)
}
