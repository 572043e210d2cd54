package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

// getOptions are the flags of winnow get.
type getOptions struct {
	connection

	all    bool
	output *choice
}

func newGetCommand() *cobra.Command {
	var o getOptions
	cmd := &cobra.Command{
		Use:   "get [NAME]...",
		Short: "List the CatalogSelections of a cluster with their state",
		Long: "List the CatalogSelections of a cluster with their state, as flux get does.\n\n" +
			"HELD is True while a safeguard holds a change: winnow approve shows it. MESSAGE\n" +
			"describes what is held, or else the condition Ready; it is cut to fit into 80\n" +
			"columns, and whole with -o wide. PUSHED and SUSPENDED are left out if no\n" +
			"selection is pushed or suspended, but not with -o wide, which has also the\n" +
			"numbers of applications and, where there are some, of instances.\n" +
			"-o yaml and -o json print the objects as kubectl does.\n\n" +
			"Exit codes: 0 done, 1 a NAME does not exist, 2 usage or no access.",
		Example: "  winnow get -n flux-system\n" +
			"  winnow get -A -o wide\n" +
			"  winnow get applications -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.all && len(args) > 0 {
				return errors.New("get takes NAME or --all-namespaces, not both: pass -n NAMESPACE")
			}
			return o.on(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.run(ctx, cluster, args, streams{cmd.OutOrStdout(), cmd.ErrOrStderr(), notes(cmd)})
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "selections of all namespaces")
	cmd.ValidArgsFunction = o.completeLive(math.MaxInt)
	o.output = addFormats(cmd, formatTable, formatWide, formatName, formatJSON, formatYAML)
	return cmd
}

func (o *getOptions) run(ctx context.Context, cluster *live.Cluster, names []string, out streams) error {
	found, missing := o.find(ctx, cluster, names)
	if missing != nil && len(found) == 0 {
		return missing
	}
	var err error
	switch format := o.output.value; {
	case format == formatJSON || format == formatYAML:
		err = printObjects(out.stdout, format, asKubectl(found, len(names) == 1))
	case len(found) == 0:
		fmt.Fprintf(out.notes, "no CatalogSelections found%s\n", o.where())
	case format == formatName:
		for _, s := range found {
			fmt.Fprintf(out.stdout, "catalogselection.%s/%s\n", v1alpha1.GroupVersion.Group, s.Name)
		}
	default:
		selectionTable(found, o.all, format == formatWide).print(out.stdout)
	}
	return errors.Join(err, missing)
}

// find returns the selections with the names, or all without names. With an error it returns those before it.
func (o *getOptions) find(ctx context.Context, cluster *live.Cluster, names []string) (found []*live.Selection, err error) {
	if len(names) > 0 {
		err = o.each(names, func(key types.NamespacedName) error {
			s, err := cluster.Selection(ctx, key)
			if err == nil {
				found = append(found, s)
			}
			return err
		})
		return found, err
	}
	namespace := o.namespace
	if o.all {
		namespace = ""
	}
	return cluster.Selections(ctx, namespace)
}

func (o *getOptions) where() string {
	if o.all {
		return ""
	}
	return " in namespace " + o.namespace
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

// printObjects prints YAML or JSON.
func printObjects(w io.Writer, format string, content map[string]any) error {
	if format == formatJSON {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "    ") // as kubectl
		return encoder.Encode(content)
	}
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
