// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// bypassSpoke is a cluster without Winnow, whose Flux pulls what the command line has rendered, and a user who
// runs the commands of the fleet guide there.
type bypassSpoke struct {
	*stack.Stack
	t       *testing.T
	guide   []string // blocks of its section on the bypass
	applied *kustomizev1.Kustomization
}

const bypassSpokeName = "spoke-bypass"

// TestASpokeHonorsTheBypass: without Winnow, the policies alone set and remove the mark.
func TestASpokeHonorsTheBypass(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("skipped: the commands of the guide need it: %v", err)
	}
	s := newBypassSpoke(t)
	s.release("v1", "argocd", "loki", "velero")
	s.run("kubectl apply -k config/policies/bypass")
	s.awaitPolicies("argocd")

	s.run("kubectl label applicationdefinition argocd apps.k8c.io/application-bypass=true")
	s.run("kubectl annotate applicationdefinition loki")
	before := s.definition("argocd")
	s.release("v2", "argocd", "loki", "velero")
	s.release("v3")
	s.assertGone("velero")
	if after := s.definition("argocd"); after.GetUID() != before.GetUID() || after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("the bypassed definition was written: %v, before %v", after, before)
	}
	s.release("v4", "argocd", "loki", "velero")
	s.assertValues(map[string]string{"argocd": "v1", "loki": "v1", "velero": "v4"})

	s.run("kubectl label applicationdefinition argocd apps.k8c.io/application-bypass-")
	if left := s.definition("argocd").GetAnnotations(); left[reconcileAnnotation] != "" || left[v1alpha1.BypassMarkAnnotation] != "" {
		t.Errorf("left behind: %v", left)
	}
	s.reconcile()
	s.assertValues(map[string]string{"argocd": "v4", "loki": "v1", "velero": "v4"})
}

// Flux strips a label that was set before the policies were there. The policies set it again, with the mark.
func TestASpokeKeepsABypassThatFluxStrips(t *testing.T) {
	s := newBypassSpoke(t)
	s.release("v1", "argocd", "velero")
	// Flux strips no label of an object with ssa: Merge, which is in the artifact.
	s.applied.Spec.CommonMetadata = &kustomizev1.CommonMetadata{Annotations: map[string]string{"kustomize.toolkit.fluxcd.io/ssa": "Override"}}
	if err := s.Client().Update(t.Context(), s.applied); err != nil {
		t.Fatal(err)
	}
	s.reconcile()
	s.label("argocd")
	s.reconcile()
	if _, labelled := s.definition("argocd").GetLabels()[v1alpha1.BypassLabel]; labelled {
		t.Fatal("Flux did not strip the label")
	}
	s.label("argocd")
	if err := s.ApplyKustomization(t.Context(), "config/policies/bypass"); err != nil {
		t.Fatal(err)
	}
	s.awaitPolicies("velero")
	s.reconcile()
	s.release("v2", "argocd", "velero")
	s.assertValues(map[string]string{"argocd": "v1", "velero": "v2"})
	argocd := s.definition("argocd")
	if got := argocd.GetLabels()[v1alpha1.BypassLabel]; got != "true" || argocd.GetAnnotations()[v1alpha1.BypassMarkAnnotation] == "" {
		t.Errorf("the bypass has ended: %v, %v", argocd.GetLabels(), argocd.GetAnnotations())
	}
}

func newBypassSpoke(t *testing.T) *bypassSpoke {
	t.Helper()
	s := &bypassSpoke{t: t}
	text, err := os.ReadFile(filepath.Join(system.root, "docs/guides/fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Bypass on a spoke\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range fenced.FindAllStringSubmatch(section, -1) {
		s.guide = append(s.guide, block[1])
	}
	s.Stack, err = stack.Start(t.Context(), stack.Options{
		Progress: t.Output(), SourceController: true, KustomizeController: true, CRDs: []string{"test/stack/crds"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs the block of the guide that has a line with the prefix, as the guide has it.
func (s *bypassSpoke) run(prefix string) {
	s.t.Helper()
	line := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(prefix))
	for _, block := range s.guide {
		if !line.MatchString(block) {
			continue
		}
		cmd := exec.CommandContext(s.t.Context(), "sh", "-euc", block)
		cmd.Dir = system.root
		cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig(), "HOME="+s.t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(block, "jsonpath") && !strings.HasSuffix(string(out), "disabled") {
			s.t.Fatalf("%s: %v\n%s", block, err, out)
		}
		return
	}
	s.t.Fatalf("the guide has no %q", prefix)
}

// awaitPolicies waits until the API server heeds both policies, a moment after it has accepted them.
func (s *bypassSpoke) awaitPolicies(name string) {
	s.t.Helper()
	s.await("the policies are in force", func(ctx context.Context) error {
		for patch, want := range map[string]string{
			fmt.Sprintf(`{"metadata":{"labels":{%q:""}}}`, v1alpha1.BypassLabel):                        "admission",
			fmt.Sprintf(`{"metadata":{"annotations":{%q:"admission"}}}`, v1alpha1.BypassMarkAnnotation): "",
		} {
			probe := definitionOf(name)
			if err := s.Client().Patch(ctx, probe, client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll); err != nil {
				return err
			}
			if got := probe.GetAnnotations()[v1alpha1.BypassMarkAnnotation]; got != want {
				return fmt.Errorf("%s: the mark is %q", patch, got)
			}
		}
		return nil
	})
}

// label sets the label of the bypass as kubectl does.
func (s *bypassSpoke) label(name string) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, v1alpha1.BypassLabel)
	if err := s.Client().Patch(s.t.Context(), definitionOf(name), client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner("kubectl-label")); err != nil {
		s.t.Fatal(err)
	}
}

// release pushes applications of one version, whose values are the tag, and waits until Flux has applied them.
func (s *bypassSpoke) release(tag string, names ...string) {
	s.t.Helper()
	var apps []app
	for _, name := range names {
		apps = append(apps, app{name: name, versions: []string{"1.0.0"}})
	}
	s.push(tag, apps...)
	s.awaitApplied(tag)
}

// push renders a catalog with the applications, whose values are the tag, and pushes the result under the tag. Flux prunes
// what left it.
func (s *bypassSpoke) push(tag string, apps ...app) {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, a := range append(apps, app{name: "metallb", versions: []string{"1.0.0"}}) {
		a.tier, a.values = "gold", tag
		writeApp(s.t, filepath.Join(dir, "catalog/applications", a.name), a)
	}
	selection := filepath.Join(dir, "selection.yaml")
	write(s.t, selection, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: spoke, namespace: fleet}\n"+
		"spec: {sources: [{name: catalog}], deletionPolicy: Delete}\n")
	winnow(s.t, "render", "-f", selection, "--source", filepath.Join(dir, "catalog"), "-o", filepath.Join(dir, "rendered"))
	options := stack.PushOptions{Shape: stack.FluxArtifact}
	if _, err := system.PushCatalog(s.t.Context(), filepath.Join(dir, "rendered"), bypassSpokeName+":"+tag, options); err != nil {
		s.t.Fatal(err)
	}
	if s.applied == nil {
		s.create(tag)
		return
	}
	repository := s.repository(tag)
	if err := s.Client().Patch(s.t.Context(), repository, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"ref":{"tag":%q}}}`, tag))); err != nil {
		s.t.Fatal(err)
	}
}

func (s *bypassSpoke) awaitApplied(tag string) {
	s.t.Helper()
	s.await("applied "+tag, func(ctx context.Context) error {
		err := s.Client().Get(ctx, client.ObjectKeyFromObject(s.applied), s.applied)
		if err == nil && (!strings.HasPrefix(s.applied.Status.LastAppliedRevision, tag+"@") || !conditions.IsReady(s.applied)) {
			err = fmt.Errorf("applied is %s: %+v", s.applied.Status.LastAppliedRevision, s.applied.Status.Conditions)
		}
		return err
	})
}

func (s *bypassSpoke) repository(tag string) *sourcev1.OCIRepository {
	return &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "applications", Namespace: stack.FluxNamespace},
		Spec: sourcev1.OCIRepositorySpec{
			URL: fmt.Sprintf("oci://%s/%s", system.RegistryHost(), bypassSpokeName), Insecure: true,
			Interval: metav1.Duration{Duration: time.Hour}, Reference: &sourcev1.OCIRepositoryRef{Tag: tag},
		},
	}
}

// create creates the objects of Flux.
func (s *bypassSpoke) create(tag string) {
	s.t.Helper()
	repository := s.repository(tag)
	s.applied = &kustomizev1.Kustomization{ObjectMeta: repository.ObjectMeta, Spec: kustomizev1.KustomizationSpec{
		Interval: metav1.Duration{Duration: time.Hour}, Prune: true,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: repository.Name},
	}}
	for _, object := range []client.Object{repository, s.applied} {
		if err := s.Client().Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

// reconcile requests a reconciliation of the Kustomization, and waits for its end.
func (s *bypassSpoke) reconcile() {
	s.t.Helper()
	request := time.Now().String()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, request)
	if err := s.Client().Patch(s.t.Context(), s.applied, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		s.t.Fatal(err)
	}
	s.await("reconciled", func(ctx context.Context) error {
		err := s.Client().Get(ctx, client.ObjectKeyFromObject(s.applied), s.applied)
		if err == nil && (s.applied.Status.LastHandledReconcileAt != request || !conditions.IsReady(s.applied)) {
			err = fmt.Errorf("conditions: %+v", s.applied.Status.Conditions)
		}
		return err
	})
}

func (s *bypassSpoke) definition(name string) *unstructured.Unstructured {
	s.t.Helper()
	live := definitionOf(name)
	if err := s.Client().Get(s.t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		s.t.Fatal(err)
	}
	return live
}

func (s *bypassSpoke) assertGone(name string) {
	s.t.Helper()
	live := definitionOf(name)
	if err := s.Client().Get(s.t.Context(), client.ObjectKeyFromObject(live), live); client.IgnoreNotFound(err) != nil || err == nil {
		s.t.Errorf("%s is still there: %v", name, err)
	}
}

// assertValues compares the tags of the releases that the definitions are from.
func (s *bypassSpoke) assertValues(want map[string]string) {
	s.t.Helper()
	got := map[string]string{}
	for name := range want {
		values, _, _ := unstructured.NestedString(s.definition(name).Object, "spec", "defaultValuesBlock")
		got[name] = regexp.MustCompile(`v\d+`).FindString(values)
	}
	if !maps.Equal(got, want) {
		s.t.Errorf("the definitions are of %v, want %v", got, want)
	}
}

func (s *bypassSpoke) await(what string, check func(context.Context) error) {
	s.t.Helper()
	(&scenario{t: s.t}).await(what, check)
}
