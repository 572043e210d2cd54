package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/render"
)

// renderOptions are the flags of winnow render.
type renderOptions struct {
	file, name, namespace string
	sources               []string
	plainHTTP             bool
	directory, archive    string
}

func newRenderCommand() *cobra.Command {
	var o renderOptions
	cmd := &cobra.Command{
		Use:   "render -f SELECTION --source CATALOG",
		Short: "Render what a CatalogSelection selects, as the controller does",
		Long: "Render what a CatalogSelection selects, through the same code and to the same bytes as the\n" +
			"controller. Without -o and --archive it prints the objects as one YAML stream, built as\n" +
			"kustomize builds them.",
		Example: "  # what would be applied\n" +
			"  winnow render -f selection.yaml --source ./catalog\n\n" +
			"  # the artifact's files, and its archive as the cluster serves it\n" +
			"  winnow render -f selection.yaml --source ./catalog -o rendered\n" +
			"  winnow render -f selection.yaml --source oci://ghcr.io/org/catalog:v1 --archive artifact.tar.gz\n\n" +
			"  # several sources\n" +
			"  winnow render -f selection.yaml --source base=./base --source extra=./extra",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "file with the CatalogSelection, - for standard input")
	f.StringVar(&o.name, "name", "", "name of the CatalogSelection, if the file holds several")
	f.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the CatalogSelection, if the file has none")
	f.StringArrayVar(&o.sources, "source", nil, "CATALOG, or NAME=CATALOG for one of several sources (repeatable)")
	f.BoolVar(&o.plainHTTP, "plain-http", false, "talk to the registry without TLS")
	f.StringVarP(&o.directory, "output", "o", "", "write the files of the artifact to this directory")
	f.StringVar(&o.archive, "archive", "", "write the artifact as a tar.gz to this file")
	cmd.MarkFlagsMutuallyExclusive("output", "archive")
	return cmd
}

func (o *renderOptions) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	result, err := o.render(ctx, stdin)
	if err != nil {
		return err
	}
	if unknown := result.Selection.UnknownNames; len(unknown) > 0 {
		fmt.Fprintf(stderr, "warning: no catalog has %s\n", strings.Join(unknown, ", "))
	}
	s := result.Selection
	fmt.Fprintf(stderr, "rendered %d of %d applications, revision %s\n", s.Selected, s.Available, result.Revision)
	switch {
	case o.directory != "":
		return writeDirectory(o.directory, result.Tree)
	case o.archive != "":
		return writeArchive(o.archive, result)
	}
	return writeStream(stdout, result.Tree)
}

func (o *renderOptions) render(ctx context.Context, stdin io.Reader) (*render.Result, error) {
	switch {
	case o.file == "":
		return nil, errors.New("which selection? pass -f FILE")
	case len(o.sources) == 0:
		return nil, errors.New("which catalog? pass --source CATALOG")
	}
	cs, err := readSelection(o.file, o.name, stdin)
	if err != nil {
		return nil, err
	}
	if cs.Namespace == "" {
		cs.Namespace = o.namespace
	}
	if cs.Namespace == "" {
		return nil, fmt.Errorf("%s: the CatalogSelection has no namespace, which the artifact's labels name: pass --namespace", o.file)
	}
	options, err := render.FromSpec(cs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.file, err)
	}
	sources, err := openSources(ctx, cs, o.sources, o.plainHTTP)
	if err != nil {
		return nil, err
	}
	return render.Render(ctx, sources, options)
}
