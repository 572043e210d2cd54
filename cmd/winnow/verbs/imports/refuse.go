// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/kubermatic"
)

// checkFile checks the flags of an import to objects, and returns the file that they are written to, empty for standard output.
func checkFile(cmd *cobra.Command, place string) (string, error) {
	if err := refuseFlags(cmd, indexFlags(), "is for catalogs of definitions"); err != nil {
		return "", err
	}
	if place == flags.ToStdout {
		place = ""
	}
	return place, flags.CheckDestination(cmd, "-o", "file", place)
}

// indexFlags are the names of the flags for the index of a Helm repository.
func indexFlags() []string { return []string{"helm-url", "versions", "latest"} }

// refuseRelease returns an error if the release of KKP is set.
func refuseRelease(cmd *cobra.Command) error {
	return refuseFlags(cmd, []string{"kkp-version"}, "is for a "+kubermatic.Kind)
}

// refuseInstances returns an error for flags of instances without a selection.
func refuseInstances(options *input.Options) error {
	if options.Name != "" || len(options.Sources) > 0 {
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
