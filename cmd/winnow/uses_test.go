// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/receipttest"
)

// subjects are what installations are drawn of; the last one is neither lost nor deprecated.
var subjects = []string{"alpha 1.0.0", "beta 1.0.0", "gamma 1.0.0", "alpha 2.0.0"}

// drawn is what the receipt of a cluster has: installations by subject, and why there may be more.
type drawn struct {
	installations map[string]int
	unknown       string
}

// draw publishes a receipt of a cluster, and returns its content.
func draw(f *receipttest.Hub, random *rand.Rand, name string, isComplete, isUnused bool) drawn {
	is := drawn{map[string]int{}, ""}
	applications := func(most int) (all []receipt.Use) {
		for _, subject := range subjects {
			if n := random.IntN(most + 1); n > 0 {
				application, version, _ := strings.Cut(subject, " ")
				all = append(all, receipt.Use{Application: application, Version: version, Installations: n})
				is.installations[subject] += n
			}
		}
		return all
	}
	most := random.IntN(2) * random.IntN(3) // most clusters use nothing
	if isUnused {
		most = 0
	}
	var uses []receipt.Uses
	by, age := name, time.Minute
	release := func() receipt.Uses { return receipt.Uses{Kind: "HelmRelease", Applications: applications(most)} }
	installation := func() receipt.Uses {
		return receipt.Uses{Kind: "ApplicationInstallation", Applications: applications(most)}
	}
	// Packages of OLM have other names.
	ofOLM := receipt.Uses{Kind: "Subscription", Applications: []receipt.Use{{Application: "beta", Version: "1.0.0", Installations: 7}}}
	state := random.IntN(12)
	if isComplete {
		state = 11
	}
	switch state {
	case 0:
		is.unknown = "send no receipt"
		f.Delete("receipts/" + name + "/manifests/latest")
		return is
	case 1:
		is.unknown, by = "have a receipt that is not theirs", "c00"
		if name == by {
			by = "c01"
		}
	case 2:
		is.unknown, uses = "have a receipt of an older winnow", nil
	case 3:
		is.unknown, uses, age = "have a receipt older than 1h0m0s", []receipt.Uses{release(), installation(), ofOLM}, 2*time.Hour
	case 4:
		is.unknown, uses = "may not list what installs it", []receipt.Uses{release(), {Kind: "ApplicationInstallation", Unknown: receipt.Forbidden}, ofOLM}
	case 5:
		is.unknown, uses = "are seeds, whose user clusters have the installations", []receipt.Uses{release(), {Kind: "ApplicationInstallation", Unknown: receipt.InUserClusters}}
	case 6:
		is.unknown = "cannot tell all installations"
		uses = []receipt.Uses{{Kind: "HelmRelease", Applications: applications(most), Unknown: receipt.TooMany}, installation()}
	default:
		uses = []receipt.Uses{release(), installation(), ofOLM}
	}
	f.Publish(name, f.Sign(by, name, age, func(r *receipt.Receipt) { r.Uses = uses }))
	return is
}

// wanted is what a report has to have on a subject, by the receipts of the clusters.
func wanted(all map[string]drawn, names []string, subject string) diff.Use {
	u := diff.Use{Clusters: []string{}, Asked: len(names), Unknown: []string{}}
	why := map[string]int{}
	for _, name := range names {
		if n := all[name].installations[subject]; n > 0 {
			u.Users, u.Installations, u.Clusters = u.Users+1, u.Installations+n, append(u.Clusters, name)
		}
		if all[name].unknown != "" {
			why[all[name].unknown]++
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		u.Unknown = append(u.Unknown, fmt.Sprintf("%d of %d clusters %s", why[reason], len(names), reason))
	}
	return u
}

// siteHas expects the first page of a site to have who uses what is deprecated.
func siteHas(t *testing.T, f *receipttest.Hub, want diff.Use) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	if got := clitest.Execute(context.WithoutCancel(t.Context()), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.Host+"/receipts", "-o", dir); got.Code != root.ExitOK {
		t.Fatalf("%+v", got)
	}
	text := "deprecated: gamma 1.0.0: no use known: "
	switch {
	case want.Installations > 0:
		text = fmt.Sprintf("%d installations of gamma 1.0.0: %s", want.Installations, want.Clusters[0])
	case want.IsUnused():
		text = "deprecated: gamma 1.0.0: unused in 40 of 40 clusters"
	}
	if page := clitest.ReadFile(t, filepath.Join(dir, "index.html")); !strings.Contains(page, text) {
		t.Errorf("the site does not have %q:\n%s", text, page)
	}
}

// Whatever the receipts of 40 clusters of two stages have: each report has all uses of what it loses and deprecates, of the clusters that it is about,
// and no other. What one does not have is unknown, and never unused.
func TestUsesOfAFleet(t *testing.T) {
	f := receipttest.NewHub(t, 40)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	address := "oci://" + f.Host + "/receipts"
	reports := map[string]struct {
		args     []string
		clusters []string
		subjects []string
	}{
		"the hub":    {[]string{"diff", "--git", "HEAD~1..HEAD"}, names, subjects[:3]},
		"staging":    {[]string{"promote", "--git", "oci://" + f.Host + "/rendered@" + f.Newer, "spokes/staging"}, names[:20], subjects[:2]},
		"production": {[]string{"promote", "--git", "oci://" + f.Host + "/rendered@" + f.Newer, "spokes/production"}, names[20:], subjects[:2]},
	}
	seen := map[bool]int{}
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		all := map[string]drawn{}
		for _, name := range names {
			all[name] = draw(f, random, name, seed%4 == 3, seed > 5)
		}
		for name, report := range reports {
			got := clitest.Execute(context.WithoutCancel(t.Context()), append(report.args, "--receipts", address, "--plain-http", "-o", "json", "--fail-on", "used")...)
			clitest.Shell(t, ".", "git checkout -q .")
			var printed diff.Report
			if err := json.Unmarshal([]byte(got.Stdout), &printed); err != nil {
				t.Fatalf("%v: %+v", err, got)
			}
			lost := false
			for _, subject := range report.subjects {
				want := wanted(all, report.clusters, subject)
				i := slices.IndexFunc(printed.Uses, func(u diff.Use) bool { return u.Name() == subject || u.Name() == "beta" && subject == "beta 1.0.0" })
				if i < 0 {
					t.Fatalf("%d: %s: nothing on %s: %+v", seed, name, subject, printed.Uses)
				}
				lost = lost || subject != subjects[2] && want.Installations > 0
				is := printed.Uses[i]
				if isRetired := subject == subjects[2]; isRetired != (is.Deprecated != "") || isRetired && want.IsUnused() != (is.Approve == "gamma/1.0.0") {
					t.Errorf("%d: %s: %s: %+v", seed, name, subject, is)
				}
				is.Application, is.Version, is.Deprecated, is.Approve, is.Since = "", "", "", "", nil
				if fmt.Sprint(is) != fmt.Sprint(want) {
					t.Errorf("%d: %s: %s: %+v, want %+v", seed, name, subject, is, want)
				}
			}
			if len(printed.Uses) != len(report.subjects) || (got.Code == root.ExitFindings) != lost || lost != strings.Contains(got.Stderr, "--fail-on used: ") {
				t.Errorf("%d: %s: exit code %d: %s%+v", seed, name, got.Code, got.Stderr, printed.Uses)
			}
			seen[lost]++
		}
		siteHas(t, f, wanted(all, names, subjects[2]))
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("nothing is shown: %v", seen)
	}
}
