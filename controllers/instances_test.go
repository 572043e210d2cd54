// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// installable packs a catalog of "name:version@chart,version@chart" words whose charts Flux can install. The first version
// is the default.
func installable(t *testing.T, words string) []byte {
	t.Helper()
	var files []string
	for word := range strings.FieldsSeq(words) {
		name, versions, _ := strings.Cut(word, ":")
		first, _, _ := strings.Cut(versions, "@")
		document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name +
			"\nspec:\n  method: helm\n  defaultVersion: \"" + first + "\"\n  versions:\n"
		for v := range strings.SplitSeq(versions, ",") {
			version, chart, _ := strings.Cut(v, "@")
			document += fmt.Sprintf("  - version: %q\n    template:\n      source:\n        helm: {url: 'https://charts.example', chartName: %s, chartVersion: %q}\n",
				version, chart, version)
		}
		files = append(files, "applications/"+name+"/application.yaml", document)
	}
	return catalogArchive(t, files...)
}

// installing has instances of "name=version" words, of the application web, and no definitions.
func installing(words string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Definitions = v1alpha1.DefinitionsOmit
		cs.Spec.Instances = map[string]v1alpha1.Instance{}
		for word := range strings.FieldsSeq(words) {
			name, version, _ := strings.Cut(word, "=")
			cs.Spec.Instances[name] = v1alpha1.Instance{Application: "web", Version: version}
		}
	}
}

// reasonsOf lists the held reasons as "<reason> <application> <instance>: <message>".
func reasonsOf(cs *v1alpha1.CatalogSelection) []string {
	var lines []string
	if cs.Status.Held != nil {
		for _, r := range cs.Status.Held.Reasons {
			lines = append(lines, fmt.Sprintf("%s %s %s: %s", r.Reason, r.Application, r.Instance, r.Message))
		}
	}
	return lines
}

func TestWhatTheCatalogDoesToInstances(t *testing.T) {
	const elsewhere = "; name another version in spec.instances, or remove the instance from it"
	for _, test := range []struct {
		name                     string
		before, after, instances string
		safeguard                string
		held                     []string
		version                  string
	}{
		{"a minor upgrade in a range", "web:1.0.0@web", "web:1.0.0@web,1.1.0@web", "a=^1", "", nil, "1.1.0"},
		{"a minor upgrade with Hold", "web:1.0.0@web", "web:1.0.0@web,1.1.0@web", "a=^1", "Hold",
			[]string{"InstanceUpgrade web a: instance a would rise from 1.0.0 to 1.1.0"}, ""},
		{"a major upgrade", "web:1.0.0@web", "web:1.0.0@web,2.0.0@web", "a=>=1", "",
			[]string{"InstanceUpgrade web a: instance a would rise from 1.0.0 to 2.0.0"}, ""},
		{"a major upgrade with Publish", "web:1.0.0@web", "web:1.0.0@web,2.0.0@web", "a=>=1", "Publish", nil, "2.0.0"},
		{"a default version that rises", "web:1.0.0@web", "web:2.0.0@web,1.0.0@web", "a=", "",
			[]string{"InstanceUpgrade web a: instance a would rise from 1.0.0 to 2.0.0"}, ""},
		{"versions that an exact one does not follow", "web:1.0.0@web", "web:2.0.0@web,1.0.0@web", "a=1.0.0", "", nil, "1.0.0"},
		{"a version that falls", "web:1.0.0@web,1.1.0@web", "web:1.0.0@web", "a=^1", "",
			[]string{"VersionRemoval web a: instance a would fall from 1.1.0 to 1.0.0"}, ""},
		{"an exact version that is gone", "web:1.0.0@web,1.1.0@web", "web:1.0.0@web", "a=1.1.0", "",
			[]string{"VersionRemoval web a: instance a would be removed, because the application web has no version 1.1.0, only 1.0.0" + elsewhere}, ""},
		{"an application that is gone", "web:1.0.0@web other:1.0.0@other", "other:1.0.0@other", "a=1.0.0", "",
			[]string{`Removal web a: instance a would be removed, because no source has an application "web"` + elsewhere}, ""},
		{"another name of the chart", "web:1.0.0@web", "web:1.0.0@web2", "a=1.0.0", "",
			[]string{`IdentityChange web a: instance a: chart would change from "web" to "web2": what runs would be upgraded in place, and Helm would delete the objects that the other chart lacks`}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(installable(t, test.before))
			e.selection("kkp", guarded, installing(test.instances+" stays=1.0.0"), func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Safeguards.OnInstanceUpgrade = test.safeguard
				if strings.Contains(test.before, "other") {
					cs.Spec.Instances["stays"] = v1alpha1.Instance{Application: "other", Version: "1.0.0"}
				}
				if strings.Contains(test.after, "web2") {
					delete(cs.Spec.Instances, "stays")
				}
			})
			good := e.good()
			e.source(installable(t, test.after))
			if test.held == nil {
				cs := e.good().cs
				e.equal("version", cs.Status.Instances[0].Version, test.version)
				return
			}
			reason, _, _ := strings.Cut(test.held[0], " ")
			e.equal("held", reasonsOf(e.hold(good, reason)), test.held)
			e.restart()
			e.equal("held after a restart", reasonsOf(e.hold(good, reason)), test.held)
			e.equal("after an edit of something else", reasonsOf(e.editedHold(good, reason)), test.held)
			e.approveHeld()
			e.good()
		})
	}
}

// editedHold edits something that has nothing to do with the hold, which excuses nothing.
func (e *environment) editedHold(good lastGood, reason string) *v1alpha1.CatalogSelection {
	e.Helper()
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Values = []v1alpha1.ValuesRule{{Names: []string{"unknown"}, Defaults: &apiextensionsv1.JSON{Raw: []byte("{}")}}}
	})
	e.pass(1 << 40)
	cs := e.reconcile("kkp")
	e.untouched(good)
	if !slices.Contains(conditionsOf(cs), "Held=True "+reason) {
		e.Errorf("the conditions are %v", conditionsOf(cs))
	}
	return cs
}

func TestWhatAnEditDoesToInstances(t *testing.T) {
	a := func(edit func(*v1alpha1.Instance)) specEdit {
		return func(cs *v1alpha1.CatalogSelection) {
			in := cs.Spec.Instances["a"]
			edit(&in)
			cs.Spec.Instances["a"] = in
		}
	}
	const anew = ": what runs would be uninstalled, and installed anew"
	for _, test := range []struct {
		name string
		edit specEdit
		held []string
		want string
	}{
		{"it is removed", func(cs *v1alpha1.CatalogSelection) { delete(cs.Spec.Instances, "a") },
			[]string{"Removal web a: instance a would be removed: spec.instances does not have it"}, ""},
		{"a higher exact version", a(func(in *v1alpha1.Instance) { in.Version = "2.0.0" }), nil, "a@2.0.0 stays@1.0.0"},
		{"a lower exact version", a(func(in *v1alpha1.Instance) { in.Version = "0.9.0" }), nil, "a@0.9.0 stays@1.0.0"},
		{"a range that resolves higher", a(func(in *v1alpha1.Instance) { in.Version = ">=2" }),
			[]string{"InstanceUpgrade web a: instance a would rise from 1.0.0 to 2.0.0"}, ""},
		{
			"a version that does not exist", a(func(in *v1alpha1.Instance) { in.Version = "7.0.0" }),
			[]string{"VersionRemoval web a: instance a would be removed, because the application web has no version 7.0.0, only 1.0.0, 0.9.0, 2.0.0; name another version in spec.instances, or remove the instance from it"}, "",
		},
		{
			"an application that does not exist", a(func(in *v1alpha1.Instance) { in.Application = "wep" }),
			[]string{`Removal web a: instance a would be removed, because no source has an application "wep"; name another version in spec.instances, or remove the instance from it`}, "",
		},
		{
			"another release", a(func(in *v1alpha1.Instance) { in.ReleaseName = "b" }),
			[]string{`IdentityChange web a: instance a: releaseName would change from "a" to "b"` + anew}, "",
		},
		{
			"another namespace", a(func(in *v1alpha1.Instance) { in.Namespace = "other" }),
			[]string{`IdentityChange web a: instance a: targetNamespace would change from "web" to "other"` + anew}, "",
		},
		{
			"another application", a(func(in *v1alpha1.Instance) { in.Application, in.Namespace = "next", "web" }),
			[]string{`IdentityChange web a: instance a: application would change from "web" to "next"` + anew}, "",
		},
		{
			"another release by a patch", func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Patches = []kustomize.Patch{{Patch: "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: " + cs.Namespace + "}\nspec: {storageNamespace: x}\n"}}
			}, []string{`IdentityChange web a: instance a: storageNamespace would change from "NAMESPACE" to "x"` + anew}, "",
		},
		{
			"another backend", a(func(in *v1alpha1.Instance) { in.Backend = "ApplicationInstallation" }),
			[]string{
				`IdentityChange web a: instance a: object would change from "HelmRelease.helm.toolkit.fluxcd.io NAMESPACE/a" to "ApplicationInstallation.apps.kubermatic.k8c.io NAMESPACE/a"` +
					": the former one runs on beside the new one; with deletionPolicy Delete what runs would be uninstalled, and installed anew",
				`IdentityChange web a: instance a: releaseName would change from "a" to "NAMESPACE-a"` + anew,
				`IdentityChange web a: instance a: storageNamespace would change from "NAMESPACE" to "web"` + anew,
			}, "",
		},
		{"another name of the instance", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Instances["b"] = cs.Spec.Instances["a"]
			delete(cs.Spec.Instances, "a")
		}, []string{"Removal web a: instance a would be removed: spec.instances does not have it"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(installable(t, "web:1.0.0@web,0.9.0@web,2.0.0@web next:1.0.0@web"))
			e.selection("kkp", guarded, installing("a=1.0.0 stays=1.0.0"))
			good := e.good()
			e.edit(test.edit)
			e.pass(1 << 40)
			if test.held != nil {
				reason, _, _ := strings.Cut(test.held[0], " ")
				cs := e.reconcile("kkp")
				e.untouched(good)
				for i := range test.held {
					test.held[i] = strings.ReplaceAll(test.held[i], "NAMESPACE", e.namespace)
				}
				e.equal("held", reasonsOf(cs), test.held)
				if !slices.Contains(conditionsOf(cs), "Held=True "+reason) {
					t.Errorf("the conditions are %v", conditionsOf(cs))
				}
				e.approve(cs.Status.Held.Approve...)
				e.good()
				return
			}
			var got []string
			for _, in := range e.good().cs.Status.Instances {
				got = append(got, in.Name+"@"+in.Version)
			}
			e.equal("instances", strings.Join(got, " "), test.want)
		})
	}
}

// An instance that cannot be resolved, and was never published, holds nothing: the condition Unmatched says so.
func TestANewInstanceThatMatchesNothing(t *testing.T) {
	e := newEnvironment(t)
	e.source(installable(t, "web:1.0.0@web"))
	e.selection("kkp", guarded, installing("a=1.0.0 b=2.0.0"))
	cs := e.good().cs
	e.equal("unmatched", unmatched(cs), "True NoMatch: nothing in the catalogs matches spec.instances[b].version: the application web has no version 2.0.0, only 1.0.0")
	if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.HasPrefix(message, "published 1 instance, revision sha256:") {
		t.Errorf("the message is %q", message)
	}
	if len(cs.Status.Instances) != 1 || cs.Status.Summary.Instances != 1 {
		t.Errorf("the instances are %v", cs.Status.Instances)
	}
}

// What an artifact says is the baseline where there is no record.
func TestInstancesAreGuardedWithoutARecord(t *testing.T) {
	e := newEnvironment(t)
	e.source(installable(t, "web:1.0.0@web,1.1.0@web"))
	e.selection("kkp", guarded, installing("a=^1 stays=1.0.0"))
	e.good()
	e.damage()
	e.source(installable(t, "web:1.0.0@web"))
	e.equal("held", lost(e.reconcile("kkp")), []string{"VersionRemoval web 1.1.0"})
}

func TestDefinitionsCannotBeOmittedLater(t *testing.T) {
	e := newEnvironment(t)
	e.selection("kkp")
	cs := e.get("kkp")
	cs.Spec.Definitions = v1alpha1.DefinitionsOmit
	if err := apiServer.Update(t.Context(), cs); err == nil || !strings.Contains(err.Error(), "definitions cannot be changed") {
		t.Errorf("the error is %v", err)
	}
	cs = e.get("kkp")
	cs.Spec.Definitions = v1alpha1.DefinitionsPublish
	if err := apiServer.Update(t.Context(), cs); err != nil {
		t.Error(err)
	}
}
