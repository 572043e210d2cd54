// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/observed"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Fleet is what winnow fleet prints.
type Fleet struct {
	output.Document

	// Clusters, problems first, then by stage.
	Clusters []*observed.Cluster `json:"clusters"`

	now   time.Time
	width int
}

// Documents returns the documents that the verb prints.
func Documents() []any { return []any{newFleet()} }

func newFleet() *Fleet {
	return &Fleet{Document: output.NewDocument("Fleet"), Clusters: []*observed.Cluster{}}
}

// anyProblem is the word of --fail-on for all problems.
const anyProblem = "any"

// problems returns the words of --fail-on. A receipt that cannot be read is an error.
func problems() []string {
	names := slices.DeleteFunc(observed.Names(), func(name string) bool { return name == observed.Unreadable })
	return append(names, anyProblem)
}

// leastMessage is the least width of the column MESSAGE.
const leastMessage = 20

// Table implements output.View.
func (f *Fleet) Table(w io.Writer) {
	g := f.grid()
	g.CutLast(f.width, leastMessage)
	g.Print(w)
}

// Wide prints messages as a whole, and digests.
func (f *Fleet) Wide(w io.Writer) {
	g := f.grid()
	at := len(g.Header) - 1
	g.Header = slices.Insert(g.Header, at, "DIGEST")
	for i, c := range f.Clusters {
		g.Rows[i] = slices.Insert(g.Rows[i], at, output.OrDash(c.Digest))
	}
	g.Print(w)
}

func (f *Fleet) grid() output.Grid {
	g := output.Grid{Header: []string{"CLUSTER", "STAGE", "PROBLEM", "VERSION", "READY", "AGE", "MESSAGE"}}
	for _, c := range f.Clusters {
		var names, messages []string
		for _, p := range c.Problems {
			names, messages = append(names, p.Name), append(messages, p.Message)
		}
		age := ""
		if c.Receipt != nil {
			age = duration.HumanDuration(max(f.now.Sub(c.Receipt.Time), 0))
		}
		g.Rows = append(g.Rows, []string{
			c.Name, c.Stage, output.OrDash(strings.Join(names, ",")), output.OrDash(cmp.Or(c.Version, short(c.Digest))), output.OrDash(string(c.Ready)),
			output.OrDash(age), strings.Join(messages, "; "),
		})
	}
	return g
}

// short returns the beginning of a digest, as Flux shows it, and of a longer text.
func short(digest string) string {
	const shown = len("sha256:") + 12
	return digest[:min(len(digest), shown)]
}

// verdict returns a line with the numbers.
func (f *Fleet) verdict() string {
	fine := 0
	for _, c := range f.Clusters {
		if len(c.Problems) == 0 {
			fine++
		}
	}
	parts := []string{fmt.Sprintf("%s, %d without problems", plaintext.Count(len(f.Clusters), "cluster"), fine)}
	for _, name := range observed.Names() {
		if found := f.with(name); len(found) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(found), name))
		}
	}
	return strings.Join(parts, ", ")
}

// with returns the clusters with a problem.
func (f *Fleet) with(problem string) []*observed.Cluster {
	return slices.DeleteFunc(slices.Clone(f.Clusters), func(c *observed.Cluster) bool {
		return !c.Has(problem) && (problem != anyProblem || len(c.Problems) == 0)
	})
}

// err returns the error for clusters whose receipts cannot be read, and a finding for what --fail-on names.
func (f *Fleet) err(failOn []string) error {
	const listed = 10
	name := func(c *observed.Cluster) string { return c.Name }
	if found := f.with(observed.Unreadable); len(found) > 0 {
		return fmt.Errorf("the receipts of %s cannot be read: %s: %w", plaintext.Count(len(found), "cluster"), excerpt.List(found, listed, name), found[0].Failure)
	}
	var tripped []string
	for _, problem := range failOn {
		if found := f.with(problem); len(found) > 0 {
			tripped = append(tripped, problem+": "+excerpt.List(found, listed, name))
		}
	}
	if len(tripped) > 0 {
		return output.Finding(errors.New("--fail-on " + strings.Join(tripped, "; ")))
	}
	return nil
}
