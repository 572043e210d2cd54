// SPDX-License-Identifier: Apache-2.0

// Package importing converts definitions of applications, from files and from the output of kubectl, and the indexes of
// Helm repositories into the files of a catalog. It lists what it cannot take. It reads its arguments, writes nothing,
// and must not know clusters, the network or flags.
package importing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxApplications bounds the applications of a result. Each has two files: far below the entries that a
	// catalog may have.
	maxApplications = 10_000
	// maxSkipped bounds Importer.Skipped.
	maxSkipped = 1000
)

// Importer collects the files of a catalog.
type Importer struct {
	// Skipped are the first that could not be taken, in the order of the input.
	Skipped []Skipped
	// Omitted is the number of further ones.
	Omitted int
	// Recognized reports whether the input had a definition, a list or an index, taken or not.
	Recognized bool

	helm  Helm
	files *tree.Tree
	// taken maps the names of applications to where they come from.
	taken map[string]string
	// indexes is the number of Helm indexes so far.
	indexes int
}

// Helm describes what to take of the index of a Helm repository. The zero value takes all versions of charts in OCI
// registries.
type Helm struct {
	// URL of the repository, which its index does not have.
	URL string
	// Versions is the constraint of the versions to take; nil takes all.
	Versions *semver.Constraints
	// Latest is the number of the highest versions to take of each chart; 0 takes all.
	Latest int
}

// New returns an Importer that does not take the names in existing, which maps them to their places.
func New(helm Helm, existing map[string]string) *Importer {
	taken := map[string]string{}
	maps.Copy(taken, existing)
	return &Importer{helm: helm, files: tree.New(), taken: taken}
}

// Files returns the files of the applications that were taken.
func (i *Importer) Files() *tree.Tree { return i.files }

// Len returns the number of applications that were taken: each has two files.
func (i *Importer) Len() int { return i.files.Len() / 2 }

// refuse records a place of the input that was not imported, and whose application is unknown.
func (i *Importer) refuse(place, reason string) { i.skip(Skipped{Place: place, Reason: reason}) }

// record records what was not imported, and returns any other error.
func (i *Importer) record(err error) error {
	if skipped, ok := errors.AsType[Skipped](err); ok {
		i.skip(skipped)
		return nil
	}
	return err
}

func (i *Importer) skip(s Skipped) {
	if len(i.Skipped) == maxSkipped {
		i.Omitted++
		return
	}
	i.Skipped = append(i.Skipped, s)
}

// take adds a definition, if it makes a valid catalog by itself.
func (i *Importer) take(ctx context.Context, at position, definition []byte, fields metadataFields, name string) error {
	metadata, err := yamlnode.Encode(fields)
	if err != nil {
		return err
	}
	files := tree.New()
	if err := add(files, "app", definition, metadata); err != nil { // its name is not known yet
		return err
	}
	loaded, err := catalog.Load(ctx, files.FS())
	switch invalid, ok := errors.AsType[*violation.InvalidError](err); {
	case ok:
		return at.refuse(name, violations(invalid, at))
	case err != nil:
		return err
	}
	name = loaded.Applications[0].Name // a DNS subdomain, and so the name of a file
	if other, ok := i.taken[name]; ok {
		return at.refuse(name, "the name is taken by "+other)
	}
	if i.Len() == maxApplications {
		return fmt.Errorf("more than %d applications: import them in several directories", maxApplications)
	}
	i.taken[name] = at.String()
	return add(i.files, name, definition, metadata)
}

// add adds the files of an application, in a directory of a name.
func add(files *tree.Tree, name string, definition, metadata []byte) error {
	directory := path.Join(catalog.ApplicationsDirectory, name)
	return errors.Join(files.Add(path.Join(directory, catalog.ApplicationFile), definition), files.Add(path.Join(directory, catalog.MetadataFile), metadata))
}

// violations returns the first violation of an application, and the number of the others, with lines of the input if the
// definition has them.
func violations(invalid *violation.InvalidError, at position) string {
	first := invalid.Violations[0]
	text := first.Message
	if path.Base(first.Path) == catalog.MetadataFile {
		text = catalog.MetadataFile + " " + text
	} else {
		text = at.line(first.Line) + text
	}
	return excerpt.Clauses([]string{text}, 1, len(invalid.Violations)+invalid.Omitted-1, strings.Clone)
}

// Check returns an error if the applications are not valid together.
func (i *Importer) Check(ctx context.Context) error {
	_, err := catalog.Load(ctx, i.files.FS())
	return err
}

// Skipped is a definition, or another part of the input, that was not imported.
type Skipped struct {
	// Place is the file, with the document and the item in it if it has several.
	Place string
	// Name of the application, empty where it is not known.
	Name string
	// Reason in a line.
	Reason string
}

// Error returns the place and the reason.
func (s Skipped) Error() string { return s.Where() + ": " + s.Reason }

// Where returns the place and the name. It contains text of the input, which is not trusted, as Reason does.
func (s Skipped) Where() string {
	if s.Name == "" {
		return s.Place
	}
	return s.Place + ": " + excerpt.Of(s.Name)
}

// refuse returns what was not imported as an error, which Importer.record records.
func (p position) refuse(name, reason string) error { return Skipped{p.String(), name, reason} }

// syntaxError returns what the parser found, with the line in the file.
func (p position) syntaxError(err error, text []byte) error {
	line, message := yamlnode.Position(err, text)
	return p.refuse("", p.line(line)+"it is not valid YAML: "+message)
}

// metadataFields is the metadata.yaml of an application.
type metadataFields struct {
	Tier   string            `yaml:"tier"`
	Labels map[string]string `yaml:"labels,omitempty"`
}
