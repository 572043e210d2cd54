// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// composition is a catalog of operators that is made of other catalogs, as the documentation of OLM has it.
type composition struct {
	// push is the address that the result is pushed to.
	push       string
	references []reference
}

// reference is the image of a catalog, and the directory for it.
type reference struct{ name, image string }

// Bounds of a composition: its images, and the bytes of its file.
const (
	maxReferences  = 200
	maxComposition = 1 << 20
)

// compositionIn returns the composition in the content of a file; nil for other input.
func compositionIn(file string, content []byte) (found *composition, err error) {
	if len(content) > maxComposition || !bytes.Contains(content, []byte("references")) {
		return nil, nil
	}
	root, err := yamlnode.First(content)
	if err != nil || yamlnode.Lookup(root, "references") == nil || yamlnode.Lookup(root, "kind") != nil {
		return nil, nil // of another kind, or reported by what reads it
	}
	problems := &violation.Findings{Path: files.Label(file)}
	found = readComposition(document.Parse(content, 0, problems).Root, problems)
	var report violation.Report
	report.Merge(*problems)
	if err := report.Err(); err != nil {
		return nil, output.Finding(err)
	}
	return found, nil
}

// readComposition returns the composition in a document; nil if it has added an error to problems.
func readComposition(root *yaml.Node, problems *violation.Findings) *composition {
	c := &composition{}
	if root == nil {
		return c
	}
	text := func(name string) (value string) {
		value, _ = document.RequiredText(root, yamlnode.Lookup(root, name), name, problems)
		return value
	}
	text("name")
	if repository, tag := text("repo"), text("tag"); repository != "" && tag != "" {
		address, err := oci.ParseImage(repository + ":" + tag)
		if err != nil {
			problems.Add(yamlnode.Lookup(root, "repo").Line, "repo and tag are no address of an image: %s", err)
		}
		c.push = oci.Address(address) + ":" + tag
	}
	list := yamlnode.Lookup(root, "references")
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 || len(list.Content) > maxReferences {
		problems.Add(list.Line, "references must be a list of 1 to %d images", maxReferences)
		return c
	}
	lines := map[string]int{}
	for _, item := range list.Content {
		item = yamlnode.Resolve(item)
		if !document.IsMapping(item, "a reference", problems) {
			continue
		}
		one := readReference(item, problems)
		if other := lines[one.name]; other > 0 && one.name != "" {
			problems.Add(item.Line, "name %s is taken by line %d", excerpt.Quoted(one.name), other)
		}
		lines[one.name] = item.Line
		c.references = append(c.references, one)
	}
	return c
}

func readReference(item *yaml.Node, problems *violation.Findings) (one reference) {
	var ok bool
	if one.name, ok = document.RequiredText(item, yamlnode.Lookup(item, "name"), "name", problems); ok {
		for _, problem := range validation.IsDNS1123Subdomain(one.name) {
			problems.Add(item.Line, "name %s is to be a directory: %s", excerpt.Quoted(one.name), problem)
		}
	}
	if one.image, ok = document.RequiredText(item, yamlnode.Lookup(item, "image"), "image", problems); ok {
		if _, err := oci.ParseImage(one.image); err != nil {
			problems.Add(item.Line, "image is no address of an image: %s", err)
		}
	}
	return one
}

// importReferences writes the catalogs of all references into a directory.
func (o *importOptions) importReferences(cmd *cobra.Command, c *composition, out output.Streams) error {
	if err := o.refuseInstances(); err != nil {
		return err
	}
	if o.place == "" {
		return errors.New("where to? pass -o DIR")
	}
	if err := refuseFlags(cmd, indexFlags(), "is for catalogs of definitions"); err != nil {
		return err
	}
	if err := flags.CheckDestination(cmd, "-o", "directory", o.place); err != nil {
		return err
	}
	if err := files.CheckEmpty(o.place); err != nil {
		return err
	}
	all := tree.New()
	for _, one := range c.references {
		if err := o.addReference(cmd.Context(), all, one, out); err != nil {
			return fmt.Errorf("the reference %s: %w", one.name, err)
		}
	}
	loaded, err := filebased.Load(cmd.Context(), all.FS())
	if err != nil {
		return output.Finding(fmt.Errorf("the catalogs are not valid together: %w", err))
	}
	if err := files.WriteEmptyDirectory(o.place, all); err != nil {
		return err
	}
	fmt.Fprintf(out.Notes, "imported %s of %s in %s; next: winnow push --as catalog-image %s %s\n",
		plaintext.Count(len(loaded.Packages), "package"), plaintext.Count(len(c.references), "catalog"), o.place, o.place, c.push)
	return nil
}

// addReference adds the files of a catalog to a directory of its own.
func (o *importOptions) addReference(ctx context.Context, all *tree.Tree, one reference, out output.Streams) error {
	address, err := oci.ParseImage(one.image)
	if err != nil {
		return err
	}
	repository, err := o.Access.Connect(ctx, address, nil)
	if err != nil {
		return err
	}
	pulled, err := repository.Pull(ctx, v1alpha1.FormatFileBased)
	if err != nil {
		return asFinding(fmt.Errorf("pulling %s: %w", one.image, err))
	}
	if !strings.Contains(one.image, "@") {
		output.PrintNote(out.Notes, fmt.Sprintf("note: %s is %s now: a tag can move, a digest cannot", one.image, pulled.Digest))
	}
	unpacked, err := archive.Read(ctx, bytes.NewReader(pulled.Layer), loading.LimitsOf(v1alpha1.FormatFileBased))
	if err != nil {
		return output.Finding(err)
	}
	// Valid only together, it could add versions to the packages of another reference.
	if _, err := filebased.Load(ctx, unpacked.FS()); err != nil {
		return output.Finding(fmt.Errorf("%s is no valid catalog by itself: %w", one.image, err))
	}
	for _, name := range unpacked.Paths() {
		content, _ := unpacked.Content(name)
		if err := all.Add(path.Join(one.name, name), content); err != nil {
			return output.Finding(err)
		}
	}
	return nil
}
