// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/loading"
)

// CatalogFiles has the flags that choose the files of a CATALOG and their format, for a verb without a selection.
type CatalogFiles struct {
	Format  *Choice
	include []string
}

// AddFlags adds the flags, and completes them.
func (o *CatalogFiles) AddFlags(cmd *cobra.Command) {
	names := catalog.FormatNames()
	o.Format = AddChoice(cmd, "format", "", "`FORMAT` of files", names...)
	// A line has no room for all of them, which completions and the error of another value have.
	cmd.Flags().Lookup("format").Usage = "`FORMAT` of the files, such as FileBased"
	cmd.Flags().StringSliceVar(&o.include, "include", nil, "only files like `PATTERN`: **/rds/*.yaml")
}

// Check returns an error for a flag that is not valid.
func (o *CatalogFiles) Check() error {
	if err := loading.CheckInclude(o.include); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// Source returns the reference to a source with these files.
func (o *CatalogFiles) Source() v1alpha1.SourceReference {
	return v1alpha1.SourceReference{Format: o.Format.Value, Include: o.include}
}

// IsSet reports whether one of the flags was given.
func (o *CatalogFiles) IsSet() bool {
	return o.Format.Value != v1alpha1.FormatAuto || len(o.include) > 0
}
