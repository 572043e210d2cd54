// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/farm"
)

// fleetOfUses is a hub whose catalog loses alpha 1.0.0 and beta, and deprecates gamma 1.0.0; with two stages of clusters, and their user
// clusters.
type fleetOfUses struct {
	*fleetOfReceipts

	newer string // the artifact that staging and production get
}

var stagesOfUses = []string{"staging", "production"}

func newFleetOfUses(t testing.TB, clusters int) *fleetOfUses {
	t.Helper()
	var names []string
	for i := range clusters {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	f := &fleetOfUses{fleetOfReceipts: newFleetOfReceipts(t, names...)}
	definition := func(name string, versions ...string) string {
		text := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  description: a\n  method: helm\n  versions:\n"
		for _, v := range versions {
			text += "  - {version: " + v + ", template: {source: {helm: {url: 'https://charts.example.com', chartName: a, chartVersion: " + v + "}}}}\n"
		}
		return text
	}
	selection := "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: datacenter, namespace: fleet}\n" +
		"spec:\n  interval: 1h\n  sources: [{kind: OCIRepository, name: catalog}]\n  push: {url: 'oci://" + f.host + "/rendered', tags: [latest]}\n"
	push := func(tag string, catalog map[string]string) (digest string) {
		dir := t.TempDir()
		for name, content := range farm.With(catalog, map[string]string{"../selection.yaml": selection}) {
			file := filepath.Join(dir, "catalog", name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{
			{"push", filepath.Join(dir, "catalog"), "oci://" + f.host + "/catalog:" + tag, "--plain-http"},
			{"render", "-f", filepath.Join(dir, "selection.yaml"), "--source", filepath.Join(dir, "catalog"), "--archive", filepath.Join(dir, "archive")},
		} {
			if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitOK {
				t.Fatalf("%v: %+v", args, got)
			}
		}
		archive, err := os.ReadFile(filepath.Join(dir, "archive"))
		if err == nil {
			digest, err = clitest.PushRendered(t.Context(), f.host, "rendered", tag, archive)
		}
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	older := push("v1", map[string]string{
		"applications/alpha/application.yaml": definition("alpha", "1.0.0", "2.0.0"), "applications/alpha/metadata.yaml": "tier: gold\n",
		"applications/beta/application.yaml": definition("beta", "1.0.0"), "applications/beta/metadata.yaml": "tier: gold\n",
		"applications/gamma/application.yaml": definition("gamma", "1.0.0", "2.0.0"), "applications/gamma/metadata.yaml": "tier: gold\n",
	})
	f.newer = push("v2", map[string]string{
		"applications/alpha/application.yaml": definition("alpha", "2.0.0"), "applications/alpha/metadata.yaml": "tier: gold\n",
		"applications/gamma/application.yaml": definition("gamma", "1.0.0", "2.0.0"),
		"applications/gamma/metadata.yaml":    "tier: gold\nversions: {1.0.0: {deprecated: Use 2.0.0.}}\n",
	})
	files := map[string]string{"hub/datacenter.yaml": selection}
	for i, name := range names {
		dir := "clusters/"
		if i%10 > 6 {
			dir = "user-clusters/"
		}
		files["spokes/"+stagesOfUses[2*i/clusters]+"/"+dir+name+".pub"] = f.keys["spokes/staging/clusters/"+name+".pub"]
	}
	source := func(namespace, name, url, ref string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec:\n  interval: 1h\n  insecure: true\n  url: oci://" +
			f.host + "/" + url + "\n  ref:\n    " + ref + "\n"
	}
	for _, stage := range stagesOfUses {
		files["spokes/"+stage+"/applications.yaml"] = source("flux-system", "applications", "rendered", "digest: "+older) +
			"---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: applications, namespace: flux-system}\n" +
			"spec: {interval: 1h, prune: true, sourceRef: {kind: OCIRepository, name: applications}}\n"
	}
	hub := func(tag string) map[string]string {
		return map[string]string{"hub/catalog.yaml": source("fleet", "catalog", "catalog", "tag: "+tag)}
	}
	dir := t.TempDir()
	if err := farm.Commit(t.Context(), dir, farm.With(files, hub("v1")), hub("v2")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return f
}

// subjects are what installations are drawn of; the last one is neither lost nor deprecated.
var subjects = []string{"alpha 1.0.0", "beta 1.0.0", "gamma 1.0.0", "alpha 2.0.0"}

// drawn is what the receipt of a cluster has: installations by subject, and why there may be more.
type drawn struct {
	installations map[string]int
	unknown       string
}

// draw publishes a receipt of a cluster, and returns its content.
func (f *fleetOfUses) draw(random *rand.Rand, name string, isComplete, isUnused bool) drawn {
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
	f.publish(name, f.sign(by, name, age, func(r *receipt.Receipt) { r.Uses = uses }))
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
func (f *fleetOfUses) siteHas(t *testing.T, want diff.Use) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	if got := clitest.Execute(context.WithoutCancel(t.Context()), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.host+"/receipts", "-o", dir); got.Code != root.ExitOK {
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
	f := newFleetOfUses(t, 40)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	address := "oci://" + f.host + "/receipts"
	reports := map[string]struct {
		args     []string
		clusters []string
		subjects []string
	}{
		"the hub":    {[]string{"diff", "--git", "HEAD~1..HEAD"}, names, subjects[:3]},
		"staging":    {[]string{"promote", "--git", "oci://" + f.host + "/rendered@" + f.newer, "spokes/staging"}, names[:20], subjects[:2]},
		"production": {[]string{"promote", "--git", "oci://" + f.host + "/rendered@" + f.newer, "spokes/production"}, names[20:], subjects[:2]},
	}
	seen := map[bool]int{}
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		all := map[string]drawn{}
		for _, name := range names {
			all[name] = f.draw(random, name, seed%4 == 3, seed > 5)
		}
		for name, report := range reports {
			got := clitest.Execute(context.WithoutCancel(t.Context()), append(report.args, "--receipts", address, "--plain-http", "-o", "json", "--fail-on", "used")...)
			shell(t, ".", "git checkout -q .")
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
		f.siteHas(t, wanted(all, names, subjects[2]))
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("nothing is shown: %v", seen)
	}
}

// A site says of a cluster what it has applied and what it uses, of one receipt.
func TestASiteReadsEachReceiptOnce(t *testing.T) {
	f := newFleetOfUses(t, 4)
	for i := range 4 {
		name := fmt.Sprintf("c%02d", i)
		f.publish(name, f.sign(name, name, time.Minute, func(*receipt.Receipt) {}))
	}
	if got := clitest.Execute(t.Context(), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.host+"/receipts", "-o", filepath.Join(t.TempDir(), "site")); got.Code != root.ExitOK {
		t.Fatalf("%+v", got)
	}
	read := 0
	for path, times := range f.Reads() {
		if strings.HasPrefix(path, "GET receipts/") {
			read++
			if times != 1 {
				t.Errorf("%s: %d times", path, times)
			}
		}
	}
	if read != 4 {
		t.Errorf("%d receipts are read: %v", read, f.Reads())
	}
}

// Who is asked is decided by the older commit: a change that moves files, and pushes elsewhere, asks the same clusters.
func TestAChangeDoesNotChooseWhoIsAsked(t *testing.T) {
	f := newFleetOfUses(t, 4)
	for i := range 4 {
		name := fmt.Sprintf("c%02d", i)
		f.publish(name, f.sign(name, name, time.Minute, func(r *receipt.Receipt) {
			r.Uses = []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation", Applications: []receipt.Use{{Application: "alpha", Version: "1.0.0", Installations: 1}}}}
		}))
	}
	const commit = " && git add -A && git -c user.name=a -c user.email=a@example.com commit -q --amend -m moved"
	for _, test := range []struct {
		name, shell string
		users       int
	}{
		{"the hub moves, and pushes elsewhere", "git mv hub elsewhere && sed -i 's,/rendered,/other,' elsewhere/datacenter.yaml", 4},
		{"a stage moves", "git checkout -q HEAD~1 -- hub && git rm -rq elsewhere && mkdir spokes/staging/sub && git mv spokes/staging/applications.yaml spokes/staging/sub && " +
			"sed -i 's,digest: .*,digest: " + f.newer + ",' spokes/staging/sub/applications.yaml", 2},
	} {
		shell(t, ".", test.shell+commit)
		got := clitest.Execute(t.Context(), "diff", "--git", "HEAD~1..HEAD", "--receipts", "oci://"+f.host+"/receipts", "--plain-http", "-o", "json", "--fail-on", "used")
		var printed diff.Report
		if err := json.Unmarshal([]byte(got.Stdout), &printed); err != nil {
			t.Fatalf("%s: %v: %+v", test.name, err, got)
		}
		if got.Code != root.ExitFindings || len(printed.Uses) == 0 || printed.Uses[0].Name() != "alpha 1.0.0" || printed.Uses[0].Users != test.users {
			t.Errorf("%s: exit code %d: %s%+v", test.name, got.Code, got.Stderr, printed.Uses)
		}
	}
}

// A cluster that renders for itself has its key beside its selection, which pushes nothing.
func TestASiteAsksTheClustersBesideASelection(t *testing.T) {
	f := newFleetOfUses(t, 4)
	shell(t, ".", "sed -i '/push:/d' hub/datacenter.yaml && mkdir hub/clusters && git mv spokes/*/clusters/* hub/clusters && git rm -rq spokes && git add -A && "+
		"git -c user.name=a -c user.email=a@example.com commit -q -m moved")
	for i := range 4 {
		name := fmt.Sprintf("c%02d", i)
		f.publish(name, f.sign(name, name, time.Minute, func(r *receipt.Receipt) {
			r.Uses = []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation"}}
		}))
	}
	dir := filepath.Join(t.TempDir(), "site")
	if got := clitest.Execute(t.Context(), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.host+"/receipts", "-o", dir); got.Code != root.ExitOK {
		t.Fatalf("%+v", got)
	}
	const want = "deprecated: gamma 1.0.0: unused in 4 of 4 clusters"
	if page := clitest.ReadFile(t, filepath.Join(dir, "index.html")); !strings.Contains(page, want) {
		t.Errorf("the site does not have %q:\n%s", want, page)
	}
}
