// SPDX-License-Identifier: Apache-2.0

//go:build docs

package main

import (
	"fmt"
	"os"

	"github.com/winnow-dev/winnow/cmd/winnow/reference"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

// main writes the reference of the command line as Markdown or as man pages, or the schemas of its documents:
// go run -tags docs ./cmd/winnow markdown|man|schemas DIR. The build tag keeps it out of the released program.
func main() {
	if err := reference.Write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(root.ExitFailed)
	}
}
