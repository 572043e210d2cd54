// SPDX-License-Identifier: Apache-2.0

// Package render is winnow render: it renders what a selection selects, as the controller does. It must not know a cluster.
package render

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/crdcheck"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/selection"
)

// renderOptions are the flags of winnow render.
type renderOptions struct {
	input.Options
	namespace, directory, archive string
	// definitions are the values of --crds.
	definitions []string

	// unknownDigests are the sources without a digest for the provenance of objects.
	unknownDigests []string
}

// New returns winnow render.
func New() *cobra.Command {
	var o renderOptions
	cmd := &cobra.Command{
		Use:   "render -f SELECTION [--source CATALOG]",
		Short: "Render what a CatalogSelection selects, as the controller does",
		Long: "Render what a CatalogSelection selects, through the same code and to the same\n" +
			"bytes as the controller. Without -o and --archive, and with -o -, it prints the\n" +
			"objects as one YAML stream, built as kustomize builds them.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest],\n" +
			"which is pulled with the credentials of Docker's configuration. Without --source\n" +
			"the OCIRepository in the file or directory of the selection names it.\n\n" +
			"With --crds, objects that the API server would refuse are findings, and nothing\n" +
			"is written. See docs/render.md.\n\n" +
			"Exit codes: 0 rendered, 1 the selection, the catalog or an object is invalid, or\n" +
			"nothing is selected, 2 usage or I/O.",
		Example: "  # what would be applied\n" +
			"  winnow render -f selection.yaml --source ./catalog\n\n" +
			"  # the artifact's files, and its archive as the cluster serves it\n" +
			"  winnow render -f selection.yaml --source ./catalog -o rendered\n" +
			"  winnow render -f selection.yaml --source oci://ghcr.io/org/catalog:v1 \\\n" +
			"    --archive artifact.tar.gz\n\n" +
			"  # refuse what the API server would refuse\n" +
			"  winnow render -f selection.yaml --source ./catalog --crds ./crds -o rendered\n\n" +
			"  # the directory of a GitOps repository, with the OCIRepository in it\n" +
			"  winnow render -f clusters/production\n\n" +
			"  # several sources\n" +
			"  winnow render -f selection.yaml --source base=./base --source extra=./extra",
		Args:              flags.SourceArguments(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.checkPlaces(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), flags.Notes(cmd))
		},
	}
	o.AddFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "", "`NAMESPACE` of a selection without one")
	f.StringVarP(&o.directory, "output", "o", "", "write the files to `DIR`, - for stdout")
	f.StringVar(&o.archive, "archive", "", "write the artifact as a tar.gz to `FILE`")
	f.StringArrayVar(&o.definitions, "crds", nil, "check with CRDs in `PLACE`: DIR, FILE, "+oci.Scheme)
	// The only error of these is that there is no such flag.
	_ = cmd.MarkFlagDirname("output")
	_ = cmd.MarkFlagFilename("archive", "tar.gz", "tgz")
	flags.CompleteNothing(cmd, "namespace")
	cmd.MarkFlagsMutuallyExclusive("output", "archive")
	return cmd
}

// checkPlaces checks where the output is written to.
func (o *renderOptions) checkPlaces(cmd *cobra.Command) error {
	if o.directory == flags.ToStdout {
		o.directory = ""
	}
	return errors.Join(flags.CheckDestination(cmd, "-o", "directory", o.directory), flags.CheckDestination(cmd, "--archive", "file", o.archive))
}

func (o *renderOptions) run(ctx context.Context, stdin io.Reader, stdout, notes io.Writer) error {
	set, err := crdcheck.OpenDefinitions(ctx, o.definitions, &o.Access)
	if err != nil {
		return err
	}
	result, err := o.render(ctx, stdin, notes)
	if err != nil {
		return err
	}
	s := result.Selection
	o.warn(notes, result)
	stream, err := o.build(ctx, result)
	if err != nil {
		return err
	}
	if len(o.definitions) > 0 {
		if err := crdcheck.CheckObjects(ctx, set, stream, o.Selection.Spec.Patches, notes); err != nil {
			return err
		}
	}
	if err := o.write(stdout, stream, result); err != nil {
		return err
	}
	instances := ""
	if len(result.Instances) > 0 {
		instances = ", " + plaintext.Count(len(result.Instances), "instance")
	}
	fmt.Fprintf(notes, "rendered %d of %d applications%s, revision %s\n", s.Selected, s.Available, instances, guard.Checksum(result.Revision))
	return nil
}

// build builds the tree with kustomize, as kustomize-controller does. It returns nil if the objects are
// neither printed nor checked.
func (o *renderOptions) build(ctx context.Context, result *render.Result) ([]byte, error) {
	if len(o.definitions) == 0 && (o.directory != "" || o.archive != "") {
		return nil, nil
	}
	stream, err := files.Await(ctx, func() ([]byte, error) { return kustomized.YAML(result.Tree) })
	if err != nil {
		return nil, fmt.Errorf("building the artifact: %w", err)
	}
	return stream, nil
}

// write writes the artifact, or the objects as one YAML stream.
func (o *renderOptions) write(stdout io.Writer, stream []byte, result *render.Result) error {
	switch {
	case o.directory != "":
		return files.WriteDirectory(o.directory, result.Tree)
	case o.archive != "":
		return files.WriteArchive(o.archive, result)
	}
	for _, file := range result.ContentFiles() {
		content, _ := result.Tree.Content(file)
		if len(stream) > 0 {
			stream = append(stream, "---\n"...)
		}
		stream = append(stream, content...)
	}
	_, err := stdout.Write(stream)
	return err
}

func (o *renderOptions) render(ctx context.Context, stdin io.Reader, notes io.Writer) (*render.Result, error) {
	cs, err := o.Read(ctx, stdin)
	if err != nil {
		return nil, err
	}
	if err := o.setNamespace(cs); err != nil {
		return nil, err
	}
	sources, options, err := o.Open(ctx, cs, notes)
	if err != nil {
		return nil, err
	}
	if cs.Spec.Provenance == v1alpha1.ProvenanceObject {
		o.unknownDigests = setUnknownDigests(sources)
	}
	result, err := render.Render(ctx, sources, options)
	return result, o.Placed(o.ExplainEmpty(err, sources, options))
}

// setUnknownDigests sets the digest of sources that do not come from a registry to "unknown", and
// returns their names.
func setUnknownDigests(sources []selection.Source) []string {
	var names []string
	for i := range sources {
		if sources[i].Digest == "" {
			sources[i].Digest = "unknown"
			names = append(names, sources[i].Name)
		}
	}
	return names
}

// warn prints warnings of names, addresses and digests that may not be intended.
func (o *renderOptions) warn(notes io.Writer, result *render.Result) {
	o.WarnUnmatched(notes, result.Unmatched)
	for _, p := range result.Patched {
		output.Warn(notes, plaintext.Line(o.Selection.Place("spec.patches")+": "+p.String()))
	}
	for _, a := range result.Addresses {
		for _, host := range a.Uncovered() {
			fmt.Fprintf(notes, "warning: no mirror covers %s: %s of %s\n", host.Host, host.Path, a.Application)
		}
		if a.Unreadable != "" {
			fmt.Fprintf(notes, "warning: %s: its default values are not mirrored: %s\n", a.Application, a.Unreadable)
		}
	}
	for _, name := range o.unknownDigests {
		fmt.Fprintf(notes, "warning: provenance: Object names the digest of source %s, which only %shost/repository tells: written as unknown\n", name, oci.Scheme)
	}
}

func (o *renderOptions) setNamespace(cs *v1alpha1.CatalogSelection) error {
	switch {
	case cs.Namespace == "" && o.namespace == "":
		return fmt.Errorf("%s: the CatalogSelection has no namespace, which the artifact's labels name: pass --namespace", files.Label(o.File))
	case cs.Namespace == "":
		cs.Namespace = o.namespace
	case o.namespace != "" && o.namespace != cs.Namespace:
		return fmt.Errorf("%s: the CatalogSelection has the namespace %s, not %s of --namespace", files.Label(o.File), cs.Namespace, o.namespace)
	}
	return nil
}
