// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/fleet"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/receipttest"
)

// listed runs winnow fleet on the stage.
func listed(f *receipttest.Stage, args ...string) clitest.Execution {
	return clitest.Execute(context.WithoutCancel(f.T.Context()), append([]string{"fleet", "oci://" + f.Host + "/receipts", "spokes/staging", "--plain-http"}, args...)...)
}

var seconds = regexp.MustCompile(` \d+s `)

// Each way in which a receipt can be wrong has its name, and nothing of what is not proved is shown.
func TestReceiptsThatAreWrongAreNamed(t *testing.T) {
	on := func(digest string) func(*receipt.Receipt) {
		return func(r *receipt.Receipt) { r.Kustomizations[0].Digest = digest }
	}
	unready := func(status metav1.ConditionStatus, message string) func(*receipt.Receipt) {
		return func(r *receipt.Receipt) {
			k := &r.Kustomizations[0]
			k.Ready, k.Reason, k.Message = status, "HealthCheckFailed", message
		}
	}
	tests := map[string]struct {
		publish      func(f *receipttest.Stage, name string)
		problem, row string
	}{
		"fine": {nil, "-", "WANTED True"},
		"previous": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, on(receipttest.DigestOf("a"))))
		}, "behind", "sha256:aaaaaaaaaaaa True 0s runs a digest that Git has named before"},
		"stray": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, on(receipttest.DigestOf("c"))))
		}, "foreign", "sha256:cccccccccccc True 0s runs a digest that Git has not named for this stage"},
		"no-digest": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, on("")))
		}, "behind", "- True 0s nothing is applied yet"},
		"replayed": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 2*time.Hour, nil))
		}, "stale", "WANTED True 120m signed 2h0m"},
		"several": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 2*time.Hour, func(r *receipt.Receipt) {
				unready(metav1.ConditionFalse, "x")(r)
				on(receipttest.DigestOf("a"))(r)
			}))
		}, "unhealthy,stale,behind", "sha256:aaaaaaaaaaaa False"},
		"second-kustomization": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, func(r *receipt.Receipt) {
				r.Kustomizations = append([]receipt.Kustomization{receipttest.Applied(receipttest.DigestOf("a"))}, r.Kustomizations...)
			}))
		}, "behind", "sha256:aaaaaaaaaaaa True"},
		"not-applied-by-one": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, func(r *receipt.Receipt) {
				r.Kustomizations = append([]receipt.Kustomization{receipttest.Applied("")}, r.Kustomizations...)
			}))
		}, "behind", "- True 0s nothing is applied yet"},
		"failing": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, unready(metav1.ConditionFalse, "timeout")))
		}, "unhealthy", "WANTED False 0s flux-system/applications: HealthCheckFailed: timeout"},
		"reconciling": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, unready(metav1.ConditionUnknown, "running")))
		}, "unhealthy", "WANTED Unknown"},
		"other-kustomization": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, func(r *receipt.Receipt) { r.Kustomizations[0].Source = "team/applications" }))
		}, "unhealthy,behind", "- Unknown 0s no Kustomization applies the OCIRepository flux-system/applications"},
		"escapes": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, 0, unready(metav1.ConditionFalse, "\x1b[2J\u202e\nfine  staging  -  ok "+strings.Repeat("x", 300))))
		}, "unhealthy", "flux-system/applications: HealthCheckFailed: [2J fine staging - ok xxx"},
		"absent": {func(*receipttest.Stage, string) {}, "missing", "- - - the registry has no receipt"},
		"other-key": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign("fine", name, 0, nil))
		}, "forged", "- - - it is not signed with the key of the cluster"},
		"other-cluster": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, "fine", 0, nil))
		}, "forged", `- - - it is a receipt of the cluster "fine"`},
		"tomorrow": {func(f *receipttest.Stage, name string) {
			f.Publish(name, f.Sign(name, name, -time.Hour, nil))
		}, "forged", "- - - its time is in the future"},
		"edited": {func(f *receipttest.Stage, name string) {
			f.Publish(name, []byte(strings.Replace(string(f.Sign(name, name, 0, nil)), `"payload":"ey`, `"payload":"fy`, 1)))
		}, "forged", "- - - it is not signed with the key of the cluster"},
		"unsigned": {func(f *receipttest.Stage, name string) {
			f.Publish(name, []byte(`{"payloadType": "application/vnd.winnow.receipt.v1+json", "payload": "e30=", "signatures": []}`))
		}, "forged", "- - - it is no receipt"},
		"thousands-of-signatures": {func(f *receipttest.Stage, name string) {
			f.Publish(name, []byte(`{"payloadType": "application/vnd.winnow.receipt.v1+json", "payload": "e30=", "signatures": [{}`+strings.Repeat(",{}", 300_000)+`]}`))
		}, "forged", "- - - it is no receipt"},
		"index": {func(f *receipttest.Stage, name string) {
			f.Put("receipts/"+name, v1.MediaTypeImageIndex, []byte(`{"schemaVersion": 2, "manifests": []}`), "latest")
		}, "forged", "- - - it is no artifact of the type application/vnd.winnow.receipt.v1 with one layer"},
		"large-layer": {func(f *receipttest.Stage, name string) {
			f.Push(f.T, "receipts/"+name, v1.Manifest{ArtifactType: receipt.ArtifactType, Layers: []v1.Descriptor{{MediaType: receipt.LayerType, Digest: v1.Descriptor(v1.DescriptorEmptyJSON).Digest, Size: 1 << 40}}})
		}, "forged", "- - - its layer has 1099511627776 bytes, more than 1048576"},
		"odd-digest": {func(f *receipttest.Stage, name string) {
			f.Push(f.T, "receipts/"+name, v1.Manifest{ArtifactType: receipt.ArtifactType, Layers: []v1.Descriptor{{MediaType: receipt.LayerType, Digest: "sha256:../../etc", Size: 1}}})
		}, "forged", "- - - its layer is not of the type"},
		"replaced-layer": {func(f *receipttest.Stage, name string) {
			envelope := f.Sign(name, name, 0, nil)
			f.Publish(name, envelope)
			f.SetBlob(registry.NewBlob("", envelope).Descriptor.Digest.String(), f.Sign(name, name, time.Minute, nil))
		}, "forged", "- - - its layer cannot be fetched"},
		"large-manifest": {func(f *receipttest.Stage, name string) {
			f.Put("receipts/"+name, v1.MediaTypeImageManifest, []byte(`{"layers": [`+strings.Repeat(`{},`, 200_000)+`{}]}`), "latest")
		}, "forged", "- - - its manifest has more than 100000 elements"},
	}
	var names []string
	for name := range tests {
		names = append(names, name)
	}
	schema := clitest.ClosedSchema(t, "Fleet")
	f := receipttest.NewStage(t, names...)
	for name, test := range tests {
		if test.publish == nil {
			f.Publish(name, f.Sign(name, name, 0, nil))
			continue
		}
		test.publish(f, name)
	}
	got := listed(f)
	if got.Code != root.ExitOK {
		t.Fatalf("exit code %d: %s", got.Code, got.Stderr)
	}
	if strings.ContainsAny(got.Stdout, "\x1b\u202e") || strings.Count(got.Stdout, "\n") != len(tests)+1 {
		t.Errorf("%q", got.Stdout)
	}
	lines := strings.Split(strings.TrimSpace(got.Stdout), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "fine ") {
		t.Errorf("the problems are not first: %s", got.Stdout)
	}
	for name, test := range tests {
		found := false
		for _, line := range lines {
			fields := seconds.ReplaceAllString(strings.Join(strings.Fields(line), " "), " 0s ")
			if strings.HasPrefix(fields, name+" spokes/staging "+test.problem+" ") {
				found = strings.Contains(fields, strings.ReplaceAll(test.row, "WANTED", f.Digest[:len("sha256:")+12]))
			}
		}
		if !found {
			t.Errorf("%s: no line with %s and %q in\n%s", name, test.problem, test.row, got.Stdout)
		}
	}
	for _, test := range []struct {
		failOn string
		want   string
	}{
		{"missing", "--fail-on missing: absent"},
		{"foreign,behind", "--fail-on foreign: stray; behind: "},
		{"any", "--fail-on any: "},
	} {
		if got := listed(f, "--fail-on", test.failOn); got.Code != root.ExitFindings || !strings.Contains(got.Stderr, test.want) {
			t.Errorf("--fail-on %s: %d %s", test.failOn, got.Code, got.Stderr)
		}
	}
	var document struct {
		Clusters []struct {
			Name     string
			Problems []any
			Receipt  *receipt.Receipt
		}
	}
	printed := []byte(listed(f, "-o", "json", "-q").Stdout)
	var untyped map[string]any
	if err := json.Unmarshal(printed, &untyped); err != nil {
		t.Fatal(err)
	}
	for _, violation := range validation.ValidateCustomResource(nil, untyped, schema) {
		t.Error(violation)
	}
	if err := json.Unmarshal(printed, &document); err != nil || len(document.Clusters) != len(tests) {
		t.Fatalf("%v: %+v", err, document)
	}
	for _, c := range document.Clusters {
		if c.Name == "fine" && (len(c.Problems) > 0 || c.Receipt.Definitions[0].Versions[0] != "1.0.0") {
			t.Errorf("%+v", c)
		}
	}
}

// A receipt has an age by the clock of the reader: it is stale after --max-age, and forged if it was signed later.
func TestAnAgeIsMeasuredByTheClock(t *testing.T) {
	signed := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	f := receipttest.NewStage(t, "berlin")
	f.Publish("berlin", f.Sign("berlin", "berlin", 0, func(r *receipt.Receipt) { r.Time = signed }))
	for after, want := range map[time.Duration]string{
		-5*time.Minute - time.Second: "forged", -5 * time.Minute: "-", 2 * time.Hour: "-", 2*time.Hour + time.Second: "stale",
	} {
		var stdout strings.Builder
		cmd := fleet.New(func() time.Time { return signed.Add(after) })
		cmd.SetArgs([]string{"oci://" + f.Host + "/receipts", "spokes/staging", "--plain-http", "--max-age", "2h"})
		cmd.SetOut(&stdout)
		cmd.SetErr(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row := strings.Fields(strings.SplitAfterN(stdout.String(), "\n", 2)[1]); row[2] != want {
			t.Errorf("after %s: %q, want %s", after, row, want)
		}
	}
}

// One repository that hangs costs the time limit, and hides no other cluster. There are 16 requests at a time at most.
func TestARegistryThatHangs(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	f := receipttest.NewStage(t, names...)
	for _, name := range names {
		f.Publish(name, f.Sign(name, name, 0, nil))
	}
	var running, most atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for now := running.Add(1); ; {
			if was := most.Load(); now <= was || most.CompareAndSwap(was, now) {
				break
			}
		}
		defer running.Add(-1)
		if strings.Contains(r.URL.Path, "/c07/") {
			<-r.Context().Done()
			return
		}
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.Host = strings.TrimPrefix(server.URL, "http://")
	got := listed(f, "--timeout", "3s", "--fail-on", "any")
	if got.Code != root.ExitFailed || !strings.HasPrefix(got.Stderr, "60 clusters, 59 without problems, 1 unreadable\nwinnow: the receipts of 1 cluster cannot be read: c07: ") {
		t.Errorf("exit code %d: %s", got.Code, got.Stderr)
	}
	if most.Load() > 16 {
		t.Errorf("%d requests at a time", most.Load())
	}
}

// Without the history, a digest that Git may have named is not called foreign; and without keys there is no cluster.
func TestFleetOfACloneWithoutHistory(t *testing.T) {
	f := receipttest.NewStage(t, "berlin")
	f.Publish("berlin", f.Sign("berlin", "berlin", 0, func(r *receipt.Receipt) { r.Kustomizations[0].Digest = receipttest.DigestOf("a") }))
	origin, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "-q", "--depth=1", "file://"+origin, clone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(clone)
	if got := listed(f); got.Code != root.ExitOK || !strings.Contains(got.Stdout, " behind ") || !strings.Contains(got.Stdout, "this clone is shallow") {
		t.Errorf("%+v", got)
	}
	clitest.Shell(t, clone, "sed -i 's/digest: .*/tag: latest/' spokes/staging/applications.yaml && git -c user.name=x -c user.email=x@example.com commit -q -a -m 'Follow a tag'")
	if got := listed(f, "--fail-on", "behind"); got.Code != root.ExitOK || !strings.Contains(got.Stdout, "sha256:aaaaaaaaaaaa") {
		t.Errorf("a stage that follows a tag is never behind: %+v", got)
	}
	for _, args := range [][]string{
		{"fleet", "oci://" + f.Host + "/receipts:latest", "spokes/staging"}, {"fleet", "oci://" + f.Host + "/receipts", "spokes/production"},
		{"fleet", "oci://" + f.Host + "/receipts", "spokes/staging", "--max-age", "0s"}, {"fleet", "oci://" + f.Host + "/receipts", "spokes/staging", "--fail-on", "unreadable"},
	} {
		if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitFailed || got.Stdout != "" || got.Stderr == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
