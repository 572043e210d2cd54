// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/kubermatic"
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
	if err := (&instances{&o.Options, o.place}).write(out.Stdout, content); err != nil {
		return err
	}
	for _, note := range notes {
		output.PrintNote(out.Notes, "note: "+note)
	}
	fmt.Fprintln(out.Notes, "next: docs/guides/leave-the-default-catalog.md, which stops KKP's components first")
	return nil
}
