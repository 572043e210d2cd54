// SPDX-License-Identifier: Apache-2.0

// Package imports is winnow import: it makes a catalog of definitions, of bundles of operators or of other catalogs, or instances
// of what runs. It must not replace a file.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/tree"
)

// New returns winnow import.
func New() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE|DIR|BUNDLE|-... -o DIR",
		Short: "Make a catalog, or instances, of what you have",
		Long: "Make a catalog of the definitions that you have, or add them to one:\n\n" +
			"  - files of ApplicationDefinitions, one or more documents each;\n" +
			"  - what kubectl get applicationdefinitions -o yaml (or json) prints;\n" +
			"  - ApplicationCatalogs of Kubermatic's application-catalog-manager;\n" +
			"  - the index.yaml of a Helm repository: a definition of KKP for each chart.\n\n" +
			"Fields, labels and annotations that the cluster, Flux and Winnow set are left\n" +
			"out; otherwise files stay as they are. The label catalog.winnow.dev/tier becomes\n" +
			"the tier in metadata.yaml, the other labels its labels. Nothing is overwritten.\n" +
			"What cannot be taken is listed on stderr, with the reason.\n\n" +
			"Of a KubermaticConfiguration it writes the OCIRepository, the CatalogSelection\n" +
			"and the Kustomization for the catalog that KKP uses, and the command for the\n" +
			"Secret of its registry. KKP's built-in catalog and its charts have no registry:\n" +
			"--source names yours. What counts depends on the feature gate of the catalog\n" +
			"manager and the release of KKP: --kkp-version names one that differs from\n" +
			"status.kubermaticVersion.\n\n" +
			"Of bundles of operators, directories with manifests and metadata or images in\n" +
			"registries, it makes a catalog of OLM: the blobs of opm render, with packages\n" +
			"and channels by their annotations; -o - prints the bundles alone. --as manifests\n" +
			"writes what OLM v1 would create of one. A catalog.yaml with references to images\n" +
			"of catalogs becomes one catalog of them all. What is wrong with a bundle is\n" +
			"listed, with file and line. See docs/guides/operators.md.\n\n" +
			"With -f SELECTION it makes instances of running releases instead: HelmReleases\n" +
			"with their sources, and ApplicationInstallations of KKP, as kubectl get prints\n" +
			"them. It takes a release if the selection has its chart in its version, and if\n" +
			"the artifact would have the same object with the same release of Helm. Others\n" +
			"are listed on stderr, with the reason; warnings describe what changes. It prints\n" +
			"a CatalogSelection with spec.instances, and spec.patches for fields that\n" +
			"instances lack, as a patch for kustomize. See docs/guides/take-over-releases.md.\n\n" +
			"Exit codes: 0 all is taken, 1 something is not, or the selection is invalid, 2\n" +
			"usage or I/O.",
		Example: "  kubectl get applicationdefinitions -o yaml | winnow import - -o catalog\n\n" +
			"  winnow import ./definitions -o catalog\n\n" +
			"  # the three highest versions of each chart\n" +
			"  curl -s https://charts.example.com/index.yaml | winnow import - -o catalog \\\n" +
			"    --helm-url https://charts.example.com --latest 3\n\n" +
			"  kubectl -n kubermatic get kubermaticconfiguration kubermatic -o yaml |\n" +
			"    winnow import - --source oci://ghcr.io/org/catalog:v1.0.0 -o cluster.yaml\n\n" +
			"  # a catalog of the versions of an operator\n" +
			"  winnow import bundles/* -o catalog \\\n" +
			"    --image 'quay.io/acme/{{.Package}}-bundle:v{{.Version}}'\n\n" +
			"  # instances of running releases\n" +
			"  kubectl get helmreleases,helmrepositories,ocirepositories -A -o yaml |\n" +
			"    winnow import - -f selection.yaml --source ./catalog -o instances.yaml",
		Args: flags.Arguments(1, math.MaxInt, "at least one FILE, DIR or - for standard input"),
		RunE: o.runAny,
	}
	o.addFlags(cmd)
	return cmd
}

// runAny imports what the flags and the input ask for.
func (o *importOptions) runAny(cmd *cobra.Command, args []string) error {
	out := flags.StreamsOf(cmd)
	ofBundles := o.File == "" && slices.ContainsFunc(args, isBundle)
	if ofBundles || o.File != "" {
		if err := refuseRelease(cmd); err != nil {
			return err
		}
	}
	if ofBundles {
		return o.importBundles(cmd, args, out)
	}
	if err := refuseFlags(cmd, bundleFlags(), "is for bundles of operators, and "+args[0]+" is none"); err != nil {
		return err
	}
	if o.File != "" {
		if err := o.checkInstances(cmd, args); err != nil {
			return err
		}
		return o.importInstances(cmd.Context(), args, cmd.InOrStdin(), out)
	}
	return o.runContent(cmd, args, out)
}

// runContent imports what the only argument contains, or several arguments.
func (o *importOptions) runContent(cmd *cobra.Command, args []string, out output.Streams) error {
	content, err := singleFile(cmd.Context(), args, cmd.InOrStdin())
	if err != nil {
		return err
	}
	configuration, err := configurationIn(cmd.Context(), args[0], content)
	switch {
	case err != nil:
		return err
	case configuration != nil:
		if err := o.checkFile(cmd); err != nil {
			return err
		}
		return o.importConfiguration(cmd.Context(), configuration, args[0], out)
	}
	if err := refuseRelease(cmd); err != nil {
		return err
	}
	composed, err := compositionIn(args[0], content)
	switch {
	case err != nil:
		return err
	case composed != nil:
		return o.importReferences(cmd, composed, out)
	}
	if err := flags.CheckDestination(cmd, "-o", "directory", o.place); err != nil {
		return err
	}
	if err := o.refuseInstances(); err != nil {
		return err
	}
	return o.run(cmd.Context(), args, content, cmd.InOrStdin(), out)
}

// run imports the arguments. content is of the only one, nil if it is not read yet.
func (o *importOptions) run(ctx context.Context, args []string, content []byte, stdin io.Reader, out output.Streams) error {
	helm, err := o.check()
	if err != nil {
		return err
	}
	existing, err := existingApplications(ctx, o.place)
	if err != nil {
		return err
	}
	importer, reader := importing.New(helm, existing), &importing.Reader{}
	for _, arg := range args {
		if err := importArgument(ctx, importer, reader, arg, content, stdin); err != nil {
			return err
		}
	}
	if importer.Len() > 0 {
		if err := importer.Check(ctx); err != nil {
			return output.Finding(fmt.Errorf("checking the applications together: %w", err))
		}
		if err := addApplications(o.place, importer.Files()); err != nil {
			return err
		}
	}
	return o.report(importer, out)
}

// check checks the flags, and returns the flags for the index of a Helm repository.
func (o *importOptions) check() (helm importing.Helm, err error) {
	switch {
	case o.place == "":
		return helm, errors.New("where to? pass -o DIR")
	case o.latest < 0:
		return helm, fmt.Errorf("--latest %d: want 1 or more, or 0 for all", o.latest)
	}
	helm.Latest = o.latest
	if o.helmURL != "" {
		if helm.URL, err = importing.ParseURL(o.helmURL); err != nil {
			return helm, fmt.Errorf("--helm-url: %w", err)
		}
	}
	if o.versions != "" {
		if helm.Versions, err = semver.NewConstraint(o.versions); err != nil {
			return helm, fmt.Errorf("--versions %q: %w", o.versions, err)
		}
	}
	return helm, nil
}

func importArgument(ctx context.Context, importer *importing.Importer, reader *importing.Reader, where string, content []byte, stdin io.Reader) error {
	if content != nil {
		return importer.Add(ctx, files.Label(where), content)
	}
	if where != "-" {
		info, err := os.Stat(where)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			// os.Root keeps symbolic links from leading out of the directory.
			root, err := os.OpenRoot(where)
			if err != nil {
				return err
			}
			defer root.Close()
			return importer.AddDirectory(ctx, reader, filepath.ToSlash(where), root.FS())
		}
	}
	content, err := files.Read(ctx, where, stdin, reader.Read)
	if err != nil {
		return fmt.Errorf("reading %s: %w", files.Label(where), err)
	}
	return importer.Add(ctx, files.Label(where), content)
}

// report returns an error that lists the applications that were not imported, one per line.
func (o *importOptions) report(importer *importing.Importer, out output.Streams) error {
	done := fmt.Sprintf("imported %s in %s", plaintext.Count(importer.Len(), "application"), o.place)
	total := len(importer.Skipped) + importer.Omitted
	if total == 0 {
		fmt.Fprintf(out.Notes, "%s; next: winnow lint %s\n", done, o.place)
		return nil
	}
	if !importer.Recognized {
		done = "nothing to import: " + importing.Expected
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s; not taken: %d", done, total)
	for _, one := range importer.Skipped {
		if output.IsTerminal(out.Stderr) {
			fmt.Fprintf(&text, "\n%s\n%s", plaintext.Line(one.Where()), plaintext.Wrap(one.Reason, "  "))
		} else {
			fmt.Fprintf(&text, "\n%s: %s", plaintext.Line(one.Where()), plaintext.Line(one.Reason))
		}
	}
	if importer.Omitted > 0 {
		text.WriteString("\n" + excerpt.More(importer.Omitted))
	}
	return output.Finding(errors.New(text.String()))
}

// existingApplications maps the names of the applications in the catalog at dir, and of the directories there, to their
// paths. It returns an error if dir holds a catalog that cannot be added to.
func existingApplications(ctx context.Context, dir string) (map[string]string, error) {
	info, err := os.Lstat(filepath.Join(dir, catalog.ApplicationsDirectory))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, checkNotStripped(dir)
	case err != nil:
		return nil, fmt.Errorf("reading the output directory: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory: choose another output directory", filepath.Join(dir, catalog.ApplicationsDirectory))
	}
	entries, err := os.ReadDir(filepath.Join(dir, catalog.ApplicationsDirectory))
	isFile := func(entry fs.DirEntry) bool { return entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") }
	if entries = slices.DeleteFunc(entries, isFile); err != nil || len(entries) == 0 {
		return nil, err
	}
	source, err := input.Directory(dir).Load(ctx, dir, render.CatalogLocation{})
	if err != nil {
		return nil, fmt.Errorf("adding to %s: %w", dir, err)
	}
	existing := map[string]string{}
	for _, application := range source.Catalog.Applications {
		existing[application.Name] = path.Join(filepath.ToSlash(dir), application.Path)
	}
	for _, entry := range entries {
		existing[entry.Name()] = path.Join(filepath.ToSlash(dir), catalog.ApplicationsDirectory, entry.Name())
	}
	return existing, nil
}

// checkNotStripped returns an error if dir has applications at its root, which a directory applications would hide.
func checkNotStripped(dir string) error {
	found, err := fs.Glob(os.DirFS(dir), "*/application.yaml") // the name of dir may have characters of a pattern
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s is an application outside of %s: choose another output directory",
			filepath.Join(dir, found[0]), filepath.Join(dir, catalog.ApplicationsDirectory))
	}
	return err
}

// addApplications writes the files of applications into a catalog. No such file exists yet.
func addApplications(dir string, content *tree.Tree) error {
	return files.Stage(dir, content.FS(), func(fresh, _ string) error {
		applications := filepath.Join(dir, catalog.ApplicationsDirectory)
		if err := os.Mkdir(applications, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return files.MoveEntries(filepath.Join(fresh, catalog.ApplicationsDirectory), applications)
	})
}
