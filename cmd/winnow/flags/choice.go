// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// Choice is the value of a flag that allows a fixed set of values. The first is the default.
type Choice struct {
	Value   string
	allowed []string
	// Alias is another word for the first value; may be empty.
	Alias string
}

// AddChoice adds the flag with its completion.
func AddChoice(cmd *cobra.Command, name, shorthand, usage string, allowed ...string) *Choice {
	c := &Choice{Value: allowed[0], allowed: allowed}
	cmd.Flags().VarP(c, name, shorthand, usage+": "+strings.Join(allowed, ", "))
	cmd.Flags().Lookup(name).DefValue = "" // the first of the list, as everywhere
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// AddFormats adds -o with the formats, in the order of all.
func AddFormats(cmd *cobra.Command, with ...string) *Choice {
	all := slices.DeleteFunc(output.Formats(), func(one string) bool { return !slices.Contains(with, one) })
	return AddChoice(cmd, "output", "o", "`FORMAT`", all...)
}

// String is part of pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type is part of pflag.Value.
func (c *Choice) Type() string { return "string" }

// Set is part of pflag.Value.
func (c *Choice) Set(value string) error {
	if value != "" && value == c.Alias {
		value = c.allowed[0]
	}
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("use one of %s", strings.Join(c.allowed, ", "))
	}
	c.Value = value
	return nil
}

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
