package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// listOptions are the flags of winnow list.
type listOptions struct {
	selectionOptions
	place  placeOptions
	output *choice
}

func newListCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [CATALOG] [-f SELECTION]",
		Short: "List the applications of a catalog, with -f the decision on each",
		Long: "List the applications of a catalog; with -f the selection's decision on each:\n" +
			"whether it is in, the rule that decided, and the versions that stay; and its\n" +
			"instances, with the version that each resolves to.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"With -f alone it is that of the OCIRepository in the same file, or directory.\n\n" +
			"-o name prints kind.group/name, as kubectl get takes it; with -f, of what is\n" +
			"selected. -o wide has all columns, versions and facts on versions.\n\n" +
			"JSON and YAML have a list applications. Without -f: name, apiVersion, kind,\n" +
			"tier, versions, deprecated, path. With -f: name, source, selected, rule, reason,\n" +
			"tier, versions (that stay), dropped (versions), deprecated, merged (versions\n" +
			"that later sources add), and beside the list the numbers available, selected and\n" +
			"shadowed, and the list instances: name, application, source, requested, version,\n" +
			"backend, namespace, object (apiVersion, kind, namespace, name), release (name,\n" +
			"storageNamespace, targetNamespace, chart), or why it is not installed, reason.\n" +
			"Where the catalog has facts on versions: facts with version, number, channels,\n" +
			"deprecated and requires. Of packages of operators, with -f: package with\n" +
			"defaultChannel and channels (name, head, number, entries, deprecated), and\n" +
			"repairs. The table has the numbers of their versions, JSON the names.\n\n" +
			"Both also have the references that a cluster fetches, for each application (with\n" +
			"-f, for the selected ones) and, beside the list, for all, each once and sorted:\n\n" +
			"    charts   type (helm or git), from, to; name, version; tag, branch, commit\n" +
			"    images   from, to; those in default values, not those that charts bring\n" +
			"    urls     from, to; in default values, and perhaps never fetched\n\n" +
			"The address from is that before the selection's mirrors, to the one behind them.\n" +
			"A reference that cannot be copied unchanged has unknown: the tag, template or\n" +
			"repository of an image, or the chart. unsearched is the reason why default\n" +
			"values are no YAML.\n" +
			"See docs/guides/air-gap.md and docs/schemas.\n\n" +
			"Exit codes: 0 listed, 1 the catalog or selection is invalid, 2 usage or I/O.",
		Example: "  winnow list ./catalog\n\n" +
			"  winnow list ./catalog -f selection.yaml -o markdown\n\n" +
			"  # the images to copy into a mirror\n" +
			"  winnow list ./catalog -f selection.yaml -o json | jq -r '.images[].from'\n\n" +
			"  # several sources\n" +
			"  winnow list -f selection.yaml --source base=./base --source extra=./extra",
		Args:              arguments(0, 1, "one CATALOG, and for several -f SELECTION and --source NAME=CATALOG of each"),
		ValidArgsFunction: completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sources = append(args, o.sources...)
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), notes(cmd))
		},
	}
	o.addFlags(cmd)
	o.place.addFlags(cmd)
	o.output = addFormat(cmd, formatWide, formatName)
	return cmd
}

func (o *listOptions) run(ctx context.Context, stdin io.Reader, stdout, notes io.Writer) error {
	if o.file == "" {
		return o.listCatalog(ctx, stdout, notes)
	}
	if o.place.isSet() {
		return errors.New("--format and --include are for a CATALOG without -f: the selection's spec.sources has them")
	}
	sources, options, err := o.decide(ctx, stdin, notes)
	if err != nil {
		return err
	}
	result, err := render.Decide(ctx, sources, options)
	if err != nil {
		return o.placed(err)
	}
	o.warnUnmatched(notes, render.UnmatchedOf(sources, options))
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
	if err := write(stdout, o.output.value, list); err != nil {
		return err
	}
	fmt.Fprintf(notes, "%d of %s selected\n", result.Selected, plaintext.Count(result.Available, "application"))
	return nil
}

// refers reports whether the output format includes references.
func (o *listOptions) refers() bool {
	return o.output.value == formatJSON || o.output.value == formatYAML
}

func (o *listOptions) listCatalog(ctx context.Context, stdout, notes io.Writer) error {
	switch {
	case o.name != "":
		return errors.New("--name picks a selection: pass -f FILE as well")
	case len(o.sources) != 1:
		return errors.New("which catalog? pass one CATALOG; several need a selection, -f FILE")
	}
	if err := o.place.check(); err != nil {
		return err
	}
	source, err := openSource(ctx, o.sources[0], o.place.source(), &o.access)
	if err != nil {
		return err
	}
	list := newApplicationList(source.Catalog)
	if o.refers() {
		if err := list.refer(ctx, source.Catalog, notes); err != nil {
			return err
		}
	}
	return write(stdout, o.output.value, list)
}

// applicationList is the output of list without a selection.
type applicationList struct {
	document
	Applications []listedApplication `json:"applications"`
	*references
}

type listedApplication struct {
	Name       string   `json:"name"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Tier       string   `json:"tier,omitempty"`
	Versions   []string `json:"versions"`
	Deprecated string   `json:"deprecated,omitempty"`
	Path       string   `json:"path"`
	// Facts on the versions.
	Facts []versionFacts `json:"facts,omitempty"`
	referring
}

func newApplicationList(c *catalog.Catalog) *applicationList {
	list := &applicationList{document: newDocument("ApplicationList"), Applications: make([]listedApplication, 0, len(c.Applications))}
	for _, a := range c.Applications {
		list.Applications = append(list.Applications, listedApplication{
			Name: a.Name, APIVersion: a.APIVersion, Kind: a.Kind, Path: a.Path, Tier: a.Metadata.Tier,
			Versions: listed(a.Versions), Deprecated: a.Metadata.Deprecated, Facts: factsOf(a),
		})
	}
	return list
}

// refer adds the references of all applications, without mirrors.
func (l *applicationList) refer(ctx context.Context, c *catalog.Catalog, notes io.Writer) error {
	everything := make([]selection.Decision, len(c.Applications))
	for i, a := range c.Applications {
		everything[i] = selection.Decision{Application: a, Versions: a.Versions}
	}
	all, each, err := refer(ctx, everything, render.Options{}, notes)
	if err != nil {
		return err
	}
	l.references = all
	for i := range each {
		l.Applications[i].referring = each[i]
	}
	return nil
}

func (l *applicationList) grid(deprecatedWidth int) grid {
	g := grid{header: []string{"NAME", "TIER", "VERSIONS", "DEPRECATED"}}
	for _, a := range l.Applications {
		g.rows = append(g.rows, []string{a.Name, orDash(a.Tier), versionsColumn(labelsOf(a.Versions, a.Facts)), orDash(plaintext.Brief(a.Deprecated, deprecatedWidth))})
	}
	return g
}

func (l *applicationList) wide(w io.Writer) {
	g := grid{header: []string{"NAME", "TIER", "VERSIONS", "DEPRECATED", "APIVERSION", "PATH"}}
	for _, a := range l.Applications {
		g.rows = append(g.rows, []string{a.Name, orDash(a.Tier), withFacts(a.Versions, a.Facts), orDash(a.Deprecated), a.APIVersion, a.Path})
	}
	g.print(w)
}

func (l *applicationList) names() []string {
	names := make([]string, len(l.Applications))
	for i, a := range l.Applications {
		names[i] = resourceName(a.APIVersion, a.Kind, a.Name)
	}
	return names
}

func (l *applicationList) table(w io.Writer)    { l.grid(30).print(w) }
func (l *applicationList) markdown(w io.Writer) { l.grid(1000).markdown(w) }
