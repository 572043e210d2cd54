// SPDX-License-Identifier: Apache-2.0

// Package kubermatic makes the objects of Flux and a CatalogSelection of the application catalog that a KubermaticConfiguration
// names. It must not know how files are read and written.
package kubermatic

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// catalog is what the template needs. Its texts may be anything: the template quotes them.
type catalog struct {
	Configuration, URL, Tag string
	Tiers, Names            []string
	// Mirror replaces Charts, the registry of KKP's own catalog; both are empty without a mirror.
	Charts, Mirror string
	// Secret is the command that copies the credentials for Flux; empty without any.
	Secret string
	// Helm is the key of the credentials of the mirror.
	Helm *v1alpha1.SecretKey
}

//go:embed objects.yaml.tmpl
var text string

var objects = template.Must(template.New("objects").Funcs(template.FuncMap{"yaml": quoted}).Parse(text))

// quoted returns a text as a scalar of YAML.
func quoted(text string) (string, error) {
	encoded, err := yamlnode.Encode(text)
	return strings.TrimSpace(string(encoded)), err
}

// Convert returns an OCIRepository, a CatalogSelection and a Kustomization for the catalog that a KubermaticConfiguration
// names, with the command for the Secret of its registry, and notes on what differs. source, oci://HOST/PATH:TAG, replaces the
// catalog, if it is not empty. release is the release of KKP; if nil, the object's.
func Convert(ctx context.Context, object map[string]any, release *semver.Version, source string) (content []byte, notes []string, err error) {
	c, err := read(object)
	if err != nil {
		return nil, nil, err
	}
	from, err := c.origin(c.release(release))
	if err != nil {
		return nil, nil, err
	}
	made, err := c.catalog(from, source)
	if err != nil {
		return nil, nil, err
	}
	if c.Spec.Applications.Manager != nil && !c.Spec.FeatureGates[gate] {
		notes = append(notes, "spec.featureGates."+gate+" is off: KKP uses its built-in catalog, and not this one")
	}
	notes = append(notes, leftOut(object, from)...)
	if made.Mirror != "" {
		notes = append(notes, "spec.mirrors replaces "+made.Charts+", the registry of KKP's own catalog, as helmRepository does for any: add the others of your charts")
	}
	var out strings.Builder
	if err := objects.Execute(&out, made); err != nil {
		return nil, nil, err
	}
	if _, err := selectionfile.Parse(ctx, "", []byte(out.String())); err != nil {
		return nil, nil, err
	}
	return []byte(out.String()), notes, nil
}

func (c *configuration) catalog(from origin, source string) (made *catalog, err error) {
	made = &catalog{Configuration: excerpt.Of(c.Metadata.Name)}
	m, standard := cmp.Or(c.Spec.Applications.CatalogManager, c.Spec.Applications.Manager, &manager{}), c.Spec.Applications.Default
	switch from {
	case registry:
		made.Tiers = slices.Concat(m.Limit.MetadataSelector.TierRefs, m.Limit.MetadataSelector.Tiers)
		made.Names = m.Limit.NameSelector
	case charts:
		if made.Names, err = definitionsOf(m.Apps); err != nil {
			return nil, err
		}
	case builtIn:
		made.Names = standard.Applications
	}
	if standard.HelmRepository != "" && from != charts {
		made.Charts, made.Mirror, made.Helm = importing.ChartsOfKKP, standard.HelmRepository, standard.HelmRegistryConfigFile
		if !strings.Contains(made.Mirror, "://") {
			made.Mirror = "oci://" + made.Mirror
		}
	}
	if from != registry {
		m = &manager{}
	}
	return made, c.registry(made, m, source)
}

// registry sets where the catalog is, and the command for its credentials.
func (c *configuration) registry(made *catalog, m *manager, source string) error {
	field := "--source"
	made.URL, made.Tag = split(source)
	if source == "" {
		if m.RegistrySettings.RegistryURL == "" {
			return errors.New("it does not name the registry of the catalog: push one (winnow push), and pass --source oci://HOST/PATH:TAG")
		}
		field, made.URL, made.Tag = "registryURL", m.RegistrySettings.RegistryURL, cmp.Or(m.RegistrySettings.Tag, "latest")
	}
	made.URL = strings.TrimPrefix(made.URL, "oci://")
	host, _, _ := strings.Cut(made.URL, "/")
	if _, err := name.NewTag(made.URL+":"+made.Tag, name.StrictValidation); err != nil || !isHost.MatchString(host) {
		return fmt.Errorf("%s: %s is no repository with a tag: want [oci://]HOST/PATH", field, excerpt.Quoted(made.URL+":"+made.Tag))
	}
	if source != "" || m.RegistrySettings.Credentials == nil {
		return nil
	}
	var err error
	made.Secret, err = c.secret(m.RegistrySettings.Credentials, host)
	return err
}

// split splits an address into the repository and the tag.
func split(address string) (repository, tag string) {
	if at := strings.LastIndex(address, ":"); at > strings.LastIndex(address, "/") {
		return address[:at], address[at+1:]
	}
	return address, "latest"
}

// secret returns the command that copies credentials from the namespace of the configuration.
func (c *configuration) secret(from *v1alpha1.HelmCredentials, host string) (string, error) {
	value := func(field string, k *v1alpha1.SecretKey) (string, error) {
		switch {
		case k == nil:
			return "", fmt.Errorf("credentials.%s is missing", field)
		case len(validation.IsDNS1123Subdomain(k.Name)) > 0 || len(validation.IsConfigMapKey(k.Key)) > 0 || len(validation.IsDNS1123Label(c.Metadata.Namespace)) > 0:
			return "", fmt.Errorf("credentials.%s: want the name and the key of a Secret, in the namespace of the configuration", field)
		}
		return fmt.Sprintf(`"$(kubectl -n %s get secret %s -o jsonpath='{.data.%s}' | base64 -d)"`,
			c.Metadata.Namespace, k.Name, strings.ReplaceAll(k.Key, ".", `\.`)), nil
	}
	if from.RegistryConfigFile != nil {
		file, err := value("registryConfigFile", from.RegistryConfigFile)
		return "kubectl -n flux-system create secret generic catalog --type=kubernetes.io/dockerconfigjson \\\n" +
			"#     --from-literal=.dockerconfigjson=" + file, err
	}
	user, err := value("username", from.Username)
	password, err2 := value("password", from.Password)
	return "kubectl -n flux-system create secret docker-registry catalog --docker-server=" + host + " \\\n" +
		"#     --docker-username=" + user + " \\\n#     --docker-password=" + password, errors.Join(err, err2)
}

// isHost matches hosts that need no quotes in a command.
var isHost = regexp.MustCompile(`^[a-zA-Z0-9.-]+(:[0-9]+)?$`)

// definitionOf maps the charts that KKP's application-catalog-manager has by itself to the definitions that it makes of them,
// as of application-catalog-manager 75ec0542 (KKP 2.31).
var definitionOf = map[string]string{
	"aikit":                 "aikit",
	"argo-cd":               "argocd",
	"cert-manager":          "cert-manager",
	"falco":                 "falco",
	"flux2":                 "flux2",
	"gateway-helm":          "envoy-gateway",
	"ingress-nginx":         "nginx",
	"k8sgpt-operator":       "k8sgpt-operator",
	"kube-vip":              "kube-vip",
	"kubevirt":              "kubevirt",
	"kueue":                 "kueue",
	"local-ai":              "local-ai",
	"mcp-server-kubernetes": "kubernetes-mcp-server",
	"metallb":               "metallb",
	"nvidia/gpu-operator":   "nvidia-gpu-operator",
	"trivy":                 "trivy",
	"trivy-operator":        "trivy-operator",
}

// definitionsOf returns the definitions of charts in catalogManager.apps. KKP joins the charts with commas, and the manager
// splits the text.
func definitionsOf(apps []string) (definitions []string, err error) {
	for _, chart := range strings.Split(strings.Join(apps, ","), ",") {
		chart = strings.TrimSpace(chart)
		definition, known := definitionOf[chart]
		switch {
		case chart == "" || slices.Contains(definitions, definition):
		case known:
			definitions = append(definitions, definition)
		default:
			err = errors.Join(err, fmt.Errorf("spec.applications.catalogManager.apps: %s is no chart of KKP's catalog manager%s "+
				"Remove it; if your manager has it, add the name of its definition to limit.nameSelector", excerpt.Quoted(chart), meant(chart)))
		}
	}
	return definitions, err
}

// meant returns a question about the chart that was meant: the chart of a definition with the name, or one with a similar name.
func meant(name string) string {
	near := spelling.Nearest(name, slices.Collect(maps.Keys(definitionOf)))
	for chart, definition := range definitionOf {
		if definition == name {
			near = []string{chart}
		}
	}
	if len(near) == 0 {
		return "."
	}
	return ": did you mean " + excerpt.Quoted(near[0]) + "?"
}
