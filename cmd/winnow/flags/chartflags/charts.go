// SPDX-License-Identifier: Apache-2.0

// Package chartflags has the flag of the verbs that look into charts. It must not know what a verb does with a rendered one.
package chartflags

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/sandbox"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
)

// Charts is the flag of the verbs that look into charts. The zero value looks into none.
type Charts struct{ place chartPlace }

const chartsFlag = "charts"

// AddFlags adds the flag.
func (o *Charts) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&o.place, chartsFlag, "render charts; `[=from]` originals, or [=DIR]")
	f.Lookup(chartsFlag).NoOptDefVal = behindMirrors
	flags.CompleteNothing(cmd, chartsFlag)
}

// IsSet reports whether charts are asked for.
func (o *Charts) IsSet() bool { return o.place != "" }

// Renderer returns a renderer of the charts in the place that the flag names. access reaches the place.
func (o *Charts) Renderer(ctx context.Context, access *flags.Access) (charts.Renderer, error) {
	process, err := sandbox.New(sandbox.Default())
	if err != nil {
		return charts.Renderer{}, err
	}
	r := charts.Renderer{Sandbox: process, FromOriginals: o.place == beforeMirrors}
	if o.place != beforeMirrors && o.place != behindMirrors {
		r.Source, err = fetching.OpenDirectory(ctx, string(o.place))
		if err != nil {
			err = fmt.Errorf("--%s=%s: %w", chartsFlag, o.place, err)
		}
		return r, err
	}
	reached, err := access.Open(ctx)
	if err != nil {
		return charts.Renderer{}, err
	}
	r.Source, err = fetching.New(reached, fetching.UserCache())
	return r, err
}

// Places of charts: their addresses behind the mirrors, or before them. Others are directories.
const (
	behindMirrors = "true"
	beforeMirrors = "from"
)

// chartPlace is the value of --charts. It is empty without the flag.
type chartPlace string

// String is part of pflag.Value.
func (p *chartPlace) String() string { return string(*p) }

// Type is part of pflag.Value. The help shows a boolean as a flag that needs no value.
func (p *chartPlace) Type() string { return "bool" }

// Set is part of pflag.Value. It takes true and false as a boolean does.
func (p *chartPlace) Set(value string) error {
	switch {
	case value == "false":
		*p = ""
	case strings.TrimSpace(value) == "":
		return errors.New("want from, or a directory of charts")
	default:
		*p = chartPlace(value)
	}
	return nil
}
