// SPDX-License-Identifier: Apache-2.0

// Command results runs `go test -json` and prints what it reports of a package when the package ends. Without -json, go
// test prints packages in their order, so that the first one hides all others until it ends.
//
// Of a package that passes it prints the line that go test prints last, of one that fails all that its failed tests
// print. It ends with the exit code of go test.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	os.Exit(run(context.Background(), os.Stdout, os.Args[1:]))
}

func run(ctx context.Context, out io.Writer, command []string) int {
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "results: no command: use results go test -json ./...")
		return 2
	}
	reader, writer := io.Pipe()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = writer, os.Stderr
	ended := make(chan error, 1)
	go func() {
		err := cmd.Run()
		_ = writer.Close() // it returns nil
		ended <- err
	}()
	readErr := report(out, reader)
	_, _ = io.Copy(io.Discard, reader) // so that the command can end
	var exit *exec.ExitError
	switch err := <-ended; {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil || readErr != nil:
		fmt.Fprintln(os.Stderr, "results:", errors.Join(err, readErr))
		return 2
	}
	return 0
}

// event is a line of `go test -json`: see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// key names a test, or a package without one.
type key struct{ pkg, test string }

// report prints the results in a stream of events. Lines that are no events are printed as they are.
func report(out io.Writer, stream io.Reader) error {
	output := map[key][]string{}
	failed := map[string][]string{} // output of failed tests by package
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				e = event{Action: "build-output", Output: line}
			}
			handle(out, e, output, failed)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func handle(out io.Writer, e event, output map[key][]string, failed map[string][]string) {
	at := key{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(out, e.Output)
	case e.Action == "output" && !strings.HasPrefix(e.Output, "=== "): // not that a test starts
		output[at] = append(output[at], e.Output)
	case e.Test != "" && e.Action == "fail":
		failed[e.Package] = append(failed[e.Package], output[at]...)
		delete(output, at)
	case e.Test != "" && (e.Action == "pass" || e.Action == "skip"):
		delete(output, at)
	case e.Action == "pass" || e.Action == "skip":
		fmt.Fprint(out, last(output[at]))
		delete(output, at)
	case e.Action == "fail":
		printFailed(out, e.Package, output, failed[e.Package])
	}
}

// printFailed prints what failed tests of a package have printed, then tests that have not ended, then the package.
func printFailed(out io.Writer, pkg string, output map[key][]string, failed []string) {
	fmt.Fprint(out, strings.Join(failed, ""))
	var unfinished []string
	for at, lines := range output {
		if at.pkg == pkg && at.test != "" {
			unfinished = append(unfinished, strings.Join(lines, ""))
			delete(output, at)
		}
	}
	slices.Sort(unfinished)
	fmt.Fprint(out, strings.Join(unfinished, ""))
	fmt.Fprint(out, strings.Join(output[key{pkg: pkg}], ""))
	delete(output, key{pkg: pkg})
}

func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}
