// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/removedapis"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Do renders the chart of a request. The answer has what is wrong with the chart. The error is of the context, or of a request
// that is no request. A panic of Helm ends the process.
func Do(ctx context.Context, r Request) (Answer, error) {
	caps, err := capabilities(r)
	if err != nil {
		return Answer{}, err
	}
	files, err := unpack(ctx, r.Chart)
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	if err != nil {
		return Answer{Refused: brief(err)}, nil
	}
	if r.IsHelm3 {
		files = firstDocuments(files)
	}
	loaded, err := r.load(files)
	if err != nil {
		return Answer{Refused: brief(err) + r.rules()}, nil
	}
	answer := Answer{Name: loaded.Name(), Version: loaded.Metadata.Version, Schema: string(loaded.Schema)}
	for _, values := range r.Values {
		one, err := renderUse(r, files, caps, values)
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		if err != nil {
			one = Render{Refused: brief(withoutValues(err, files, values)) + r.rules()}
			if refused, ok := errors.AsType[*refusal](err); ok {
				one.By = refused.by
			}
		}
		if r.FindUnread {
			one.Unread = unreadKeys(loaded, values)
		}
		answer.Renders = append(answer.Renders, one)
	}
	return answer, nil
}

// unreadKeys returns the keys of values that a chart does not read; none of values that are not valid, for which it is refused.
func unreadKeys(c *chart.Chart, values []byte) []unread.Key {
	given, err := loader.LoadValues(bytes.NewReader(values))
	if err != nil {
		return nil
	}
	return unread.Keys(c, given)
}

// maxReason bounds the reason of a refusal, in bytes.
const maxReason = 1000

// brief returns an error in one line: of a long one, as of a template that includes itself, the beginning and the end.
func brief(err error) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "")), " ")
	if len(text) <= maxReason {
		return text
	}
	end := strings.ToValidUTF8(text[len(text)-maxReason/2:], "")
	return excerpt.To(text, maxReason/2) + " " + end
}

// capabilities returns the capabilities of helm template.
func capabilities(r Request) (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	if r.IsHelm3 {
		caps.HelmVersion.Version = helm3Version
	}
	if r.KubeVersion == "" {
		return caps, nil
	}
	kubernetes, err := common.ParseKubeVersion(r.KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	caps.KubeVersion = *kubernetes
	if !r.OnlyServed {
		return caps, nil
	}
	parsed, err := version.ParseGeneric(kubernetes.Version)
	if err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	caps.APIVersions = slices.DeleteFunc(slices.Clone(caps.APIVersions), func(api string) bool { return !removedapis.Serves(api, parsed) })
	return caps, nil
}

// renderUse renders a chart with one set of values. Charts that read their passwords out of the cluster may refuse to be upgraded
// without it: they are rendered as an installation.
func renderUse(r Request, files []*archive.BufferedFile, caps *common.Capabilities, values []byte) (Render, error) {
	out, err := renderTwice(r, files, caps, values)
	if refused, ok := errors.AsType[*refusal](err); !r.IsUpgrade || !ok || refused.by != ByCluster {
		return out, err
	}
	r.IsUpgrade = false
	installed, otherErr := renderTwice(r, files, caps, values)
	if otherErr != nil {
		return out, err
	}
	installed.Notes = append(installed.Notes,
		"it does not render as an upgrade without the objects of a cluster, and was rendered as an installation: "+brief(withoutValues(err, files, values)))
	return installed, nil
}

// renderTwice renders a chart and marks the fields that another render has otherwise.
func renderTwice(r Request, files []*archive.BufferedFile, caps *common.Capabilities, values []byte) (Render, error) {
	first, err := renderOnce(r, files, caps, values)
	if err != nil {
		return first, err
	}
	second, err := renderOnce(r, files, caps, values)
	if err != nil {
		return first, fmt.Errorf("it renders once, and not again: %w", err)
	}
	markGenerated(first.Manifests, second.Manifests)
	return first, nil
}

// renderOnce loads and renders a chart: rendering changes what is loaded, but not its files.
func renderOnce(r Request, files []*archive.BufferedFile, caps *common.Capabilities, given []byte) (out Render, err error) {
	c, err := r.load(files)
	if err != nil {
		return out, err
	}
	if err := checkInstallable(c, caps); err != nil {
		return out, err
	}
	values, err := loader.LoadValues(bytes.NewReader(given))
	if err != nil {
		return out, fmt.Errorf("reading the values: %w", err)
	}
	if err := r.settleConditions(c, files, values); err != nil {
		return out, err
	}
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return out, fmt.Errorf("reading the charts in it: %w", err)
	}
	release := common.ReleaseOptions{Name: r.ReleaseName, Namespace: r.Namespace, Revision: 1, IsInstall: !r.IsUpgrade, IsUpgrade: r.IsUpgrade}
	if r.IsUpgrade {
		release.Revision = 2
	}
	// Helm's own check of the schema would read files and fetch URLs.
	top, err := util.ToRenderValuesWithSchemaValidation(c, values, release, caps, true)
	if err != nil {
		return out, err
	}
	renderer, order, err := r.engine(c, values, top)
	if err != nil {
		return out, err
	}
	merged, _ := top["Values"].(common.Values)
	if out.Notes, err = checkSchemas(c, merged.AsMap()); err != nil {
		return out, err
	}
	texts, err := renderer.Render(c, top)
	if err != nil && callsLookup(c) {
		err = &refusal{ByCluster, err}
	}
	if err != nil {
		return out, err
	}
	out.Manifests, err = manifests(c, texts, order)
	return out, err
}

// callsLookup reports whether a template of a chart, or of one in it, may look into a cluster.
func callsLookup(c *chart.Chart) bool {
	return slices.ContainsFunc(c.Templates, func(f *common.File) bool { return bytes.Contains(f.Data, []byte("lookup ")) }) ||
		slices.ContainsFunc(c.Dependencies(), callsLookup)
}

// checkInstallable refuses what helm install refuses before it renders.
func checkInstallable(c *chart.Chart, caps *common.Capabilities) error {
	if kind := c.Metadata.Type; kind != "" && kind != "application" {
		return &refusal{ByChart, fmt.Errorf("it is a chart of the type %s, which cannot be installed", kind)}
	}
	var missing []string
	for _, wanted := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(has *chart.Chart) bool { return has.Name() == wanted.Name }) {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) > 0 {
		return &refusal{ByDependencies, fmt.Errorf("its directory charts lacks %s: build its dependencies before it is packed", strings.Join(missing, ", "))}
	}
	if wanted := c.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, caps.KubeVersion.String()) {
		return &refusal{ByKubernetes, fmt.Errorf("it requires Kubernetes %s, and not %s", wanted, caps.KubeVersion.Version)}
	}
	return nil
}

// quotedValue finds a value in an error of the parser.
var quotedValue = regexp.MustCompile("`[^`]*`")

// notesFile is the text for people, which is no manifest.
const notesFile = "NOTES.txt"

// manifests returns what helm template --include-crds prints, in its order.
func manifests(c *chart.Chart, files map[string]string, order releaseutil.KindSortOrder) (all []Manifest, err error) {
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, notesFile) }) // as Helm has it
	hooks, objects, err := releaseutil.SortManifests(files, nil, order)
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "YAML parse error on ")
		return nil, errors.New(quotedValue.ReplaceAllLiteralString(text, "`...`")) // it may be one of a Secret
	}
	all = each.Map(c.CRDObjects(), func(crd chart.CRD) Manifest { return Manifest{Path: crd.Filename, Text: string(crd.File.Data)} })
	for _, object := range objects {
		all = append(all, Manifest{Path: object.Name, Text: object.Content})
	}
	for _, hook := range hooks {
		all = append(all, Manifest{Path: hook.Path, Text: hook.Manifest})
	}
	return all, nil
}

// withoutValues removes the values that a chart was rendered with from an error of Helm: errors of fail, functions and schemas may
// quote any. A value that a file of the chart has as well stays.
func withoutValues(err error, files []*archive.BufferedFile, given []byte) error {
	values, invalid := loader.LoadValues(bytes.NewReader(given))
	if invalid != nil {
		return errors.New("its values are no YAML") // the error quotes them
	}
	var secrets redact.Secrets
	for _, word := range words(values) {
		if !slices.ContainsFunc(files, func(f *archive.BufferedFile) bool { return bytes.Contains(f.Data, []byte(word)) }) {
			secrets.Add(word)
		}
	}
	return secrets.Error(err, nil)
}

// words returns the keys and scalars of values, with their lines and with the parts of addresses: a message may quote a part.
func words(value any) (all []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			all = append(append(all, key), words(member)...)
		}
	case []any:
		for _, element := range value {
			all = append(all, words(element)...)
		}
	case string:
		all = append(all, value, strings.TrimSpace(value))
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
			all = append(all, strings.TrimSpace(string(decoded)))
		}
		all = append(all, strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/:@?&=,;'"\<>|.`, r) })...)
	case float64: // as text/template writes it, and as fmt does
		all = append(all, fmt.Sprint(value), strconv.FormatFloat(value, 'f', -1, 64))
	case int64:
		all = append(all, strconv.FormatInt(value, 10))
	}
	return all
}
