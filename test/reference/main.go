// SPDX-License-Identifier: Apache-2.0

// Command reference writes the reference of the command line as Markdown or as man pages, or the schemas of its documents:
// go run ./test/reference markdown|man|schemas DIR. It must not know a verb.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes into a directory. args are markdown, man or schemas, and the directory.
func write(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: markdown|man|schemas DIR")
	}
	if err := os.MkdirAll(args[1], 0o755); err != nil {
		return err
	}
	if args[0] == "schemas" {
		return writeSchemas(args[1])
	}
	page := map[string]func(*cobra.Command) (string, []byte, error){"markdown": markdownPage, "man": manPage}[args[0]]
	if page == nil {
		return fmt.Errorf("%s is neither markdown, man nor schemas", args[0])
	}
	for all := []*cobra.Command{root.New()}; len(all) > 0; {
		cmd := all[0]
		all = append(all[1:], cmd.Commands()...)
		if cmd.Hidden {
			continue
		}
		cmd.DisableAutoGenTag = true // the tag contains the date
		name, content, err := page(cmd)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[1], name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func fileName(cmd *cobra.Command, separator string) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", separator)
}

func markdownPage(cmd *cobra.Command) (string, []byte, error) {
	var out bytes.Buffer
	err := doc.GenMarkdown(cmd, &out)
	return fileName(cmd, "_") + ".md", append(bytes.TrimSpace(out.Bytes()), '\n'), err
}

// manPage returns a man page without a date, so that the same source gives the same page.
func manPage(cmd *cobra.Command) (string, []byte, error) {
	var out bytes.Buffer
	never := time.Time{}
	header := &doc.GenManHeader{Section: "1", Date: &never, Source: "Winnow", Manual: "Winnow"}
	err := doc.GenMan(cmd, header, &out)
	return fileName(cmd, "-") + ".1", bytes.Replace(out.Bytes(), []byte(never.Format("Jan 2006")), nil, 1), err
}
