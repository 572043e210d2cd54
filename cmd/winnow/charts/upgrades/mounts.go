// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

// storage is what a volume is of.
type storage struct {
	kind, name, subPath string
}

// String returns the storage for people.
func (s storage) String() string {
	return strings.TrimSpace(s.kind + " " + s.name + " " + s.subPath)
}

// mount is a path of the containers of a pod, with the fields of all volumes, and of the name of its own.
type mount struct {
	path, list, field string
	storage
	// keeps reports that it is a claim, or the claims of a template, which have their data when a pod goes.
	keeps bool
}

// unmounted returns a risk for each storage that the containers of a workload have no more. The claims that are gone, and the
// templates, have risks of their own.
func unmounted(o, newer object, s sides) (risks []diff.Risk) {
	before, after := mountsOf(o), mountsOf(newer)
	told := map[storage]bool{}
	for _, m := range after {
		told[m.storage] = true
	}
	for _, m := range before {
		_, claimed := s.from[identity{"", "PersistentVolumeClaim", o.namespace, m.name}]
		_, stays := s.to[identity{"", "PersistentVolumeClaim", o.namespace, m.name}]
		isTold := m.kind == templateStorage && !slices.Contains(templatesOf(newer), m.name) || m.kind == claimStorage && claimed && !stays
		isGenerated := o.isBelowGenerated(m.field) || o.isBelowGenerated(m.list) || newer.isBelowGenerated(m.list)
		if !m.keeps || told[m.storage] || isTold || isGenerated {
			continue
		}
		told[m.storage] = true
		r := diff.Risk{
			Rule: VolumeClaim, Object: o.String(), Field: "volumeMounts[" + m.path + "]", From: diff.JSON(m.String()),
			Text: "Its pods no longer mount it, and start without what it has, which is not deleted. Mount it again, or copy its data first.",
		}
		if i := slices.IndexFunc(after, func(other mount) bool { return other.path == m.path }); i >= 0 {
			r.To = diff.JSON(after[i].String())
		}
		risks = append(risks, r)
	}
	return risks
}

// Kinds of storage of a cluster.
const (
	claimStorage    = "claim"
	templateStorage = "volumeClaimTemplate"
)

// mountsOf returns the mounts of the containers of a workload, in their order.
func mountsOf(o object) (mounts []mount) {
	at := podPath(o)
	if at == nil {
		return nil
	}
	spec, _ := value(o.content, at...).(map[string]any)
	list := "." + strings.Join(append(slices.Clone(at), "volumes"), ".")
	volumes := map[string]mount{}
	for i, volume := range mapsIn(spec["volumes"]) {
		name, _ := volume["name"].(string)
		m := volumeOf(volume)
		m.list, m.field = list, fmt.Sprintf("%s[%d]%s", list, i, m.field)
		volumes[name] = m
	}
	for _, name := range templatesOf(o) { // which hide volumes of the same name
		const field = ".spec.volumeClaimTemplates"
		volumes[name] = mount{list: field, field: field, storage: storage{kind: templateStorage, name: name}, keeps: true}
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range mapsIn(spec[list]) {
			for _, one := range mapsIn(container["volumeMounts"]) {
				name, _ := one["name"].(string)
				m, found := volumes[name]
				if !found {
					continue
				}
				m.path, _ = one["mountPath"].(string)
				if m.keeps {
					m.subPath, _ = one["subPath"].(string)
				}
				mounts = append(mounts, m)
			}
		}
	}
	return mounts
}

// volumeOf returns the storage of a volume of a pod. Directories of nodes are not told from what only reads of them.
func volumeOf(volume map[string]any) mount {
	if name := text(volume, "persistentVolumeClaim", "claimName"); name != "" {
		return mount{field: ".persistentVolumeClaim.claimName", storage: storage{kind: claimStorage, name: name}, keeps: true}
	}
	for _, kind := range slices.Sorted(maps.Keys(volume)) {
		if kind != "name" {
			return mount{storage: storage{kind: kind}}
		}
	}
	return mount{storage: storage{kind: "emptyDir"}}
}

// podPath returns the path of the spec of the pods of a workload that runs on; nil for other kinds.
func podPath(o object) []string {
	switch {
	case isKind(o, "batch", "CronJob"):
		return []string{"spec", "jobTemplate", "spec", "template", "spec"}
	case o.group == "apps" && slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}, o.kind):
		return []string{"spec", "template", "spec"}
	case isKind(o, "", "Pod"):
		return []string{"spec"}
	}
	return nil
}
