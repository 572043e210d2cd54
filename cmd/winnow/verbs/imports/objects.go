// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/kubermatic"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/takeover"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// singleFile returns the content of a single FILE, which may be a pipe and cannot be read again; nil for several and for a
// directory.
func singleFile(ctx context.Context, args []string, stdin io.Reader) ([]byte, error) {
	if info, err := os.Stat(args[0]); len(args) > 1 || err == nil && info.IsDir() {
		return nil, nil
	}
	content, err := files.Read(ctx, args[0], stdin, (&importing.Reader{}).Read)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", files.Label(args[0]), err)
	}
	return content, nil
}

// configurationIn returns the KubermaticConfiguration in the content of a file; nil for other input.
func configurationIn(ctx context.Context, file string, content []byte) (object map[string]any, err error) {
	if !bytes.Contains(content, []byte(kubermatic.Kind)) {
		return nil, nil
	}
	objects, _, err := importing.Objects(ctx, files.Label(file), content)
	if err != nil {
		return nil, err
	}
	for _, one := range objects {
		switch {
		case one["kind"] != kubermatic.Kind:
		case object != nil:
			return nil, output.Finding(fmt.Errorf("%s has two of the kind %s: import one", files.Label(file), kubermatic.Kind))
		default:
			object = one
		}
	}
	return object, nil
}

// importConfiguration writes the objects for the catalog of a KubermaticConfiguration.
func (o *importOptions) importConfiguration(ctx context.Context, object map[string]any, from string, out output.Streams) error {
	if len(o.Sources) > 1 {
		return errors.New("--source is the one catalog of the OCIRepository here: pass it once")
	}
	source := ""
	if len(o.Sources) == 1 {
		source = o.Sources[0]
	}
	var release *semver.Version
	if o.kkpVersion != "" {
		var err error
		if release, err = semver.NewVersion(o.kkpVersion); err != nil {
			return fmt.Errorf("--kkp-version %q: want a release of KKP, such as 2.30: %w", o.kkpVersion, err)
		}
	}
	content, notes, err := kubermatic.Convert(ctx, object, release, source)
	if err != nil {
		return output.Finding(fmt.Errorf("the %s in %s: %w", kubermatic.Kind, files.Label(from), err))
	}
	if err := o.writeObjects(out.Stdout, content); err != nil {
		return err
	}
	for _, note := range notes {
		output.PrintNote(out.Notes, "note: "+note)
	}
	fmt.Fprintln(out.Notes, "next: docs/guides/leave-the-default-catalog.md, which stops KKP's components first")
	return nil
}

// importInstances makes instances of releases, and prints them.
func (o *importOptions) importInstances(ctx context.Context, args []string, stdin io.Reader, out output.Streams) error {
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
		if err := o.writeObjects(out.Stdout, content); err != nil {
			return err
		}
	}
	for _, w := range result.Warnings {
		output.Warn(out.Notes, findingLine(w))
	}
	return reportInstances(result, skipped, out)
}

// readObjects reads the objects of files, and what could not be read.
func readObjects(ctx context.Context, args []string, stdin io.Reader) (objects []map[string]any, skipped []error, err error) {
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

// writeObjects writes objects to a file that does not exist, or to standard output.
func (o *importOptions) writeObjects(stdout io.Writer, content []byte) error {
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
func reportInstances(result *takeover.Result, skipped []error, out output.Streams) error {
	done := "imported " + plaintext.Count(len(result.Instances), "instance")
	lines := each.Map(skipped, func(err error) string { return plaintext.Line(err.Error()) })
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
