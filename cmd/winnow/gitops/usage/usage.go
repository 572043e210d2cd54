// SPDX-License-Identifier: Apache-2.0

// Package usage adds to a report who uses what the change loses, by the receipts of clusters. It must not know registries, nor what
// a receipt permits: it permits nothing.
package usage

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// maxNames bounds the names of the clusters of a use, and maxCause an error, in bytes.
const maxNames, maxCause = 100, 512

// question is what clusters are asked for.
type question struct {
	diff.Withdrawal

	// clusters are indexes in the list of all, each once.
	clusters map[int]bool
}

// Questions are what the clusters of selections are asked for.
type Questions struct {
	all []*question
	// Clusters are those that are asked for something.
	Clusters []stages.Cluster
	// named are the indexes of clusters by name.
	named map[string][]int
}

// Of returns the questions on what the selections of a report lose, and on what they deprecate.
func Of(report *diff.Report, users []stages.Users) *Questions {
	q := &Questions{named: map[string][]int{}}
	asked := map[string]*question{}
	for _, s := range report.Selections {
		withdrawn := s.Withdrawals()
		if len(withdrawn) == 0 {
			continue
		}
		clusters := q.indexesOf(s, users)
		for _, one := range withdrawn {
			id := fmt.Sprintf("%q", []string{one.APIVersion, one.Kind, one.Name, one.Version, one.Deprecated})
			if asked[id] == nil {
				asked[id] = &question{Withdrawal: one, clusters: map[int]bool{}}
				q.all = append(q.all, asked[id])
			}
			for _, i := range clusters {
				asked[id].clusters[i] = true
			}
		}
	}
	return q
}

// indexesOf returns the indexes of the clusters of a selection, which it adds where they are new. A cluster of two directories has one
// receipt.
func (q *Questions) indexesOf(s *diff.Selection, users []stages.Users) (all []int) {
	for _, u := range users {
		if !isOf(u, s) {
			continue
		}
		for _, c := range u.Clusters {
			of := slices.IndexFunc(q.named[c.Name], func(i int) bool { return q.Clusters[i].Key.Equal(c.Key) })
			if of < 0 {
				of = len(q.named[c.Name])
				q.named[c.Name] = append(q.named[c.Name], len(q.Clusters))
				q.Clusters = append(q.Clusters, c)
			}
			all = append(all, q.named[c.Name][of])
		}
	}
	return all
}

// isOf reports whether the clusters have what a selection publishes: their keys are beside its file, or beside an OCIRepository
// of what it pushes. One whose address is not known, because of variables or a kustomization, may be.
func isOf(u stages.Users, s *diff.Selection) bool {
	return s.OldFile != "" && u.Dir == path.Dir(s.OldFile) || s.PushURL != "" && (u.IsOverlay || slices.ContainsFunc(u.URLs, func(url string) bool {
		return url == s.PushURL || strings.Contains(url, "${")
	}))
}

// Answer returns the uses in the receipts of Clusters, in their order. What a receipt does not have is unknown, never unused. What is
// used comes first, then what may be, and what is lost before what is deprecated.
func (q *Questions) Answer(receipts []pulling.Result, now time.Time) []diff.Use {
	all := make([]answers, len(receipts))
	first, isAnyThere := "", slices.ContainsFunc(receipts, func(r pulling.Result) bool { return !r.IsMissing() })
	for i, r := range receipts {
		all[i] = answersOf(r, now)
		switch {
		case all[i].none == unreadable:
			// One cause for all: the errors of a registry differ by the name of the cluster.
			first = cmp.Or(first, fmt.Sprintf("%s, first %s: %s", unreadable, q.Clusters[i].Name, excerpt.To(redact.Text(r.Err.Error()), maxCause)))
			all[i].none = first
		case !isAnyThere:
			all[i].none += ": is the address right?"
		}
	}
	uses := []diff.Use{}
	for _, one := range q.all {
		uses = append(uses, q.answer(one, all))
	}
	rank := func(u diff.Use) string {
		return fmt.Sprint(u.Deprecated != "", u.Installations == 0, u.IsUnused()) // false is less than true
	}
	slices.SortStableFunc(uses, func(a, b diff.Use) int { return cmp.Compare(rank(a), rank(b)) })
	return uses
}

func (q *Questions) answer(one *question, all []answers) diff.Use {
	u := diff.Use{Application: one.Name, Version: one.Version, Deprecated: one.Deprecated, Clusters: []string{}, Asked: len(one.clusters), Unknown: []string{}}
	why := map[string]int{}
	for _, i := range slices.Sorted(maps.Keys(one.clusters)) {
		installations, unknown := all[i].of(one.Withdrawal)
		if unknown != "" {
			why[unknown]++
		}
		if installations > 0 {
			u.Users, u.Installations = u.Users+1, u.Installations+installations
			u.Clusters = append(u.Clusters, q.Clusters[i].Name)
		}
		if at := all[i].time; at != nil && (u.Since == nil || at.Before(*u.Since)) {
			u.Since = at
		}
	}
	slices.Sort(u.Clusters)
	u.Clusters = u.Clusters[:min(len(u.Clusters), maxNames)]
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		u.Unknown = append(u.Unknown, fmt.Sprintf("%d of %d clusters %s", why[reason], u.Asked, reason))
	}
	if u.Asked == 0 {
		u.Unknown = append(u.Unknown, "Git has no keys of its clusters")
	}
	if u.Deprecated != "" && u.IsUnused() {
		u.Approve = approval.Line{Application: u.Application, Version: u.Version}.Writable().String()
	}
	return u
}

// answers are what a receipt has on uses.
type answers struct {
	time *time.Time
	// none is why it has nothing, or nothing of today.
	none string
	// counts are the installations by kind, application and version. totals has all versions of an application.
	counts map[[3]string]int
	totals map[[2]string]int
	// unknown is why there may be more by a kind; empty for a kind that is counted.
	unknown map[string]string
}

// Reasons why something is unknown, about some clusters.
const older, incomplete, unreadable = "have a receipt of an older winnow", "cannot tell all installations", "have a receipt that cannot be read"

// reasons explain the reasons in a receipt. A newer winnow may have others.
var reasons = map[string]string{
	receipt.Forbidden: "may not list what installs it", receipt.InUserClusters: "are seeds, whose user clusters have the installations", receipt.TooMany: incomplete,
}

func answersOf(r pulling.Result, now time.Time) answers {
	switch {
	case r.IsMissing():
		return answers{none: "send no receipt"}
	case r.IsForged():
		return answers{none: "have a receipt that is not theirs"}
	case r.Err != nil:
		return answers{none: unreadable}
	}
	a := answers{time: &r.Receipt.Time, counts: map[[3]string]int{}, totals: map[[2]string]int{}, unknown: map[string]string{}}
	if now.Sub(r.Receipt.Time) > pulling.MaxAge {
		a.none = fmt.Sprintf("have a receipt older than %s", pulling.MaxAge)
	}
	for _, kind := range r.Receipt.Uses {
		a.unknown[kind.Kind] = ""
		if kind.Unknown != "" {
			a.unknown[kind.Kind] = cmp.Or(reasons[kind.Unknown], incomplete)
		}
		for _, use := range kind.Applications {
			a.counts[[3]string{kind.Kind, use.Application, use.Version}] += use.Installations
			a.totals[[2]string{kind.Kind, use.Application}] += use.Installations
		}
	}
	return a
}

// of returns the installations that are known, and why there may be more.
func (a answers) of(s diff.Withdrawal) (installations int, unknown string) {
	unknown = a.none
	by := installersOf(s.Application)
	if len(by) == 0 {
		unknown = cmp.Or(unknown, "do not count installations of its kind")
	}
	for _, kind := range by {
		if s.Version == "" {
			installations += a.totals[[2]string{kind, s.Name}]
		} else {
			installations += a.counts[[3]string{kind, s.Name, s.Version}]
		}
		why, isCounted := a.unknown[kind]
		switch {
		case !isCounted:
			why = older
		case why == "" && s.Version != "" && a.counts[[3]string{kind, s.Name, ""}] > 0:
			why = "have installations of unknown versions"
		}
		unknown = cmp.Or(unknown, why)
	}
	return installations, unknown
}

// installersOf returns the kinds of the objects that install an application; none for a kind that nothing installs.
func installersOf(a diff.Application) []string {
	switch {
	case a.IsPackage():
		return []string{kinds.ClusterExtension.Kind, kinds.Subscription.Kind}
	case a.OfKKP():
		return []string{kinds.ApplicationInstallation.Kind, kinds.HelmRelease.Kind}
	case safeguard.Definition{APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name}.Key().IsDefinition():
		return []string{kinds.HelmRelease.Kind, kinds.Terraform.Kind}
	}
	return nil
}
