// SPDX-License-Identifier: Apache-2.0

// Package get is winnow get: it lists the selections of a cluster with their state, and follows them.
package get

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// getOptions are the flags of winnow get.
type getOptions struct {
	clusterflags.Connection

	everywhere, watch, noHeaders bool
	selector                     string
	output                       *flags.Choice
}

// New returns winnow get.
func New() *cobra.Command {
	var o getOptions
	cmd := &cobra.Command{
		Use:   "get [NAME]...",
		Short: "List the CatalogSelections of a cluster with their state",
		Long: "List the CatalogSelections of a cluster with their state, problems first.\n\n" +
			"READY, SOURCES, APPLIED and PUSHED are FAIL where that condition is False, or\n" +
			"WAIT where its reason is Progressing, and HELD is HELD while a safeguard holds a\n" +
			"change: winnow approve shows it. READY is about the artifact: while SOURCES is\n" +
			"FAIL, the last one is still served.\n" +
			"MESSAGE has all problems of a selection, or else the condition Ready. A terminal\n" +
			"shows what fits; -o wide and a pipe have all of it. CATALOG is the revision of\n" +
			"the catalogs. PUSHED and SUSPENDED are there if a selection is pushed or\n" +
			"suspended. -o wide always has them, and the numbers of applications, instances,\n" +
			"bypassed definitions, and orphaned ones, which left the artifact and live on.\n" +
			"-o yaml and -o json print the objects as kubectl does.\n\n" +
			"winnow get instances lists the instances of selections.\n\n" +
			"-w prints the table, and then a line for each change, until it is interrupted.\n\n" +
			"Exit codes: 0 done, 1 a NAME does not exist, 2 usage or no access.",
		Example: "  winnow get -n flux-system\n" +
			"  winnow get -A -o wide\n" +
			"  winnow get -A -l tier=edge -w\n" +
			"  winnow get applications -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = withoutKind(args)
			if err := o.check(args); err != nil {
				return err
			}
			out := flags.StreamsOf(cmd)
			l := layout{
				namespaces: o.everywhere, wide: o.output.Value == output.FormatWide, headers: !o.noHeaders,
				colour: flags.HasColour(cmd, out.Stdout), width: output.WidthOf(out.Stdout),
			}
			if o.watch {
				return o.follow(cmd.Context(), args, l, out)
			}
			return o.On(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.run(ctx, cluster, args, l, out)
			})
		},
	}
	o.AddFlags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "selections of all namespaces")
	f.BoolVarP(&o.watch, "watch", "w", false, "print changes until interrupted")
	f.BoolVar(&o.noHeaders, "no-headers", false, "print no names of columns")
	f.StringVarP(&o.selector, "selector", "l", "", "only selections with `LABELS`: tier=edge")
	flags.CompleteNothing(cmd, "selector")
	cmd.ValidArgsFunction = o.CompleteLive(math.MaxInt)
	cmd.AddCommand(newInstances())
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatWide, output.FormatName, output.FormatJSON, output.FormatYAML)
	return cmd
}

// withoutKind returns arguments without the kind that kubectl takes first.
func withoutKind(args []string) []string {
	kinds := []string{"catalogselection", "catalogselections", "catsel"}
	if len(args) > 0 && slices.Contains(kinds, strings.ToLower(args[0])) {
		return args[1:]
	}
	return args
}

// check returns an error for flags that do not fit.
func (o *getOptions) check(names []string) error {
	_, err := labels.Parse(o.selector)
	switch {
	case o.everywhere && len(names) > 0:
		return errors.New("get takes NAME or --all-namespaces, not both: pass -n NAMESPACE")
	case o.selector != "" && len(names) > 0:
		return errors.New("get takes NAME or --selector, not both")
	case err != nil:
		return fmt.Errorf("--selector %s: %w", o.selector, err)
	case o.watch && o.output.Value != output.FormatTable && o.output.Value != output.FormatWide:
		return fmt.Errorf("--watch prints tables: pass no -o %s", o.output.Value)
	}
	return nil
}

func (o *getOptions) run(ctx context.Context, cluster *live.Cluster, names []string, l layout, out output.Streams) error {
	found, missing := o.find(ctx, cluster, names)
	if missing != nil && len(found) == 0 {
		return missing
	}
	var err error
	switch format := o.output.Value; {
	case format == output.FormatJSON || format == output.FormatYAML:
		err = output.Encode(out.Stdout, format, asKubectl(found, len(names) == 1))
	case len(found) == 0:
		elsewhere := ""
		if !o.everywhere && o.selector == "" {
			elsewhere = cluster.Elsewhere(ctx)
		}
		fmt.Fprintf(out.Notes, "no CatalogSelections found%s%s\n", o.where(), elsewhere)
	case format == output.FormatName:
		for _, s := range found {
			fmt.Fprintf(out.Stdout, "catalogselection.%s/%s\n", v1alpha1.GroupVersion.Group, s.Name)
		}
	default:
		newSelectionTable(worstFirst(found), l).print(out.Stdout)
	}
	return errors.Join(err, missing)
}

// find returns the selections with the names, or all without names. With an error it returns the ones before it.
func (o *getOptions) find(ctx context.Context, cluster *live.Cluster, names []string) (found []*live.Selection, err error) {
	if len(names) > 0 {
		err = o.Each(o.Keys(names), func(key types.NamespacedName) error {
			s, err := cluster.Selection(ctx, key)
			if err == nil {
				found = append(found, s)
			}
			return err
		})
		return found, err
	}
	return cluster.Selections(ctx, o.in(), o.selector)
}

// in returns the namespace to read, empty for all.
func (o *getOptions) in() string {
	if o.everywhere {
		return ""
	}
	return o.Namespace
}

func (o *getOptions) where() (text string) {
	if !o.everywhere {
		text = " in namespace " + o.Namespace
	}
	if o.selector != "" {
		text += " with " + o.selector
	}
	return text
}

// follow prints the table, and then the rows that change, until it is interrupted.
func (o *getOptions) follow(ctx context.Context, names []string, l layout, out output.Streams) error {
	cluster, err := o.Open()
	if err != nil {
		return err
	}
	printed := &changes{layout: l, out: out.Stdout}
	return o.Explain(cluster.Watch(ctx, live.Watch{Namespace: o.in(), Labels: o.selector, Timeout: o.Timeout, Changed: func(c live.Change) error {
		other := func(s *live.Selection) bool { return len(names) > 0 && !slices.Contains(names, s.Name) }
		for _, of := range []*[]*live.Selection{&c.All, &c.Changed, &c.Deleted} {
			*of = slices.DeleteFunc(slices.Clone(*of), other)
		}
		if len(c.All)+len(c.Deleted) == 0 && printed.header == "" {
			fmt.Fprintf(out.Notes, "no CatalogSelections found%s, waiting for some\n", o.where())
		}
		printed.layout.width = output.WidthOf(out.Stdout) // users resize terminals
		return printed.print(c)
	}}))
}

// asKubectl returns an object alone, and others as a list.
func asKubectl(found []*live.Selection, alone bool) map[string]any {
	if alone {
		return found[0].Object.Object
	}
	items := make([]any, len(found))
	for i, s := range found {
		items[i] = s.Object.Object
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items}
}

// instanceList is what winnow get instances prints.
type instanceList struct {
	output.Document
	Instances []instance `json:"instances"`

	namespaces bool
	// width of a line; 0: messages are not cut.
	width int
}

// instance is an instance in the artifact of a selection.
type instance struct {
	Namespace string `json:"namespace"`
	Selection string `json:"selection"`

	v1alpha1.InstanceStatus
}

// Documents returns the documents that the verb prints.
func Documents() []any { return []any{newInstanceList()} }

func newInstanceList() *instanceList {
	return &instanceList{Document: output.NewDocument("InstanceList"), Instances: []instance{}}
}

// newInstances returns winnow get instances.
func newInstances() *cobra.Command {
	var o getOptions
	cmd := &cobra.Command{
		Use:   "instances [NAME]...",
		Short: "List the instances of CatalogSelections with their state",
		Long: "List the instances in the artifacts of CatalogSelections, of all or of each\n" +
			"NAME, with the state that the controller has read from their objects. Unready\n" +
			"instances come first.\n\n" +
			"READY is the state of the object that installs the instance. It is Unknown where\n" +
			"the controller cannot read the object, or the object tells only that something\n" +
			"is installed. MESSAGE has the details. It is cut to fit into the terminal, and\n" +
			"whole in a pipe.\n\n" +
			"Exit codes: 0 done, 1 a NAME does not exist, 2 usage or no access.",
		Example: "  winnow get instances -n flux-system\n" +
			"  winnow get instances -A -o json\n" +
			"  winnow get instances applications",
		Args: func(_ *cobra.Command, args []string) error { return o.check(args) },
		RunE: o.Command(o.listInstances),
	}
	o.AddFlags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "selections of all namespaces")
	f.StringVarP(&o.selector, "selector", "l", "", "only of selections with `LABELS`, such as tier=edge")
	flags.CompleteNothing(cmd, "selector")
	cmd.ValidArgsFunction = o.CompleteLive(math.MaxInt)
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (o *getOptions) listInstances(ctx context.Context, cluster *live.Cluster, names []string, out output.Streams) error {
	found, missing := o.find(ctx, cluster, names)
	if missing != nil && len(found) == 0 {
		return missing
	}
	list := listOf(found)
	list.namespaces, list.width = o.everywhere, output.WidthOf(out.Stdout)
	if len(list.Instances) == 0 && o.output.Value == output.FormatTable {
		fmt.Fprintf(out.Notes, "no instances found%s\n", o.where())
		return missing
	}
	return errors.Join(output.Write(out.Stdout, o.output.Value, list), missing)
}

// listOf returns the instances of selections, unready ones first.
func listOf(found []*live.Selection) *instanceList {
	list := newInstanceList()
	for _, s := range found {
		for _, in := range s.Status.Instances {
			list.Instances = append(list.Instances, instance{s.Namespace, s.Name, in})
		}
	}
	rank := func(in instance) int {
		return slices.Index([]metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown, "", metav1.ConditionTrue}, in.Ready)
	}
	slices.SortStableFunc(list.Instances, func(a, b instance) int { return rank(a) - rank(b) })
	return list
}

// Table implements output.View.
func (l *instanceList) Table(w io.Writer) {
	g := output.Grid{Header: []string{"SELECTION", "INSTANCE", "APPLICATION", "VERSION", "READY", "MESSAGE"}}
	if l.namespaces {
		g.Header = slices.Insert(g.Header, 0, "NAMESPACE")
	}
	for _, in := range l.Instances {
		row := []string{in.Selection, in.Name, in.Application, output.OrDash(in.Version), output.OrDash(string(in.Ready)), in.Message}
		if l.namespaces {
			row = slices.Insert(row, 0, in.Namespace)
		}
		g.Rows = append(g.Rows, row)
	}
	g.CutLast(l.width, leastMessage)
	g.Print(w)
}
