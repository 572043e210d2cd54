// SPDX-License-Identifier: Apache-2.0

package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/receipttest"
)

// A site with receipts has for each cluster of a stage what it runs, and what is wrong with it.
func TestASiteShowsWhatClustersHaveApplied(t *testing.T) {
	f := receipttest.NewStage(t, "berlin", "oslo", "paris", "rome")
	f.Publish("berlin", f.Sign("berlin", "berlin", time.Minute, func(r *receipt.Receipt) {
		r.Kustomizations[0].Origin = "v1.1.1@sha256:01"
		r.Uses = []receipt.Uses{{Kind: "ApplicationInstallation", Applications: []receipt.Use{{Application: "loki", Version: "1.0.0", Installations: 5}}}}
	}))
	f.Publish("oslo", f.Sign("oslo", "oslo", time.Minute, func(r *receipt.Receipt) { r.Kustomizations[0].Digest = receipttest.DigestOf("a") }))
	f.Publish("paris", f.Sign("oslo", "paris", time.Minute, nil))
	dir := filepath.Join(t.TempDir(), "site")
	if got := clitest.Execute(t.Context(), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.Host+"/receipts", "-o", dir); got.Code != root.ExitOK {
		t.Fatalf("%+v", got)
	}
	page := func(name string) string {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for name, want := range map[string][]string{
		"clusters/berlin.html": {"<dd>v1.1.1<br><code>" + f.Digest, "runs what Git names", "<th scope=\"row\">loki</th><td>1.0.0</td><td>5</td><td>ApplicationInstallation</td>", `<span class="badge in">in</span>`},
		"clusters/oslo.html":   {`<th scope="row">behind</th><td>runs a digest that Git has named before`, "The receipt does not tell"},
		"clusters/paris.html":  {`<th scope="row">forged</th>`, "not known"},
		"clusters/rome.html":   {`<th scope="row">missing</th>`},
		"clusters.html":        {`data-search="berlin spokes/staging"`, `data-search="oslo spokes/staging behind" data-needs`},
	} {
		for _, text := range want {
			if content := page(name); !strings.Contains(content, text) {
				t.Errorf("%s lacks %s:\n%s", name, text, content)
			}
		}
	}
	if list := page("clusters.html"); strings.Index(list, "berlin") < strings.Index(list, "rome") {
		t.Error("what needs nobody is first")
	}
	for _, args := range [][]string{{"--receipts", "oci://" + f.Host + "/receipts", "."}, {"--git", ".", "--receipts", "no address"}} {
		if got := clitest.Execute(t.Context(), append([]string{"site", "-o", dir}, args...)...); got.Code != root.ExitFailed || !strings.Contains(got.Stderr, "--receipts") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// A site says of a cluster what it has applied and what it uses, of one receipt.
func TestASiteReadsEachReceiptOnce(t *testing.T) {
	f := receipttest.NewHub(t, 4)
	for i := range 4 {
		name := fmt.Sprintf("c%02d", i)
		f.Publish(name, f.Sign(name, name, time.Minute, func(*receipt.Receipt) {}))
	}
	if got := clitest.Execute(t.Context(), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.Host+"/receipts", "-o", filepath.Join(t.TempDir(), "site")); got.Code != root.ExitOK {
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

// A cluster that renders for itself has its key beside its selection, which pushes nothing.
func TestASiteAsksTheClustersBesideASelection(t *testing.T) {
	f := receipttest.NewHub(t, 4)
	clitest.Shell(t, ".", "sed -i '/push:/d' hub/datacenter.yaml && mkdir hub/clusters && git mv spokes/*/clusters/* hub/clusters && git rm -rq spokes && git add -A && "+
		"git -c user.name=a -c user.email=a@example.com commit -q -m moved")
	for i := range 4 {
		name := fmt.Sprintf("c%02d", i)
		f.Publish(name, f.Sign(name, name, time.Minute, func(r *receipt.Receipt) {
			r.Uses = []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation"}}
		}))
	}
	dir := filepath.Join(t.TempDir(), "site")
	if got := clitest.Execute(t.Context(), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.Host+"/receipts", "-o", dir); got.Code != root.ExitOK {
		t.Fatalf("%+v", got)
	}
	const want = "deprecated: gamma 1.0.0: unused in 4 of 4 clusters"
	if page := clitest.ReadFile(t, filepath.Join(dir, "index.html")); !strings.Contains(page, want) {
		t.Errorf("the site does not have %q:\n%s", want, page)
	}
}
