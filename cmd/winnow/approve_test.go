// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const heldLine = "loki/2.0.0:live"

// holds creates a selection apps of which a change is held.
func (c *cluster) holds(namespace string, approve ...string) {
	c.t.Helper()
	c.apply(inNamespace(namespace, "{sources: [{name: catalog}]}"))
	status := heldStatus(approve...)
	status["observedGeneration"] = 1
	if err := c.report(c.t.Context(), selectionGVK, c.key(namespace), status); err != nil {
		c.t.Fatal(err)
	}
}

func testApprove(c *cluster) {
	c.holds("approve", heldLine)
	c.expect(root.ExitOK, strings.Replace(heldOutput, "NS", "approve", 1), "", "approve", "apps", "-n", "approve")
	c.expect(root.ExitFindings, "", "CatalogSelection nothing not found", "approve", "nothing", "-n", "approve")
	c.expect(root.ExitFailed, "", "approve needs one NAME", "approve", "a", "b")
	c.expect(root.ExitFailed, "", "--write takes a FILE", "approve", "apps", "-n", "approve", "--write", "")

	c.apply(inNamespace("calm", "{sources: [{name: catalog}]}"))
	file := filepath.Join(c.t.TempDir(), "nowhere")
	// Nothing is held of an older spec only, which proves nothing about this one.
	for _, quiet := range []string{"--write=" + file, "-q"} {
		c.expect(root.ExitFindings, "", "calm/apps: it is not decided yet whether something is held: the status is of an older spec: run winnow reconcile apps -n calm",
			"approve", "apps", "-n", "calm", quiet)
	}
	setStatus := func(generation int, held, reason, message string) {
		c.t.Helper()
		if err := c.report(c.t.Context(), selectionGVK, c.key("calm"), map[string]any{"observedGeneration": generation, "conditions": []map[string]any{{
			"type": "Held", "status": held, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}}}); err != nil {
			c.t.Fatal(err)
		}
	}
	setStatus(1, "Unknown", "SourcesUnsettled", "not decided yet")
	c.expect(root.ExitFindings, "", "calm/apps: it is not decided yet whether something is held: not decided yet", "approve", "apps", "-n", "calm", "-q")
	setStatus(1, "False", "NothingHeld", "no change is held")
	c.expect(root.ExitOK, "calm/apps: nothing is held\n", "", "approve", "apps", "-n", "calm", "--write", file)
	if files.Exists(file) {
		c.t.Error("it wrote a file")
	}

	refused := []map[string]any{
		{"type": "Ready", "status": "False", "reason": "InvalidCatalog", "message": "no file", "lastTransitionTime": "2026-01-01T00:00:00Z"},
		{"type": "Held", "status": "False", "reason": "NothingHeld", "message": "no change is held", "lastTransitionTime": "2026-01-01T00:00:00Z"},
	}
	if err := c.report(c.t.Context(), selectionGVK, c.key("calm"), map[string]any{"observedGeneration": 1, "conditions": refused}); err != nil {
		c.t.Fatal(err)
	}
	c.expect(root.ExitOK, "calm/apps: nothing is held, but Ready is False: InvalidCatalog: no file\n", "", "approve", "apps", "-n", "calm")

	// The API server drops a field that an older CRD does not have.
	setStatus(1, "True", "Removal", "loki: would be removed")
	c.expect(root.ExitFindings, "", "calm/apps: status.held is missing, and the condition Held is True: Removal: loki: would be removed: "+
		"install the CRD of this version", "approve", "apps", "-n", "calm")

	c.holds("edited", heldLine)
	if err := c.report(c.t.Context(), selectionGVK, c.key("edited"), map[string]any{"conditions": []map[string]any{{
		"type": "Held", "status": "Unknown", "reason": "SourcesUnsettled", "message": "not decided yet", "lastTransitionTime": "2026-01-01T00:00:00Z",
	}}}); err != nil {
		c.t.Fatal(err)
	}
	c.expect(root.ExitOK, strings.Replace(heldOutput, "NS", "edited", 1), "warning: what is held is of an earlier spec: not decided yet", "approve", "apps", "-n", "edited")

	c.holds("empty")
	if got := c.on("approve", "apps", "-n", "empty"); got.Code != root.ExitFindings || !strings.Contains(got.Stdout, "This cannot be approved") {
		c.t.Errorf("%+v", got)
	}
	many := heldStatus("grafana")
	reason := many["held"].(map[string]any)["reasons"].([]map[string]any)[0]
	var reasons []map[string]any
	for range 30 {
		reasons = append(reasons, reason)
	}
	many["held"].(map[string]any)["reasons"], many["held"].(map[string]any)["total"] = reasons, 400
	if err := c.report(c.t.Context(), selectionGVK, c.key("empty"), many); err != nil {
		c.t.Fatal(err)
	}
	got := c.on("approve", "apps", "-n", "empty")
	if strings.Count(got.Stdout, "Removal: loki") != report.MaxHeld || !strings.Contains(got.Stdout, "\n  and 380 more\n") ||
		!strings.Contains(got.Stdout, "\n      - grafana\n") {
		c.t.Errorf("%+v", got)
	}
}

func testApproveInFile(c *cluster) {
	c.holds("write", heldLine)
	file := filepath.Join(c.t.TempDir(), "selection.yaml")
	const before = "# ours\r\nkind: CatalogSelection\r\napiVersion: catalog.winnow.dev/v1alpha1\r\nmetadata: {name: apps}\r\nspec:\r\n  sources: [{name: catalog}] # it"
	clitest.WriteFile(c.t, file, before)
	if err := os.Chmod(file, 0o640); err != nil {
		c.t.Fatal(err)
	}
	approve := []string{"approve", "apps", "-n", "write", "--write", file}
	output := strings.Replace(heldOutput, "NS", "write", 1)
	c.expect(root.ExitOK, output+file+":9: added "+heldLine+"\n", "", approve...)
	after := clitest.ReadFile(c.t, file)
	if want := before + "\r\n  safeguards:\r\n    approve:\r\n    - " + heldLine; after != want {
		c.t.Errorf("%q, want %q", after, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 {
		c.t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	c.expect(root.ExitOK, output+file+":9: the file has the lines already: commit it, and let Flux apply it\n", "", approve...)
	if spec := c.apps("write").Object["spec"].(map[string]any)["safeguards"]; spec.(map[string]any)["approve"] != nil {
		c.t.Error("it wrote to the cluster")
	}
	// A line that is there may be used: the next one has a number.
	c.holds("used", heldLine+"#2")
	output = strings.NewReplacer("NS", "used", heldLine, heldLine+"#2").Replace(heldOutput)
	approve[2], approve[3] = "-n", "used"
	c.expect(root.ExitOK, output+file+":10: added "+heldLine+"#2\n", "", approve...)

	// What Git does not track is in no commit.
	if out, err := exec.CommandContext(c.t.Context(), "git", "init", "-q", filepath.Dir(file)).CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	clitest.WriteFile(c.t, file, before)
	c.expect(root.ExitOK, output+file+":9: added "+heldLine+"#2\n", "note: git does not know "+file+": run git add "+file, approve...)

	patch := filepath.Join(c.t.TempDir(), "patch.yaml")
	clitest.WriteFile(c.t, patch, strings.Replace(before, "sources", "patches", 1))
	c.expect(root.ExitFindings, output, patch+":2: it is a patch of the CatalogSelection, whose list would replace all others: add the lines to its kustomization.yaml, as a JSON patch",
		"approve", "apps", "-n", "used", "--write", patch)

	link := filepath.Join(c.t.TempDir(), "link.yaml")
	if err := os.Symlink(file, link); err != nil {
		c.t.Fatal(err)
	}
	broken := filepath.Join(c.t.TempDir(), "broken.yaml")
	clitest.WriteFile(c.t, broken, "kind: [")
	for name, code := range map[string]int{link: root.ExitFailed, filepath.Dir(file): root.ExitFailed, "/nowhere": root.ExitFailed, broken: root.ExitFindings, "../../go.mod": root.ExitFindings} {
		if got := c.on("approve", "apps", "-n", "used", "--write", name); got.Code != code || got.Stdout != output || !strings.HasPrefix(got.Stderr, "winnow: ") {
			c.t.Errorf("%s: %+v", name, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 2 {
		c.t.Errorf("it left %v, %v", entries, err)
	}
}
