// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// FailOn is the value of --fail-on.
type FailOn struct {
	Names   []string
	allowed []string
}

// Add adds the flag, which takes the names.
func (c *FailOn) Add(cmd *cobra.Command, allowed []string) {
	c.allowed = allowed
	cmd.Flags().Var(c, "fail-on", "exit with 1 on `WHAT`, several with commas")
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// String is part of pflag.Value.
func (c *FailOn) String() string { return strings.Join(c.Names, ",") }

// Type is part of pflag.Value.
func (c *FailOn) Type() string { return "strings" }

// Set is part of pflag.Value.
func (c *FailOn) Set(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if !slices.Contains(c.allowed, name) {
			return fmt.Errorf("%q is none of %s", name, strings.Join(c.allowed, ", "))
		}
		c.Names = append(c.Names, name)
	}
	return nil
}
