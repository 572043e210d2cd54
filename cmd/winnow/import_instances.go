package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/importing"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/takeover"
)

// checkInstances checks the flags of an import to instances.
func (o *importOptions) checkInstances(cmd *cobra.Command, args []string) error {
	for _, name := range []string{"helm-url", "versions", "latest"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for catalogs, not for instances: leave -f or --%s out", name, name)
		}
	}
	if o.file == toStdout && slices.Contains(args, toStdout) {
		return errors.New("standard input is one of -f and FILE: write the other one into a file")
	}
	if o.place == toStdout {
		o.place = ""
	}
	return checkPlace(cmd, "-o", "file", o.place)
}

// importInstances makes instances of releases, and prints them.
func (o *importOptions) importInstances(ctx context.Context, args []string, stdin io.Reader, out streams) error {
	objects, skipped, err := readObjects(ctx, args, stdin)
	if err != nil {
		return err
	}
	cs, err := o.read(ctx, stdin)
	if err != nil {
		return err
	}
	if cs.Namespace == "" {
		return fmt.Errorf("%s: the selection has no metadata.namespace, in which the objects of its instances are", label(o.file))
	}
	sources, _, err := o.open(ctx, cs, out.notes)
	if err != nil {
		return err
	}
	result, err := takeover.Take(ctx, objects, cs, sources)
	if err != nil {
		return o.placed(err)
	}
	if len(result.Instances) > 0 {
		content, err := result.YAML(cs)
		if err != nil {
			return fmt.Errorf("encoding the instances: %w", err)
		}
		if err := o.writeInstances(out.stdout, content); err != nil {
			return err
		}
	}
	for _, w := range result.Warnings {
		warn(out.notes, findingLine(w))
	}
	return reportInstances(result, skipped, out)
}

// readObjects reads the objects of files, and what could not be read.
func readObjects(ctx context.Context, args []string, stdin io.Reader) (objects []map[string]any, skipped []importing.Skipped, err error) {
	reader := &importing.Reader{}
	for _, arg := range args {
		content, err := readFile(ctx, arg, stdin, reader.Read)
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", label(arg), err)
		}
		found, unread, err := importing.Objects(ctx, label(arg), content)
		if err != nil {
			return nil, nil, err
		}
		objects, skipped = append(objects, found...), append(skipped, unread...)
	}
	return objects, skipped, nil
}

// writeInstances writes the instances to a file that does not exist, or to standard output.
func (o *importOptions) writeInstances(stdout io.Writer, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	if o.place == "" {
		return write(stdout)
	}
	if _, err := os.Lstat(o.place); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing %s: it exists: name another file", o.place)
	}
	if err := replaceFile(o.place, 0o644, func(f *os.File) error { return write(f) }); err != nil {
		return fmt.Errorf("writing %s: %w", o.place, err)
	}
	return nil
}

func findingLine(f takeover.Finding) string {
	return plaintext.Line(fmt.Sprintf("%s %s/%s: %s", orDash(f.Kind), orDash(f.Namespace), orDash(f.Name), f.Text))
}

// maxRefused bounds the lines about what was not imported.
const maxRefused = 1000

// reportInstances returns an error that lists what could not be taken, one a line.
func reportInstances(result *takeover.Result, skipped []importing.Skipped, out streams) error {
	done := "imported " + plaintext.Count(len(result.Instances), "instance")
	var lines []string
	for _, s := range skipped {
		lines = append(lines, plaintext.Line(s.Where()+": "+s.Reason))
	}
	for _, f := range result.Refused {
		lines = append(lines, findingLine(f))
	}
	total := len(lines)
	switch {
	case total == 0 && len(result.Instances) == 0:
		return &findingError{errors.New("nothing to import: the input has no HelmRelease and no ApplicationInstallation")}
	case total == 0:
		fmt.Fprintln(out.notes, done)
		return nil
	case total > maxRefused:
		lines = append(lines[:maxRefused], fmt.Sprintf("and %d more", total-maxRefused))
	}
	return &findingError{fmt.Errorf("%s; not imported: %d\n%s", done, total, strings.Join(lines, "\n"))}
}
