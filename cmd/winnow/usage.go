package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winnow-dev/winnow/render/spelling"
)

// didYouMean returns "; did you mean A or B?" for the known names that resemble name, or nothing.
func didYouMean(name, prefix string, known []string) string {
	near := spelling.Nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(near, " or "+prefix) + "?"
}

// unknownVerb returns the error for a verb that root does not have.
func unknownVerb(root *cobra.Command, name string) error {
	var known []string
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			known = append(known, cmd.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s; see %s --help", name, didYouMean(name, "", known), root.CommandPath())
}

// rootArguments refuses what follows the program's name and is no verb.
func rootArguments(root *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownVerb(root, args[0])
	}
	return nil
}

// flagError explains an error of the flags. Flags after an unknown verb are parsed as those of the root.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
		return unknownVerb(cmd, args[0])
	}
	meant := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		meant = didYouMean(unknown.GetSpecifiedName(), "--", known)
	}
	return fmt.Errorf("%w%s; see %s --help", err, meant, cmd.CommandPath())
}
