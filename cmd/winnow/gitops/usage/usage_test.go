// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"oras.land/oras-go/v2/errdef"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/render/diff"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func removed(apiVersion, kind string, versions ...string) diff.Application {
	a := diff.Application{Name: "a", APIVersion: apiVersion, Kind: kind, Change: diff.Removed}
	for _, v := range versions {
		a.Change = diff.Updated
		a.Versions = append(a.Versions, diff.Version{Version: v, Change: diff.Removed})
	}
	return a
}

const kkp = "apps.kubermatic.k8c.io/v1"

// Each case is one cluster that is asked for what one selection loses.
func TestUsesOfACluster(t *testing.T) {
	uses := func(kind, unknown string, versions ...string) receipt.Uses {
		u := receipt.Uses{Kind: kind, Unknown: unknown}
		for _, v := range versions {
			u.Applications = append(u.Applications, receipt.Use{Application: "a", Version: v, Installations: 2})
		}
		return u
	}
	packages := removed("", "olm.package", "a.v1")
	packages.Versions, packages.Package = nil, &diff.Package{Channels: []diff.Channel{{Name: "x", Stranded: []string{"a.v1"}}, {Name: "y", Stranded: []string{"a.v1"}}}}
	identity := removed("cozystack.io/v1alpha1", "ApplicationDefinition")
	identity.Change, identity.Identity = diff.Updated, []diff.Field{{Path: "spec.release.prefix"}}
	for _, test := range []struct {
		name string
		lost diff.Application
		uses []receipt.Uses
		want string
	}{
		{"a version that is installed", removed(kkp, "ApplicationDefinition", "1.0.0"), []receipt.Uses{uses("ApplicationInstallation", "", "1.0.0", "2.0.0"), uses("HelmRelease", "", "1.0.0")}, "a 1.0.0: 4 []"},
		{"another version is", removed(kkp, "ApplicationDefinition", "1.0.0"), []receipt.Uses{uses("ApplicationInstallation", "", "2.0.0"), uses("HelmRelease", "")}, "a 1.0.0: 0 []"},
		{"an application with all its versions", removed(kkp, "ApplicationDefinition"), []receipt.Uses{uses("ApplicationInstallation", "", "1.0.0", "2.0.0"), uses("HelmRelease", "")}, "a: 4 []"},
		{"an installation without a version", removed(kkp, "ApplicationDefinition", "1.0.0"), []receipt.Uses{uses("ApplicationInstallation", "", ""), uses("HelmRelease", "")}, "a 1.0.0: 0 [1 of 1 clusters have installations of unknown versions]"},
		{"a reason that this winnow does not know", removed(kkp, "ApplicationDefinition"), []receipt.Uses{uses("ApplicationInstallation", "\x1b[2J"), uses("HelmRelease", "")}, "a: 0 [1 of 1 clusters cannot tell all installations]"},
		{"a kind that the receipt does not have", removed(kkp, "ApplicationDefinition"), []receipt.Uses{uses("ApplicationInstallation", "")}, "a: 0 [1 of 1 clusters have a receipt of an older winnow]"},
		{"a version that is the word for all", removed(kkp, "ApplicationDefinition"), []receipt.Uses{uses("ApplicationInstallation", "", "*"), uses("HelmRelease", "")}, "a: 2 []"},
		{"a kind that is unknown, with counts", removed(kkp, "ApplicationDefinition", "1.0.0"), []receipt.Uses{uses("ApplicationInstallation", receipt.InUserClusters, "1.0.0"), uses("HelmRelease", "")}, "a 1.0.0: 2 [1 of 1 clusters are seeds, whose user clusters have the installations]"},
		{"Cozystack: what KKP installs is another application", identity, []receipt.Uses{uses("ApplicationInstallation", "", "1.0.0"), uses("HelmRelease", "", ""), uses("Terraform", "")}, "a: 2 []"},
		{"a package, once", packages, []receipt.Uses{uses("HelmRelease", "", "a.v1"), uses("ClusterExtension", "", "a.v1"), uses("Subscription", "", "a.v1")}, "a a.v1: 4 []"},
		{"a kind that nothing installs", removed("v1", "ConfigMap"), []receipt.Uses{uses("HelmRelease", "")}, "a: 0 [1 of 1 clusters do not count installations of its kind]"},
		{"an older receipt", removed(kkp, "ApplicationDefinition"), nil, "a: 0 [1 of 1 clusters have a receipt of an older winnow]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := diff.New(&diff.Selection{OldFile: "x/a.yaml", Applications: []diff.Application{test.lost}})
			q := Of(report, []stages.Users{{Dir: "x", Clusters: []stages.Cluster{{Name: "berlin"}}}})
			got := q.Answer([]pulling.Result{{Receipt: &receipt.Receipt{Time: now, Uses: test.uses}}}, now)
			if len(got) != 1 || fmt.Sprintf("%s: %d %s", got[0].Name(), got[0].Installations, got[0].Unknown) != test.want {
				t.Errorf("%+v, want %s", got, test.want)
			}
		})
	}
}

// A selection is asked of the clusters beside its file, and beside what it pushes to. Several selections ask each cluster once.
func TestWhoIsAsked(t *testing.T) {
	users := []stages.Users{
		{Dir: "edge", URLs: []string{"oci://r/edge"}, Clusters: []stages.Cluster{{Name: "e"}}},
		{Dir: "production", URLs: []string{"oci://r/a"}, Clusters: []stages.Cluster{{Name: "p"}, {Name: "q"}}},
		{Dir: "staging", URLs: []string{"oci://r/a"}, Clusters: []stages.Cluster{{Name: "s"}}},
		{Dir: "overlay", Clusters: []stages.Cluster{{Name: "o"}}, IsOverlay: true},
		{Dir: "unrelated", Clusters: []stages.Cluster{{Name: "u"}}},
		{Dir: "variables", URLs: []string{"oci://${REGISTRY}/a"}, Clusters: []stages.Cluster{{Name: "v"}}},
	}
	lost := []diff.Application{removed(kkp, "ApplicationDefinition")}
	for name, test := range map[string]struct {
		selections []*diff.Selection
		want       string
	}{
		"a stage":                                  {[]*diff.Selection{{OldFile: "staging/a.yaml", Promotion: &diff.Promotion{}, Applications: lost}}, "s"},
		"a hub":                                    {[]*diff.Selection{{OldFile: "hub/a.yaml", PushURL: "oci://r/a", Applications: lost}}, "o p q s v"},
		"a hub, and a stage":                       {[]*diff.Selection{{OldFile: "hub/a.yaml", PushURL: "oci://r/a", Applications: lost}, {OldFile: "staging/a.yaml", Applications: lost}}, "o p q s v"},
		"a cluster without keys":                   {[]*diff.Selection{{OldFile: "other/a.yaml", Applications: lost}}, ""},
		"what has no file":                         {[]*diff.Selection{{Applications: lost}}, ""},
		"an application that moves":                {[]*diff.Selection{{OldFile: "staging/a.yaml", Applications: lost, Moves: []diff.Move{{Application: "a"}}}}, "nothing"},
		"one that cannot be kept alive":            {[]*diff.Selection{{OldFile: "staging/a.yaml", Applications: lost, Moves: []diff.Move{{Application: "a", Unprotected: true}}}}, "s"},
		"one that only one of two receivers keeps": {[]*diff.Selection{{OldFile: "staging/a.yaml", Applications: lost, Moves: []diff.Move{{Application: "a", Unprotected: true}, {Application: "a"}}}}, "s"},
		"a selection that is removed":              {[]*diff.Selection{{OldFile: "staging/a.yaml", Change: diff.Removed, Others: []diff.Withdrawal{{Application: lost[0]}}}}, "s"},
		"one that moves with its selection":        {[]*diff.Selection{{OldFile: "staging/a.yaml", Change: diff.Removed, Others: []diff.Withdrawal{{Application: lost[0]}}, Moves: []diff.Move{{Application: "a"}}}}, "nothing"},
		"a version that the receiver lacks": {[]*diff.Selection{{OldFile: "staging/a.yaml", Applications: []diff.Application{{Name: "a", APIVersion: kkp, Kind: "ApplicationDefinition", Change: diff.Added}},
			Held: &diff.Held{Reasons: []v1alpha1.HeldReason{{Reason: "Adoption", Application: "a", Versions: []string{"1.0.0"}}}}}}, "s"},
		"what is deprecated": {[]*diff.Selection{{OldFile: "staging/a.yaml", Others: []diff.Withdrawal{{Application: lost[0], Deprecated: "old"}}}}, "s"},
	} {
		t.Run(name, func(t *testing.T) {
			q := Of(diff.New(test.selections...), users)
			var names []string
			for _, c := range q.Clusters {
				names = append(names, c.Name)
			}
			slices.Sort(names)
			uses := q.Answer(slices.Repeat([]pulling.Result{{Receipt: &receipt.Receipt{}}}, len(q.Clusters)), now)
			if test.want == "nothing" {
				if len(uses) > 0 {
					t.Errorf("%+v", uses)
				}
				return
			}
			if len(uses) != 1 || strings.Join(names, " ") != test.want || uses[0].Asked != len(names) || uses[0].IsUnused() && len(names) == 0 {
				t.Errorf("%v: %+v", names, uses)
			}
		})
	}
}

// A cluster has one receipt: it counts once, however many directories have its key. With another key it is another question.
func TestAClusterOfTwoStagesCountsOnce(t *testing.T) {
	one, other := &receipt.PublicKey{}, &receipt.PublicKey{}
	uses := []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation", Applications: []receipt.Use{{Application: "a", Version: "1.0.0", Installations: 5}}}}
	for name, test := range map[string]struct {
		users []stages.Users
		want  string
	}{
		"the same key in two stages": {[]stages.Users{{Dir: "x", Clusters: []stages.Cluster{{Name: "berlin", Key: one}}}, {Dir: "y", Clusters: []stages.Cluster{{Name: "berlin", Key: one}}}}, "1 5 [berlin] 1"},
		"two keys of one name":       {[]stages.Users{{Dir: "x", Clusters: []stages.Cluster{{Name: "berlin", Key: one}}}, {Dir: "y", Clusters: []stages.Cluster{{Name: "berlin", Key: other}}}}, "2 10 [berlin berlin] 2"},
	} {
		lost := []diff.Application{removed(kkp, "ApplicationDefinition", "1.0.0")}
		q := Of(diff.New(&diff.Selection{OldFile: "x/a.yaml", Applications: lost}, &diff.Selection{OldFile: "y/a.yaml", Applications: lost}), test.users)
		u := q.Answer(slices.Repeat([]pulling.Result{{Receipt: &receipt.Receipt{Time: now, Uses: uses}}}, len(q.Clusters)), now)[0]
		if got := fmt.Sprint(u.Users, u.Installations, u.Clusters, u.Asked); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A registry that does not answer makes nothing unused, and hides nobody. What is used comes first.
func TestOneUnknownClusterIsEnough(t *testing.T) {
	clusters := []stages.Cluster{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	s := &diff.Selection{OldFile: "x/a.yaml", Applications: []diff.Application{removed(kkp, "ApplicationDefinition", "1.0.0", "2.0.0")},
		Others: []diff.Withdrawal{{Application: diff.Application{Name: "a", APIVersion: kkp, Kind: "ApplicationDefinition"}, Version: "3.0.0", Deprecated: "old"}}}
	complete := pulling.Result{Receipt: &receipt.Receipt{Time: now, Uses: []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation", Applications: []receipt.Use{{Application: "a", Version: "2.0.0", Installations: 1}}}}}}
	for name, test := range map[string]struct {
		third pulling.Result
		want  string
	}{
		"all are complete":        {complete, "a 2.0.0 used, a 1.0.0 unused, a 3.0.0 unused by a/3.0.0"},
		"one has no receipt":      {pulling.Result{Err: fmt.Errorf("x: %w", errdef.ErrNotFound)}, "a 2.0.0 used, a 1.0.0 unknown, a 3.0.0 unknown"},
		"one cannot be read":      {pulling.Result{Err: errors.New("timeout")}, "a 2.0.0 used, a 1.0.0 unknown, a 3.0.0 unknown"},
		"one is of the last hour": {pulling.Result{Receipt: &receipt.Receipt{Time: now.Add(-59 * time.Minute), Uses: complete.Receipt.Uses}}, "a 2.0.0 used, a 1.0.0 unused, a 3.0.0 unused by a/3.0.0"},
		"one is stale":            {pulling.Result{Receipt: &receipt.Receipt{Time: now.Add(-61 * time.Minute), Uses: complete.Receipt.Uses}}, "a 2.0.0 used, a 1.0.0 unknown, a 3.0.0 unknown"},
	} {
		var got []string
		for _, u := range Of(diff.New(s), []stages.Users{{Dir: "x", Clusters: clusters}}).Answer([]pulling.Result{complete, complete, test.third}, now) {
			state := "unknown"
			if u.Installations > 0 {
				state = "used"
			} else if u.IsUnused() {
				state = strings.TrimSuffix("unused by "+u.Approve, " by ")
			}
			got = append(got, u.Name()+" "+state)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, ", "), test.want)
		}
	}
}

// A registry that is down, or an address with a slip, is named once, however many clusters are asked.
func TestWhyReceiptsAreNotReadIsInTheSentence(t *testing.T) {
	missing := pulling.Result{Err: fmt.Errorf("x: %w", errdef.ErrNotFound)}
	refused := func(name string) pulling.Result {
		return pulling.Result{Err: errors.New("pulling oci://robot:secret@registry.example.com/receipts/" + name + ": 401 Unauthorized" + strings.Repeat("!", 5_000))}
	}
	for name, test := range map[string]struct {
		receipts []pulling.Result
		want     string // the beginning
	}{
		"a registry that refuses":        {[]pulling.Result{refused("a"), refused("b")}, "2 of 2 clusters have a receipt that cannot be read, first a: pulling oci://***@registry.example.com/receipts/a: 401 Unauthorized!"},
		"one receipt that it refuses":    {[]pulling.Result{missing, refused("b")}, "1 of 2 clusters have a receipt that cannot be read, first b: pulling"},
		"an address without any receipt": {[]pulling.Result{missing, missing}, "2 of 2 clusters send no receipt: is the address right?"},
	} {
		s := &diff.Selection{OldFile: "x/a.yaml", Applications: []diff.Application{removed(kkp, "ApplicationDefinition", "1.0.0")}}
		q := Of(diff.New(s), []stages.Users{{Dir: "x", Clusters: []stages.Cluster{{Name: "a"}, {Name: "b"}}}})
		got := q.Answer(test.receipts, now)[0].Unknown
		if len(got) == 0 || !strings.HasPrefix(got[0], test.want) || len(strings.Join(got, "")) > 1_000 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
