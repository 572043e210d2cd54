package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
)

// placeOptions are the flags for which files of a CATALOG are read, and how, where no selection says so.
type placeOptions struct {
	format  *choice
	include []string
}

func (o *placeOptions) addFlags(cmd *cobra.Command) {
	names := catalog.FormatNames()
	o.format = addChoice(cmd, "format", "", "`FORMAT` of files", names...)
	// A line has no room for all of them, which completions and the error of another value have.
	cmd.Flags().Lookup("format").Usage = "`FORMAT` of the files, such as FileBased"
	cmd.Flags().StringSliceVar(&o.include, "include", nil, "only files like `PATTERN`, such as **/rds/*.yaml")
}

// check returns an error for a flag that is not valid.
func (o *placeOptions) check() error {
	if err := render.CheckInclude(o.include); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// source returns the reference to a source with this place.
func (o *placeOptions) source() v1alpha1.SourceReference {
	return v1alpha1.SourceReference{Format: o.format.value, Include: o.include}
}

// isSet reports whether one of the flags was given.
func (o *placeOptions) isSet() bool {
	return o.format.value != v1alpha1.FormatAuto || len(o.include) > 0
}
