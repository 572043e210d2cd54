// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// isClaim reports whether an object has volumes: a claim, or a StatefulSet with templates of claims.
func isClaim(o object) bool {
	return isKind(o, "", "PersistentVolumeClaim") || isKind(o, "apps", "StatefulSet") && !isEmpty(o.at("spec", "volumeClaimTemplates").Content)
}

// goneClaim returns the text for an object with volumes that is no longer rendered.
func goneClaim(o object) string {
	const data = " Keep its name, or copy its data."
	switch {
	case o.isKept() && o.kind == "PersistentVolumeClaim":
		return "Helm keeps it, as its annotation helm.sh/resource-policy asks for, but the newer chart does not: what mounts another claim starts without its data." + data
	case o.isKept():
		return "Helm keeps it, as its annotation helm.sh/resource-policy asks for, but the newer chart does not: another StatefulSet starts with new volumes." + data
	case o.kind == "PersistentVolumeClaim":
		return "Helm deletes it, and with it the volume and its data where the reclaim policy is Delete." + data
	case whenDeleted(o) == "Delete":
		return "Helm deletes it, and with it the claims of its volumeClaimTemplates, as its persistentVolumeClaimRetentionPolicy asks for." + data
	}
	return "Helm deletes it. The claims of its volumeClaimTemplates stay, but a StatefulSet of another name starts with new volumes." + data
}

// whenDeleted returns what happens to the claims of a StatefulSet when it is deleted.
func whenDeleted(o object) string {
	return o.at("spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted").Text()
}

// goneGeneratedClaim is the text for an object with volumes that each upgrade gives another name.
const goneGeneratedClaim = "Its name is another one in each render: each upgrade replaces it, and what it has is deleted, or no longer mounted. " +
	"Give it a name that stays, and copy its data."

// changedClaim returns the risks of an object with volumes that stays.
func changedClaim(o, newer object) (risks []diff.Risk) {
	f, remedy := field{path: ".spec", may: claimMay}, "Keep the spec, or copy the data to a claim of another name."
	from, to := normalized(o), normalized(newer)
	if o.kind == "StatefulSet" {
		f = field{path: ".spec.volumeClaimTemplates"}
		remedy = "Keep the templates, or delete the StatefulSet with --cascade=orphan before the upgrade: pods and volumes stay, and the volumes stay as they are."
		if names := templatesOf(newer); slices.ContainsFunc(templatesOf(o), func(name string) bool { return !slices.Contains(names, name) }) {
			remedy = "Deleted with --cascade=orphan and made anew, its pods mount empty volumes of the newer templates; the former claims stay, and nothing mounts them. Keep the names of the templates, or copy the data first."
		}
	}
	for _, content := range []map[string]any{from, to} {
		completeClaims(o, content)
	}
	if d, scales := scaledDown(o, from, to); scales {
		risks = append(risks, changedRisk(VolumeClaim, o, d, "Kubernetes deletes the claims of the pods that go, as its persistentVolumeClaimRetentionPolicy asks for. Keep the replicas, or retain the claims."))
	}
	if d, changed := changedClass(o, newer, from, to); changed {
		risks = append(risks, changedRisk(VolumeClaim, o, d, refused(o)+remedy))
	}
	if d, changed := change(o, newer, f, from, to); changed && !grows(d) {
		risks = append(risks, changedRisk(VolumeClaim, o, d, refused(o)+remedy))
	}
	return risks
}

// scaledDown returns how the replicas of a StatefulSet differ, where fewer of them delete claims.
func scaledDown(o object, from, to map[string]any) (d difference, scales bool) {
	d = difference{".spec.replicas", initially(value.Of(from).Get("spec", "replicas").Content, int64(1)), initially(value.Of(to).Get("spec", "replicas").Content, int64(1))}
	was, _ := d.from.(int64)
	is, _ := d.to.(int64)
	deletes := value.Of(to).Get("spec", "persistentVolumeClaimRetentionPolicy", "whenScaled").Text() == "Delete"
	return d, o.kind == "StatefulSet" && deletes && is < was && !o.isGenerated(d.path)
}

// changedClass returns how the annotation with the class of the storage of a claim differs. It may become the field, with the
// same class: then the field is set in what was before.
func changedClass(o, newer object, from, to map[string]any) (d difference, changed bool) {
	const name = "volume.beta.kubernetes.io/storage-class"
	if o.kind == "StatefulSet" {
		return d, false
	}
	d = difference{".metadata.annotations." + name, value.Of(from).Get("metadata", "annotations", name).Content, value.Of(to).Get("metadata", "annotations", name).Content}
	field, stays := []string{"spec", "storageClassName"}, reflect.DeepEqual(d.from, d.to)
	if d.from != nil && !value.Of(from).Get(field...).IsSet() && reflect.DeepEqual(value.Of(to).Get(field...).Content, d.from) && (d.to == nil || stays) {
		_ = unstructured.SetNestedField(from, d.from, field...)
		return d, false
	}
	return d, !stays && !o.isGenerated(d.path) && !newer.isGenerated(d.path)
}

// claimMay reports whether a field of the spec of a claim may change. Its size may grow, where the class of its storage allows it.
func claimMay(path string) bool {
	return path == ".spec.volumeAttributesClassName"
}

// grows reports whether a difference is a claim that becomes larger.
func grows(d difference) bool {
	if !strings.HasPrefix(d.path, ".spec.resources.requests.") {
		return false
	}
	from, err := quantity(d.from)
	if err != nil {
		return false
	}
	to, err := quantity(d.to)
	return err == nil && to.Cmp(from) >= 0
}

func quantity(v any) (resource.Quantity, error) {
	written, _ := v.(string)
	return resource.ParseQuantity(written)
}

// completeClaims sets what the API server sets in claims, and removes what it does not store.
func completeClaims(o object, content map[string]any) {
	claims := []map[string]any{content}
	if o.kind == "StatefulSet" {
		claims = each.Map(value.Of(content).Get("spec", "volumeClaimTemplates").Items(), value.Value.Mapping)
	}
	for _, claim := range claims {
		spec := value.Of(claim).Get("spec").Mapping()
		if spec == nil {
			continue
		}
		if spec["volumeMode"] == nil {
			spec["volumeMode"] = "Filesystem"
		}
		for _, name := range []string{"apiVersion", "kind", "status"} {
			delete(claim, name)
		}
	}
}
