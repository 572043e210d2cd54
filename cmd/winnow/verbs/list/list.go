// SPDX-License-Identifier: Apache-2.0

// Package list is winnow list: it lists the applications of a catalog, and what a selection decides on each.
package list

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/chartflags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/selection"
)

// listOptions are the flags of winnow list.
type listOptions struct {
	input.Options
	place  flags.CatalogFiles
	output *flags.Choice
	images bool
	charts chartflags.Charts
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{&applicationList{Document: output.NewDocument("ApplicationList")}, &decisionList{Document: output.NewDocument("DecisionList")}, newImageList()}
}

// New returns winnow list.
func New() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [CATALOG] [-f SELECTION]",
		Short: "List the applications of a catalog, with -f the decision on each",
		Long: "List the applications of a catalog; with -f the selection's decision on each:\n" +
			"whether it is in, the rule that decided, and the versions that stay; and its\n" +
			"instances, with the version that each resolves to.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"With -f alone, the OCIRepository in the same file or directory names it.\n\n" +
			"-o name prints kind.group/name, as kubectl get takes it; with -f, of what is\n" +
			"selected. -o wide has all columns, versions and facts on versions.\n\n" +
			"docs/schemas has the members of JSON and YAML. For packages of operators the\n" +
			"table has the numbers of their versions, JSON the names of the bundles.\n\n" +
			"JSON and YAML also have the references that a cluster fetches, for each\n" +
			"application (with -f, for the selected ones) and, beside the list, for all, each\n" +
			"once and sorted:\n\n" +
			"    charts   type (helm or git), from, to; name, version; tag, branch, commit\n" +
			"    images   from, to; in default values, not what charts bring\n" +
			"    urls     from, to; in default values, and perhaps never fetched\n\n" +
			"The address from is before the selection's mirrors, and to is behind them.\n" +
			"A reference that cannot be copied unchanged has unknown: the tag, template or\n" +
			"repository of an image, or the chart. unsearched is the reason why default\n" +
			"values are no YAML.\n\n" +
			"--images lists images instead: in default values, and with --charts also images\n" +
			"in the charts, once they are rendered with the values of instances, or with the\n" +
			"default values. MIRROR is where a mirror has an image; it is \"not used\" where\n" +
			"the chart does not take the address from its values. -o name prints the\n" +
			"addresses to copy from.\n\n" +
			"--charts fetches the charts from behind the mirrors, with --charts=from from\n" +
			"their addresses before them, with --charts=DIR from NAME-VERSION.tgz files and\n" +
			"directories in DIR. Each is rendered in a process of its own, without network,\n" +
			"cluster and environment, with limits of time and memory.\n" +
			"See docs/guides/air-gap.md.\n\n" +
			"Exit codes: 0 listed, 1 the catalog or selection is invalid, or a chart cannot\n" +
			"be read, so that images are missing, 2 usage or I/O.",
		Example: "  winnow list ./catalog\n\n" +
			"  winnow list ./catalog -f selection.yaml -o wide\n\n" +
			"  # the images to copy into a mirror\n" +
			"  winnow list ./catalog -f selection.yaml -o json | jq -r '.images[].from'\n\n" +
			"  # all images of the selected versions, a line each\n" +
			"  winnow list ./catalog -f selection.yaml --images --charts=from -o name\n\n" +
			"  # several sources\n" +
			"  winnow list -f selection.yaml --source base=./base --source extra=./extra",
		Args:              flags.Arguments(0, 1, "one CATALOG, and for several -f SELECTION and --source NAME=CATALOG of each"),
		ValidArgsFunction: flags.CompleteFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Sources = append(args, o.Sources...)
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), flags.Notes(cmd))
		},
	}
	o.AddFlags(cmd)
	o.place.AddFlags(cmd)
	cmd.Flags().BoolVar(&o.images, "images", false, "list images, not applications")
	o.charts.AddFlags(cmd)
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatWide, output.FormatName, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (o *listOptions) run(ctx context.Context, stdin io.Reader, stdout, notes io.Writer) error {
	if o.charts.IsSet() && !o.images {
		return errors.New("--charts is for --images: pass both")
	}
	if o.File == "" {
		return o.listCatalog(ctx, stdout, notes)
	}
	if o.place.IsSet() {
		return errors.New("--format and --include are for a CATALOG without -f: the selection's spec.sources has them")
	}
	sources, options, err := o.Decide(ctx, stdin, notes)
	if err != nil {
		return err
	}
	result, err := render.Decide(ctx, sources, options)
	if err != nil {
		return o.Placed(err)
	}
	o.WarnUnmatched(notes, mention.UnmatchedOf(sources, options.Mentions))
	if o.images {
		return o.listImages(ctx, imageSearch{sources, result.Applications(), options}, stdout, notes)
	}
	list := newDecisionList(result, len(sources) > 1)
	if len(options.Instances) > 0 {
		if list.Instances, err = o.instances(ctx, sources, options, notes); err != nil {
			return err
		}
	}
	if o.refers() {
		if err := list.refer(ctx, result.Applications(), options, notes); err != nil {
			return err
		}
	}
	if err := output.Write(stdout, o.output.Value, list); err != nil {
		return err
	}
	fmt.Fprintf(notes, "%d of %s selected\n", result.Selected, plaintext.Count(result.Available, "application"))
	return nil
}

// refers reports whether the output format includes references.
func (o *listOptions) refers() bool {
	return o.output.Value == output.FormatJSON || o.output.Value == output.FormatYAML
}

func (o *listOptions) listCatalog(ctx context.Context, stdout, notes io.Writer) error {
	switch {
	case o.Name != "":
		return errors.New("--name picks a selection: pass -f FILE as well")
	case len(o.Sources) != 1:
		return errors.New("which catalog? pass one CATALOG; several need a selection, -f FILE")
	}
	if err := o.place.Check(); err != nil {
		return err
	}
	source, err := input.OpenSource(ctx, o.Sources[0], o.place.Source(), &o.Access)
	if err != nil {
		return err
	}
	if o.images {
		return o.listImages(ctx, imageSearch{selected: report.Everything(source.Catalog)}, stdout, notes)
	}
	list := newApplicationList(source.Catalog)
	if o.refers() {
		if err := list.refer(ctx, source.Catalog, notes); err != nil {
			return err
		}
	}
	return output.Write(stdout, o.output.Value, list)
}

// instances renders the selection for the objects of its instances, and warns of instances that are not installed.
func (o *listOptions) instances(ctx context.Context, sources []selection.Source, options render.Options, notes io.Writer) ([]report.Instance, error) {
	options.AllowEmpty = true
	result, err := render.Render(ctx, sources, options)
	if err != nil {
		return nil, o.Placed(err)
	}
	o.WarnUnmatched(notes, mention.UnmatchedInstances(result.Unresolved))
	return report.SummarizeInstances(o.Selection.CatalogSelection, result), nil
}
