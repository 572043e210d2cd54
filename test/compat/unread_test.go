// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/test/stack"
)

// maxUnread bounds the charts whose values make test compares with what they read.
const maxUnread = 40

// unreadKeys are the keys in the values.yaml of real charts that no template reads, each looked up in the chart.
var unreadKeys = map[string]string{
	"cert-manager":              "crds enabled", // a chart above it has conditions on enabled; crds is read in a template that none includes
	"cilium":                    "enableInternalTrafficPolicy name",
	"cluster-api-operator":      "manager.featureGates", // which is one key with a dot
	"external-dns":              "enabled",              // for conditions
	"kube-ovn":                  "DPDK_CPU DPDK_MEMORY fullnameOverride nameOverride",
	"mariadb-operator":          "extrArgs", // the template reads extraArgs
	"vertical-pod-autoscaler":   "kubeVersion",
	"victoria-metrics-operator": "extraHostPathMounts",
}

// readAsAWhole are the charts that may read any key: by a name that another template has, or all values as one text.
var readAsAWhole = []string{"kubeapps", "nats", "strimzi-kafka-operator", "victoria-metrics-operator"}

// Without its values.yaml and its schema, a chart reads the keys of its values.yaml, and no other one.
func TestChartsReadTheirOwnValues(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dataDir(t, root), "charts/*/*.tgz"))
	if err != nil || len(found) == 0 {
		t.Skipf("skipped: there are no real charts: %v", err)
	}
	found = slices.DeleteFunc(found, func(place string) bool { // these have objects, and the values of the chart beside it
		return strings.Contains(place, "/cert-manager-crds-")
	})
	if !isSweep() {
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
		found = found[:min(len(found), maxUnread)]
	}
	whole := 0
	for _, place := range found {
		t.Run(filepath.Base(place), func(t *testing.T) {
			packed, values := withoutValues(t, place)
			answer, err := rendering.Do(t.Context(), rendering.Request{
				Chart: packed, Values: [][]byte{append(values, "\nmisspelt: true\n"...)}, ReleaseName: "web", Namespace: "apps", FindUnread: true,
			})
			if err != nil || answer.Refused != "" {
				t.Fatalf("Do() = %s, %v", answer.Refused, err)
			}
			keys := answer.Renders[0].Unread
			if len(keys) == 0 && slices.Contains(readAsAWhole, answer.Name) {
				whole++
				return
			}
			if !slices.Contains(keys, unread.Key{Name: "misspelt"}) {
				t.Error("it reads any key")
			}
			for _, key := range keys {
				if key.Name != "misspelt" && !slices.Contains(strings.Fields(unreadKeys[answer.Name]), key.Name) {
					t.Errorf("it does not read %s", key.Name)
				}
			}
		})
	}
	t.Logf("%d charts, of which %d may read any key", len(found), whole)
}

// withoutValues returns the archive of a chart without its values and their schema, and these values.
func withoutValues(t *testing.T, place string) (packed, values []byte) {
	t.Helper()
	content, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	all, err := archive.Read(t.Context(), bytes.NewReader(content), archive.Limits{})
	if err != nil {
		t.Skipf("skipped: Winnow does not read it: %v", err)
	}
	kept := tree.New()
	for _, name := range all.Paths() {
		content, _ := all.Content(name)
		switch _, below, _ := strings.Cut(name, "/"); below {
		case "values.yaml":
			values = slices.Clone(content)
		case "values.schema.json":
		default:
			err = errors.Join(err, kept.Add(name, content))
		}
	}
	var buffer bytes.Buffer
	if err := errors.Join(err, archive.Write(&buffer, kept)); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes(), values
}
