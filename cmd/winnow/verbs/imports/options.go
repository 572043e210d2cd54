// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/plain"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/kubermatic"
)

// importOptions are the flags of winnow import.
type importOptions struct {
	input.Options
	// place is the directory of a catalog, or a file of objects, empty for standard output.
	place, helmURL, versions, kkpVersion string
	latest                               int
	// as, image and plain are for bundles of operators.
	as    *flags.Choice
	image string
	plain plain.Options
}

// The values of --as.
const (
	asCatalog   = "catalog"
	asManifests = "manifests"
)

func (o *importOptions) addFlags(cmd *cobra.Command) {
	o.AddFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.place, "output", "o", "", "`DIR` of the catalog, or FILE of objects")
	f.StringVar(&o.helmURL, "helm-url", "", "`URL` of the Helm repository, for an index.yaml")
	f.StringVar(&o.versions, "versions", "", "`RANGE` of charts' versions: \">=1.2 <3\"")
	f.IntVar(&o.latest, "latest", 0, "`N` highest versions of a chart; 0 takes all")
	f.StringVar(&o.kkpVersion, "kkp-version", "", "`VERSION` of KKP, for a KubermaticConfiguration")
	o.as = flags.AddChoice(cmd, "as", "", "make a `FORM` of bundles", asCatalog, asManifests)
	f.StringVar(&o.image, "image", "", "`ADDRESS` of bundles' images, with {{.Version}}")
	f.StringVar(&o.plain.InstallNamespace, "install-namespace", "", "`NS` of the operator, for --as manifests")
	f.StringArrayVar(&o.plain.WatchNamespaces, "watch-namespace", nil, "`NS` that it watches, repeatable; default all")
	flags.CompleteNothing(cmd, "helm-url", "versions", "latest", "kkp-version", "image", "install-namespace", "watch-namespace")
}

// bundleFlags are the names of the flags for bundles.
func bundleFlags() []string { return []string{"as", "image", "install-namespace", "watch-namespace"} }

// indexFlags are the names of the flags for the index of a Helm repository.
func indexFlags() []string { return []string{"helm-url", "versions", "latest"} }

// checkFile checks the flags of an import to objects.
func (o *importOptions) checkFile(cmd *cobra.Command) error {
	if err := refuseFlags(cmd, indexFlags(), "is for catalogs of definitions"); err != nil {
		return err
	}
	if o.place == flags.ToStdout {
		o.place = ""
	}
	return flags.CheckDestination(cmd, "-o", "file", o.place)
}

// checkInstances checks the flags of an import to instances.
func (o *importOptions) checkInstances(cmd *cobra.Command, args []string) error {
	if o.File == flags.ToStdout && slices.Contains(args, flags.ToStdout) {
		return errors.New("standard input is one of -f and FILE: write the other one into a file")
	}
	return o.checkFile(cmd)
}

// refuseRelease returns an error if the release of KKP is set.
func refuseRelease(cmd *cobra.Command) error {
	return refuseFlags(cmd, []string{"kkp-version"}, "is for a "+kubermatic.Kind)
}

// refuseInstances returns an error for flags of instances without a selection.
func (o *importOptions) refuseInstances() error {
	if o.Name != "" || len(o.Sources) > 0 {
		return errors.New("--name and --source are for instances: pass -f SELECTION")
	}
	return nil
}

// refuseFlags returns an error if one of the flags is set.
func refuseFlags(cmd *cobra.Command, names []string, reason string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s %s: leave it out", name, reason)
		}
	}
	return nil
}
