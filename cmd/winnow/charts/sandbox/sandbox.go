// SPDX-License-Identifier: Apache-2.0

// Package sandbox renders a chart in a process of its own, which it kills when a limit of time, memory or output is exceeded:
// nothing ends a template that runs. The process is this program again, with an empty environment; it gets the chart by its
// standard input. Package sandbox must not know what is in a chart.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Verb is the argument of the process, which calls Serve.
const Verb = "sandbox"

// program is the name that the process goes by.
const program = "winnow"

// Sandbox renders charts. It is safe for concurrent use.
type Sandbox struct {
	executable string
	limits     Limits
}

// New returns a sandbox whose processes run this program.
func New(limits Limits) (*Sandbox, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program, which renders charts in a process of its own: %w", err)
	}
	return &Sandbox{executable, limits}, nil
}

// Render renders the chart of a request. The error is a *LimitError, or of the context, or of a process that fails.
func (s *Sandbox) Render(ctx context.Context, request rendering.Request) (answer rendering.Answer, err error) {
	input, err := json.Marshal(job{s.limits, request})
	if err != nil {
		return answer, fmt.Errorf("encoding the chart: %w", err)
	}
	output, err := s.run(ctx, input)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(output, &answer); err != nil {
		return answer, fmt.Errorf("reading what the process renders: %w", err)
	}
	return answer, nil
}

// run runs the process and returns its output.
func (s *Sandbox) run(ctx context.Context, input []byte) ([]byte, error) {
	limited, end := context.WithCancelCause(ctx)
	defer end(nil)
	timer := time.AfterFunc(s.limits.Time, func() { end(&LimitError{"time", s.limits}) })
	defer timer.Stop()
	output := &bounded.Buffer{Most: s.limits.Output, Exceed: func() { end(&LimitError{"output", s.limits}) }}
	messages := &bounded.Buffer{Most: maxMessages}

	cmd := exec.CommandContext(limited, program) // which kills it at the end of the context
	cmd.Path, cmd.Err = s.executable, nil        // this program, whatever its name is and where it lies
	cmd.Args = []string{program, Verb}
	cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), output, messages
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the process that renders charts: %w", err)
	}
	go watchMemory(limited, cmd.Process.Pid, s.limits.Memory, func() { end(&LimitError{"memory", s.limits}) })
	err := cmd.Wait()
	switch exceeded, ok := errors.AsType[*LimitError](context.Cause(limited)); {
	case ok:
		return nil, exceeded
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, s.failure(cmd.ProcessState.ExitCode(), string(messages.Kept), err)
	}
	return output.Kept, nil
}

// failure returns the error for a process that has failed.
func (s *Sandbox) failure(code int, messages string, err error) error {
	switch code {
	case exitTime:
		return &LimitError{"time", s.limits}
	case exitMemory:
		return &LimitError{"memory", s.limits}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(messages), "\n")
	return fmt.Errorf("the process that renders it failed: %w: %s", err, excerpt.Of(first))
}

// maxMessages bounds what is kept of the standard error of a process, in bytes.
const maxMessages = 4 << 10
