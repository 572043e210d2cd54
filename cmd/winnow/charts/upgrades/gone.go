// SPDX-License-Identifier: Apache-2.0

package upgrades

import "github.com/winnow-dev/winnow/render/diff"

// gone returns the risk of an object that is no longer rendered.
func gone(o object) []diff.Risk {
	r := diff.Risk{Object: o.String()}
	switch {
	case isClaim(o) && o.hasGeneratedName() && !o.isGenerated(""):
		o.name = generated
		r.Object, r.Rule, r.Text = o.String(), VolumeClaim, goneGeneratedClaim
	case o.hasGeneratedName():
		return nil // another one in each render
	case isClaim(o):
		r.Rule, r.Text = VolumeClaim, goneClaim(o)
	case isDefinitionObject(o):
		r.Rule, r.Text = Definition, goneDefinition(o)
	case o.group == "" && !o.isKept():
		r.Rule, r.Text = Gone, goneText(o.kind)
	}
	if r.Text == "" {
		return nil
	}
	return []diff.Risk{r}
}

// goneText returns the text for an object that Helm deletes, empty for a kind that is easily made again.
func goneText(kind string) string {
	switch kind {
	case "Namespace":
		return "Helm deletes it with everything in it. Annotate it with helm.sh/resource-policy: keep before the upgrade, or move what is in it."
	case "Secret":
		return "Helm deletes it. What is in it is lost, and pods that mount it do not start: look for what has its data in the newer chart, and for references from outside of the chart."
	case "ServiceAccount":
		return "Helm deletes it. Its tokens are void, and pods that name it are not created: look for references in values, bindings and identities of a cloud."
	}
	return ""
}
