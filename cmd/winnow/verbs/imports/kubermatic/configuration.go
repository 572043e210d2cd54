// SPDX-License-Identifier: Apache-2.0

package kubermatic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Kind of the objects that Convert takes.
const Kind = "KubermaticConfiguration"

// configuration has the fields of a KubermaticConfiguration that name a catalog. Its keys are those of Secrets in its namespace.
type configuration struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Applications struct {
			// Manager is the spelling of the proposal, CatalogManager that of KKP since 2.29.
			Manager        *manager        `json:"manager"`
			CatalogManager *manager        `json:"catalogManager"`
			Default        *defaultCatalog `json:"defaultApplicationCatalog"`
		} `json:"applications"`
		FeatureGates map[string]any `json:"featureGates"`
	} `json:"spec"`
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
}

type defaultCatalog struct {
	Enable                 bool                `json:"enable"`
	Applications           []string            `json:"applications"`
	HelmRepository         string              `json:"helmRepository"`
	HelmRegistryConfigFile *v1alpha1.SecretKey `json:"helmRegistryConfigFile"`
}

// read returns the configuration in an object, and notes on the fields of its applications that have no counterpart.
func read(object map[string]any) (c configuration, notes []string, err error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return c, nil, err
	}
	if err := json.Unmarshal(encoded, &c); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return c, nil, fmt.Errorf("%s: want %s, not a %s", wrong.Field, wrong.Type.Kind(), wrong.Value)
		}
		return c, nil, err
	}
	if gate, exists := c.Spec.FeatureGates["ExternalApplicationCatalogManager"]; c.manager() != nil && (!exists || gate == false) {
		notes = append(notes, "spec.featureGates.ExternalApplicationCatalogManager is off: KKP uses its built-in catalog, and not this one")
	}
	applications, _, _ := unstructured.NestedMap(object, "spec", "applications")
	for _, name := range []string{"manager", "catalogManager"} {
		notes = append(notes, leftOut(applications, name, "registrySettings", "limit", "logLevel", "image", "resources")...)
	}
	notes = append(notes, leftOut(applications, "defaultApplicationCatalog", "enable", "applications", "helmRepository", "helmRegistryConfigFile")...)
	return c, notes, nil
}

// leftOut returns notes on the fields of a member that are not known.
func leftOut(applications map[string]any, member string, known ...string) (notes []string) {
	fields, _, _ := unstructured.NestedMap(applications, member)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			notes = append(notes, fmt.Sprintf("spec.applications.%s.%s has no counterpart: left out", member, excerpt.Of(name)))
		}
	}
	return notes
}

func (c *configuration) manager() *manager {
	return cmp.Or(c.Spec.Applications.CatalogManager, c.Spec.Applications.Manager)
}
