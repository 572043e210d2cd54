// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster/departures"
	"github.com/winnow-dev/winnow/controllers/holds"
)

// holdUnkept turns the error about objects that Flux would delete although they are to stay into a hold that no approval releases.
func (a *attempt) holdUnkept(err error) error {
	if unkept, ok := errors.AsType[*departures.UnkeptError](err); ok {
		return a.naming(holds.New(v1alpha1.PruneNotDisabledReason, artifacts.Origin(a.observed), unkept.Reasons))
	}
	return err
}
