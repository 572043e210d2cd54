// SPDX-License-Identifier: Apache-2.0

package selectionfile

import "strings"

// fieldCase has a valid spec, and others that are not, by the same field.
type fieldCase struct {
	name, valid string
	invalid     []string
}

// specOf returns a valid spec with further members.
func specOf(members ...string) string {
	return "sources: [{name: catalog}]\n" + strings.Join(members, "\n")
}

// toMirror returns a spec with a mirror that has these members.
func toMirror(members string) string { return specOf("mirrors: [{from: a, " + members + "}]") }

func fields() []fieldCase {
	return []fieldCase{
		{"interval", specOf("interval: 1s"), []string{
			specOf("interval: 0s"), specOf("interval: 999ms"), specOf("interval: soon"), specOf("interval: -1m"), specOf("interval: 10"), specOf("interval: ''"),
		}},
		{"interval of an instance", specOf("instances: {a: {interval: 1s}}"), []string{
			specOf("instances: {a: {interval: 0s}}"), specOf("instances: {a: {interval: 999ms}}"), specOf("instances: {a: {interval: soon}}"),
		}},
		{"sources", "sources: [{name: a}, {name: b}]", []string{"{}", "sources: []", "sources: [" + strings.Repeat("{name: a},", 17) + "]"}},
		{"each source once", "sources: [{name: a}, {name: a, path: x}, {name: a, namespace: ns}, {name: a, kind: Bucket}]", []string{
			"sources: [{name: a}, {name: a}]",
			"sources: [{name: a, kind: OCIRepository}, {name: a}]",
			"sources: [{name: a, format: Auto}, {name: a, format: Applications}]",
			"sources: [{name: a, namespace: ns, path: p}, {name: b}, {name: a, namespace: ns, path: p}]",
			"sources: [{name: a, path: ''}, {name: a}]",
		}},
		{"kind", "sources: [{name: a, kind: ExternalArtifact}]", []string{"sources: [{name: a, kind: HelmChart}]"}},
		{"format", "sources: [{name: a, format: Applications}]", []string{"sources: [{name: a, format: Helm}]"}},
		{"the catalog of a push", specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: CatalogSource, namespace: olm}}"), []string{
			specOf("push: {url: 'oci://a/b', catalog: {kind: ClusterCatalog}}"), specOf("push: {url: 'oci://a/b', type: Artifact, catalog: {kind: ClusterCatalog}}"),
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: CatalogSource}}"), specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {}}"),
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: ClusterCatalog, namespace: olm}}"),
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: Catalog}}"),
		}},
		{"the other catalog of a push", specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: ClusterCatalog}}"), []string{
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: CatalogSource, namespace: ../olm}}"),
		}},
		{"requireVerified", "sources: [{name: a, requireVerified: true}, {name: b, kind: GitRepository, requireVerified: true}, {name: c, kind: Bucket, requireVerified: false}]", []string{
			"sources: [{name: a, kind: Bucket, requireVerified: true}]", "sources: [{name: a, kind: ExternalArtifact, requireVerified: true}]",
			"sources: [{name: a, requireVerified: Always}]", "sources: [{name: a, requireVerified: true}, {name: a}]",
		}},
		{"limit and merge of a source", "sources: [{name: a, limit: {nameSelector: [b]}}, {name: b, merge: Versions, limit: {metadataSelector: {tierRefs: [gold]}}}]", []string{
			"sources: [{name: a, merge: Versions}, {name: b}]", "sources: [{name: a}, {name: b, merge: All}]", "sources: [{name: a}, {name: b, merge: ''}]",
			"sources: [{name: a, limit: {nameSelector: []}}]", "sources: [{name: a}, {name: a, merge: Versions}]",
		}},
		{"name of a source", "sources: [{name: " + long(253) + "}]", []string{"sources: [{}]", "sources: [{name: ''}]", "sources: [{name: " + long(254) + "}]"}},
		{"namespace of a source", "sources: [{name: a, namespace: " + long(63) + "}]", []string{"sources: [{name: a, namespace: " + long(64) + "}]"}},
		{"path", "sources: [{name: a, path: deploy/..hidden/catalog...d}]", []string{
			"sources: [{name: a, path: ..}]", "sources: [{name: a, path: a/../b}]", "sources: [{name: a, path: /a}]", "sources: [{name: a, path: ./a}]",
			"sources: [{name: a, path: a/}]", "sources: [{name: a, path: a//b}]", `sources: [{name: a, path: 'a\b'}]`, "sources: [{name: a, path: .}]",
			"sources: [{name: a, path: " + long(513) + "}]",
		}},
		{"nameSelector", specOf("limit: {nameSelector: " + many(5000) + "}"), []string{
			specOf("limit: {nameSelector: []}"), specOf("limit: {nameSelector: ['']}"), specOf("limit: {nameSelector: [a, a]}"),
			specOf("limit: {nameSelector: [" + long(254) + "]}"), specOf("limit: {nameSelector: " + many(5001) + "}"),
		}},
		{"tierRefs", specOf("limit: {metadataSelector: {tierRefs: [gold]}}"), []string{
			specOf("limit: {metadataSelector: {tierRefs: []}}"), specOf("limit: {metadataSelector: {tierRefs: ['']}}"),
			specOf("limit: {metadataSelector: {tierRefs: [a, a]}}"), specOf("limit: {metadataSelector: {tierRefs: " + many(65) + "}}"),
		}},
		{"matchExpressions", specOf("limit: {metadataSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]}}"), []string{
			specOf("limit: {metadataSelector: {matchExpressions: [{key: a}]}}"),
		}},
		{"catalogRefs", specOf("limit: {catalogRefs: [default]}"), []string{
			specOf("limit: {catalogRefs: []}"), specOf("limit: {catalogRefs: [a, a]}"), specOf("limit: {catalogRefs: " + many(65) + "}"),
		}},
		{"expression", specOf("limit: {expression: 'app.name == \"" + long(4082) + "\"'}"), []string{
			specOf("limit: {expression: ''}"), specOf("limit: {expression: 'app.name == \"" + long(4083) + "\"'}"),
		}},
		{"channels and deprecation", specOf("versions: [{channels: [stable, fast]}, {deprecated: Drop}, {latest: 1, deprecated: Keep}]"), []string{
			specOf("versions: [{deprecated: Keep}]"), specOf("versions: [{latest: 1, deprecated: drop}]"), specOf("versions: [{channels: []}]"),
			specOf("versions: [{channels: ['']}]"), specOf("versions: [{channels: [a, a]}]"), specOf("versions: [{channels: [" + long(64) + "]}]"),
		}},
		{"platform", specOf("platform: {kubernetes: [1.32.9, v1.33.2+k3s1], kkp: [2.29.1]}"), []string{
			specOf("platform: {}"), specOf("platform: {kubernetes: []}"), specOf("platform: {kubernetes: [1.32]}"), specOf("platform: {kubernetes: ['1.32']}"),
			specOf("platform: {kubernetes: [1.32.9-gke.1]}"), specOf("platform: {kkp: [latest]}"), specOf("platform: {openshift: [4.14.0]}"),
			specOf("platform: {kubernetes: [1.2." + long(64) + "]}"),
		}},
		{"versions", specOf("versions: [{latest: 2}, {names: [a], constraint: '>=1'}]"), []string{
			specOf("versions: [{}]"), specOf("versions: [{names: [a]}]"), specOf("versions: [{latest: 0}]"), specOf("versions: [{names: [], latest: 1}]"),
		}},
		{"mirrors", specOf("mirrors: [{from: 'quay.io/a', to: 'registry.internal:5000/b'}]"), []string{
			specOf("mirrors: [{from: a}]"), specOf("mirrors: [{from: 'https://a', to: b}]"), specOf("mirrors: [{from: 'oci://a', to: 'oci://b'}]"),
			specOf("mirrors: [{from: a/, to: b}]"), specOf("mirrors: [{from: a, to: 'b c'}]"), specOf("mirrors: [{from: a, to: b}, {from: a, to: c}]"),
		}},
		{"schemes of mirrors", specOf("mirrors: [{from: a, to: 'oci://registry.internal:5000/b--c/d__e.f'}, {from: b, to: 'https://git.internal/Org'}, {from: c, to: 'https://git.internal'}]"), []string{
			toMirror("to: 'http://b'"), toMirror("to: 'OCI://b'"), toMirror("to: 'oci://'"), toMirror("to: 'oci://b/'"), toMirror("to: 'oci://b/C'"), toMirror("to: 'oci://b/c..d'"),
			toMirror("to: 'https://b/'"), toMirror("to: 'https://me@b'"), toMirror("to: 'https://b/c?d'"), toMirror("to: 'oci://https://b'"), toMirror("to: 'https://b c'"),
		}},
		{"helm of mirrors", specOf("mirrors: [{from: a, to: 'oci://b', helm: {credentials: {registryConfigFile: {name: s, key: .dockerconfigjson}}, plainHTTP: true, insecure: false}}, " +
			"{from: b, to: c, helm: {}}, {from: c, to: c, helm: {credentials: {username: {name: s, key: u}, password: {name: s, key: p}}}}]"), []string{
			toMirror("to: 'oci://b', helm: {plainHTTP: true, insecure: true}"), toMirror("to: 'https://b', helm: {plainHTTP: true}"),
			toMirror("to: b, helm: {credentials: {}}"), toMirror("to: b, helm: {credentials: {username: {name: s, key: u}}}"),
			toMirror("to: b, helm: {credentials: {password: {name: s, key: u}, registryConfigFile: {name: s, key: u}}}"),
			toMirror("to: b, helm: {credentials: {registryConfigFile: {name: s}}}"), toMirror("to: b, helm: {credentials: {registryConfigFile: {name: s, key: a/b}}}"),
			toMirror("to: b, helm: {credentials: {registryConfigFile: {name: S, key: a}}}"), toMirror("to: b, helm: {credentials: {registryConfigFile: secret}}"),
		}},
		{"values", specOf("values: [{names: [a], defaults: {x: {z: [1]}}, overrides: {}}]"), []string{
			specOf("values: [{names: [a]}]"), specOf("values: [{defaults: {}}]"), specOf("values: [{names: [a], defaults: [1]}]"),
		}},
		{"omitFields", specOf("omitFields: []"), []string{
			specOf("omitFields: [versions]"), specOf("omitFields: [method]"), specOf("omitFields: ['a..b']"), specOf("omitFields: [a, a]"),
		}},
		{"patches", specOf("patches: [{patch: x, target: {kind: ApplicationDefinition}}]"), []string{specOf("patches: [{target: {kind: a}}]")}},
		{"provenance", specOf("provenance: Object"), []string{specOf("provenance: Everywhere")}},
		{"exclude", specOf("exclude: [falco]"), []string{specOf("exclude: ['']"), specOf("exclude: [a, a]"), specOf("exclude: " + many(5001))}},
		{"labels", specOf("commonMetadata: {labels: {team: a, catalog.winnow.development/name: b}}"), []string{
			specOf("commonMetadata: {labels: {app.kubernetes.io/managed-by: me}}"),
			specOf("commonMetadata: {labels: {apps.kubermatic.k8c.io/managed-by: me}}"),
			specOf("commonMetadata: {labels: {applicationcatalog.k8c.io/managed-by: me}}"),
			specOf("commonMetadata: {labels: {apps.k8c.io/managed-by-external-manager: me}}"),
			specOf("commonMetadata: {labels: {catalog.winnow.dev/name: me}}"),
			specOf("commonMetadata: {labels: {kustomize.toolkit.fluxcd.io/prune: me}}"),
		}},
		{"annotations", specOf("commonMetadata: {annotations: {app.kubernetes.io/managed-by: me}}"), []string{
			specOf("commonMetadata: {annotations: {catalog.winnow.dev/x: me}}"),
			specOf("commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Override}}"),
		}},
		{"safeguards", specOf("safeguards: {onRemoval: Publish, onMajorUpgrade: Hold, approve: ['sha256:" + strings.Repeat("0f", 32) + "', 'sha1:" + strings.Repeat("a", 40) + "']}"), []string{
			specOf("safeguards: {onRemoval: Never}"), specOf("safeguards: {onRemoval: hold}"), specOf("safeguards: {approve: ['#2']}"),
			specOf("safeguards: {approve: [\"argocd\\nloki\"]}"), specOf("safeguards: {approve: ['" + strings.Repeat("a", 1025) + "']}"),
			specOf("safeguards: {approve: ['sha1:" + strings.Repeat("a", 40) + "', 'sha1:" + strings.Repeat("a", 40) + "']}"),
		}},
		{"cluster", specOf("cluster: {bypass: Ignore, unmanaged: Label}", "serviceAccountName: tenant.a-1"), []string{
			specOf("cluster: {bypass: 'true'}"), specOf("cluster: {unmanaged: Delete}"), specOf("serviceAccountName: " + long(254)),
			specOf("serviceAccountName: a:b"), specOf("serviceAccountName: Tenant"), specOf("serviceAccountName: a/b"), specOf("serviceAccountName: a..b"),
			specOf("serviceAccountName: -a"), specOf("instances: {web: {serviceAccountName: 'a b', namespace: web}}"),
			specOf("push: {url: 'oci://a/b', serviceAccountName: 'a:b'}"),
		}},
		{"fields", specOf("deletionPolicy: Delete", "suspend: true"), []string{specOf("nonsense: true"), specOf("prune: true"), specOf("deletionPolicy: Maybe")}},
	}
}
