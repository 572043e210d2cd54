// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"net/url"
	"path"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maker is an object from which others are made in the cluster: a ResourceSet, or a HelmRelease with its chart and values.
type maker struct {
	// state is a digest of what decides on these others, as far as it is in this repository.
	state string
	// declared is why it makes nothing of catalogs, empty where nothing says so.
	declared string
	// leads reports that they may lead to a CatalogSelection, and lost that its Kustomization cannot be built, which is reported.
	leads, lost bool
}

// makers reports objects from which others are made in the cluster, where these may lead to a CatalogSelection.
func (r reporter) makers() {
	older, newer := r.base.makers(), r.head.makers()
	for _, name := range namesIn(older, newer) {
		switch before, after := older[name], newer[name]; {
		case !before.leads && !after.leads, after.lost:
		case before.declared != "" && after.declared != "" && before.leads: // one that begins to lead to selections contradicts it
			r.note("the %s is not evaluated, by its annotation %s: %s", name, v1alpha1.NoCatalogsAnnotation, excerpt.Of(before.declared))
		case before == after:
			r.note("the %s is not evaluated, and is the same in both commits", name)
		default:
			r.unknown("the %s differs, and its objects are known in the cluster only", name)
		}
	}
}

// makers maps the names of makers for messages to them.
func (w *walk) makers() map[string]maker {
	found, sets := map[string]maker{}, []string{}
	leading := false
	variables := w.missingVariables(w.order...)
	for _, o := range w.objects() {
		isSet := o.Group() == manifest.OperatorGroup && strings.HasPrefix(o.GetKind(), "ResourceSet")
		if !isSet && (o.Group() != manifest.ReleaseGroup || o.GetKind() != "HelmRelease") {
			continue
		}
		name := o.GetKind() + " " + nameOf(o.Unstructured) + strings.TrimPrefix(o.Cluster, w.cluster)
		spec := []byte(documents.YAMLOf(o.Object["spec"]))
		made := maker{
			state: o.Digest(), declared: declared(o.Unstructured), lost: o.Lost != "",
			leads: manifest.MayMakeSelections(spec) || documents.Mentions(spec, variables...),
		}
		if isSet {
			if o.GetKind() != "ResourceSet" {
				made.declared = "" // what is made of its inputs, the sets decide
			}
			found[name], sets, leading = made, append(sets, name), leading || made.leads && made.declared == ""
			continue
		}
		w.addChart(&made, o)
		found[name+", with its chart and values,"] = made
	}
	for _, name := range sets { // one has the inputs of others
		made := found[name]
		made.leads = leading || made.leads && made.declared != ""
		found[name] = made
	}
	return found
}

// missingVariables returns the names of ConfigMaps and Secrets that nodes have variables of, and that are not there.
func (w *walk) missingVariables(nodes ...*node) (names []string) {
	for _, n := range nodes {
		for _, m := range n.Variables(n.cluster) {
			if w.find(m) == nil {
				names = append(names, m.Name.Name)
			}
		}
	}
	return names
}

// addChart adds to a HelmRelease the files of this repository that its chart has, and the objects with its values.
func (w *walk) addChart(made *maker, release manifest.Object) {
	parts := []string{made.state}
	files := w.whole()
	for _, from := range manifest.MapsAt(release.Unstructured, "spec", "valuesFrom") {
		kind, _ := from["kind"].(string)
		name, _ := from["name"].(string)
		if values := w.find(manifest.Ref{Cluster: release.Cluster, Kind: kind, Name: types.NamespacedName{Namespace: release.GetNamespace(), Name: name}}); values != nil {
			parts = append(parts, values.Digest())
			made.leads = made.leads || manifest.MayMakeSelections([]byte(documents.YAMLOf(values.Object)))
		}
	}
	names, source := w.chartFiles(release)
	if len(names) > 0 {
		parts = append(parts, w.sourceDigest(source, map[manifest.Ref]bool{}))
	}
	for _, name := range names {
		parts = append(parts, name, files.Files[name].ID)
		if !made.leads && isTemplate(name) {
			content, err := files.Read(name)
			made.leads = err != nil || manifest.MayMakeByTemplate(content)
		}
	}
	made.state = inputs.Digest(parts...)
}

// isTemplate reports whether objects may be made of a file of a chart: a template, a definition, values or a packed chart.
func isTemplate(name string) bool {
	base := path.Base(name)
	return strings.Contains("/"+name, "/templates/") || strings.Contains("/"+name, "/crds/") || strings.HasSuffix(base, ".tgz") ||
		repository.IsYAML(name) && base != "Chart.yaml" && base != "requirements.yaml"
}

// chartFiles returns the files of this repository that the chart of a HelmRelease has, with its values files and the charts
// that it depends on, sorted, and its source.
func (w *walk) chartFiles(release manifest.Object) (files []string, source manifest.Ref) {
	chart, _, _ := unstructured.NestedMap(release.Object, "spec", "chart", "spec")
	namespace := release.GetNamespace()
	if ref, found, _ := unstructured.NestedMap(release.Object, "spec", "chartRef"); found {
		to := manifest.SourceIn(ref, release.Cluster, namespace)
		chart = map[string]any{"sourceRef": ref, "chart": "."}
		if o := w.find(to); to.Kind == sourcev1.HelmChartKind && o != nil {
			chart, _, _ = unstructured.NestedMap(o.Object, "spec")
			namespace = o.GetNamespace()
		}
	}
	ref, _ := chart["sourceRef"].(map[string]any)
	source = manifest.SourceIn(ref, release.Cluster, namespace)
	if !slices.Contains([]string{sourcev1.GitRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind}, source.Kind) {
		return nil, source // a chart that was packed elsewhere
	}
	object := &unstructured.Unstructured{Object: chart}
	var dirs []string
	for _, name := range append(manifest.StringsAt(object, "valuesFiles"), manifest.StringAt(object, "chart")) {
		dirs = append(dirs, w.takes(source, repository.CleanPath(name), map[taken]bool{})...)
	}
	for i := 0; i < len(dirs); i++ { // which grows by the dependencies
		files = append(files, w.whole().Below(dirs[i])...)
		dirs = each.Union(dirs, w.dependencies(dirs[i])...)
	}
	slices.Sort(files)
	return slices.Compact(files), source
}

// dependencies returns the directories of this repository that the chart in a directory depends on.
func (w *walk) dependencies(dir string) (dirs []string) {
	for _, name := range []string{"Chart.yaml", "requirements.yaml"} {
		var chart struct {
			Dependencies []struct {
				Name, Repository string
			} `json:"dependencies"`
		}
		content, err := w.tree.Read(path.Join(dir, name))
		if err != nil || inputs.CheckAliases(content) != nil || dialect.Unmarshal(content, &chart) != nil {
			continue
		}
		for _, on := range chart.Dependencies {
			at, err := url.Parse(on.Repository)
			switch {
			case on.Repository == "":
				dirs = append(dirs, repository.CleanPath(path.Join(dir, "charts", on.Name)))
			case err == nil && at.Scheme == "file":
				dirs = append(dirs, repository.CleanPath(path.Join(dir, at.Host, at.Path)))
			}
		}
	}
	return dirs
}
