// SPDX-License-Identifier: Apache-2.0

package kubermatic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Kind of the objects that Convert takes.
const Kind = "KubermaticConfiguration"

// gate is the feature gate that replaces KKP's built-in catalog, since KKP 2.29.
const gate = "ExternalApplicationCatalogManager"

// configuration has the fields of a KubermaticConfiguration that name a catalog. Its keys are in Secrets of its namespace.
type configuration struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Applications struct {
			// Manager is the spelling of the proposal, which no release of KKP reads.
			Manager        *manager       `json:"manager"`
			CatalogManager *manager       `json:"catalogManager"`
			Default        defaultCatalog `json:"defaultApplicationCatalog"`
		} `json:"applications"`
		FeatureGates map[string]bool `json:"featureGates"`
	} `json:"spec"`
	Status struct {
		KubermaticVersion string `json:"kubermaticVersion"`
	} `json:"status"`
}

type manager struct {
	RegistrySettings struct {
		RegistryURL string                    `json:"registryURL"`
		Tag         string                    `json:"tag"`
		Credentials *v1alpha1.HelmCredentials `json:"credentials"`
	} `json:"registrySettings"`
	Limit struct {
		MetadataSelector struct {
			TierRefs []string `json:"tierRefs"` // the proposal
			Tiers    []string `json:"tiers"`    // KKP
		} `json:"metadataSelector"`
		NameSelector []string `json:"nameSelector"`
	} `json:"limit"`
	// Apps are names of charts, since KKP 2.30.
	Apps []string `json:"apps"`
}

type defaultCatalog struct {
	Enable                 bool                `json:"enable"`
	Applications           []string            `json:"applications"`
	HelmRepository         string              `json:"helmRepository"`
	HelmRegistryConfigFile *v1alpha1.SecretKey `json:"helmRegistryConfigFile"`
}

// read returns the configuration in an object.
func read(object map[string]any) (c configuration, err error) {
	encoded, _ := json.Marshal(object) // JSON's types cannot fail
	err = json.Unmarshal(encoded, &c)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s: want %s, not a %s", wrong.Field, wrong.Type.Kind(), wrong.Value)
	}
	return c, err
}

// origin is where KKP has its definitions from.
type origin string

const (
	builtIn  origin = "KKP installs its built-in catalog, not what the catalog manager would"
	registry origin = "the catalog manager does not read it"
	charts   origin = "it serves no purpose since KKP 2.30, while spec.featureGates." + gate + " is on"
)

// origin decides by the gate and the release, nil if it is not known:
//
//	| gate | release          | definitions                                          |
//	| ---- | ---------------- | ---------------------------------------------------- |
//	| off  | any              | built-in, by defaultApplicationCatalog               |
//	| on   | before 2.29      | the same: there is no gate                           |
//	| on   | 2.29             | of a registry, by limit and registrySettings         |
//	| on   | since 2.30       | of charts of the catalog manager, by apps            |
func (c *configuration) origin(release *semver.Version) (origin, error) {
	applications := c.Spec.Applications
	isBefore := func(minor uint64) bool { return release.LessThan(semver.New(2, minor, 0, "0", "")) }
	switch {
	case applications.Manager != nil && applications.CatalogManager != nil:
		return "", errors.New("spec.applications has manager and catalogManager: remove the one that your KKP does not read")
	case applications.Manager != nil:
		return registry, nil
	case c.Spec.FeatureGates[gate] && release == nil:
		return "", errors.New("what spec.featureGates." + gate + " does depends on the release of KKP, which status.kubermaticVersion " +
			"does not name: pass --kkp-version, such as 2.30")
	case c.Spec.FeatureGates[gate] && !isBefore(30):
		return charts, nil
	case c.Spec.FeatureGates[gate] && !isBefore(29):
		return registry, nil
	case applications.Default.Enable:
		return builtIn, nil
	}
	return "", errors.New("without spec.featureGates." + gate + ", KKP installs its built-in catalog, and spec.applications.defaultApplicationCatalog " +
		"is not enabled: it names no catalog")
}

// release returns the release of KKP: wanted, if it is set, or what the object tells; nil if it does not. Only KKP since 2.30
// has the field apps.
func (c *configuration) release(wanted *semver.Version) *semver.Version {
	if wanted != nil {
		return wanted
	}
	if version, err := semver.NewVersion(c.Status.KubermaticVersion); err == nil {
		return version
	}
	if m := c.Spec.Applications.CatalogManager; m != nil && len(m.Apps) > 0 {
		return semver.New(2, 30, 0, "", "")
	}
	return nil
}

// readBy maps the fields of spec.applications to the origins that read them, none for those without a counterpart.
var readBy = map[string]map[string][]origin{
	"manager":        {"registrySettings": {registry}, "limit": {registry}, "logLevel": nil, "image": nil, "resources": nil},
	"catalogManager": {"registrySettings": {registry}, "limit": {registry}, "apps": {charts}, "logLevel": nil, "image": nil, "resources": nil, "managerSettings": nil, "webhookSettings": nil},
	"defaultApplicationCatalog": {
		"enable": nil, "applications": {builtIn}, "helmRepository": {builtIn, registry}, "helmRegistryConfigFile": {builtIn, registry},
	},
}

// leftOut returns notes on fields that are set, and that the origin does not read or that are not known.
func leftOut(object map[string]any, from origin) (notes []string) {
	for _, member := range slices.Sorted(maps.Keys(readBy)) {
		fields, _, _ := unstructured.NestedMap(object, "spec", "applications", member)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			readers, known := readBy[member][name]
			switch {
			case !known:
				notes = append(notes, fmt.Sprintf("spec.applications.%s.%s has no counterpart: left out", member, excerpt.Of(name)))
			case readers != nil && !slices.Contains(readers, from) && isSet(fields[name]):
				notes = append(notes, fmt.Sprintf("spec.applications.%s.%s is left out: %s", member, name, from))
			}
		}
	}
	return notes
}

// isSet reports whether a value has anything in it: KKP writes what is not set as empty.
func isSet(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), isSet)
	case []any:
		return len(v) > 0
	}
	return value != nil && value != ""
}
