// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
)

// A strategic merge patch on spec.versions replaces the list, because the kind has no schema that tells its key.
func TestVersionsThatAPatchReplacesAreHeld(t *testing.T) {
	e, good := publishGuarded(t, "web::1.0.0,2.0.0,2.1.0,3.0.0")
	e.edit(patchOf("web", "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n  versions:\n  - version: 2.1.0\n"))
	lines := []string{"web/1.0.0", "web/2.0.0", "web/3.0.0"}
	cs := e.hold(good, "VersionRemoval")
	e.equal("lost", lost(cs), []string{"VersionRemoval web 1.0.0 2.0.0 3.0.0"})
	e.equal("approve", cs.Status.Held.Approve, lines)

	e.approve(lines[:2]...)
	cs = e.hold(good, "VersionRemoval")
	e.equal("lost without a line", lost(cs), []string{"VersionRemoval web 3.0.0"})
	e.equal("approve the rest", cs.Status.Held.Approve, lines[2:])
	e.equal("named", cs.Status.Held.Named, lines[:2])
	e.equal("used before the publication", used(cs), []string(nil))
	e.approve(lines[2])
	cs = e.good().cs
	published, err := record.Read(cs)
	if err != nil {
		t.Fatal(err)
	}
	e.equal("versions", published.Definitions[0].Versions, []string{"2.1.0"})
	e.equal("used", used(cs), lines)
	e.equal("named after the publication", cs.Status.Held == nil, true)
}

// An edit names what it loses by spec.exclude alone, and the definition alone.
func TestWhatAnEditLosesIsHeldUntilItIsNamed(t *testing.T) {
	for _, test := range []struct {
		name    string
		edit    specEdit
		want    []string
		release specEdit
	}{
		{"a name that is taken out of limit.nameSelector", limited("web", "stays"), []string{"Removal other 1.0.0"}, exclude("other")},
		{"a tier", tierRefs("gold"), []string{"Removal other 1.0.0", "Removal stays 1.0.0", "Removal web 1.0.0"}, approving("other", "stays", "web")},
		{"a constraint", constrain(">=2", "other"), []string{"Removal other 1.0.0"}, exclude("other")},
		{"an excluded definition", exclude("other"), nil, nil},
		{"an excluded definition with an instance", exclude("web"), []string{"Removal web 1.0.0"}, approving("Instance/a")},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(installable(t, "web:1.0.0@web other:1.0.0@other stays:1.0.0@stays"))
			e.selection("kkp", guarded, limited("web", "other", "stays"), func(cs *v1alpha1.CatalogSelection) {
				if strings.HasSuffix(test.name, "an instance") {
					cs.Spec.Definitions = v1alpha1.DefinitionsPublish
					cs.Spec.Instances = map[string]v1alpha1.Instance{"a": {Application: "web", Version: "1.0.0"}}
				}
				if strings.HasPrefix(test.name, "a tier") {
					cs.Spec.Limit = nil
				}
			})
			good := e.good()
			e.edit(test.edit)
			if test.want != nil {
				e.equal("lost", lost(e.hold(good, "Removal")), test.want)
				e.edit(test.release)
			}
			e.good()
		})
	}
}

// A line that nobody used for a day names nothing any more, unless it waits together with others.
func TestALineCountsForADay(t *testing.T) {
	t.Run("a line that came too early", func(t *testing.T) {
		e, _ := publishGuarded(t, "argocd nginx")
		e.approve("nginx")
		good := e.good()
		e.pass(24 * time.Hour)
		e.source(applications(t, "argocd"))
		cs := e.hold(good, "Removal")
		e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
		e.equal("approve", e.approveHeld(), []string{"nginx#2"})
		e.equal("used", used(e.good().cs), []string{"nginx#2"})
	})
	t.Run("a line for a part of what is held", func(t *testing.T) {
		e, good := publishGuarded(t, "argocd nginx falco")
		e.source(applications(t, "argocd"))
		e.hold(good, "Removal")
		e.approve("nginx")
		e.hold(good, "Removal")
		e.pass(72 * time.Hour)
		e.restart()
		e.equal("lost after three days", lost(e.hold(good, "Removal")), []string{"Removal falco 1.0.0"})
		e.approve("falco")
		e.equal("used", used(e.good().cs), []string{"nginx", "falco"})
	})
}

// What is in spec.safeguards.approve and names nothing is reported, with what was meant.
func TestLinesThatNameNothingAreUnmatched(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	second := e.source(applications(t, "argocd"))
	e.approve(second.Digest, "nginx@1.0.0", "Nginx", "ngnix", "Instance/a", digestOf([]byte("the render of another catalog")))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	e.equal("unmatched", strings.Split(unmatched(cs), ", spec.safeguards."), []string{
		"True NoMatch: nothing in the catalogs matches spec.safeguards.approve[0]: the checksum of the source " + e.namespace + "/catalog releases nothing: name what leaves",
		`approve[1]: "nginx@1.0.0" names nothing: it does not begin with the name of an application, Instance/ or the kind of an object (did you mean "nginx/1.0.0"?)`,
		`approve[2]: "Nginx" names nothing: a kind has the name of its object behind it, with the namespace before the name where it has one (did you mean "nginx"?)`,
		`approve[3]: no application is called ngnix (did you mean "nginx"?)`,
		"approve[4]: no instance is called a",
	})
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = []string{"nginx"} })
	e.equal("of a line that is used", unmatched(e.good().cs), "")
	e.restart()
	e.equal("of one that was used", unmatched(e.good().cs), "")
}
