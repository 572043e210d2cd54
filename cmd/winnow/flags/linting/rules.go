// SPDX-License-Identifier: Apache-2.0

// Package linting has the flags of the verbs that lint a catalog. It must not know what a verb does with the findings.
package linting

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/crdcheck"
	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/schema"
)

// Rules are the flags of the verbs that lint.
type Rules struct {
	// definitions are the values of --crds.
	Ignore, Definitions []string
}

// AddFlags adds the flags, and completes them.
func (o *Rules) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.Ignore, "ignore", nil, "`RULE` to leave out, several with commas")
	f.StringArrayVar(&o.Definitions, "crds", nil, "check with CRDs in `PLACE`: DIR, FILE, "+oci.Scheme)
	var names []string
	for _, rule := range slices.Concat(lint.Rules(), lint.ChartRules(), lint.SelectionRules()) {
		if lint.Ignorable(rule.ID) == nil {
			names = append(names, rule.ID)
		}
	}
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("ignore", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// Open checks the flags and returns the options of lint.Run.
func (o *Rules) Open(ctx context.Context, access *flags.Access) (lint.Options, error) {
	options := lint.Options{Ignore: o.Ignore}
	for _, rule := range o.Ignore {
		if err := lint.Ignorable(rule); err != nil {
			return lint.Options{}, fmt.Errorf("--ignore: %w", err)
		}
	}
	if len(o.Definitions) == 0 {
		return options, nil
	}
	set, err := crdcheck.OpenDefinitions(ctx, o.Definitions, access)
	if err != nil {
		return lint.Options{}, err
	}
	options.Schemas = schemas{set}
	return options, nil
}

// schemas implements schema.Schemas by the CustomResourceDefinitions of --crds.
type schemas struct{ set *crds.Set }

// Check is part of schema.Schemas.
func (s schemas) Check(ctx context.Context, document []byte) (problems []schema.Problem, known bool, err error) {
	built, err := dialect.Built(document)
	if err != nil {
		return nil, false, err
	}
	result, err := s.set.Check(ctx, built)
	if err != nil {
		return nil, false, err
	}
	for _, f := range result.Findings {
		if f.Message == crds.RulesUnchecked && len(result.Findings) > 1 {
			continue // the other findings are the reason for this one
		}
		problems = append(problems, schema.Problem{Field: f.Field, Message: f.Message})
	}
	return problems, len(result.Unchecked) == 0, nil
}
