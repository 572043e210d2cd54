// SPDX-License-Identifier: Apache-2.0

// Command servers lists what the servers of this module are compiled with that differs from the version that the go.mod
// of each pins: it is raised by another server or by the product, so that they share what is compiled.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	if err := list(); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func list() error {
	packages, err := output("go", "list", "-f", "{{.ImportPath}} {{.Module.Path}} {{.Module.Version}}", "tool")
	if err != nil {
		return err
	}
	for _, line := range slices.Sorted(strings.Lines(packages)) {
		fields := strings.Fields(line)
		if err := compare(fields[0], fields[1], fields[2]); err != nil {
			return err
		}
	}
	return nil
}

// compare prints a line for each module with another version, as module, pinned and compiled version.
func compare(pkg, module, version string) error {
	pinned, err := pins(module, version)
	if err != nil {
		return err
	}
	const format = "{{with .Module}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}"
	compiled, err := output("go", "list", "-deps", "-f", format, pkg)
	if err != nil {
		return err
	}
	fmt.Printf("%s %s\n", module, version)
	seen := map[string]bool{}
	for _, line := range slices.Sorted(strings.Lines(compiled)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || seen[fields[0]] {
			continue
		}
		seen[fields[0]] = true
		if pin := pinned[fields[0]]; pin != "" && pin != fields[1] {
			fmt.Printf("  %s %s -> %s\n", fields[0], pin, fields[1])
		}
	}
	return nil
}

// pins returns the versions in the go.mod of a module. Its staging modules, which it replaces by directories, have none.
func pins(module, version string) (map[string]string, error) {
	downloaded, err := output("go", "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return nil, err
	}
	var info struct{ GoMod string }
	if err := json.Unmarshal([]byte(downloaded), &info); err != nil {
		return nil, err
	}
	text, err := output("go", "mod", "edit", "-json", info.GoMod)
	if err != nil {
		return nil, err
	}
	var file struct {
		Require []struct{ Path, Version string }
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, err
	}
	pinned := map[string]string{}
	for _, required := range file.Require {
		pinned[required.Path] = required.Version
	}
	for _, replaced := range file.Replace {
		pinned[replaced.Old.Path] = replaced.New.Version
	}
	return pinned, nil
}

func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
