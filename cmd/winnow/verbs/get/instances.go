// SPDX-License-Identifier: Apache-2.0

package get

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

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
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			out := flags.StreamsOf(cmd)
			return o.On(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.listInstances(ctx, cluster, args, out)
			})
		},
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
