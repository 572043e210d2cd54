// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/value"
)

// storage is what a volume is of, in a namespace.
type storage struct {
	namespace, kind, name, subPath string
	// source is the whole volume where that has no name of its own, as JSON; of a template, the name of its StatefulSet.
	source string
}

// String returns the storage for people.
func (s storage) String() string { return strings.TrimSpace(s.kind + " " + s.name + " " + s.subPath) }

// mount is a path of the containers of a pod, with the fields of all volumes, and of the name of its own.
type mount struct {
	path, list, field string
	storage
	// keeps reports that the storage has its data when a pod goes.
	keeps bool
}

// unmounted returns a risk for each storage that pods of the release have at a path, and then no more: another volume is there, or
// the storage has not moved. Claims that are gone, and templates, have risks of their own.
func (s sides) unmounted() (risks []diff.Risk) {
	had, has := s.from.all.mounters(), s.to.all.mounters()
	for _, key := range s.from.all.sorted() {
		o := s.from.all[key]
		newer, reported := s.to.all[key], map[storage]bool{}
		after := mountsOf(newer)
		for _, m := range mountsOf(o) {
			at := slices.IndexFunc(after, func(other mount) bool { return other.path == m.path })
			stays := slices.ContainsFunc(after, func(other mount) bool { return other.path == m.path && other.storage == m.storage }) ||
				at < 0 && moves(key, newer, had[m.storage], has[m.storage])
			if !m.keeps || stays || reported[m.storage] || s.isReported(m, newer) || isGenerated(m, o, newer) {
				continue
			}
			reported[m.storage] = true
			r := diff.Risk{
				Rule: VolumeClaim, Object: o.String(), Field: "volumeMounts[" + excerpt.To(m.path, 200) + "]", From: diff.JSON(m.String()),
				Text: "Pods no longer have it there, and start without what it has, which is not deleted. Mount it again, or copy its data first.",
			}
			if at >= 0 {
				r.To = diff.JSON(after[at].String())
			}
			risks = append(risks, r)
		}
	}
	return risks
}

// mounters maps each storage to the workloads that mount it.
func (all objects) mounters() map[storage]map[identity]bool {
	found := map[storage]map[identity]bool{}
	for key, o := range all {
		for _, m := range mountsOf(o) {
			if found[m.storage] == nil {
				found[m.storage] = map[identity]bool{}
			}
			found[m.storage][key] = true
		}
	}
	return found
}

// moves reports whether the storage of a workload is at another path of it, or of a workload that did not have it. Of one that is
// gone, any may have it.
func moves(key identity, newer object, had, has map[identity]bool) bool {
	for other := range has {
		if other == key || !had[other] || newer.content == nil {
			return true
		}
	}
	return false
}

// isReported reports whether the storage of a mount has a risk of another rule: a claim that is gone, or a template.
func (s sides) isReported(m mount, newer object) bool {
	if m.kind == templateStorage {
		return !slices.Contains(templatesOf(newer), m.name)
	}
	claim := identity{"", "PersistentVolumeClaim", m.namespace, m.name}
	_, was := s.from.all[claim]
	_, is := s.to.all[claim]
	return m.kind == claimStorage && was && !is
}

// isGenerated reports whether the volume of a mount is another one in each render.
func isGenerated(m mount, o, newer object) bool {
	return o.isBelowGenerated(m.field) || o.isBelowGenerated(m.list) || newer.manifest != nil && newer.isBelowGenerated(m.list) || o.hasGeneratedName()
}

// Kinds of storage with a name.
const (
	claimStorage    = "claim"
	templateStorage = "volumeClaimTemplate"
)

// mountsOf returns the mounts and the block devices of the containers of a workload that run on, in their order.
func mountsOf(o object) (mounts []mount) {
	at := podPath(o)
	if at == nil {
		return nil
	}
	spec := o.at(at...)
	volumes := volumesOf(o, spec, "."+strings.Join(append(slices.Clone(at), "volumes"), "."))
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range spec.Get(list).Items() {
			if list == "initContainers" && container.Get("restartPolicy").Text() != "Always" {
				continue
			}
			for _, one := range append(container.Get("volumeMounts").Items(), container.Get("volumeDevices").Items()...) {
				m, found := volumes[one.Get("name").Text()]
				if !found {
					continue
				}
				m.path = cmp.Or(one.Get("mountPath").Text(), one.Get("devicePath").Text())
				if within := cmp.Or(one.Get("subPath").Text(), one.Get("subPathExpr").Text()); m.keeps && within != "" {
					m.subPath = path.Clean(within)
				}
				mounts = append(mounts, m)
			}
		}
	}
	return mounts
}

// volumesOf maps the names of the volumes of the pods of a workload to them, without a path. The templates of claims hide volumes
// of the same name.
func volumesOf(o object, spec value.Value, list string) map[string]mount {
	volumes := map[string]mount{}
	for i, volume := range spec.Get("volumes").Items() {
		m := volumeOf(volume)
		m.list, m.field, m.namespace = list, fmt.Sprintf("%s[%d]%s", list, i, m.field), o.namespace
		volumes[volume.Get("name").Text()] = m
	}
	for _, name := range templatesOf(o) {
		const field = ".spec.volumeClaimTemplates"
		volumes[name] = mount{list: field, field: field, storage: storage{namespace: o.namespace, kind: templateStorage, name: name, source: o.name}, keeps: true}
	}
	return volumes
}

// passing are the kinds of volumes that are made with a pod, or of other objects. Directories of nodes look like what only
// reads of them.
var passing = []string{"emptyDir", "ephemeral", "configMap", "secret", "projected", "downwardAPI", "image", "csi", "gitRepo", "hostPath"}

// volumeOf returns the storage of a volume of a pod.
func volumeOf(volume value.Value) mount {
	if name := volume.Get("persistentVolumeClaim", "claimName").Text(); name != "" {
		return mount{field: ".persistentVolumeClaim.claimName", storage: storage{kind: claimStorage, name: name}, keeps: true}
	}
	for _, kind := range slices.Sorted(maps.Keys(volume.Mapping())) {
		if kind != "name" {
			keeps := !slices.Contains(passing, kind)
			m := mount{field: "." + kind, storage: storage{kind: kind}, keeps: keeps}
			if keeps {
				m.source = string(diff.JSON(volume.Get(kind).Content))
			}
			return m
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
