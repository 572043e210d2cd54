// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/metrics"
)

var update = flag.Bool("update", false, "write testdata/metrics.txt")

// measured is an environment with the metrics of a controller, all of which registry has.
type measured struct {
	*environment
	registry *prometheus.Registry
}

func newMeasured(t *testing.T) *measured {
	t.Helper()
	m := &measured{newEnvironment(t), prometheus.NewRegistry()}
	own, err := metrics.New(m.registry, m.now)
	if err != nil {
		t.Fatal(err)
	}
	m.restartWith(func(o *Options) { o.Metrics = own })
	return m
}

// series maps those that name the namespace of the test, or no namespace, to their values. A histogram has the number of its
// observations. The namespace is written as flux-system.
func (m *measured) series(types ...*[]string) map[string]float64 {
	m.Helper()
	found := map[string]float64{}
	for _, gatherer := range []prometheus.Gatherer{m.registry, ctrlmetrics.Registry} {
		families, err := gatherer.Gather()
		if err != nil {
			m.Fatal(err)
		}
		for _, family := range families {
			for _, all := range types {
				*all = append(*all, "# TYPE "+family.GetName()+" "+strings.ToLower(family.GetType().String()))
			}
			for _, metric := range family.GetMetric() {
				var labels []string
				for _, label := range metric.GetLabel() {
					labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), strings.ReplaceAll(label.GetValue(), m.namespace, "flux-system")))
				}
				found[family.GetName()+"{"+strings.Join(labels, ",")+"}"] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() +
					float64(metric.GetHistogram().GetSampleCount())
			}
		}
	}
	return found
}

// named returns the series that name a selection of the test, without its name, and their values.
func (m *measured) named(metric string) map[string]float64 {
	m.Helper()
	found := map[string]float64{}
	for series, value := range m.series() {
		if rest, ok := strings.CutPrefix(series, metric); ok && strings.Contains(series, `namespace="flux-system"`) {
			found[strings.NewReplacer(`name="kkp"`, "", `,namespace="flux-system"`, "", "{", " ", "}", "").Replace(rest)] = value
		}
	}
	return found
}

// What the tests of alerts and dashboards know of the metrics is what a reconciler has.
func TestTheMetricsOfASelection(t *testing.T) {
	m := newMeasured(t)
	own := func() map[string]float64 { return m.named("winnow_selection_") }
	now, none := float64(m.now().Unix()), map[string]float64{}
	m.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"velero"} })
	created := float64(m.reconcile("kkp").CreationTimestamp.Unix())
	m.equal("before there is a source", own(), map[string]float64{"behind_since_timestamp_seconds ": created})

	m.source(applications(t, "argocd nginx"))
	good := m.good()
	published := float64(good.cs.Status.Artifact.LastUpdateTime.Unix())
	m.equal("published", own(), map[string]float64{"published_timestamp_seconds ": published, "unmatched_names ": 1})

	later := m.source(applications(t, "argocd"))
	m.hold(good, "Removal")
	held := map[string]float64{
		"published_timestamp_seconds ": published, "unmatched_names ": 1, "held_changes ,reason=\"Removal\"": 1, "behind_since_timestamp_seconds ": now,
	}
	m.equal("held", own(), held)
	later.Revision, later.LastUpdateTime = "v2@"+later.Digest, metav1.NewTime(m.now().Add(time.Hour))
	m.setArtifact("OCIRepository", m.key("catalog"), later)
	m.hold(good, "Removal")
	m.equal("behind since the first revision that is not published", own(), held)
	m.reconciler.measureMarks(m.get("kkp"), cluster.Marked{Bypassed: []string{"argocd"}, BypassedSince: m.now(), Orphaned: 1}, nil)
	m.compareWithFile()
	m.reconciler.measureMarks(m.get("kkp"), cluster.Marked{}, nil)

	m.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	m.reconcile("kkp")
	m.equal("suspended", own(), held)
	m.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = false })
	m.approve(m.get("kkp").Status.Held.Approve...)
	m.good()
	m.equal("approved", slices.Sorted(maps.Keys(own())), []string{"published_timestamp_seconds ", "unmatched_names "})

	m.pass(time.Hour)
	m.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{Expression: "(("} })
	m.reconcile("kkp")
	m.pass(time.Hour)
	m.reconcile("kkp")
	m.equal("behind since an edit that cannot be published", own()["behind_since_timestamp_seconds "], now+3600)
	m.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = nil })
	m.good()
	m.equal("corrected", slices.Sorted(maps.Keys(own())), []string{"published_timestamp_seconds ", "unmatched_names "})

	m.remove(m.get("kkp"))
	if _, err := m.tryReconcile("kkp"); err != nil {
		t.Fatal(err)
	}
	m.equal("all metrics of a deleted selection", m.named(""), none)
}

// A condition that is absent has series only if Flux's own kinds have it.
func TestTheConditionsWithSeries(t *testing.T) {
	m := newMeasured(t)
	types := func() []string {
		found := map[string]bool{}
		for series := range m.named("gotk_reconcile_condition") {
			_, rest, _ := strings.Cut(series, `type="`)
			found[strings.TrimSuffix(rest, `"`)] = true
		}
		return slices.Sorted(maps.Keys(found))
	}
	m.source(applications(t, "argocd"))
	m.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"velero"} })
	m.reconcile("kkp")
	m.equal("with a name that matches nothing", types(), []string{"Applied", "Held", "Ready", "Reconciling", "SourceReady", "Stalled", "Unmatched"})
	m.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = nil })
	m.reconcile("kkp")
	m.equal("without it", types(), []string{"Applied", "Held", "Ready", "Reconciling", "SourceReady", "Stalled"})
}

func TestAnArtifactThatIsWithheldHasNoAge(t *testing.T) {
	cs := &v1alpha1.CatalogSelection{}
	if !publishedAt(cs).IsZero() {
		t.Error("there is an age before the first publication")
	}
	cs.Status.Artifact = &meta.Artifact{LastUpdateTime: metav1.Now()}
	if publishedAt(cs).IsZero() {
		t.Error("a served artifact has no age")
	}
	cs.Status.Withheld = v1alpha1.ConflictReason
	if !publishedAt(cs).IsZero() {
		t.Error("a withheld artifact has an age")
	}
}

// compareWithFile compares the names, types and labels of all series with testdata/metrics.txt, while something waits in a
// queue.
func (m *measured) compareWithFile() {
	m.Helper()
	second := types.NamespacedName{Namespace: m.namespace, Name: "second"}
	if m.reconciler.slots.take(m.key("kkp")) != nil || m.reconciler.slots.take(second) == nil {
		m.Fatal("nothing waits for a slot")
	}
	all := m.get("kkp")
	for _, condition := range conditionTypes() {
		conditions.MarkTrue(all, condition, v1alpha1.SucceededReason, "there")
	}
	m.reconciler.recordMetrics(all, m.now())
	var lines []string
	for series := range m.series(&lines) {
		lines = append(lines, series)
	}
	for _, key := range []types.NamespacedName{second, m.key("kkp"), second} {
		m.reconciler.slots.leave(m.Context(), key)
	}

	own := func(line string) bool {
		name := strings.TrimPrefix(line, "# TYPE ")
		return !strings.HasPrefix(name, "winnow_") && !strings.HasPrefix(name, "gotk_")
	}
	lines = slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(lines, own))))
	const file = "testdata/metrics.txt"
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			m.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		m.Fatal(err)
	}
	m.equal("the metrics, of which go test ./controllers -run "+m.Name()+" -update writes the file", lines, strings.Split(strings.TrimSpace(string(want)), "\n"))
}
