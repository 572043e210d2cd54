// SPDX-License-Identifier: Apache-2.0

// Package departures lets objects leave the artifacts of selections: what another selection claims stays in the cluster. It must not
// know how a selection is rendered.
package departures

import (
	"fmt"
	"sync"

	"k8s.io/client-go/tools/record"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Departures lets objects leave the artifacts of selections. All fields are required.
type Departures struct {
	Holders *holders.Holders
	Objects *live.Objects
	Marks   *marks.Marks
	// Events receives the events about moves.
	Events record.EventRecorder

	// waiting maps the UID of a selection to the keys that it is about to give up, with the time since when. Nothing that others do
	// prolongs its wait.
	waiting sync.Map
}

// HandoverError reports that a selection cannot give up an object yet that another one may be about to claim.
type HandoverError struct{ message string }

// Reason is the reason of the condition.
func (e *HandoverError) Reason() string { return v1alpha1.HandoverReason }

func (e *HandoverError) Error() string { return e.message }

// changes is the error of an object that cannot be marked at the moment.
func changes(key safeguard.Key) error {
	return &HandoverError{fmt.Sprintf("%s is about to be marked, and changes at the same time", key.FullName())}
}
