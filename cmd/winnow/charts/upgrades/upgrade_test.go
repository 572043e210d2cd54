// SPDX-License-Identifier: Apache-2.0

package upgrades_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/upgrades"
	"github.com/winnow-dev/winnow/render/diff"
)

// manifests returns the documents of a text as manifests of a template, or of the directory crds for those that begin with its
// comment. A comment "# generated: PATH" names a generated field.
func manifests(text string) (all []rendering.Manifest) {
	for document := range strings.SplitSeq(text, "\n---\n") {
		m := rendering.Manifest{Path: "web/templates/a.yaml", Text: document}
		if strings.HasPrefix(document, "# crds") {
			m.Path = "web/charts/db/crds/a.yaml"
		}
		if _, rest, found := strings.Cut(document, "# generated: "); found {
			field, _, _ := strings.Cut(rest, "\n")
			m.Generated = []string{field}
		}
		all = append(all, m)
	}
	return all
}

func shown(risks []diff.Risk) string {
	var w strings.Builder
	for _, r := range risks {
		fmt.Fprintf(&w, "%s %s %s %s -> %s\n", r.Rule, r.Object, r.Field, r.From, r.To)
	}
	return w.String()
}

const (
	claim       = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data%s}, spec: {%s}}"
	set         = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db, %s}}"
	job         = "{apiVersion: batch/v1, kind: Job, metadata: {name: init%s}, spec: {%s template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a/b:%s'}]}}}}"
	service     = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {%s}}"
	secret      = "{apiVersion: v1, kind: Secret, metadata: {name: key}, %s}"
	definition  = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com%s}\nspec: {scope: %s, names: {kind: A}, versions: [%s]}"
	keep        = ", annotations: {helm.sh/resource-policy: keep}"
	class       = ", annotations: {volume.beta.kubernetes.io/storage-class:"
	hook        = ", annotations: {helm.sh/hook: pre-upgrade}"
	v1, v2      = "{name: v1, served: true, storage: true, schema: {a: b}}", "{name: v2, served: true, storage: false}"
	older       = "{name: v1, served: false, storage: false}"
	deployment  = "{apiVersion: %s, kind: Deployment, metadata: {name: web}, spec: {replicas: %s, selector: {matchLabels: {%s}}}}"
	storageCass = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: a.example.com%s}"
)

func TestRisks(t *testing.T) {
	f := fmt.Sprintf
	hooked := func(events, policy string) string {
		if policy != "" {
			policy = "helm.sh/hook-delete-policy: '" + policy + "', "
		}
		return ", annotations: {helm.sh/hook: '" + events + "', " + policy + "helm.sh/resource-policy: keep}"
	}
	namespace := func(hook string) string { return "{apiVersion: v1, kind: Namespace, metadata: {name: n" + hook + "}}" }
	keyOf := func(hook string) string { return "{apiVersion: v1, kind: Secret, metadata: {name: key" + hook + "}}" }
	pods := func(kind, volumes, mounts string) string {
		template := "{spec: {initContainers: [{name: i}], containers: [{name: a, volumeMounts: [" + mounts + "]}], volumes: [" + volumes + "]}}"
		if kind == "CronJob" {
			return "{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {jobTemplate: {spec: {template: " + template + "}}}}"
		}
		return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: web}, spec: {template: " + template + "}}"
	}
	const onClaim, onEmpty, onOther = "{name: v, persistentVolumeClaim: {claimName: data}}", "{name: v, emptyDir: {}}", "{name: v, persistentVolumeClaim: {claimName: data-0}}"
	const at, elsewhere, within = "{name: v, mountPath: /data}", "{name: v, mountPath: /var/data}", "{name: v, mountPath: /data, subPath: a}"
	templates := func(name string) string {
		return f(set, "volumeClaimTemplates: [{metadata: {name: "+name+"}, spec: {}}], template: {spec: {containers: [{name: a, volumeMounts: [{name: "+name+", mountPath: /data}]}]}}")
	}
	twice := "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: a, volumeMounts: [{name: e, mountPath: /data}]}, " +
		"{name: b, volumeMounts: [{name: v, mountPath: /data}]}], volumes: [{name: e, emptyDir: {}}, " + onClaim + "]}}}}"
	second := func(set string) string { return strings.Replace(set, "name: db}", "name: db2}", 1) }
	listed := func(events string) string {
		return "{apiVersion: v1, kind: List, metadata: {annotations: {helm.sh/hook: " + events + "}}, items: [" +
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.example.com}, spec: {scope: Cluster, names: {kind: A}, versions: []}}]}"
	}
	for _, test := range []struct{ name, from, to, want string }{
		{"nothing is no risk", "", "", ""},
		{"another number of replicas is none", f(deployment, "apps/v1", "1", "a: b"), f(deployment, "apps/v1", "2", "a: b"), ""},

		{"a claim with another name", f(claim, "", "accessModes: [ReadWriteOnce]"), f(claim, "-0", "accessModes: [ReadWriteOnce]"),
			"charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a claim that is kept, and no longer used", f(claim, keep, ""), "", "charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a claim with a generated name", "# generated: .metadata.name\n" + f(claim, "-x", ""), "# generated: .metadata.name\n" + f(claim, "-y", ""),
			"charts/volume-claim PersistentVolumeClaim apps/(generated)   -> \n"},
		{"a StatefulSet with a generated name and volumes", "# generated: .metadata.name\n" + f(set, "volumeClaimTemplates: [{metadata: {name: data}}]"), "",
			"charts/volume-claim StatefulSet apps/(generated)   -> \n"},
		{"another object with a generated name", "# generated: .metadata.name\n" + f(secret, "type: a"), "", ""},
		{"a claim of another class, by its annotation", f(claim, class+" fast}", ""), f(claim, class+" slow}", ""),
			"charts/volume-claim PersistentVolumeClaim apps/data metadata.annotations.volume.beta.kubernetes.io/storage-class \"fast\" -> \"slow\"\n"},
		{"the annotation is gone", f(claim, class+" fast}", ""), f(claim, "", ""),
			"charts/volume-claim PersistentVolumeClaim apps/data metadata.annotations.volume.beta.kubernetes.io/storage-class \"fast\" -> \n"},
		{"the annotation becomes the field", f(claim, class+" fast}", ""), f(claim, "", "storageClassName: fast"), ""},
		{"it stays beside the field", f(claim, class+" fast}", ""), f(claim, class+" fast}", "storageClassName: fast"), ""},
		{"the field becomes the annotation", f(claim, "", "storageClassName: fast"), f(claim, class+" fast}", ""),
			"charts/volume-claim PersistentVolumeClaim apps/data metadata.annotations.volume.beta.kubernetes.io/storage-class  -> \"fast\"\n" +
				"charts/volume-claim PersistentVolumeClaim apps/data spec.storageClassName \"fast\" -> \n"},
		{"a generated annotation", "# generated: .metadata.annotations.volume.beta.kubernetes.io/storage-class\n" + f(claim, class+" fast}", ""), f(claim, class+" slow}", ""), ""},
		{"a claim of a hook is no object of the release", f(claim, hook, ""), "", ""},
		{"a claim of a hook of installations becomes one of upgrades", f(claim, hooked("pre-install", ""), ""), f(claim, hooked("pre-install, Pre-Upgrade", ""), ""),
			"charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"it is deleted after each upgrade", f(claim, hooked("pre-install", ""), ""), f(claim, hooked("post-upgrade", "hook-failed,hook-succeeded"), ""),
			"charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"it is deleted after a failure alone", f(claim, hooked("pre-install", ""), ""), f(claim, hooked("pre-upgrade", "hook-failed"), ""), ""},
		{"it was one of upgrades already", f(claim, hooked("pre-upgrade", ""), ""), f(claim, hooked("pre-install,pre-upgrade", ""), ""), ""},
		{"a new claim of a hook of upgrades", "", f(claim, hooked("pre-upgrade", ""), ""), "charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a claim of a hook of deletions", f(claim, hooked("pre-install", ""), ""), f(claim, hooked("post-delete", ""), ""), ""},
		{"claims of a list that is a hook", "", "{apiVersion: v1, kind: List, metadata: {annotations: {helm.sh/hook: pre-upgrade}}, items: [" + f(claim, "", "") + "]}",
			"charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a Namespace of a hook of installations becomes one of upgrades", namespace(hooked("pre-install", "")), namespace(hooked("pre-upgrade", "")), "charts/gone Namespace n   -> \n"},
		{"so does a Secret", keyOf(hooked("pre-install", "")), keyOf(hooked("pre-upgrade", "")), "charts/gone Secret apps/key   -> \n"},
		{"a new Secret of a hook of upgrades", "", keyOf(hooked("pre-upgrade", "")), ""},
		{"a definition of a hook is never deleted", f(definition, hooked("pre-install", ""), "Namespaced", v1), f(definition, hooked("pre-upgrade", ""), "Namespaced", v1), ""},

		{"a mount of a claim becomes an empty directory", pods("Deployment", onClaim, at), pods("Deployment", onEmpty, at),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \"emptyDir\"\n"},
		{"a mount of a claim gets another claim", pods("DaemonSet", onClaim, at), pods("DaemonSet", onOther, at),
			"charts/volume-claim DaemonSet apps/web volumeMounts[/data] \"claim data\" -> \"claim data-0\"\n"},
		{"a mount of a claim is gone", pods("CronJob", onClaim, at), pods("CronJob", "", ""), "charts/volume-claim CronJob apps/web volumeMounts[/data] \"claim data\" -> \n"},
		{"a mount gets another path", pods("Deployment", onClaim, at), pods("Deployment", onClaim, elsewhere), ""},
		{"a mount gets a path in its claim", pods("Deployment", onClaim, at), pods("Deployment", onClaim, within),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \"claim data a\"\n"},
		{"a claim is renamed with its mount", f(claim, "", "") + "\n---\n" + pods("Deployment", onClaim, at), f(claim, "-0", "") + "\n---\n" + pods("Deployment", onOther, at),
			"charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a directory of the node", pods("DaemonSet", "{name: v, hostPath: {path: /a}}", at), pods("DaemonSet", "{name: v, hostPath: {path: /b}}", at), ""},
		{"what is made with a pod", pods("Deployment", "{name: v, ephemeral: {volumeClaimTemplate: {spec: {}}}}", at), pods("Deployment", onEmpty, at), ""},
		{"a projected volume becomes a ConfigMap", pods("Deployment", "{name: v, projected: {sources: []}}", at), pods("Deployment", "{name: v, configMap: {name: a}}", at), ""},
		{"an empty directory becomes a claim", pods("Deployment", onEmpty, at), pods("Deployment", onClaim, at), ""},
		{"a template of claims is renamed", templates("data"), templates("storage"),
			"charts/volume-claim StatefulSet apps/db spec.volumeClaimTemplates[0].metadata.name \"data\" -> \"storage\"\n"},
		{"a template hides a volume of its name", templates("data"), strings.Replace(templates("data"), "containers:", "volumes: [{name: data, emptyDir: {}}], containers:", 1), ""},
		{"one generated name of a claim", "# generated: .spec.template.spec.volumes[0].persistentVolumeClaim.claimName\n" + pods("Deployment", onClaim, at), pods("Deployment", onOther, at), ""},
		{"a generated name of a claim", "# generated: .spec.template.spec.volumes\n" + pods("Deployment", onClaim, at), pods("Deployment", onOther, at), ""},

		{"a claim of the release is a hook of upgrades as well", f(claim, "", ""), f(claim, "", "") + "\n---\n" + f(claim, hook, ""), "charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"an empty delete policy deletes nothing", f(claim, ", annotations: {helm.sh/hook: pre-install}", ""), f(claim, ", annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-delete-policy: ''}", ""), ""},
		{"a StatefulSet of a hook, whose claims stay", "", strings.Replace(f(set, "volumeClaimTemplates: [{metadata: {name: data}}]"), "name: db", "name: db"+hook, 1), ""},
		{"a Deployment becomes a StatefulSet, and its claim stays", f(claim, "", "") + "\n---\n" + pods("Deployment", onClaim, at), f(claim, "", "") + "\n---\n" + templates("data"),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \n"},
		{"a renamed Deployment that mounts an emptyDir", pods("Deployment", onClaim, at), strings.Replace(pods("Deployment", onEmpty, at), "name: web", "name: web2", 1),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \n"},
		{"a claim remains at a path for backups alone", pods("Deployment", onClaim, at), pods("Deployment", onClaim+", {name: e, emptyDir: {}}", "{name: e, mountPath: /data}, {name: v, mountPath: /backup}"),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \"emptyDir\"\n"},
		{"a claim remains in an init container alone", pods("Deployment", onClaim, at), strings.Replace(pods("Deployment", onClaim, ""), "{name: i}", "{name: i, volumeMounts: [{name: v, mountPath: /data}]}", 1),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \n"},
		{"a block device of a claim is gone", strings.Replace(pods("Deployment", onClaim, ""), "volumeMounts: []", "volumeDevices: [{name: v, devicePath: /dev/a}]", 1), pods("Deployment", "", ""),
			"charts/volume-claim Deployment apps/web volumeMounts[/dev/a] \"claim data\" -> \n"},
		{"a subPathExpr changes", pods("Deployment", onClaim, "{name: v, mountPath: /data, subPathExpr: $(A)}"), pods("Deployment", onClaim, "{name: v, mountPath: /data, subPathExpr: $(B)}"),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data $(A)\" -> \"claim data $(B)\"\n"},
		{"a share of NFS becomes an emptyDir", pods("Deployment", "{name: v, nfs: {server: a, path: /x}}", at), pods("Deployment", onEmpty, at),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"nfs\" -> \"emptyDir\"\n"},
		{"fewer replicas, with whenScaled: Delete", f(set, "replicas: 3, persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}, volumeClaimTemplates: [{metadata: {name: data}}]"),
			f(set, "replicas: 1, persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}, volumeClaimTemplates: [{metadata: {name: data}}]"), "charts/volume-claim StatefulSet apps/db spec.replicas 3 -> 1\n"},
		{"the same subPath, otherwise written", pods("Deployment", onClaim, within), pods("Deployment", onClaim, "{name: v, mountPath: /data, subPath: a/}"), ""},

		{"two containers have a path of two volumes, and nothing changes", twice, twice, ""},
		{"a Deployment mounts a claim no more, and a backup does", pods("Deployment", onClaim, at) + "\n---\n" + pods("CronJob", onClaim, at), pods("Deployment", onClaim, "") + "\n---\n" + pods("CronJob", onClaim, at),
			"charts/volume-claim Deployment apps/web volumeMounts[/data] \"claim data\" -> \n"},
		{"of two Deployments on a claim, one is gone", pods("Deployment", onClaim, at) + "\n---\n" + pods("CronJob", onClaim, at), pods("CronJob", onClaim, at), ""},
		{"a StatefulSet mounts its claims no more, and another one has a template of the same name", templates("data") + "\n---\n" + second(templates("data")),
			strings.Replace(templates("data"), "{name: data, mountPath: /data}", "", 1) + "\n---\n" + second(templates("data")),
			"charts/volume-claim StatefulSet apps/db volumeMounts[/data] \"volumeClaimTemplate data\" -> \n"},
		{"a claim that is kept becomes a hook of upgrades", f(claim, keep, ""), f(claim, hooked("pre-upgrade", ""), ""), "charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a Namespace that is kept becomes a hook of upgrades", namespace(keep), namespace(hooked("pre-upgrade", "")), "charts/gone Namespace n   -> \n"},
		{"a Secret that is kept becomes a hook of upgrades", keyOf(keep), keyOf(hooked("pre-upgrade", "")), "charts/gone Secret apps/key   -> \n"},
		{"a Secret that is kept becomes a hook of installations", keyOf(keep), keyOf(hooked("pre-install", "")), ""},
		{"a definition of a list becomes a hook of upgrades", listed("pre-install"), listed("pre-upgrade"), "charts/crd CustomResourceDefinition a.example.com   -> \n"},

		{"a claim that becomes a hook", f(claim, "", ""), f(claim, hook, ""), "charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a claim of another class", f(claim, "", "storageClassName: fast"), f(claim, "", "storageClassName: slow"),
			"charts/volume-claim PersistentVolumeClaim apps/data spec.storageClassName \"fast\" -> \"slow\"\n"},
		{"a claim grows", f(claim, "", "resources: {requests: {storage: 1Gi}}"), f(claim, "", "resources: {requests: {storage: 2Gi}}"), ""},
		{"a claim is as large, otherwise written", f(claim, "", "resources: {requests: {storage: 1Gi}}"), f(claim, "", "resources: {requests: {storage: 1024Mi}}"), ""},
		{"a claim shrinks", f(claim, "", "resources: {requests: {storage: 2Gi}}"), f(claim, "", "resources: {requests: {storage: 1Gi}}"),
			"charts/volume-claim PersistentVolumeClaim apps/data spec.resources.requests.storage \"2Gi\" -> \"1Gi\"\n"},
		{"the default is written out", f(claim, "", "accessModes: []"), f(claim, "", "volumeMode: Filesystem"), ""},

		{"a template of claims has another label", f(set, "volumeClaimTemplates: [{metadata: {name: data, labels: {chart: db-1}}, spec: {}}]"),
			f(set, "volumeClaimTemplates: [{metadata: {name: data, labels: {chart: db-2}}, spec: {}}]"),
			"charts/volume-claim StatefulSet apps/db spec.volumeClaimTemplates[0].metadata.labels.chart \"db-1\" -> \"db-2\"\n"},
		{"a template of claims is as large, otherwise written", f(set, "volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]"),
			f(set, "volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1024Mi}}}}]"), ""},
		{"a claim that Helm does not keep, because keep is written otherwise", f(claim, ", annotations: {helm.sh/resource-policy: Keep}", ""), "",
			"charts/volume-claim PersistentVolumeClaim apps/data   -> \n"},
		{"a template of claims is gone", f(set, "volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]"), f(set, ""),
			"charts/volume-claim StatefulSet apps/db spec.volumeClaimTemplates [{\"metadata\":{\"name\":\"data\"},\"spec\":{\"resources\":{},\"volumeMode\":\"Filesystem\"}}] -> \n"},
		{"a template of claims is new", f(set, "replicas: 1"), f(set, "volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]"),
			"charts/volume-claim StatefulSet apps/db spec.volumeClaimTemplates  -> [{\"metadata\":{\"name\":\"data\"},\"spec\":{\"resources\":{},\"volumeMode\":\"Filesystem\"}}]\n"},
		{"a template with what the API server sets", f(set, "volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]"),
			f(set, "volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeMode: Filesystem}}]"), ""},
		{"a StatefulSet with volumes is gone", f(set, "volumeClaimTemplates: [{metadata: {name: data}}]"), "", "charts/volume-claim StatefulSet apps/db   -> \n"},
		{"one without is", f(set, ""), "", ""},
		{"a StatefulSet gets another service", f(set, ""), strings.ReplaceAll(f(set, ""), "serviceName: db", "serviceName: db-headless"),
			"charts/immutable StatefulSet apps/db spec.serviceName \"db\" -> \"db-headless\"\n"},
		{"a default of a StatefulSet is written out", f(set, ""), f(set, "podManagementPolicy: OrderedReady"), ""},

		{"a definition is gone", f(definition, "", "Namespaced", v1), "", "charts/crd CustomResourceDefinition a.example.com   -> \n"},
		{"a version of a definition is gone", f(definition, "", "Namespaced", v1+", "+v2), f(definition, "", "Namespaced", v2),
			"charts/crd CustomResourceDefinition a.example.com spec.versions \"v1\" -> \n"},
		{"a version is no longer served", f(definition, "", "Namespaced", v1), f(definition, "", "Namespaced", older+", "+v2),
			"charts/crd CustomResourceDefinition a.example.com spec.versions \"v1\" -> \n"},
		{"a definition with another scope", f(definition, "", "Namespaced", v1), f(definition, "", "Cluster", v1),
			"charts/immutable CustomResourceDefinition a.example.com spec.scope \"Namespaced\" -> \"Cluster\"\n"},
		{"a definition of crds with another scope stays as it is", "# crds\n" + f(definition, "", "Namespaced", v1), "# crds\n" + f(definition, "", "Cluster", v1), ""},
		{"a definition leaves crds for the templates", "# crds\n" + f(definition, "", "Namespaced", v1), f(definition, "", "Namespaced", v1),
			"charts/crd CustomResourceDefinition a.example.com   -> \n"},
		{"a definition leaves the templates for crds", f(definition, "", "Namespaced", v1), "# crds\n" + f(definition, "", "Namespaced", v1),
			"charts/crd CustomResourceDefinition a.example.com   -> \n"},
		{"it does so and is kept", f(definition, keep, "Namespaced", v1), "# crds\n" + f(definition, "", "Namespaced", v1), ""},

		{"a selector", f(deployment, "apps/v1", "1", "a: b"), f(deployment, "apps/v1", "1", "a: c, app.kubernetes.io/name: d"),
			`charts/immutable Deployment apps/web spec.selector {"matchLabels":{"a":"b"}} -> {"matchLabels":{"a":"c","app.kubernetes.io/name":"d"}}` + "\n"},
		{"one label of a selector", f(deployment, "apps/v1", "1", "app.kubernetes.io/name: b"), f(deployment, "apps/v1", "1", "app.kubernetes.io/name: c"),
			"charts/immutable Deployment apps/web spec.selector.matchLabels.app.kubernetes.io/name \"b\" -> \"c\"\n"},
		{"a selector of another version of the API", f(deployment, "apps/v1beta1", "1", "a: b"), f(deployment, "apps/v1", "1", "a: c"),
			"charts/immutable Deployment apps/web spec.selector.matchLabels.a \"b\" -> \"c\"\n"},
		{"a generated selector", "# generated: .spec.selector.matchLabels.a\n" + f(deployment, "apps/v1", "1", "a: b"), f(deployment, "apps/v1", "1", "a: c"), ""},
		{"a Job", f(job, "", "", "v1"), f(job, "", "", "v2"),
			"charts/immutable Job apps/init spec.template.spec.containers[0].image \"a/b:v1\" -> \"a/b:v2\"\n"},
		{"a Job that is a hook", f(job, hook, "", "v1"), f(job, hook, "", "v2"), ""},
		{"a Job that is gone", f(job, "", "", "v1"), "", ""},
		{"completions of an indexed Job may change", f(job, "", "completionMode: Indexed, completions: 1,", "v1"), f(job, "", "completionMode: Indexed, completions: 2,", "v1"), ""},
		{"those of another one may not", f(job, "", "", "v1"), f(job, "", "completions: 2,", "v1"), "charts/immutable Job apps/init spec.completions 1 -> 2\n"},
		{"a Service becomes headless", f(service, "ports: []"), f(service, "clusterIP: None"), "charts/immutable Service apps/web spec.clusterIP  -> \"None\"\n"},
		{"a Service is no longer headless, which has no effect", f(service, "clusterIP: None"), f(service, "ports: []"), ""},
		{"a Service was a name", f(service, "type: ExternalName"), f(service, "clusterIP: None"), ""},
		{"a StorageClass with another parameter", f(storageCass, ", parameters: {type: a}"), f(storageCass, ", parameters: {type: b}"),
			"charts/immutable StorageClass fast parameters.type \"a\" -> \"b\"\n"},
		{"a StorageClass with its default", f(storageCass, ""), f(storageCass, ", reclaimPolicy: Delete, allowVolumeExpansion: true"), ""},
		{"a role of a binding", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a}, roleRef: {kind: Role, name: a}}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: b}}",
			"charts/immutable RoleBinding apps/a roleRef.name \"a\" -> \"b\"\n"},
		{"a Secret of another type", f(secret, "type: Opaque"), f(secret, "type: kubernetes.io/tls"), "charts/immutable Secret apps/key type \"Opaque\" -> \"kubernetes.io/tls\"\n"},
		{"a Secret with another password", f(secret, "stringData: {a: hidden}"), f(secret, "stringData: {a: secret}"), ""},
		{"an immutable one", f(secret, "immutable: true, stringData: {a: hidden}"), f(secret, "immutable: true, stringData: {a: secret}"), "charts/immutable Secret apps/key data.a  -> \n"},
		{"an immutable one that is otherwise written", f(secret, "immutable: true, stringData: {a: b}"), f(secret, "immutable: true, data: {a: Yg==}"), ""},
		{"the source of a volume", "{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {capacity: {storage: 1Gi}, nfs: {server: a, path: /}}}",
			"{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {capacity: {storage: 2Gi}, hostPath: {path: /}}}",
			"charts/immutable PersistentVolume a spec.hostPath  -> {\"path\":\"/\"}\ncharts/immutable PersistentVolume a spec.nfs {\"path\":\"/\",\"server\":\"a\"} -> \n"},
		{"a Pod gets another image, and another command", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: 'a/b:1'}]}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: 'a/b:2', command: [x]}]}}",
			"charts/immutable Pod apps/a spec.containers[0].command  -> [\"x\"]\n"},

		{"a Secret, a ServiceAccount and a Namespace are gone", f(secret, "type: Opaque") + "\n---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: other}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: a}}", "",
			"charts/gone Namespace a   -> \ncharts/gone Secret apps/key   -> \ncharts/gone ServiceAccount other/a   -> \n"},
		{"they are in a list", "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}]}", "", "charts/gone ServiceAccount apps/a   -> \n"},
		{"it is in a list in a list of any kind, and looks like a hook there", "{apiVersion: v1, kind: All, items: [{kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {helm.sh/hook: x}}}]}]}", "",
			"charts/gone Secret apps/a   -> \n"},
		{"a list that is a hook", "{apiVersion: v1, kind: List, metadata: {annotations: {helm.sh/hook: x}}, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}", "", ""},
		{"an immutable value with a key that begins as a generated one", "# generated: .data.ca\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: true, data: {ca: x, ca.crt: a}}",
			"# generated: .data.ca\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: true, data: {ca: y, ca.crt: b}}",
			"charts/immutable ConfigMap apps/a data.ca.crt \"a\" -> \"b\"\n"},
		{"a port for the health of nodes", f(service, "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30000"),
			f(service, "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30001"), "charts/immutable Service apps/web spec.healthCheckNodePort 30000 -> 30001\n"},
		{"a key twice, of which the last counts", f(deployment, "apps/v1", "1", "a: b, a: c"), f(deployment, "apps/v1", "1", "a: b"),
			"charts/immutable Deployment apps/web spec.selector.matchLabels.a \"c\" -> \"b\"\n"},
		{"a claim with two names", f(claim, ", name: other", ""), f(claim, "", ""), "charts/volume-claim PersistentVolumeClaim apps/other   -> \n"},
		{"a definition with two kinds", strings.ReplaceAll(f(definition, "", "Cluster", v1), "kind: Custom", "kind: Secret\nkind: Custom"), f(definition, "", "Cluster", v2),
			"charts/crd CustomResourceDefinition a.example.com spec.versions \"v1\" -> \n"},
		{"a Secret with a generated name", "# generated: .metadata.name\n" + f(secret, ""), "", ""},
		{"a Secret that is kept", "{apiVersion: v1, kind: Secret, metadata: {name: a" + keep + "}}", "", ""},
		{"a ConfigMap is gone", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "", ""},
		{"a namespace is written out", f(secret, ""), "{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: apps}}", ""},

		{"another tag of an image", "image: quay.io/a/b:1", "image: quay.io/a/b:2", ""},
		{"another image of the registry", "image: quay.io/a/b:1", "image: quay.io/a/c:2", ""},
		{"an image of another registry", "kind: A\nimage: quay.io/a/b:1", "kind: A\nmetadata: {name: b}\nimage: ghcr.io/a/b:1", "charts/image A b image  -> \"ghcr.io/a/b:1\"\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			risks, _, problems := upgrades.Upgrade{Before: manifests(test.from), After: manifests(test.to), Namespace: "apps"}.Compare()
			if got := shown(risks); got != test.want || len(problems) > 0 {
				t.Errorf("Compare() =\n%s%q\nwant\n%s", got, problems, test.want)
			}
			for _, r := range risks {
				if !strings.HasSuffix(r.Text, ".") || len(r.Text) > 300 {
					t.Errorf("the text of %s is %q", r.Rule, r.Text)
				}
			}
		})
	}
}

// What a risk says depends on what Helm does with the object.
func TestWhatHappensIsTrue(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"a claim", fmt.Sprintf(claim, "", ""), "", "Helm deletes it, and with it the volume and its data where the reclaim policy is Delete."},
		{"a claim that is kept", fmt.Sprintf(claim, keep, ""), "", "Helm keeps it, as its annotation"},
		{"a claim with a generated name", "# generated: .metadata.name\n" + fmt.Sprintf(claim, "", ""), "", "Its name is another one in each render: each upgrade replaces it"},
		{"a StatefulSet", fmt.Sprintf(set, "volumeClaimTemplates: [{}]"), "", "Helm deletes it. The claims of its volumeClaimTemplates stay"},
		{"a StatefulSet that is kept", strings.Replace(fmt.Sprintf(set, "volumeClaimTemplates: [{}]"), "name: db", "name: db"+keep, 1), "", "Helm keeps it, as its annotation"},
		{"a StatefulSet that deletes its claims", fmt.Sprintf(set, "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, volumeClaimTemplates: [{}]"), "",
			"Helm deletes it, and with it the claims of its volumeClaimTemplates"},
		{"a definition", fmt.Sprintf(definition, "", "Cluster", v1), "", "Helm deletes it, and with it all its objects."},
		{"a definition that is kept", fmt.Sprintf(definition, keep, "Cluster", v1), "", "Helm keeps it"},
		{"a definition of crds", "# crds\n" + fmt.Sprintf(definition, "", "Cluster", v1), "", "It stays in the cluster: Helm never deletes what a directory crds has."},
		{"a version of one of crds", "# crds\n" + fmt.Sprintf(definition, "", "Cluster", v1), "# crds\n" + fmt.Sprintf(definition, "", "Cluster", v2),
			"It stays in the cluster: Helm does not upgrade what a directory crds has."},
		{"the stored version", fmt.Sprintf(definition, "", "Cluster", v1), fmt.Sprintf(definition, "", "Cluster", v2), "The API server refuses to remove the version in which objects are stored"},
		{"another version", fmt.Sprintf(definition, "", "Cluster", v2), fmt.Sprintf(definition, "", "Cluster", v1), "Manifests and clients of this version fail; where objects are still stored in it"},
		{"a claim that is kept, and becomes a hook of upgrades", fmt.Sprintf(claim, keep, ""), fmt.Sprintf(claim, hook, ""), "It becomes a hook of upgrades: Helm deletes it with each of them"},
		{"a selector of a StatefulSet", fmt.Sprintf(set, "selector: {matchLabels: {a: b}}"), fmt.Sprintf(set, "selector: {matchLabels: {a: c}}"),
			"The API server refuses the change, and the upgrade fails. Keep the field: a new StatefulSet does not adopt the pods"},
		{"the scope of a definition", fmt.Sprintf(definition, "", "Cluster", v1), fmt.Sprintf(definition, "", "Namespaced", v1),
			"The API server refuses the change, and the upgrade fails. Keep the field. If the definition gets another name, Helm deletes this one with all its objects"},
		{"a Job that may be gone", fmt.Sprintf(job, "", "ttlSecondsAfterFinished: 1,", "v1"), fmt.Sprintf(job, "", "", "v2"), "The API server refuses the change while the Job is there"},
	} {
		t.Run(test.name, func(t *testing.T) {
			risks, _, problems := upgrades.Upgrade{Before: manifests(test.from), After: manifests(test.to)}.Compare()
			if len(risks) != 1 || !strings.HasPrefix(risks[0].Text, test.want) || len(problems) > 0 {
				t.Errorf("Compare() = %+v, %q, want %q", risks, problems, test.want)
			}
		})
	}
}

func TestImagesAndMirrors(t *testing.T) {
	mirror := func(address string) string {
		switch {
		case strings.HasPrefix(address, "r.internal/"):
			return address
		case strings.HasPrefix(address, "quay.io/"):
			return "r.internal/" + address
		}
		return ""
	}
	u := upgrades.Upgrade{
		Before:   manifests("kind: A\nimage: quay.io/a/old:1"),
		After:    manifests("kind: A\nl: [{image: 'quay.io/a/old:2'}, {image: 'r.internal/quay.io/a/b:1'}, {image: 'quay.io/a/b:1'}, {image: 'ghcr.io/a/b:1'}, {image: 'ghcr.io/a/b:2'}]"),
		MirrorOf: mirror,
	}
	risks, _, problems := u.Compare()
	var got []string
	for _, r := range risks {
		got = append(got, r.Field+": "+r.Text)
	}
	want := `l[2].image: A mirror covers it, at "r.internal/quay.io/a/b:1", but the chart does not have its address from a value that mirrors rewrite: nodes pull from "quay.io". Set the value of the instance.
l[3].image: No mirror covers it: where nodes do not reach "ghcr.io", its pods do not start. Add a mirror, and copy the image.`
	if strings.Join(got, "\n") != want || len(problems) > 0 {
		t.Errorf("Compare() =\n%s\n%q\nwant\n%s", strings.Join(got, "\n"), problems, want)
	}
}

func TestValuesThatAreNotRead(t *testing.T) {
	u := upgrades.Upgrade{Unread: []unread.Key{{Name: "replica", Nearest: "replicas"}, {Name: "old"}}}
	risks, _, _ := u.Compare()
	const want = `[{charts/value  old   The newer chart does not read it: it has no effect. Look for its new name in the values of the chart, or remove it. } ` +
		`{charts/value  replica   The newer chart does not read it: it has no effect. Is "replicas" meant? }]`
	if got := fmt.Sprint(risks); got != want {
		t.Errorf("Compare() = %s", got)
	}
}

// The data of a Secret is in no risk, whatever changes.
func TestNothingOfASecretIsShown(t *testing.T) {
	for _, to := range []string{"immutable: true, data: {a: c2VjcmV0}", "data: {a: c2VjcmV0}, type: x", "immutable: true, stringData: {a: secret, b: secret}"} {
		u := upgrades.Upgrade{Before: manifests(fmt.Sprintf(secret, "immutable: true, data: {a: aGlkZGVu}")), After: manifests(fmt.Sprintf(secret, to))}
		if risks, _, _ := u.Compare(); len(risks) == 0 || strings.Contains(fmt.Sprint(risks), "c2VjcmV0") || strings.Contains(fmt.Sprint(risks), "aGlkZGVu") {
			t.Errorf("Compare() = %+v", risks)
		}
	}
}

// Wherever a Secret hides, what is in it is no image, and no part of an error.
func TestSecretsAreHiddenEverywhere(t *testing.T) {
	for name, text := range map[string]string{
		"in a list":            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {image: hidden}}]}",
		"in a typed list":      "{apiVersion: v1, kind: SecretList, items: [{metadata: {name: a}, stringData: {image: hidden}}]}",
		"by a merge key":       "{x: &x {kind: Secret}, <<: *x, apiVersion: v1, metadata: {name: a}, stringData: {image: hidden, arg: 'q.io/hidden:hidden'}}",
		"with two kinds":       "{apiVersion: v1, kind: ConfigMap, kind: Secret, metadata: {name: a}, stringData: {image: hidden}}",
		"with a number":        "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {p: !!int hidden}}",
		"that is no YAML":      "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {p: *hidden}}",
		"twice, with a number": "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}, {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {p: hidden}}]}",
	} {
		for _, u := range []upgrades.Upgrade{{After: manifests(text)}, {Before: manifests(text)}} {
			risks, changes, problems := u.Compare()
			if all := fmt.Sprintf("%+v %+v %q", risks, changes.Diff, problems); strings.Contains(strings.ReplaceAll(all, "(hidden)", ""), "hidden") {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	const before, after = `# generated: .data.made
{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {same: c2FtZQ==, other: b2xk, gone: Z29uZQ==, made: bWFkZQ==}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {shown: "old"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: same}}
---
{apiVersion: v1, kind: Service, metadata: {name: gone}}`, `# generated: .data.made
{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {same: c2FtZQ==, other: bmV3, made: aGlk}, stringData: {new: "quay.io/hidden/image:v1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {shown: "new"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: same}}
---
# generated: .metadata.name
{apiVersion: v1, kind: ConfigMap, metadata: {name: random}}
---
{apiVersion: v1, kind: Secret, metadata: {name: odd}, data: hidden-text}`
	risks, changes, problems := upgrades.Upgrade{Before: manifests(before), After: manifests(after), Namespace: "apps"}.Compare()
	const want = `@@ -1,6 +1,6 @@ ConfigMap apps/a
 apiVersion: v1
 data:
-  shown: old
+  shown: new
 kind: ConfigMap
 metadata:
   name: a
@@ -1,9 +1,10 @@ Secret apps/key
 apiVersion: v1
 data:
-  gone: (hidden)
   made: (generated)
-  other: (hidden)
+  other: (hidden, changed)
   same: (hidden)
 kind: Secret
 metadata:
   name: key
+stringData:
+  new: (hidden)
@@ -0,0 +1,5 @@ Secret apps/odd
+apiVersion: v1
+data: (hidden)
+kind: Secret
+metadata:
+  name: odd
@@ -1,4 +0,0 @@ Service apps/gone
-apiVersion: v1
-kind: Service
-metadata:
-  name: gone
`
	if changes.Diff == nil || changes.Diff.Diff != want || changes.Added != 1 || changes.Removed != 1 || changes.Changed != 2 || len(risks)+len(problems) > 0 {
		t.Errorf("Compare() = %+v, %+v, %q\n%s", risks, changes, problems, changes.Diff.Diff)
	}
}

func TestCostOfHostileManifests(t *testing.T) {
	many := ""
	for i := range 600 {
		many += fmt.Sprintf("{kind: Secret, apiVersion: v1, metadata: {name: a%d}}\n---\n", i)
	}
	for _, test := range []struct{ name, text, want string }{
		{"no YAML", "a: [", "web/templates/a.yaml cannot be read: "},
		{"a mapping that merges itself", "--- &a\n<<: *a\nkind: A\n", "cannot be read: "},
		{"levels", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested deeper"},
		{"a list of lists", "{apiVersion: v1, kind: List, items: [{kind: List, items: [{kind: List, items: []}]}]}", ""},
		{"a definition that is a list", "kind: CustomResourceDefinition\nspec: [versions, {}]", ""},
		{"versions that are none", "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: {versions: [a, {schema: a}, [b]]}", ""},
		{"fields of other types", "{apiVersion: apps/v1, kind: StatefulSet, metadata: [a], spec: {selector: 1, volumeClaimTemplates: [1, {spec: 2}]}}", ""},
		{"more text than an object may have", "{kind: ConfigMap, data: {a: " + strings.Repeat("a", 1<<20) + "}}", "cannot be read: line 1: it has more than 1048576 bytes of keys and values"},
		{"a list with such a text and a Secret", "{kind: List, items: [{kind: Secret}, {a: " + strings.Repeat("a", 1<<20) + "}]}", "it has more than 1048576 bytes of keys and values"},
		{"a class of storage of another type", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, annotations: {volume.beta.kubernetes.io/storage-class: [a]}}, spec: []}", ""},
		{"values", strings.Repeat("-\n", 2_000_001), "it may have more than 2000000 values"},
		{"values of all objects", strings.Repeat("a: ["+strings.Repeat("0,", 150_000)+"]\n---\n", 7), "what it renders to has more than 1000000 values"},
		{"a manifest that is another one in each render", "# generated: \n" + fmt.Sprintf(secret, ""), "web/templates/a.yaml cannot be compared: it is another one in each render"},
		{"a definition of crds and of templates", "# crds\n" + fmt.Sprintf(definition, "", "Cluster", v1) + "\n---\n" + fmt.Sprintf(definition, "", "Cluster", v1), "CustomResourceDefinition a.example.com is there twice"},
		{"an object twice", fmt.Sprintf(secret, "type: a") + "\n---\n" + fmt.Sprintf(secret, "type: b"), "Secret key is there twice"},
		{"many risks", many, "100 further risks are left out"},
		{"a long name", "{apiVersion: v1, kind: Secret, metadata: {name: " + strings.Repeat("a", 100_000) + "}}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, u := range []upgrades.Upgrade{{Before: manifests(test.text)}, {After: manifests(test.text)}, {Before: manifests(test.text), After: manifests(test.text + " ")}} {
				risks, _, problems := u.Compare()
				if len(u.After) == 0 && !strings.Contains(strings.Join(problems, "\n"), test.want) {
					t.Errorf("problems are %.300q, want %q", problems, test.want)
				}
				for _, r := range risks {
					if n := len(fmt.Sprint(r)); n > 1500 {
						t.Errorf("a risk has %d bytes", n)
					}
				}
			}
		})
	}
}

// The path of a value is not written out for each: with a long key, that took hours.
func TestCostOfALongKey(t *testing.T) {
	text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: true, data: {? " + strings.Repeat("a", 600_000) + " : [" + strings.Repeat("0,", 150_000) + "]}}"
	u := upgrades.Upgrade{Before: manifests(text), After: manifests(strings.ReplaceAll(text, "0,", "1,"))}
	if risks, changes, problems := u.Compare(); len(risks) != 1 || changes.Changed != 1 || len(problems) > 0 {
		t.Errorf("Compare() = %d risks, %d changed, %q", len(risks), changes.Changed, problems)
	}
}

func TestFamiliesOfAServiceThatAreNoTextsAreCompared(t *testing.T) {
	before, after := fmt.Sprintf(service, "ipFamilies: [{a: b}]"), fmt.Sprintf(service, "ipFamilies: [{a: c}, IPv4]")
	if risks, _, problems := (upgrades.Upgrade{Before: manifests(before), After: manifests(after)}).Compare(); len(risks)+len(problems) > 0 {
		t.Errorf("risks:\n%sproblems: %q", shown(risks), problems)
	}
}

// Whatever charts render to, looking at it ends, and nothing is a risk of an upgrade to the same.
func FuzzRisks(f *testing.F) {
	for _, text := range []string{
		fmt.Sprintf(definition, "", "Cluster", v1+","+v2), fmt.Sprintf(set, "volumeClaimTemplates: [{spec: {}}]"), fmt.Sprintf(job, "", "", "v1"),
		"--- &a\n<<: *a\n", "{kind: List, items: [{kind: Secret, immutable: true}]}", "image: a/b:1\n---\n[", fmt.Sprintf(service, "clusterIP: None"),
	} {
		f.Add(text, text+"\n---\n"+text)
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		_, _, _ = upgrades.Upgrade{Before: manifests(from), After: manifests(to)}.Compare()
		if risks, _, _ := (upgrades.Upgrade{Before: manifests(from), After: manifests(from + "\n")}).Compare(); len(risks) > 0 && !strings.Contains(from, "\n") {
			t.Errorf("%q: %+v", from, risks)
		}
	})
}
