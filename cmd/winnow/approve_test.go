package main

import (
	"os"
	"path/filepath"
	"strings"
)

var heldSum = "sha256:" + strings.Repeat("5b", 32)

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
	c.holds("approve", heldSum)
	c.expect(exitOK, strings.Replace(heldOutput, "NS", "approve", 1), "", "approve", "apps", "-n", "approve")
	c.expect(exitFindings, "", "CatalogSelection nothing not found", "approve", "nothing", "-n", "approve")
	c.expect(exitFailed, "", "approve wants one NAME", "approve", "a", "b")
	c.expect(exitFailed, "", "--write takes a FILE", "approve", "apps", "-n", "approve", "--write", "")

	c.apply(inNamespace("calm", "{sources: [{name: catalog}]}"))
	file := filepath.Join(c.t.TempDir(), "nowhere")
	c.expect(exitOK, "calm/apps: nothing is held\n", "the status is of an older spec: run winnow reconcile apps -n calm",
		"approve", "apps", "-n", "calm", "--write", file)
	if exists(file) {
		c.t.Error("it wrote a file")
	}

	// The API server drops a field that an older CRD does not have.
	if err := c.report(c.t.Context(), selectionGVK, c.key("calm"), map[string]any{"conditions": []map[string]any{{
		"type": "Held", "status": "True", "reason": "Removal", "message": "loki: would be removed",
		"lastTransitionTime": "2026-01-01T00:00:00Z",
	}}}); err != nil {
		c.t.Fatal(err)
	}
	c.expect(exitFindings, "", "calm/apps: status.held is missing, and the condition Held is True: Removal: loki: would be removed: "+
		"install the CRD of this version", "approve", "apps", "-n", "calm")

	c.holds("empty")
	if got := c.on("approve", "apps", "-n", "empty"); got.code != exitFindings || !strings.Contains(got.stdout, "This cannot be approved") {
		c.t.Errorf("%+v", got)
	}
	many := heldStatus("sha256:" + strings.Repeat("77", 32))
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
	if strings.Count(got.stdout, "Removal: loki") != maxHeld || !strings.Contains(got.stdout, "\n  and 380 more\n") ||
		!strings.Contains(got.stdout, "It releases all 400 changes of this render") {
		c.t.Errorf("%+v", got)
	}
}

func testApproveInFile(c *cluster) {
	c.holds("write", heldSum)
	file := filepath.Join(c.t.TempDir(), "selection.yaml")
	const before = "# ours\r\nkind: CatalogSelection\r\napiVersion: catalog.winnow.dev/v1alpha1\r\nmetadata: {name: apps}\r\nspec:\r\n  sources: [{name: catalog}] # it"
	writeFile(c.t, file, before)
	if err := os.Chmod(file, 0o640); err != nil {
		c.t.Fatal(err)
	}
	approve := []string{"approve", "apps", "-n", "write", "--write", file}
	output := strings.Replace(heldOutput, "NS", "write", 1)
	c.expect(exitOK, output+file+":2: added "+heldSum+"\n", "", approve...)
	after := readFileString(c.t, file)
	if want := before + "\r\n  safeguards:\r\n    approve:\r\n    - " + heldSum; after != want {
		c.t.Errorf("%q, want %q", after, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 {
		c.t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	c.expect(exitOK, output+file+":2: already approved, nothing is written\n", "", approve...)
	if spec := c.apps("write").Object["spec"].(map[string]any)["safeguards"]; spec.(map[string]any)["approve"] != nil {
		c.t.Error("it wrote to the cluster")
	}
	// A note that is not used up approves as well, one that is used up does not.
	writeFile(c.t, file, strings.Replace(after, heldSum, heldSum+"#mine", 1))
	c.expect(exitOK, output+file+":2: already approved, nothing is written\n", "", approve...)
	if err := c.report(c.t.Context(), selectionGVK, c.key("write"), map[string]any{"usedApprovals": []string{heldSum + "#mine"}}); err != nil {
		c.t.Fatal(err)
	}
	c.expect(exitOK, output+file+":2: added "+heldSum+"\n", "", approve...)

	link := filepath.Join(c.t.TempDir(), "link.yaml")
	if err := os.Symlink(file, link); err != nil {
		c.t.Fatal(err)
	}
	broken := filepath.Join(c.t.TempDir(), "broken.yaml")
	writeFile(c.t, broken, "kind: [")
	for name, code := range map[string]int{link: exitFailed, filepath.Dir(file): exitFailed, "/nowhere": exitFailed, broken: exitFindings, "../../go.mod": exitFindings} {
		if got := c.on("approve", "apps", "-n", "write", "--write", name); got.code != code || got.stdout != output || !strings.HasPrefix(got.stderr, "winnow: ") {
			c.t.Errorf("%s: %+v", name, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		c.t.Errorf("it left %v, %v", entries, err)
	}
}
