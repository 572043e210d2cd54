// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/takeover"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// instances are the flags of an import to instances.
type instances struct {
	*input.Options
	// place is the file to write, empty for standard output.
	place string
}

// run makes instances of releases, and prints them.
func (o *instances) run(ctx context.Context, args []string, stdin io.Reader, out output.Streams) error {
	objects, skipped, err := readObjects(ctx, args, stdin)
	if err != nil {
		return err
	}
	cs, err := o.Read(ctx, stdin)
	if err != nil {
		return err
	}
	if cs.Namespace == "" {
		return fmt.Errorf("%s: the selection has no metadata.namespace: set it, because the objects of its instances are created there", files.Label(o.File))
	}
	sources, _, err := o.Open(ctx, cs, out.Notes)
	if err != nil {
		return err
	}
	result, err := takeover.Take(ctx, objects, cs, sources)
	if err != nil {
		return o.Placed(err)
	}
	if len(result.Instances) > 0 {
		content, err := result.YAML(cs)
		if err != nil {
			return fmt.Errorf("encoding the instances: %w", err)
		}
		if err := o.write(out.Stdout, content); err != nil {
			return err
		}
	}
	for _, w := range result.Warnings {
		output.Warn(out.Notes, findingLine(w))
	}
	return reportInstances(result, skipped, out)
}

// readObjects reads the objects of files, and what could not be read.
func readObjects(ctx context.Context, args []string, stdin io.Reader) (objects []map[string]any, skipped []importing.Skipped, err error) {
	reader := &importing.Reader{}
	for _, arg := range args {
		content, err := files.Read(ctx, arg, stdin, reader.Read)
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", files.Label(arg), err)
		}
		found, unread, err := importing.Objects(ctx, files.Label(arg), content)
		if err != nil {
			return nil, nil, err
		}
		objects, skipped = append(objects, found...), append(skipped, unread...)
	}
	return objects, skipped, nil
}

// write writes the instances to a file that does not exist, or to standard output.
func (o *instances) write(stdout io.Writer, content []byte) error {
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
	if err := files.Replace(o.place, 0o644, func(f *os.File) error { return write(f) }); err != nil {
		return fmt.Errorf("writing %s: %w", o.place, err)
	}
	return nil
}

func findingLine(f takeover.Finding) string {
	return plaintext.Line(fmt.Sprintf("%s %s/%s: %s", output.OrDash(f.Kind), output.OrDash(f.Namespace), output.OrDash(f.Name), f.Text))
}

// maxRefused bounds the releases that a report lists as not imported.
const maxRefused = 1000

// reportInstances returns an error that lists the releases that were not imported, one per line.
func reportInstances(result *takeover.Result, skipped []importing.Skipped, out output.Streams) error {
	done := "imported " + plaintext.Count(len(result.Instances), "instance")
	lines := each.Map(skipped, func(s importing.Skipped) string { return plaintext.Line(s.Error()) })
	lines = append(lines, each.Map(result.Refused, findingLine)...)
	total := len(lines)
	switch {
	case total == 0 && len(result.Instances) == 0:
		return output.Finding(errors.New("nothing to import: the input has no HelmRelease and no ApplicationInstallation"))
	case total == 0:
		fmt.Fprintln(out.Notes, done)
		return nil
	}
	return output.Finding(fmt.Errorf("%s; not imported: %d\n%s", done, total, strings.Join(excerpt.First(lines, maxRefused, 0, excerpt.More), "\n")))
}
