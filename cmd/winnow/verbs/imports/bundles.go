// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/blobs"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/plain"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/tree"
)

// maxBundles bounds the bundles of a command: all of them stay in memory.
const maxBundles = 500

// isBundle reports whether an argument is a bundle: the directory of one, or an image in a registry.
func isBundle(arg string) bool {
	return strings.HasPrefix(arg, oci.Scheme) || catalog.IsBundle(os.DirFS(arg))
}

// importBundles imports bundles, and nothing else.
func (o *importOptions) importBundles(cmd *cobra.Command, args []string, out output.Streams) error {
	if err := o.checkBundles(cmd, args); err != nil {
		return err
	}
	all, err := o.readBundles(cmd.Context(), args, out)
	switch {
	case err != nil:
		return err
	case o.as.Value == asManifests:
		return o.writeManifests(all[0], out)
	case o.place == flags.ToStdout:
		content, err := blobs.Bundles(all)
		if err != nil {
			return err
		}
		_, err = out.Stdout.Write(content)
		return err
	}
	return o.writeCatalog(cmd.Context(), all, out)
}

// checkBundles checks the arguments and flags of an import of bundles.
func (o *importOptions) checkBundles(cmd *cobra.Command, args []string) error {
	if i := slices.IndexFunc(args, func(arg string) bool { return !isBundle(arg) }); i >= 0 {
		return fmt.Errorf("%s is no bundle, with the directories manifests and metadata, as the others are: import it by itself", args[i])
	}
	if err := refuseFlags(cmd, indexFlags(), "is for catalogs of definitions"); err != nil {
		return err
	}
	if err := o.refuseInstances(); err != nil {
		return err
	}
	switch {
	case len(args) > maxBundles:
		return fmt.Errorf("%d bundles are more than %d: import them in parts", len(args), maxBundles)
	case o.as.Value == asManifests:
		return o.checkManifests(cmd, args)
	case cmd.Flags().Changed("install-namespace") || cmd.Flags().Changed("watch-namespace"):
		return fmt.Errorf("--install-namespace and --watch-namespace are for --as %s", asManifests)
	case o.place == "":
		return errors.New("where to? pass -o DIR, or -o - for the bundles alone")
	case o.place == flags.ToStdout:
		return nil
	}
	return flags.CheckDestination(cmd, "-o", "directory", o.place)
}

func (o *importOptions) checkManifests(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("--as %s takes one bundle: a version of an operator", asManifests)
	case o.image != "":
		return errors.New("--image is for catalogs: leave it out")
	case o.plain.InstallNamespace == "":
		return errors.New("which namespace does the operator run in? pass --install-namespace NAMESPACE")
	}
	if err := o.plain.Check(); err != nil {
		return err
	}
	return o.checkFile(cmd)
}

// readBundles reads all bundles. The error lists every violation of every one.
func (o *importOptions) readBundles(ctx context.Context, args []string, out output.Streams) (all []blobs.Source, err error) {
	wrong := &violation.InvalidError{}
	for _, arg := range args {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one, err := o.readBundle(ctx, arg, out)
		switch invalid, ok := errors.AsType[*violation.InvalidError](err); {
		case ok:
			wrong.Omitted += invalid.Omitted
			for _, found := range invalid.Violations {
				found.Path = strings.TrimSuffix(filepath.ToSlash(arg), "/") + "/" + found.Path
				wrong.Violations = append(wrong.Violations, found)
			}
		case err != nil:
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		all = append(all, one)
	}
	if len(wrong.Violations) > 0 {
		return nil, output.Finding(wrong)
	}
	return all, checkImages(all)
}

// checkImages returns an error for an address of two bundles: OLM would install the same manifests as either.
func checkImages(all []blobs.Source) error {
	taken := map[string]string{}
	for _, one := range all {
		if other := taken[one.Image]; other != "" {
			return fmt.Errorf("the bundles %s and %s have the same image %s: pass each bundle once, and an --image with {{.Version}}",
				other, one.CSV.Metadata.Name, one.Image)
		}
		if one.Image != "" {
			taken[one.Image] = one.CSV.Metadata.Name
		}
	}
	return nil
}

func (o *importOptions) readBundle(ctx context.Context, arg string, out output.Streams) (one blobs.Source, err error) {
	if strings.HasPrefix(arg, oci.Scheme) {
		return o.pullBundle(ctx, arg, out)
	}
	// os.Root keeps symbolic links from leading out of the directory.
	root, err := os.OpenRoot(arg)
	if err != nil {
		return one, err
	}
	defer root.Close()
	if one.Bundle, err = bundle.Read(root.FS()); err != nil {
		return one, err
	}
	one.Image, err = o.imageOf(one.Bundle)
	return one, err
}

// imageOf returns the address of the image of a bundle by --image, empty without the flag.
func (o *importOptions) imageOf(b *bundle.Bundle) (string, error) {
	var made bytes.Buffer
	address, err := template.New("address").Option("missingkey=error").Parse(o.image)
	if err == nil {
		err = address.Execute(&made, struct{ Package, Name, Version string }{b.Package, b.CSV.Metadata.Name, b.CSV.Spec.Version})
	}
	if err != nil {
		return "", fmt.Errorf("--image: %w", err)
	}
	return made.String(), nil
}

// pullBundle reads a bundle from its image. The catalog gets the address of this image, unless --image names another
// one, such as a mirror.
func (o *importOptions) pullBundle(ctx context.Context, arg string, out output.Streams) (one blobs.Source, err error) {
	reference, err := oci.ParseReference(arg)
	if err != nil {
		return one, err
	}
	repository, err := o.Access.Connect(ctx, reference, nil)
	if err != nil {
		return one, err
	}
	content, digest, err := repository.PullBundle(ctx, bundle.PackageAnnotation, bundle.ManifestsDirectory, bundle.MetadataDirectory)
	if err != nil {
		return one, asFinding(err)
	}
	if !strings.Contains(arg, "@") && o.as.Value == asCatalog {
		output.PrintNote(out.Notes, fmt.Sprintf("note: %s is %s now: import it by that, as a tag can move", arg, oci.DigestAddress(reference, digest)))
	}
	if one.Bundle, err = bundle.Read(content.FS()); err != nil {
		return one, err
	}
	if one.Image = strings.TrimPrefix(arg, oci.Scheme); o.image != "" {
		one.Image, err = o.imageOf(one.Bundle)
	}
	return one, err
}

// asFinding returns the error of an artifact with invalid content as a finding.
func asFinding(err error) error {
	if _, refused := errors.AsType[*render.Error](err); refused {
		return output.Finding(err)
	}
	return err
}

// writeManifests writes a bundle as plain manifests.
func (o *importOptions) writeManifests(one blobs.Source, out output.Streams) error {
	content, err := plain.Manifests(one.Bundle, o.plain)
	if err != nil {
		return output.Finding(fmt.Errorf("%s cannot be installed without OLM:\n%w", one.CSV.Metadata.Name, err))
	}
	if err := o.writeObjects(out.Stdout, content); err != nil {
		return err
	}
	fmt.Fprintf(out.Notes, "next: create the namespace %s, then apply the manifests; unlike with OLM, upgrades of definitions are not checked\n", o.plain.InstallNamespace)
	return nil
}

// writeCatalog adds the packages of bundles to the catalog in a directory.
func (o *importOptions) writeCatalog(ctx context.Context, all []blobs.Source, out output.Streams) error {
	made, err := blobs.Catalog(all)
	if err != nil {
		return output.Finding(err)
	}
	if _, err := filebased.Load(ctx, made.FS()); err != nil {
		return output.Finding(fmt.Errorf("the bundles make no valid catalog: %w", err))
	}
	if err := checkPackages(ctx, o.place, made); err != nil {
		return err
	}
	err = files.Stage(o.place, made.FS(), func(fresh, _ string) error { return files.MoveEntries(fresh, o.place) })
	if err != nil {
		return err
	}
	fmt.Fprintf(out.Notes, "imported %s of %s in %s; next: winnow lint %s\n",
		plaintext.Count(len(all), "bundle"), plaintext.Count(made.Len(), "package"), o.place, o.place)
	return nil
}

// checkPackages returns an error if the directory is no catalog of operators, or has one of the packages.
func checkPackages(ctx context.Context, dir string, made *tree.Tree) error {
	if files.CheckEmpty(dir) == nil {
		return nil
	}
	ref := v1alpha1.SourceReference{Format: v1alpha1.FormatFileBased}
	existing, err := input.Directory(dir).Load(ctx, dir, render.LocationOf(ref))
	if err != nil {
		return fmt.Errorf("adding to %s: %w", dir, err)
	}
	for _, name := range made.Paths() {
		name = path.Dir(name)
		for _, one := range existing.Catalog.Applications {
			if one.Name == name {
				return fmt.Errorf("%s has the package %s: add what -o - prints, and entries in its channels, to %s", dir, name, one.Path)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists: choose another directory", filepath.Join(dir, name))
		}
	}
	return nil
}
