// SPDX-License-Identifier: Apache-2.0

// Package push is winnow push: it publishes a catalog in a registry, or as an image for OLM. It must not push what lint refuses.
package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/spf13/cobra"
	ociregistry "oras.land/oras-go/v2/registry"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/linting"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/tree"
)

// pushOptions are the flags of winnow push.
type pushOptions struct {
	linting.Rules
	flags.CatalogFiles
	tagRules
	tags, annotations   []string
	sourceURL, revision string
	access              flags.Access
	as, output          *flags.Choice
	// asGiven reports whether --as was given.
	asGiven bool
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{&pushResult{Document: output.NewDocument("PushResult")}}
}

// New returns winnow push.
func New() *cobra.Command {
	var o pushOptions
	cmd := &cobra.Command{
		Use:   "push DIR " + oci.Scheme + "HOST/REPOSITORY[:TAG]",
		Short: "Publish a catalog in a registry",
		Long: "Publish the catalog in a directory, as the artifact that an OCIRepository and\n" +
			"all verbs read. It holds the files of applications/ and catalogs/, but hidden\n" +
			"ones; of the other formats, such as definitions and functions, the files of the\n" +
			"catalog, in a layer as flux push artifact makes it. A catalog in which winnow\n" +
			"lint finds an error is refused; --crds, --ignore, --format and --include are as\n" +
			"in winnow lint.\n\n" +
			"A file-based catalog of OLM needs --as: catalog is a layer for Flux and Winnow,\n" +
			"and catalog-image an image of one layer, for catalogd, and for a CatalogSource\n" +
			"with grpcPodConfig.extractContent: of the directory, or of its configs/, as\n" +
			"winnow render -o writes it. What opm validate refuses is refused.\n\n" +
			"The digest is printed. It depends on the files and annotations only. The\n" +
			"annotations come from --annotation; --source-url and --revision are\n" +
			"org.opencontainers.image.source and .revision, and .created is\n" +
			"SOURCE_DATE_EPOCH, in seconds since 1970, if that is in the environment.\n\n" +
			"A tag that is a semantic version, such as v1.2.0, does not move to other content\n" +
			"without --immutable-tags=false. Others move, such as latest and v1. --dry-run\n" +
			"asks the registry for the tags and sends nothing. -o json has the reference, the\n" +
			"digest, the tags, and the revision of an OCIRepository with the first tag.\n\n" +
			"Credentials are in Docker's configuration, which docker login writes.\n" +
			"Exit codes: 0 published, 1 the catalog is invalid, or a tag must not move,\n" +
			"2 usage or I/O.",
		Example: "  winnow push ./catalog oci://ghcr.io/org/catalog:v1.2.0\n\n" +
			"  # several tags, and where it comes from\n" +
			"  winnow push ./catalog oci://ghcr.io/org/catalog --tag v1.2.0 --tag latest \\\n" +
			"    --source-url https://github.com/org/catalog \\\n" +
			"    --revision \"v1.2.0@sha1:$(git rev-parse HEAD)\"\n\n" +
			"  # the digest, for a pull request or a signature\n" +
			"  reference=$(winnow push ./catalog oci://ghcr.io/org/catalog:v1.2.0)\n" +
			"  echo \"${reference##*@}\"\n\n" +
			"  # the definitions among the files of another repository\n" +
			"  winnow push ./packages oci://ghcr.io/org/definitions:v1.2.0 \\\n" +
			"    --include \"*/cozyrds/*.yaml\"\n\n" +
			"  # an image for OLM\n" +
			"  winnow push --as catalog-image ./rendered oci://ghcr.io/org/operators:v1",
		Args: arguments,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.asGiven = cmd.Flags().Changed("as")
			for _, flag := range []string{"source-url", "revision"} {
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" { // a variable of a script that is not set
					return fmt.Errorf("--%s is empty", flag)
				}
			}
			return o.run(cmd.Context(), args[0], args[1], flags.StreamsOf(cmd))
		},
	}
	o.addFlags(cmd)
	return cmd
}

// arguments checks the arguments.
func arguments(cmd *cobra.Command, args []string) error {
	if len(args) == 2 && strings.HasPrefix(args[0], oci.Scheme) && !strings.HasPrefix(args[1], oci.Scheme) {
		return fmt.Errorf("DIR comes first; did you mean: winnow push %s %s?", plaintext.Line(args[1]), plaintext.Line(args[0]))
	}
	return flags.Arguments(2, 2, "DIR and "+oci.Scheme+"HOST/REPOSITORY[:TAG]")(cmd, args)
}

func (o *pushOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.tags, "tag", nil, "`TAG` to set as well; repeatable")
	f.StringArrayVar(&o.annotations, "annotation", nil, "`KEY=VALUE` of the manifest; repeatable")
	f.StringVar(&o.sourceURL, "source-url", "", "`URL` of the sources, an annotation")
	f.StringVar(&o.revision, "revision", "", "`REVISION` of the sources, an annotation")
	f.BoolVar(&o.dryRun, "dry-run", false, "do everything but push")
	f.BoolVar(&o.immutable, "immutable-tags", true, "keep tags that are versions")
	o.as = flags.AddChoice(cmd, "as", "", "publish it as `KIND`", asCatalog, asCatalogImage)
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	o.access.AddFlags(cmd)
	o.Rules.AddFlags(cmd)
	o.CatalogFiles.AddFlags(cmd)
	flags.CompleteNothing(cmd, "tag", "annotation", "source-url", "revision")
}

func (o *pushOptions) run(ctx context.Context, dir, where string, out output.Streams) error {
	if err := o.Check(); err != nil {
		return err
	}
	reference, tags, err := o.target(where)
	if err != nil {
		return err
	}
	annotations, err := oci.Annotations(o.manifestAnnotations(), os.Getenv(oci.SourceDateEpoch))
	if err != nil {
		return err
	}
	progress := output.NewProgress(out.Notes)
	defer progress.Clear()
	progress.Step("reading " + dir)
	packed, content, err := o.pack(ctx, dir, annotations, progress, out)
	if err != nil {
		return err
	}
	repository, err := o.access.Connect(ctx, reference, progress.Observe)
	if err != nil {
		return err
	}
	moved, err := o.push(ctx, repository, packed, tags, progress.Step)
	if err != nil {
		return fmt.Errorf("pushing %s to %s: %w", dir, oci.Address(reference), err)
	}
	progress.Clear()
	o.printMoved(out.Notes, moved)
	o.printPushed(out.Notes, content, tags)
	return output.Write(out.Stdout, o.output.Value, newPushResult(reference, packed, tags, moved, o.dryRun))
}

// pack checks the content of a directory and packs it as --as says. It returns a description of its content, too.
func (o *pushOptions) pack(ctx context.Context, dir string, annotations map[string]string, progress *output.Progress, out output.Streams) (registry.Artifact, string, error) {
	switch {
	case o.as.Value != asCatalogImage:
		return o.packCatalog(ctx, dir, annotations, progress, out)
	case len(o.Ignore)+len(o.Definitions) > 0 || o.IsSet():
		return registry.Artifact{}, "", fmt.Errorf("--as %s has the files and rules of OLM: leave out --ignore, --crds, --format and --include", asCatalogImage)
	}
	return packImage(ctx, dir, annotations, progress)
}

// packCatalog lints a catalog and packs it by the contract of catalogs. It returns a description of its content, too.
func (o *pushOptions) packCatalog(ctx context.Context, dir string, annotations map[string]string, progress *output.Progress, out output.Streams) (registry.Artifact, string, error) {
	all, format, err := o.read(ctx, dir)
	if err != nil {
		return registry.Artifact{}, "", err
	}
	if format.Name() == v1alpha1.FormatFileBased && !o.asGiven { // a tag that OLM follows must not become a layer by mistake
		return registry.Artifact{}, "", fmt.Errorf("%s is a catalog of the format %s: pass --as %s for an image, which OLM reads, too, or --as %s for a layer, which Flux and Winnow read",
			dir, format.Name(), asCatalogImage, asCatalog)
	}
	files, err := oci.CatalogFiles(ctx, dir, format, all)
	if err != nil {
		return registry.Artifact{}, "", err
	}
	options, err := o.Open(ctx, &o.access)
	if err != nil {
		return registry.Artifact{}, "", err
	}
	options.Format = format
	result, err := lint.Run(ctx, all.FS(), options) // what is not packed may be a list in a misspelt directory
	if err != nil {
		return registry.Artifact{}, "", fmt.Errorf("linting %s: %w", dir, err)
	}
	progress.Clear()
	if err := reportLint(dir, result, out); err != nil {
		return registry.Artifact{}, "", err
	}
	packed, err := oci.Pack(dir, format, files, annotations)
	if err != nil {
		return registry.Artifact{}, "", fmt.Errorf("packing %s: %w", dir, err)
	}
	return packed, plaintext.Count(result.Applications, "application") + inFiles(files), nil
}

// read returns the files of a directory that --include names, and their format.
func (o *pushOptions) read(ctx context.Context, dir string) (*tree.Tree, catalog.Format, error) {
	all, err := readDirectory(ctx, dir, loading.LimitsOf(o.Format.Value), render.LocationOf(o.Source()))
	if err != nil {
		return nil, nil, err
	}
	files, format, err := loading.FilesAt(dir, all, render.LocationOf(o.Source()))
	if err != nil || format != nil {
		return files, format, err
	}
	if format, err = catalog.Detect(files.FS()); err != nil {
		err = notPushed(dir, err)
	}
	return files, format, err
}

// manifestAnnotations returns the annotations of all flags, as KEY=VALUE.
func (o *pushOptions) manifestAnnotations() []string {
	given := slices.Clone(o.annotations)
	if o.sourceURL != "" {
		given = append(given, v1.AnnotationSource+"="+o.sourceURL)
	}
	if o.revision != "" {
		given = append(given, v1.AnnotationRevision+"="+o.revision)
	}
	return given
}

// target returns the repository and the tags to set, in the order of the arguments and without duplicates.
func (o *pushOptions) target(where string) (ociregistry.Reference, []string, error) {
	reference, err := oci.ParseReference(where)
	if err != nil {
		return ociregistry.Reference{}, nil, fmt.Errorf("%s: %w", where, err)
	}
	if strings.Contains(where, "@") {
		return ociregistry.Reference{}, nil, fmt.Errorf("%s: the digest is computed from the content: leave it out", where)
	}
	var tags []string
	if reference.Reference != "" {
		tags = append(tags, reference.Reference)
	}
	for _, tag := range o.tags {
		tagged := reference
		tagged.Reference = tag
		if tagged.ValidateReferenceAsTag() != nil {
			return ociregistry.Reference{}, nil, fmt.Errorf("--tag %s: want letters, digits, _, . and -, at most 128; write _ for +", tag)
		}
		tags = each.Union(tags, tag)
	}
	if len(tags) == 0 {
		return ociregistry.Reference{}, nil, fmt.Errorf("which tag? %s has none: append :TAG or pass --tag TAG", where)
	}
	reference.Reference = ""
	return reference, tags, nil
}

// reportLint prints errors and warnings as winnow lint does, and returns an error if there are errors,
// which it prints in full with --quiet as well.
func reportLint(dir string, result lint.Result, out output.Streams) error {
	report := &report.Lint{Least: rules.Warning, Wrapped: output.IsTerminal(out.Stderr)}
	if out.Quiet() {
		report.Least = rules.Error
	}
	report.Add(result, input.Directory(dir).Locate)
	if report.Errors == 0 {
		report.Table(out.Notes)
		return nil
	}
	report.Table(out.Stderr)
	return output.Finding(errors.New("not pushed: " + report.Summary()))
}

func (o *pushOptions) printPushed(notes io.Writer, content string, tags []string) {
	done := "pushed"
	if o.dryRun {
		done = "dry run: not pushed:"
	}
	fmt.Fprintf(notes, "%s %s, as %s\n", done, content, strings.Join(tags, ", "))
}

// Values of --as.
const (
	asCatalog      = "catalog"
	asCatalogImage = "catalog-image"
)
