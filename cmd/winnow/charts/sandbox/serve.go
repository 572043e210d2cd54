// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
)

// maxStack bounds the stack of a goroutine, in bytes: deeper recursion ends the process.
const maxStack = 128 << 20

// job is what the process reads.
type job struct {
	Limits  Limits            `json:"limits"`
	Request rendering.Request `json:"request"`
}

// maxJob bounds what the process reads, in bytes: a chart in base64, with its values.
const maxJob = 128 << 20

// Serve renders the chart that it reads, and writes the answer. It is all that the process does, which it ends when a limit is
// exceeded by a quarter: by then its parent should have killed it.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	var j job
	if err := json.NewDecoder(io.LimitReader(stdin, maxJob)).Decode(&j); err != nil {
		return fmt.Errorf("reading the chart to render from standard input, which another process of winnow writes: %w", err)
	}
	debug.SetMaxStack(maxStack)
	time.AfterFunc(j.Limits.Time+j.Limits.Time/4, func() { os.Exit(exitTime) })
	go exitAbove(uint64(max(j.Limits.Memory+j.Limits.Memory/4, 0)))
	answer, err := rendering.Do(ctx, j.Request)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(answer)
}

// Exit codes of the process for limits that it finds exceeded itself.
const (
	exitTime   = 71
	exitMemory = 72
)

// interval between two looks at the memory of a process.
const interval = 20 * time.Millisecond

// exitAbove ends the process once it has more memory than the limit.
func exitAbove(limit uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(samples)
		if samples[0].Value.Uint64()-samples[1].Value.Uint64() > limit {
			os.Exit(exitMemory)
		}
		time.Sleep(interval)
	}
}
