// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"strings"
	"time"
)

// Use is the number of installations of an application, or of a version of it, by the receipts of clusters.
type Use struct {
	Application string `json:"application"`
	// Version is empty for all versions.
	Version string `json:"version,omitempty"`
	// Deprecated is the message of a version that stays. Others are lost.
	Deprecated string `json:"deprecated,omitempty"`
	// Installations that are known, the number of clusters that have them, and the first names of these.
	Installations int      `json:"installations"`
	Users         int      `json:"users"`
	Clusters      []string `json:"clusters"`
	// Asked is the number of clusters, and Unknown are sentences on those that may have more.
	Asked   int      `json:"asked"`
	Unknown []string `json:"unknown"`
	// Approve is the line that names the removal of what is deprecated and unused.
	Approve string `json:"approve,omitempty"`
	// Since is the time of the oldest receipt that counts.
	Since *time.Time `json:"since,omitempty"`
}

// Name names the application, with its version.
func (u Use) Name() string { return strings.TrimSpace(u.Application + " " + u.Version) }

// IsUnused reports whether every cluster has told that it has none.
func (u Use) IsUnused() bool { return u.Installations == 0 && len(u.Unknown) == 0 }

// Withdrawal is what installations are counted of.
type Withdrawal struct {
	Application `json:"-"`
	// Version is empty for all versions, and Deprecated is the message of one that stays.
	Version    string `json:"-"`
	Deprecated string `json:"-"`
}
