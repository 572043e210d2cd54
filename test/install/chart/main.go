// SPDX-License-Identifier: Apache-2.0

// Command chart writes the templates and the values of charts/winnow from the kustomizations in config, so that both
// install the same objects: `make generate`. It must not contain objects of its own.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: chart DIR")
		os.Exit(2)
	}
	if err := run("config", os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "chart: %v\n", err)
		os.Exit(1)
	}
}

// run writes the generated files of the chart in dir. Its other files are edited by hand.
func run(config, dir string) error {
	files, err := generate(config)
	if err != nil {
		return err
	}
	templates := filepath.Join(dir, "templates")
	stale, err := filepath.Glob(filepath.Join(templates, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range stale {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(templates, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
