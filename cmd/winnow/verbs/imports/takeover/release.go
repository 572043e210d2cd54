// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/reserved"
)

// candidate returns the instance that a live release would be, or why there is none.
func (t *taker) candidate(live object) (*candidate, error) {
	if err := t.takeable(live); err != nil {
		return nil, err
	}
	c := &candidate{live: live}
	c.warnOfOwners()
	if live.GetKind() == kinds.ApplicationInstallation.Kind {
		return c, t.installation(c)
	}
	return c, t.release(c)
}

// takeable returns why no instance can be a live object.
func (t *taker) takeable(live object) error {
	name, labels := live.GetName(), live.GetLabels()
	switch _, exists := t.selection.Spec.Instances[name]; {
	case live.GetNamespace() != t.selection.Namespace:
		return fmt.Errorf("it is in another namespace than the selection, %s, in which the objects of its instances are: import it into a selection in %s",
			excerpt.Of(t.selection.Namespace), excerpt.Of(live.GetNamespace()))
	case len(validation.IsDNS1123Label(name)) > 0:
		return errors.New("its name is no DNS label, as the name of an instance is")
	case labels[v1alpha1.NameLabel] != "":
		return fmt.Errorf("it is an object of the selection %s/%s already", excerpt.Of(labels[v1alpha1.NamespaceLabel]), excerpt.Of(labels[v1alpha1.NameLabel]))
	case exists:
		return errors.New("the selection has an instance of this name")
	case live.GetDeletionTimestamp() != nil:
		return errors.New("it is being deleted")
	case len(live.GetOwnerReferences()) > 0:
		return errors.New("another object owns it: ownerReferences")
	case strings.EqualFold(labels[reserved.PlatformLabel], "kkp"):
		return errors.New("KKP manages it")
	}
	return nil
}

// release makes an instance of a HelmRelease.
func (t *taker) release(c *candidate) error {
	live := c.live
	for _, field := range changing() {
		if !isEmpty(live.value(field)) {
			return fmt.Errorf("spec.%s changes what is installed, and an instance has no such field", field)
		}
	}
	_, isMade := made(live)
	for _, field := range []string{"valuesFiles", "verify"} {
		value := live.value("chart", "spec", field)
		if _, isMapping := value.(map[string]any); !isMade && (isMapping || !isEmpty(value)) { // verify has defaults
			return fmt.Errorf("spec.chart.spec.%s is set, and an instance has no such field", field)
		}
	}
	chart, source, err := t.input.sources.chartOf(live)
	if err != nil {
		return err
	}
	found, err := t.published.find(live.GetName(), chart)
	if err != nil {
		return err
	}
	c.chart, c.source = chart, source
	if live.value("chart") != nil && strings.HasPrefix(chart.repository, registryScheme) && !c.isApplied() {
		return errors.New("its chart is in a registry, so an instance has spec.chartRef, and the API server refuses spec.chartRef beside the spec.chart of another client: " +
			"replace spec.chart by spec.chartRef to an OCIRepository, and import it then")
	}
	c.instance = v1alpha1.Instance{
		Application: found.application, Version: found.version, Backend: backend.Helm,
		ServiceAccountName: live.text("serviceAccountName"), Suspend: live.spec("suspend").IsTrue(),
	}
	c.identify()
	if err := live.decode(&c.instance.ValuesFrom, "valuesFrom"); err != nil {
		return err
	}
	c.instance.Interval, err = live.duration("interval")
	if err == nil {
		c.instance.Timeout, err = live.duration("timeout")
	}
	if err != nil {
		return err
	}
	return c.setValues(live.value("values"), t.published.defaults[found.application], len(c.instance.ValuesFrom) == 0)
}

// installation makes an instance of an ApplicationInstallation.
func (t *taker) installation(c *candidate) error {
	live := c.live
	name, version := live.text("applicationRef", "name"), live.text("applicationRef", "version")
	versions, isSelected := t.published.versions[name]
	switch {
	case !isSelected:
		return fmt.Errorf("no application %s is selected", excerpt.Of(name))
	case !slices.Contains(versions, version):
		return fmt.Errorf("the selection has the application, but not in the version %s, only in %s", excerpt.Of(version), excerpt.Names(versions, maxNamed))
	}
	c.instance = v1alpha1.Instance{
		Application: name, Version: version, Backend: backend.ApplicationInstallation,
		Namespace: live.text("namespace", "name"), CreateNamespace: new(live.spec("namespace", "create").IsTrue()),
	}
	interval, err := live.duration("reconciliationInterval")
	if err != nil {
		return err
	}
	if interval != nil && interval.Duration > 0 {
		c.instance.Interval = interval
	}
	values := live.value("values")
	if members, isMapping := values.(map[string]any); values != nil && (!isMapping || len(members) > 0) && !c.isApplied() {
		return errors.New("its values are in spec.values, and an instance has spec.valuesBlock, and KKP refuses both: move them to spec.valuesBlock, and import it then")
	}
	if text := live.text("valuesBlock"); strings.TrimSpace(text) != "" {
		block, err := backend.DecodeValues([]byte(text))
		if err != nil {
			return errors.New("its spec.valuesBlock is no YAML before its templates are executed")
		}
		values = block
	}
	return c.setValues(values, t.published.defaults[name], true)
}
