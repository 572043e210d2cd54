// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"fmt"
	"slices"
	"strings"
)

// document returns a CatalogSelection with a spec in YAML.
func document(spec string) string {
	return headed("{name: apps, namespace: default}", spec)
}

func headed(metadata, spec string) string {
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: " + metadata + "\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  ") + "\n"
}

// with returns a CatalogSelection whose spec is valid except for the member.
func with(member string) string { return document(specOf(member)) }

// many lists n different names.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d,", i)
	}
	return "[" + b.String() + "]"
}

func long(n int) string { return strings.Repeat("x", n) }

// serverCase is a document for both the API server and this package.
type serverCase struct {
	name, document string
	// beyond reports that only the controller refuses it.
	beyond bool
	// created reports that the API server creates it, but refuses it in a server-side apply.
	created bool
}

// accepted returns documents that the API server accepts.
func accepted() []serverCase {
	return []serverCase{
		{name: "the least that a selection is", document: document("sources: [{name: catalog}]")},
		{name: "every member", document: document(everything)},
		{name: "an interval of a second", document: with("interval: 1s")},
		{name: "an interval of fractions", document: with("interval: 1.5h30m")},
		{name: "an empty mapping", document: with("limit: {}\nsafeguards: {}\ncluster: {}\ncommonMetadata: {}")},
		{name: "members with a default that are null", document: with("interval: null\nsafeguards: null")},
		{name: "an empty list of fields to omit", document: with("omitFields: []")},
		{name: "an empty list of excluded", document: with("exclude: []")},
		{name: "as many names as there may be", document: with("limit: {nameSelector: " + many(5000) + "}")},
		{name: "a long name of a source", document: document("sources: [{name: " + long(253) + "}]")},
		{name: "the same source by another path", document: document("sources: [{name: a}, {name: a, path: x}]")},
		{name: "a path with dots in names", document: document("sources: [{name: a, path: deploy/..hidden/catalog...d}]")},
		{name: "a verified GitRepository", document: document("sources: [{name: a, kind: GitRepository, requireVerified: true}]")},
		{name: "values that are anything", document: with("values: [{names: [a], defaults: {x: {z: [1, 1.5, null, 'a']}}, overrides: {}}]")},
		{name: "labels of other prefixes", document: with("commonMetadata: {labels: {team: a, catalog.winnow.development/name: b}}")},
		{name: "an approval with a note", document: with("safeguards: {approve: ['sha256:" + strings.Repeat("0f", 32) + "#again']}")},
		{name: "a status, which is dropped", document: with("") + "status: {observedGeneration: 3}\n"},
		{name: "a name of 63 characters", document: headed("{name: "+long(63)+", namespace: default}", "sources: [{name: a}]")},
		{name: "a name of two elements", document: headed("{name: a.b, namespace: default}", "sources: [{name: a}]")},
		{name: "labels and annotations", document: headed("{name: a, namespace: default, labels: {a: b}, annotations: {a/b: c}}", "sources: [{name: a}]")},
		{name: "a time that is null", document: headed("{name: a, namespace: default, creationTimestamp: null}", "sources: [{name: a}]")},
		{name: "a comment within", document: with("# nothing\nsuspend: true # yes")},
		{name: "an anchor and its alias", document: with("limit: {nameSelector: &n [a, b]}\nvalues: [{names: *n, defaults: {}}]")},
		{name: "an expression that is none", document: with("limit: {expression: app.nme}"), beyond: true},
		{name: "a constraint that is none", document: with("versions: [{constraint: '>>1'}]"), beyond: true},
		{name: "an operator that is none", document: with("limit: {metadataSelector: {matchExpressions: [{key: a, operator: Near}]}}"), beyond: true},
		{name: "a label that is none", document: with("limit: {metadataSelector: {matchLabels: {a: 'b c'}}}"), beyond: true},
		{name: "keys of Flux that steer nothing", document: with("commonMetadata: {labels: {sharding.fluxcd.io/key: a}, annotations: {reconcile.fluxcd.io/watch: a}}")},
		{name: "an annotation that YAML reads as no text", document: with("commonMetadata: {annotations: {'true': a}}"), beyond: true},
		{name: "a label to add that is none", document: with("commonMetadata: {labels: {a: 'b c'}}"), beyond: true},
		{name: "its own artifact as a source", document: document("sources: [{name: apps, kind: ExternalArtifact}]"), beyond: true},
	}
}

const everything = `
interval: 10m
suspend: true
sources:
- {name: a, kind: OCIRepository, namespace: b, path: c/d, format: Applications, requireVerified: true}
- {name: a, kind: Bucket}
limit:
  nameSelector: [a, b]
  catalogRefs: [default]
  expression: app.tier == "gold"
  metadataSelector:
    tierRefs: [gold]
    matchLabels: {a: b}
    matchExpressions: [{key: a, operator: In, values: [b]}]
exclude: [c]
versions: [{latest: 2}, {names: [a], constraint: '>=1', latest: 1}]
mirrors:
- {from: quay.io/a, to: 'registry.internal:5000/b'}
- {from: charts.example, to: 'oci://registry.internal/charts', helm: {credentials: {registryConfigFile: {name: s, key: k}}, insecure: true}}
- {from: github.com, to: 'https://git.internal/Hub', helm: {credentials: {username: {name: s, key: u}, password: {name: s, key: p}}}}
requireMirrors: false
values: [{names: [a], defaults: {x: y}, overrides: {z: [1]}}]
omitFields: [default, selector.datacenters]
commonMetadata: {labels: {team: a}, annotations: {note: b}}
patches: [{patch: '[{"op": "remove", "path": "/spec/x"}]', target: {kind: ApplicationDefinition}}]
deletionPolicy: Delete
provenance: Object
safeguards: {onRemoval: Publish, onVersionRemoval: Publish, onMajorUpgrade: Hold, onIdentityChange: Publish, onSourceChange: Hold}
cluster: {bypass: Ignore, unmanaged: Label, serve: Always}
serviceAccountName: tenant
push: {url: 'oci://registry.example.com/rendered/kkp', tags: [latest, v1], provider: generic, insecure: true, secretRef: {name: s}}
`

// rejected returns documents that the API server refuses.
func rejected() []serverCase {
	return slices.Concat(rejectedSources(), rejectedSelections(), rejectedChanges(), rejectedObjects())
}

func rejectedSources() []serverCase {
	return []serverCase{
		{name: "no sources", document: document("suspend: true")},
		{name: "an empty list of sources", document: document("sources: []")},
		{name: "too many sources", document: document("sources: [" + numbered(17) + "]")},
		{name: "a source without a name", document: document("sources: [{}]")},
		{name: "a source with an empty name", document: document("sources: [{name: ''}]")},
		{name: "a source with a long name", document: document("sources: [{name: " + long(254) + "}]")},
		{name: "a source with a long namespace", document: document("sources: [{name: a, namespace: " + long(64) + "}]")},
		{name: "a kind of sources that is none", document: document("sources: [{name: a, kind: HelmChart}]")},
		{name: "a format that is none", document: document("sources: [{name: a, format: Helm}]")},
		{name: "a source twice", document: document("sources: [{name: a}, {name: a}]")},
		{name: "a source twice, once by default", document: document("sources: [{name: a, kind: OCIRepository}, {name: a}]")},
		{name: "a source twice, with an empty path", document: document("sources: [{name: a, path: ''}, {name: a}]")},
		{name: "a Bucket that is to be verified", document: document("sources: [{name: a, kind: Bucket, requireVerified: true}]")},
		{name: "a text for whether to verify", document: document("sources: [{name: a, requireVerified: Always}]")},
		{name: "a path that goes up", document: document("sources: [{name: a, path: a/../b}]")},
		{name: "a path from the root", document: document("sources: [{name: a, path: /a}]")},
		{name: "a path with a backslash", document: document(`sources: [{name: a, path: 'a\b'}]`)},
		{name: "a path that is too long", document: document("sources: [{name: a, path: " + long(513) + "}]")},
		{name: "a source that is a text", document: document("sources: [catalog]")},
		{name: "sources that are a mapping", document: document("sources: {name: catalog}")},
		{name: "an unknown field of a source", document: document("sources: [{name: a, branch: main}]")},
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{name: a%d},", i)
	}
	return b.String()
}

func rejectedSelections() []serverCase {
	return []serverCase{
		{name: "an empty nameSelector", document: with("limit: {nameSelector: []}")},
		{name: "an empty name", document: with("limit: {nameSelector: ['']}")},
		{name: "a name twice", document: with("limit: {nameSelector: [a, b, a]}")},
		{name: "a long name", document: with("limit: {nameSelector: [" + long(254) + "]}")},
		{name: "too many names", document: with("limit: {nameSelector: " + many(5001) + "}")},
		{name: "a name that is a number", document: with("limit: {nameSelector: [1]}")},
		{name: "a nameSelector that is a text", document: with("limit: {nameSelector: argocd}")},
		{name: "an empty list of tiers", document: with("limit: {metadataSelector: {tierRefs: []}}")},
		{name: "a tier twice", document: with("limit: {metadataSelector: {tierRefs: [gold, gold]}}")},
		{name: "too many tiers", document: with("limit: {metadataSelector: {tierRefs: " + many(65) + "}}")},
		{name: "a long tier", document: with("limit: {metadataSelector: {tierRefs: [" + long(64) + "]}}")},
		{name: "a label that is a number", document: with("limit: {metadataSelector: {matchLabels: {a: 1}}}")},
		{name: "an expression of labels without an operator", document: with("limit: {metadataSelector: {matchExpressions: [{key: a}]}}")},
		{name: "an empty list of catalogRefs", document: with("limit: {catalogRefs: []}")},
		{name: "a catalogRef twice", document: with("limit: {catalogRefs: [a, a]}")},
		{name: "an empty expression", document: with("limit: {expression: ''}")},
		{name: "a long expression", document: with("limit: {expression: " + long(4097) + "}")},
		{name: "an unknown field of limit", document: with("limit: {tierRefs: [gold]}")},
		{name: "an excluded name twice", document: with("exclude: [a, b, c, b, c]")},
		{name: "an excluded name that is empty", document: with("exclude: ['']")},
		{name: "an excluded name that is null", document: with("exclude: [null]")},
		{name: "a rule of versions that is empty", document: with("versions: [{}]")},
		{name: "a rule of versions without a rule", document: with("versions: [{names: [a]}]")},
		{name: "the latest none", document: with("versions: [{latest: 0}]")},
		{name: "the latest of a fraction", document: with("versions: [{latest: 1.5}]")},
		{name: "the latest of a text", document: with("versions: [{latest: '2'}]")},
		{name: "more of the latest than an int32 holds", document: with("versions: [{latest: 99999999999}]")},
		{name: "a rule of versions for no names", document: with("versions: [{names: [], latest: 1}]")},
		{name: "a rule of versions for a name twice", document: with("versions: [{names: [a, a], latest: 1}]")},
		{name: "an empty constraint", document: with("versions: [{constraint: ''}]")},
	}
}

func rejectedChanges() []serverCase {
	return []serverCase{
		{name: "a mirror to nowhere", document: with("mirrors: [{from: a}]")},
		{name: "a mirror with a scheme", document: with("mirrors: [{from: 'https://a', to: b}]")},
		{name: "a mirror to a scheme that charts do not have", document: with("mirrors: [{from: a, to: 'ssh://b'}]")},
		{name: "a mirror to a registry in upper case", document: with("mirrors: [{from: a, to: 'oci://b/C'}]")},
		{name: "a mirror with half of its credentials", document: with("mirrors: [{from: a, to: b, helm: {credentials: {username: {name: s, key: u}}}}]")},
		{name: "a mirror with the value of a secret", document: with("mirrors: [{from: a, to: b, helm: {credentials: {registryConfigFile: '{}'}}}]")},
		{name: "a mirror with and without TLS", document: with("mirrors: [{from: a, to: b, helm: {insecure: true, plainHTTP: true}}]")},
		{name: "a mirror to a directory", document: with("mirrors: [{from: a, to: b/}]")},
		{name: "a mirror with a space", document: with("mirrors: [{from: a, to: 'b c'}]")},
		{name: "two mirrors of one address", document: with("mirrors: [{from: a, to: b}, {from: c, to: b}, {from: a, to: c}]")},
		{name: "values for nobody", document: with("values: [{defaults: {}}]")},
		{name: "values without values", document: with("values: [{names: [a]}]")},
		{name: "values that are a list", document: with("values: [{names: [a], defaults: [1]}]")},
		{name: "values that are a text", document: with("values: [{names: [a], overrides: 'a: b'}]")},
		{name: "versions to omit", document: with("omitFields: [versions]")},
		{name: "a path of fields with a hole", document: with("omitFields: ['a..b']")},
		{name: "a field to omit twice", document: with("omitFields: [default, default]")},
		{name: "too many fields to omit", document: with("omitFields: " + many(65))},
		{name: "a label of Winnow", document: with("commonMetadata: {labels: {catalog.winnow.dev/name: me}}")},
		{name: "a label of KKP", document: with("commonMetadata: {labels: {apps.kubermatic.k8c.io/managed-by: me}}")},
		{name: "an annotation of Flux", document: with("commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Override}}")},
		{name: "a label of kustomize", document: with("commonMetadata: {labels: {config.kubernetes.io/local-config: 'true'}}")},
		{name: "the label of the bypass", document: with("commonMetadata: {labels: {apps.k8c.io/application-bypass: 'true'}}")},
		{name: "an annotation of kustomize in another case", document: with("commonMetadata: {annotations: {Internal.Config.Kubernetes.io/needsHashSuffix: a}}")},
		{name: "an annotation of Winnow in another case", document: with("commonMetadata: {annotations: {Catalog.Winnow.dev/name: a}}")},
		{name: "an annotation of KKP", document: with("commonMetadata: {annotations: {applicationcatalog.k8c.io/managed-by: a}}")},
		{name: "an annotation of KKP 2.29", document: with("commonMetadata: {annotations: {apps.k8c.io/managed-by-external-manager: 'true'}}")},
		{name: "a label to add that is a number", document: with("commonMetadata: {labels: {a: 1}}")},
		{name: "a patch without a patch", document: with("patches: [{target: {kind: a}}]")},
		{name: "an unknown field of a target", document: with("patches: [{patch: x, target: {kinds: a}}]")},
		{name: "a provenance that is none", document: with("provenance: Everywhere")},
		{name: "an interval that is no duration", document: with("interval: soon")},
		{name: "an interval that is a number", document: with("interval: 10")},
		{name: "an interval of days", document: with("interval: 1d")},
		{name: "an empty interval", document: with("interval: ''")},
		{name: "an interval before now", document: with("interval: -1m")},
		{name: "an interval that is too short", document: with("interval: 999ms")},
		{name: "an interval of an instance that is too short", document: with("instances: {a: {interval: 999ms}}")},
		{name: "an interval of an instance of nothing", document: with("instances: {a: {interval: 0s}}")},
		{name: "an interval that no duration holds", document: with("interval: 9999999999999h")},
		{name: "a safeguard that is none", document: with("safeguards: {onRemoval: hold}")},
		{name: "an unknown safeguard", document: with("safeguards: {onDowngrade: Hold}")},
		{name: "an approval of two lines", document: with("safeguards: {approve: [\"argocd\\nloki\"]}")},
		{name: "an approval twice", document: with("safeguards: {approve: ['sha256:" + strings.Repeat("0f", 32) + "', 'sha256:" + strings.Repeat("0f", 32) + "']}")},
		{name: "a bypass that is none", document: with("cluster: {bypass: 'true'}")},
		{name: "unmanaged that is none", document: with("cluster: {unmanaged: Delete}")},
		{name: "serve that is none", document: with("cluster: {serve: Never}")},
		{name: "a long name of an account", document: with("serviceAccountName: " + long(254))},
		{name: "a push without an address", document: with("push: {}")},
		{name: "a push by another scheme", document: with("push: {url: 'https://registry.example.com/a'}")},
		{name: "a push with a tag in the address", document: with("push: {url: 'oci://registry.example.com/a:b'}")},
		{name: "a push with tags that are none", document: with("push: {url: 'oci://registry.example.com/a', tags: ['a b']}")},
		{name: "a push with a tag twice", document: with("push: {url: 'oci://registry.example.com/a', tags: [a, a]}")},
		{name: "a push without tags", document: with("push: {url: 'oci://registry.example.com/a', tags: []}")},
		{name: "a push by another provider", document: with("push: {url: 'oci://registry.example.com/a', provider: github}")},
		{name: "a push with a Secret without a name", document: with("push: {url: 'oci://registry.example.com/a', secretRef: {}}")},
	}
}

func rejectedObjects() []serverCase {
	return []serverCase{
		{name: "a text for suspend", document: with("suspend: maybe")},
		{name: "a number for suspend", document: with("suspend: 1")},
		{name: "an unknown field", document: with("limits: {}")},
		{name: "the former name of deletionPolicy", document: with("prune: true")},
		{name: "the policy of a Kustomization", document: with("deletionPolicy: MirrorPrune")},
		{name: "unknown fields, several", document: with("limits: {}\nnonsense: true\ncluster: {server: Always}")},
		{name: "a field in another case", document: with("Suspend: true")},
		{name: "an unknown field beside an error", document: with("limits: {}\nprovenance: Everywhere")},
		{name: "several errors", document: with("provenance: Everywhere\nexclude: [a, a]\nlimit: {nameSelector: []}")},
		{name: "a key twice", document: with("suspend: true\nsuspend: false")},
		{name: "a limit that is a list", document: with("limit: [a]")},
		{name: "a spec that is a text", document: "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: a, namespace: default}\nspec: a\n"},
		{name: "no spec", document: "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: a, namespace: default}\n"},
		{name: "a spec that is null", document: "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: a, namespace: default}\nspec: null\n"},
		{name: "an unknown field beside the spec", document: with("") + "specs: {}\n"},
		{name: "an unknown field of the status", document: with("") + "status: {phase: Ready}\n"},
		{name: "a mapping that is null", document: with("limit: null"), created: true},
		{name: "a list that is null", document: with("exclude: null"), created: true},
		{name: "a text that is null", document: with("serviceAccountName: null"), created: true},
		{name: "a label to add that is null", document: with("commonMetadata: {labels: {a: null}}"), created: true},
		{name: "sources that are null", document: document("sources: null")},
		{name: "no name", document: headed("{namespace: default}", "sources: [{name: a}]")},
		{name: "a name in capitals", document: headed("{name: Apps, namespace: default}", "sources: [{name: a}]")},
		{name: "a name of 64 characters", document: headed("{name: "+long(64)+", namespace: default}", "sources: [{name: a}]")},
		{name: "an unknown field of the metadata", document: headed("{name: a, namespace: default, label: {}}", "sources: [{name: a}]")},
		{name: "a label that is no text", document: headed("{name: a, namespace: default, labels: {a: 1}}", "sources: [{name: a}]")},
		{name: "a label of the object that is none", document: headed("{name: a, namespace: default, labels: {a: 'b c'}}", "sources: [{name: a}]")},
		{name: "an annotation that is a boolean", document: headed("{name: a, namespace: default, annotations: {a: true}}", "sources: [{name: a}]")},
	}
}
