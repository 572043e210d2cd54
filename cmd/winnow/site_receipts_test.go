// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// A site with receipts has for each cluster of a stage what it runs, and what is wrong with it.
func TestASiteShowsWhatClustersHaveApplied(t *testing.T) {
	f := newFleetOfReceipts(t, "berlin", "oslo", "paris", "rome")
	f.publish("berlin", f.sign("berlin", "berlin", time.Minute, func(r *receipt.Receipt) {
		r.Kustomizations[0].Origin = "v1.1.1@sha256:01"
		r.Uses = []receipt.Uses{{Kind: "ApplicationInstallation", Applications: []receipt.Use{{Application: "loki", Version: "1.0.0", Installations: 5}}}}
	}))
	f.publish("oslo", f.sign("oslo", "oslo", time.Minute, func(r *receipt.Receipt) { r.Kustomizations[0].Digest = digestOf("a") }))
	f.publish("paris", f.sign("oslo", "paris", time.Minute, nil))
	dir := filepath.Join(t.TempDir(), "site")
	if got := clitest.Execute(t.Context(), "site", "--git", ".", "--plain-http", "--receipts", "oci://"+f.host+"/receipts", "-o", dir); got.Code != root.ExitOK {
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
		"clusters/berlin.html": {"<dd>v1.1.1<br><code>" + f.digest, "runs what Git names", "<th scope=\"row\">loki</th><td>1.0.0</td><td>5</td><td>ApplicationInstallation</td>", `<span class="badge in">in</span>`},
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
	for _, args := range [][]string{{"--receipts", "oci://" + f.host + "/receipts", "."}, {"--git", ".", "--receipts", "no address"}} {
		if got := clitest.Execute(t.Context(), append([]string{"site", "-o", dir}, args...)...); got.Code != root.ExitFailed || !strings.Contains(got.Stderr, "--receipts") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
