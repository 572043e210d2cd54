// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/utils/ptr"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/config/crd"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
)

// The oldest supported versions, as docs/compatibility.md has them.
const (
	leastKubernetes = "1.34"
	leastFlux       = "1.7" // of source-controller and kustomize-controller
	leastHelm       = "1.6" // of helm-controller, for instances
)

func (e *examiner) kubernetes(ctx context.Context) error {
	served, err := live.Read[version.Info](ctx, e.Cluster, "/version")
	if err == nil {
		e.atLeast("Kubernetes", served.GitVersion, leastKubernetes)
	}
	return err
}

// atLeast compares a version with the oldest one that is supported.
func (e *examiner) atLeast(what, found, least string) {
	v, err := utilversion.ParseGeneric(found)
	switch {
	case err != nil:
		e.add(unknown, "the version of %s cannot be told, as from an image without a tag", what)
	case !v.AtLeast(utilversion.MustParseGeneric(least)):
		e.add(problem, "%s is %s: upgrade it to %s or newer", what, found, least)
	default:
		e.add(ok, "%s %s", what, found)
	}
}

func (e *examiner) flux(context.Context) error {
	least := map[string]string{"source-controller": leastFlux, "kustomize-controller": leastFlux}
	if slices.ContainsFunc(e.selections, func(s *v1alpha1.CatalogSelection) bool { return installs(s, "helmreleases") }) {
		least["helm-controller"] = leastHelm
	}
	for _, name := range slices.Sorted(maps.Keys(least)) {
		for _, d := range e.named(name) {
			e.atLeast(d.Name, d.version(), least[name])
		}
	}
	return nil
}

func (e *examiner) gate(context.Context) error {
	for _, d := range e.named("kustomize-controller") {
		if !d.gated("ExternalArtifact") {
			e.add(problem, "%s applies no artifact of Winnow: add --feature-gates=ExternalArtifact=true to its arguments", d)
		}
	}
	e.fine("kustomize-controller has the gate ExternalArtifact")
	return nil
}

func (e *examiner) controller(context.Context) error {
	for _, d := range e.of["winnow"] {
		want, ready := ptr.Deref(d.Spec.Replicas, 1), min(d.Status.UpdatedReplicas, d.Status.AvailableReplicas)
		switch {
		case d.Status.AvailableReplicas == 0:
			e.add(problem, "no pod of %s is Ready: kubectl -n %s describe pods -l app=%s", d, d.Namespace, d.Name)
		case ready < want:
			e.add(problem, "%d of %d pods of %s are Ready and as it has them: kubectl -n %s describe pods -l app=%s", ready, want, d, d.Namespace, d.Name)
		}
		e.sameVersion(d)
		e.fine("%s is Ready, image %s", d, cmp.Or(d.version(), "without a version"))
	}
	if len(e.of["winnow"]) == 0 {
		e.add(problem, "no Deployment winnow-controller has the label app.kubernetes.io/part-of: winnow: install the controller")
	}
	return nil
}

// sameVersion compares the version of a controller with the one of this program.
func (e *examiner) sameVersion(d deployment) {
	tag := d.version()
	switch _, err := utilversion.ParseSemantic(tag); {
	case tag == "" || e.number == "dev":
	case err != nil:
		e.add(unknown, "%s has an image with the tag %s, which is no version", d, tag)
	case strings.TrimPrefix(tag, "v") != strings.TrimPrefix(e.number, "v"):
		e.add(problem, "%s is %s, and this winnow %s: upgrade the older one", d, tag, e.number)
	}
}

func (e *examiner) crd(ctx context.Context) error {
	const name = "catalogselections.catalog.winnow.dev"
	installed, err := e.Definition(ctx, name)
	if apierrors.IsNotFound(err) {
		e.add(problem, "the cluster has no CustomResourceDefinition %s: apply crds.yaml of the release", name)
		return nil
	}
	if err != nil {
		return err
	}
	content, err := fs.ReadFile(crd.Files(), "bases/catalog.winnow.dev_catalogselections.yaml")
	if err != nil {
		return err
	}
	own, err := dialect.Object(content, false)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	fields(installed.Object["spec"], "", func(path string) { has[path] = true })
	var lacks []string
	fields(own["spec"], "", func(path string) {
		if !has[path] {
			lacks = append(lacks, path)
		}
	})
	if slices.Sort(lacks); len(lacks) > 0 {
		e.add(problem, "the CustomResourceDefinition is older than this winnow, and the API server drops %s: apply crds.yaml of the controller's release", list(lacks))
	}
	e.fine("the CustomResourceDefinition has all fields")
	return nil
}

// fields calls f for each field in the schemas of a definition.
func fields(at any, path string, f func(path string)) {
	switch node := at.(type) {
	case []any:
		for _, item := range node {
			fields(item, path, f)
		}
	case map[string]any:
		for key, child := range node {
			properties, isSchema := child.(map[string]any)
			if key != "properties" || !isSchema {
				fields(child, path, f)
				continue
			}
			for name, schema := range properties {
				f(strings.TrimPrefix(path+"."+name, "."))
				fields(schema, path+"."+name, f)
			}
		}
	}
}

func (e *examiner) flags(context.Context) error {
	for _, d := range e.of["winnow"] {
		var cloud, foreign []string
		for _, r := range e.reaches {
			if r.ofCloud() && d.reconciles(r.of) && !slices.Contains(cloud, r.by) {
				cloud = append(cloud, r.by)
			}
		}
		for _, s := range e.reconciledBy(d) {
			if slices.ContainsFunc(s.Spec.Sources, func(r v1alpha1.SourceReference) bool { return r.Namespace != "" && r.Namespace != s.Namespace }) {
				foreign = append(foreign, s.Namespace+"/"+s.Name)
			}
		}
		if len(cloud) > 0 && !d.gated("ObjectLevelWorkloadIdentity") {
			e.add(problem, "%s lacks --feature-gates=ObjectLevelWorkloadIdentity=true, which the serviceAccountName of %s needs", d, list(cloud))
		}
		if len(foreign) > 0 && d.flag("no-cross-namespace-refs") == "true" {
			e.add(problem, "%s has --no-cross-namespace-refs and refuses the sources of %s: move the sources beside them", d, list(foreign))
		}
	}
	e.reconcilers()
	e.fine("the controller has what the selections need")
	return nil
}

// reconcilers finds selections that several controllers reconcile, or none.
func (e *examiner) reconcilers() {
	by := map[string][]string{} // by their controllers, which are not one
	for _, s := range e.selections {
		controllers := each.Where(e.of["winnow"], func(d deployment) bool { return d.reconciles(s) })
		if len(controllers) != 1 {
			all := strings.Join(each.Map(controllers, deployment.String), " and ")
			by[all] = append(by[all], s.Namespace+"/"+s.Name)
		}
	}
	for _, controllers := range slices.Sorted(maps.Keys(by)) {
		if controllers == "" {
			e.add(problem, "no controller reconciles %s: change --watch-all-namespaces or --watch-label-selector, or move them", list(by[controllers]))
		} else {
			e.add(problem, "%s reconcile the same CatalogSelections: %s: delete one, or separate them by --watch-label-selector", controllers, list(by[controllers]))
		}
	}
}

func (e *examiner) storage(context.Context) error {
	addresses, isKnown, sources := map[string]bool{}, true, e.named("source-controller")
	for _, d := range e.of["winnow"] {
		address := d.flag("storage-adv-addr")
		addresses[address], isKnown = true, isKnown && d.Status.AvailableReplicas > 0 && address != "" && !strings.Contains(address, "$(")
		for _, source := range sources {
			switch domain, other := domainOf(address), domainOf(source.flag("storage-adv-addr")); {
			case domain == "" || other == "":
				e.add(unknown, "the domain of the cluster cannot be told from --storage-adv-addr of %s and %s", d, source)
			case domain != other:
				e.add(problem, "%s serves at %s, and %s in the domain %s: set --storage-adv-addr to that, or Flux finds no artifact", d, address, source, other)
			}
		}
	}
	for _, s := range e.selections {
		if s.Status.Artifact == nil || !isKnown {
			continue
		}
		if at, err := url.Parse(s.Status.Artifact.URL); err == nil && !addresses[at.Host] {
			e.add(problem, "the artifact of %s is at %s, which no controller serves: restart the controller, or correct --storage-adv-addr", s.Namespace+"/"+s.Name, at.Host)
		}
	}
	e.fine("artifacts are served in the domain of the cluster")
	return nil
}

// domainOf returns what follows svc in the address of a Service; empty if there is none.
func domainOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	_, domain, _ := strings.Cut(address, ".svc.")
	if strings.Contains(domain, "$(") {
		return "" // a variable with a value in the cluster
	}
	return strings.TrimSuffix(domain, ".")
}

func (e *examiner) leftovers(ctx context.Context) error {
	var bypassed, orphaned []string
	err := e.LeftBehind(ctx, func(name string, left guard.Leftover) {
		switch since := left.BypassedSince; {
		case left.Bypassed && since != nil:
			bypassed = append(bypassed, fmt.Sprintf("%s since %s", name, since.Format(time.DateOnly)))
		case left.Bypassed:
			bypassed = append(bypassed, name+" since unknown")
		default:
			orphaned = append(orphaned, name)
		}
	})
	if err != nil {
		return err
	}
	if len(bypassed) > 0 {
		e.add(problem, "bypassed: %s: end the bypass, or exclude it in Git", list(bypassed))
	}
	if len(orphaned) > 0 {
		e.add(problem, "left an artifact and live on: %s: nothing updates them; delete by hand what nobody needs", list(orphaned))
	}
	e.fine("no definition is left behind")
	return nil
}
