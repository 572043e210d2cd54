// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// formerCommit is the last commit of the former shape: what is deletionPolicy: Delete now was prune: true.
const formerCommit = "78944a4687beaf73fe8b269a9dd2acc033f71189"

const crdFile = "config/crd/bases/catalog.winnow.dev_catalogselections.yaml"

// The former controller and its CustomResourceDefinition publish two selections. Then the definition is upgraded, then the
// controller; and at last the former controller is back, with the definition of now. No live object changes.
func TestUpgradeFromTheFormerShapeAndBack(t *testing.T) {
	useOwnSystem(t)
	u := newFormer(t)
	pruned := newScenario(t, "old-prunes", catalogOf("old-prunes"), formerSelection(true))
	kept := newScenario(t, "old-keeps", catalogOf("old-keeps"), formerSelection(false))
	u.published(pruned, kept)
	before := u.objects(pruned, kept)
	for name, want := range map[string]string{"old-prunes-a": "", "old-keeps-a": "disabled"} {
		object := before[name]
		if got := object.GetAnnotations()["kustomize.toolkit.fluxcd.io/prune"]; got != want {
			t.Fatalf("%s has the protection %q, want %q", name, got, want)
		}
	}

	u.define(now(t))
	u.unchanged("with the definition of now", before, pruned, kept)
	u.start(system.binary)
	u.published(pruned, kept)
	u.unchanged("with the controller of now", before, pruned, kept)
	u.refusesEdits(pruned)

	u.start(u.former)
	u.published(pruned, kept)
	u.unchanged("with the former controller again", before, pruned, kept)
}

// upgrade is a system that changes between two versions.
type upgrade struct {
	*testing.T
	former string // path of the former controller's binary
}

// newFormer installs the former definition, and starts the former controller.
func newFormer(t *testing.T) *upgrade {
	t.Helper()
	binary := formerController(t, formerCommit)
	definition, err := system.FormerFile(t.Context(), formerCommit, crdFile)
	if err != nil {
		t.Fatal(err)
	}
	u := &upgrade{t, binary}
	u.define(definition)
	u.start(binary)
	return u
}

func formerController(t *testing.T, commit string) string {
	t.Helper()
	binary, err := system.FormerController(t.Context(), commit)
	if errors.Is(err, stack.ErrNoHistory) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func now(t *testing.T) []byte {
	t.Helper()
	definition, err := os.ReadFile(filepath.Join(system.root, crdFile))
	if err != nil {
		t.Fatal(err)
	}
	return definition
}

// formerSelection writes a spec as the former definition has it.
func formerSelection(prune bool) func(*v1alpha1.CatalogSelection, *kustomizev1.Kustomization) {
	return func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.DeletionPolicy, cs.Spec.Prune = "", prune
	}
}

// define installs a CustomResourceDefinition, and waits until the API server uses it: that of now refuses the former field
// in a new object.
func (u *upgrade) define(definition []byte) {
	u.Helper()
	if err := system.Apply(u.Context(), definition); err != nil {
		u.Fatal(err)
	}
	former := !strings.Contains(string(definition), "deletionPolicy")
	probe := &scenario{t: u.T, name: "default"}
	probe.await("the definition is used", func(ctx context.Context) error {
		cs := &v1alpha1.CatalogSelection{ObjectMeta: probe.metaOf("probe")}
		cs.Spec.Sources, cs.Spec.Prune = []v1alpha1.SourceReference{{Name: "probe"}}, true
		err := client.NewDryRunClient(system.Client()).Create(ctx, cs)
		if (err == nil) != former {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}

// start replaces the controller. The archives are lost, as with the pod.
func (u *upgrade) start(binary string) {
	u.Helper()
	u.startWith(binary, "")
}

// startWith replaces the controller by one with the archives in a directory; without any for an empty one.
func (u *upgrade) startWith(binary, archives string) {
	u.Helper()
	if err := system.controller.Stop(); err != nil {
		u.Fatal(err)
	}
	var err error
	if system.controller, err = system.StartController(u.Context(), stack.ControllerOptions{Binary: binary, DataDir: archives}); err != nil {
		u.Fatal(err)
	}
}

// published waits until the controller that runs serves the archives, and all is applied.
func (u *upgrade) published(scenarios ...*scenario) {
	u.Helper()
	for _, s := range scenarios {
		s.await("served again", func(ctx context.Context) error {
			_, ea, _, err := s.live(ctx)
			if err != nil || ea.Status.Artifact == nil {
				return fmt.Errorf("no artifact: %w", err)
			}
			_, err = os.Stat(filepath.Join(system.controller.DataDir, ea.Status.Artifact.Path))
			return err
		})
		s.awaitApplied(s.name+"-a", s.name+"-b", s.name+"-c")
	}
}

// objects returns the live objects, without what each write changes.
func (u *upgrade) objects(scenarios ...*scenario) map[string]unstructured.Unstructured {
	u.Helper()
	all := map[string]unstructured.Unstructured{}
	for _, s := range scenarios {
		applied, err := s.definitions(u.Context())
		if err != nil {
			u.Fatal(err)
		}
		for name, object := range applied {
			object.SetManagedFields(nil)
			object.SetResourceVersion("")
			all[name] = object
		}
	}
	return all
}

func (u *upgrade) unchanged(when string, before map[string]unstructured.Unstructured, scenarios ...*scenario) {
	u.Helper()
	after := u.objects(scenarios...)
	for name, object := range before {
		if now := after[name]; !reflect.DeepEqual(object, now) {
			u.Errorf("%s, %s changed from\n%v\nto\n%v", when, name, object, now)
		}
	}
}

// refusesEdits tries to edit a selection that still has the former field.
func (u *upgrade) refusesEdits(s *scenario) {
	u.Helper()
	cs := s.selection.DeepCopy()
	dryRun := client.NewDryRunClient(system.Client())
	edit := func(patch string) error {
		return dryRun.Patch(u.Context(), cs.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)))
	}
	const want = "prune was renamed: write deletionPolicy: Delete instead of prune: true"
	if err := edit(`{"spec": {"exclude": ["old-prunes-c"]}}`); err == nil || !strings.Contains(err.Error(), want) {
		u.Errorf("an edit with the former field: %v", err)
	}
	if err := edit(`{"spec": {"exclude": ["old-prunes-c"], "prune": null, "deletionPolicy": "Delete"}}`); err != nil {
		u.Errorf("an edit with the new name: %v", err)
	}
}

// placeholderCommit is the last commit whose artifacts have placeholders of what leaves.
const placeholderCommit = "0200bb9b12f26bd51a66aae6331604c9102b714b"

// The former controller gives up two objects: the Kustomization of the receiver of one is suspended, and the receiver of the other one
// cannot be evaluated, so that the artifact has a placeholder. The controller that replaces it deletes neither, and both go over once
// their receivers are able to apply them.
func TestUpgradeInTheMiddleOfMoves(t *testing.T) {
	useOwnSystem(t)
	u := &upgrade{T: t, former: formerController(t, placeholderCommit)}
	for _, name := range []string{"midway", "midway-empty"} {
		u.start(u.former)
		e := newEstate(t, name, catalogOf(name))
		e.commit([]string{e.selecting("giver"), e.applying("giver", "giver")})
		a, b, c := name+"-a", name+"-b", name+"-c"
		before := e.awaitParts(part{"giver", "giver", []string{a, b, c}})

		slow := e.selecting("slow", limitedTo(b))
		e.commit([]string{
			e.selecting("giver", "exclude: ["+a+", "+b+"]"), e.selecting("able", limitedTo(a)), e.applying("able", "able", "suspend: true"),
			strings.Replace(slow, "sources: [{name: "+name, "sources: [{name: none", 1), e.applying("slow", "slow"),
		})
		e.of("giver").awaitSelection("has a placeholder", func(cs *v1alpha1.CatalogSelection) error {
			if !conditions.IsTrue(cs, v1alpha1.AppliedCondition) || !strings.Contains(conditions.GetMessage(cs, v1alpha1.KeptCondition), b) {
				return fmt.Errorf("the conditions are %+v", cs.Status.Conditions)
			}
			return nil
		})

		archives := system.controller.DataDir
		if strings.HasSuffix(name, "-empty") {
			archives = ""
		}
		u.startWith(system.binary, archives)
		e.of("giver").awaitSelection("is handled by the controller of now", func(cs *v1alpha1.CatalogSelection) error {
			if cs.Status.Claim == nil {
				return fmt.Errorf("it claims nothing: %+v", cs.Status.Conditions)
			}
			return nil
		})
		e.commit([]string{e.applying("able", "able"), slow})
		after := e.awaitParts(part{"giver", "giver", []string{c}}, part{"able", "able", []string{a}}, part{"slow", "slow", []string{b}})
		e.assertSameObjects(before, after)
	}
}
