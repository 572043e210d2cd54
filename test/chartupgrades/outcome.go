// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// What a line of a record says.
const (
	// Upgraded is the first line of an upgrade, with counts.
	Upgraded = "upgrade"
	// Uninstalled is an object that the API server refuses when the old version is installed: what the upgrade does to it is
	// not measured.
	Uninstalled = "old"
	// Refused is an object of the new version that the API server refuses.
	Refused = "refused"
	// RefusedAlone is one that it refuses as well where nothing was installed before.
	RefusedAlone = "refused-alone"
	// RefusedCRD is one of the directory crds, which Helm does not upgrade, but others do.
	RefusedCRD = "refused-crds"
	// RefusedByHelm is an object, or all of the upgrade, that Helm refuses before it sends anything.
	RefusedByHelm = "helm"
	// Deleted is an object that Helm deletes.
	Deleted = "deleted"
	// NotMeasured is an object, or all of the upgrade.
	NotMeasured = "not-measured"
)

// Line is a line of a record. Namespace stands for the namespace of the release in it.
type Line struct {
	Chart, Set, Old, New string
	What                 string
	Object               string // KIND.GROUP [NAMESPACE/]NAME; empty is all of the upgrade
	Field, Reason        string // the field of an upgrade is the keys of its values that are enabled
}

// IsOf reports whether a line is about an upgrade.
func (l Line) IsOf(p Pair) bool {
	return l.Chart == p.Chart && l.Set == p.Set && l.Old == p.Old.Version && l.New == p.New.Version
}

// Read returns the lines of a record.
func Read(record string) (all []Line, err error) {
	for number, text := range strings.Split(strings.TrimSuffix(record, "\n"), "\n") {
		row := strings.Split(text, "\t")
		if len(row) != 8 {
			return nil, fmt.Errorf("line %d of the record of upgrades has %d columns, want 8", number+1, len(row))
		}
		all = append(all, Line{row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]})
	}
	return all, nil
}

// Write writes lines, which Read reads.
func Write(w io.Writer, all []Line) error {
	for _, l := range all {
		_, err := fmt.Fprintln(w, strings.Join([]string{l.Chart, l.Set, l.Old, l.New, l.What, l.Object, l.Field, l.Reason}, "\t"))
		if err != nil {
			return err
		}
	}
	return nil
}

// Bounds of a line, in bytes.
const (
	maxObject = 160
	maxField  = 600
	maxReason = 160
)

// plain returns a text in one line of at most some bytes.
func plain(text string, most int) string {
	return excerpt.To(strings.Join(strings.Fields(excerpt.Printable(text)), " "), most)
}
