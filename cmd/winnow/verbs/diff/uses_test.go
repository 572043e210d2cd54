// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/receipttest"
)

// Who is asked is decided by the older commit: a change that moves files, and pushes elsewhere, asks the same clusters.
func TestAChangeDoesNotChooseWhoIsAsked(t *testing.T) {
	f := receipttest.NewHub(t, 4)
	for i := range 4 {
		name := fmt.Sprintf("c%02d", i)
		f.Publish(name, f.Sign(name, name, time.Minute, func(r *receipt.Receipt) {
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
			"sed -i 's,digest: .*,digest: " + f.Newer + ",' spokes/staging/sub/applications.yaml", 2},
	} {
		clitest.Shell(t, ".", test.shell+commit)
		got := clitest.Execute(t.Context(), "diff", "--git", "HEAD~1..HEAD", "--receipts", "oci://"+f.Host+"/receipts", "--plain-http", "-o", "json", "--fail-on", "used")
		var printed diff.Report
		if err := json.Unmarshal([]byte(got.Stdout), &printed); err != nil {
			t.Fatalf("%s: %v: %+v", test.name, err, got)
		}
		if got.Code != root.ExitFindings || len(printed.Uses) == 0 || printed.Uses[0].Name() != "alpha 1.0.0" || printed.Uses[0].Users != test.users {
			t.Errorf("%s: exit code %d: %s%+v", test.name, got.Code, got.Stderr, printed.Uses)
		}
	}
}

// What a review of the hub costs with the receipts of 400 clusters, each with 300 uses, and without.
func BenchmarkUses(b *testing.B) {
	f := receipttest.NewHub(b, 400)
	uses := receipttest.UsesOf(300)
	size := 0
	for name := range f.Private {
		envelope := f.Sign(name, name, 0, func(r *receipt.Receipt) { r.Uses = uses })
		f.Publish(name, envelope)
		size = len(envelope)
	}
	for name, args := range map[string][]string{"with": {"--receipts", "oci://" + f.Host + "/receipts", "--fail-on", "used"}, "without": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got := clitest.Execute(b.Context(), append([]string{"diff", "--git", "HEAD~1..HEAD", "--plain-http"}, args...)...); got.Code != root.ExitOK {
					b.Fatalf("%+v", got)
				}
			}
			b.ReportMetric(float64(size), "B/receipt")
		})
	}
}
