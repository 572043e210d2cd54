// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
)

// job is what the process reads.
type job struct {
	Limits  Limits            `json:"limits"`
	Request rendering.Request `json:"request"`
}

// Exit codes of the process for limits that it finds exceeded itself.
const (
	exitTime   = 71
	exitMemory = 72
)

// interval between two looks at the memory of a process.
const interval = 20 * time.Millisecond
