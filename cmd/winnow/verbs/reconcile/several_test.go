// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// testSeveral uses three selections of a namespace, one of which no controller answers for.
func testSeveral(c *livetest.Cluster) {
	more := func(name string) string {
		return "---\napiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: " + name + ", namespace: several}\nspec: {sources: [{name: catalog}]}\n"
	}
	c.ApplyAll(livetest.InNamespace("several", "{sources: [{name: catalog}]}") + more("mute") + more("other"))
	for _, name := range []string{"apps", "other"} {
		c.Play(livetest.SelectionGVK, "several", name, "True", nil)
	}
	c.Expect(root.ExitFindings, "several/apps: done\nseveral/other: done\n", "CatalogSelection several/mute was not reconciled since the request",
		"reconcile", "apps", "mute", "nothing", "other", "-n", "several", "--timeout", "3s")
	if got := c.On("reconcile", "apps", "mute", "nothing", "-n", "several", "--timeout", "2s"); !strings.Contains(got.Stderr, "nothing not found") {
		c.T.Errorf("%+v", got)
	}
	c.Expect(root.ExitOK, "several/mute: suspended\n", "", "suspend", "mute", "-n", "several")
	c.Expect(root.ExitOK, "several/apps: done\nseveral/other: done\n", "1 CatalogSelection left out: suspended\n", "reconcile", "--all", "-n", "several")
	c.Expect(root.ExitOK, "several/apps: suspended\nseveral/mute: already suspended\nseveral/other: suspended\n", "", "suspend", "--all", "-n", "several")
	c.Expect(root.ExitFindings, "", "CatalogSelection several/other is suspended: winnow resume other -n several", "reconcile", "apps", "other", "-n", "several")
	c.Play(livetest.SelectionGVK, "several", "mute", "True", nil)
	c.Expect(root.ExitOK, "several/apps: done\nseveral/mute: done\nseveral/other: done\n", "", "resume", "--all", "-n", "several")
	c.Expect(root.ExitOK, "", "3 CatalogSelections left out: not suspended\n", "resume", "--all", "-n", "several")
	c.Expect(root.ExitOK, "", "no CatalogSelections found in namespace nowhere; other namespaces have ", "suspend", "--all", "-n", "nowhere")
	for _, verb := range []string{"reconcile", "suspend", "resume"} {
		c.Expect(root.ExitFailed, "", verb+" takes NAME or --all, not both", verb, "apps", "--all")
	}
}
