// SPDX-License-Identifier: Apache-2.0

package approve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// TestApprove shares one API server: each subtest has selections of its own.
func TestApprove(t *testing.T) {
	c := livetest.StartWithWinnow(t)
	c.Run("print", testApprove)
	c.Run("write to a file", testApproveInFile)
}

func testApprove(c *livetest.Cluster) {
	c.Holds("approve", livetest.HeldLine)
	c.Expect(root.ExitOK, strings.Replace(livetest.HeldOutput, "NS", "approve", 1), "", "approve", "apps", "-n", "approve")
	c.Expect(root.ExitFindings, "", "CatalogSelection nothing not found", "approve", "nothing", "-n", "approve")
	c.Expect(root.ExitFailed, "", "approve needs one NAME", "approve", "a", "b")
	c.Expect(root.ExitFailed, "", "--write takes a FILE", "approve", "apps", "-n", "approve", "--write", "")

	c.ApplyAll(livetest.InNamespace("calm", "{sources: [{name: catalog}]}"))
	file := filepath.Join(c.T.TempDir(), "nowhere")
	// Nothing is held of an older spec only, which proves nothing about this one.
	for _, quiet := range []string{"--write=" + file, "-q"} {
		c.Expect(root.ExitFindings, "", "calm/apps: it is not decided yet whether something is held: the status is of an older spec: run winnow reconcile apps -n calm",
			"approve", "apps", "-n", "calm", quiet)
	}
	setStatus := func(generation int, held, reason, message string) {
		c.T.Helper()
		if err := c.Report(c.T.Context(), livetest.SelectionGVK, c.Key("calm"), map[string]any{"observedGeneration": generation, "conditions": []map[string]any{{
			"type": "Held", "status": held, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}}}); err != nil {
			c.T.Fatal(err)
		}
	}
	setStatus(1, "Unknown", "SourcesUnsettled", "not decided yet")
	c.Expect(root.ExitFindings, "", "calm/apps: it is not decided yet whether something is held: not decided yet", "approve", "apps", "-n", "calm", "-q")
	setStatus(1, "False", "NothingHeld", "no change is held")
	c.Expect(root.ExitOK, "calm/apps: nothing is held\n", "", "approve", "apps", "-n", "calm", "--write", file)
	if files.Exists(file) {
		c.T.Error("it wrote a file")
	}

	refused := []map[string]any{
		{"type": "Ready", "status": "False", "reason": "InvalidCatalog", "message": "no file", "lastTransitionTime": "2026-01-01T00:00:00Z"},
		{"type": "Held", "status": "False", "reason": "NothingHeld", "message": "no change is held", "lastTransitionTime": "2026-01-01T00:00:00Z"},
	}
	if err := c.Report(c.T.Context(), livetest.SelectionGVK, c.Key("calm"), map[string]any{"observedGeneration": 1, "conditions": refused}); err != nil {
		c.T.Fatal(err)
	}
	c.Expect(root.ExitOK, "calm/apps: nothing is held, but Ready is False: InvalidCatalog: no file\n", "", "approve", "apps", "-n", "calm")

	// The API server drops a field that an older CRD does not have.
	setStatus(1, "True", "Removal", "loki: would be removed")
	c.Expect(root.ExitFindings, "", "calm/apps: status.held is missing, and the condition Held is True: Removal: loki: would be removed: "+
		"install the CRD of this version", "approve", "apps", "-n", "calm")

	c.Holds("edited", livetest.HeldLine)
	if err := c.Report(c.T.Context(), livetest.SelectionGVK, c.Key("edited"), map[string]any{"conditions": []map[string]any{{
		"type": "Held", "status": "Unknown", "reason": "SourcesUnsettled", "message": "not decided yet", "lastTransitionTime": "2026-01-01T00:00:00Z",
	}}}); err != nil {
		c.T.Fatal(err)
	}
	c.Expect(root.ExitOK, strings.Replace(livetest.HeldOutput, "NS", "edited", 1), "warning: what is held is of an earlier spec: not decided yet", "approve", "apps", "-n", "edited")

	c.Holds("empty")
	if got := c.On("approve", "apps", "-n", "empty"); got.Code != root.ExitFindings || !strings.Contains(got.Stdout, "This cannot be approved") {
		c.T.Errorf("%+v", got)
	}
	many := livetest.HeldStatus("grafana")
	reason := many["held"].(map[string]any)["reasons"].([]map[string]any)[0]
	var reasons []map[string]any
	for range 30 {
		reasons = append(reasons, reason)
	}
	many["held"].(map[string]any)["reasons"], many["held"].(map[string]any)["total"] = reasons, 400
	if err := c.Report(c.T.Context(), livetest.SelectionGVK, c.Key("empty"), many); err != nil {
		c.T.Fatal(err)
	}
	got := c.On("approve", "apps", "-n", "empty")
	if strings.Count(got.Stdout, "Removal: loki") != report.MaxHeld || !strings.Contains(got.Stdout, "\n  and 380 more\n") ||
		!strings.Contains(got.Stdout, "\n      - grafana\n") {
		c.T.Errorf("%+v", got)
	}
}

func testApproveInFile(c *livetest.Cluster) {
	c.Holds("write", livetest.HeldLine)
	file := filepath.Join(c.T.TempDir(), "selection.yaml")
	const before = "# ours\r\nkind: CatalogSelection\r\napiVersion: catalog.winnow.dev/v1alpha1\r\nmetadata: {name: apps}\r\nspec:\r\n  sources: [{name: catalog}] # it"
	clitest.WriteFile(c.T, file, before)
	if err := os.Chmod(file, 0o640); err != nil {
		c.T.Fatal(err)
	}
	approve := []string{"approve", "apps", "-n", "write", "--write", file}
	output := strings.Replace(livetest.HeldOutput, "NS", "write", 1)
	c.Expect(root.ExitOK, output+file+":9: added "+livetest.HeldLine+"\n", "", approve...)
	after := clitest.ReadFile(c.T, file)
	if want := before + "\r\n  safeguards:\r\n    approve:\r\n    - " + livetest.HeldLine; after != want {
		c.T.Errorf("%q, want %q", after, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 {
		c.T.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	c.Expect(root.ExitOK, output+file+":9: the file has the lines already: commit it, and let Flux apply it\n", "", approve...)
	if spec := c.Apps("write").Object["spec"].(map[string]any)["safeguards"]; spec.(map[string]any)["approve"] != nil {
		c.T.Error("it wrote to the cluster")
	}
	// A line that is there may be used: the next one has a number.
	c.Holds("used", livetest.HeldLine+"#2")
	output = strings.NewReplacer("NS", "used", livetest.HeldLine, livetest.HeldLine+"#2").Replace(livetest.HeldOutput)
	approve[2], approve[3] = "-n", "used"
	c.Expect(root.ExitOK, output+file+":10: added "+livetest.HeldLine+"#2\n", "", approve...)

	// What Git does not track is in no commit.
	if out, err := exec.CommandContext(c.T.Context(), "git", "init", "-q", filepath.Dir(file)).CombinedOutput(); err != nil {
		c.T.Fatalf("%v: %s", err, out)
	}
	clitest.WriteFile(c.T, file, before)
	c.Expect(root.ExitOK, output+file+":9: added "+livetest.HeldLine+"#2\n", "note: git does not know "+file+": run git add "+file, approve...)

	patch := filepath.Join(c.T.TempDir(), "patch.yaml")
	clitest.WriteFile(c.T, patch, strings.Replace(before, "sources", "patches", 1))
	c.Expect(root.ExitFindings, output, patch+":2: it is a patch of the CatalogSelection, whose list would replace all others: add the lines to its kustomization.yaml, as a JSON patch",
		"approve", "apps", "-n", "used", "--write", patch)

	link := filepath.Join(c.T.TempDir(), "link.yaml")
	if err := os.Symlink(file, link); err != nil {
		c.T.Fatal(err)
	}
	broken := filepath.Join(c.T.TempDir(), "broken.yaml")
	clitest.WriteFile(c.T, broken, "kind: [")
	for name, code := range map[string]int{link: root.ExitFailed, filepath.Dir(file): root.ExitFailed, "/nowhere": root.ExitFailed, broken: root.ExitFindings, "../../../../go.mod": root.ExitFindings} {
		if got := c.On("approve", "apps", "-n", "used", "--write", name); got.Code != code || got.Stdout != output || !strings.HasPrefix(got.Stderr, "winnow: ") {
			c.T.Errorf("%s: %+v", name, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 2 {
		c.T.Errorf("it left %v, %v", entries, err)
	}
}
