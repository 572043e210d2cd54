// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Files maps applications to the files that define them in the catalogs. The catalogs own the texts, and all selections
// share them.
type Files map[string]File

// File is the file of an application in the catalog of a source.
type File struct{ Path, Source string }

// refusedObject matches the object that the API server refused in a dry-run of kustomize-controller, the
// first one if there are several: Kind/name, with the namespace between them if the object has one.
//
//	ApplicationDefinition/argocd dry-run failed: failed to create typed patch object (...)
//	ApplicationDefinition/argocd dry-run failed (Invalid): ApplicationDefinition.apps... is invalid: ...
var refusedObject = regexp.MustCompile(`^([A-Za-z0-9]+)/(?:([a-z0-9-]+)/)?([a-z0-9.-]+) dry-run failed\b(?: \(([A-Za-z]+)\))?`)

// refusedField matches the field below spec that the API server refused.
var refusedField = regexp.MustCompile(`\bspec\.([A-Za-z]+)`)

// refusal is the object that the API server refused, with its name in the artifact; empty if it is not known. field is the
// refused field below its spec, if that is known.
type refusal struct{ kind, namespace, name, field string }

// objectless are the reasons of the API server that are not caused by an object, but by the account of the
// Kustomization, an unreachable webhook, or the API server itself.
var objectless = []metav1.StatusReason{
	metav1.StatusReasonUnauthorized, metav1.StatusReasonInternalError, metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout,
	metav1.StatusReasonTooManyRequests, metav1.StatusReasonServiceUnavailable,
}

// rightMissing is the text of the API server if the account lacks a right. Denials by a webhook or a policy
// have the same reason, but not this text.
const rightMissing = ` is forbidden: User "`

// refusedIn returns the object that the API server refused according to a message of a Kustomization that adds the prefix and
// suffix to names.
func refusedIn(message, prefix, suffix string) refusal {
	match := refusedObject.FindStringSubmatch(message)
	first, _, _ := strings.Cut(message, "\n") // there may be several
	if match == nil || slices.Contains(objectless, metav1.StatusReason(match[4])) || strings.Contains(first, rightMissing) {
		return refusal{}
	}
	of := refusal{kind: match[1], namespace: match[2], name: strings.TrimSuffix(strings.TrimPrefix(match[3], prefix), suffix)}
	if field := refusedField.FindStringSubmatch(first); field != nil {
		of.field = field[1]
	}
	return of
}

// describeRefusal returns the beginning of a message about the refused object; empty if it is not known. Patches that have the
// refused field are named as the cause, others that may change the object beside its file.
func describeRefusal(of refusal, files Files, patches []kustomize.Patch) string {
	if of.name == "" {
		return ""
	}
	touching := patching.Touching(patches, of.kind, of.name)
	causes := slices.DeleteFunc(slices.Clone(touching), func(i int) bool {
		return of.field == "" || !strings.Contains(patches[i].Patch, of.field)
	})
	patched := ""
	switch {
	case len(causes) > 0:
		patched = " as changed by " + patching.Fields(causes)
	case len(touching) > 0:
		patched = ", which " + patching.Fields(touching) + " may change"
	}
	if !safeguard.KeyOf("", of.kind, "", of.name).IsDefinition() {
		object := path.Join(of.namespace, of.name)
		return fmt.Sprintf("nothing is applied, because the API server refuses the %s %s of an instance%s: ", of.kind, object, patched)
	}
	file := ""
	if known, ok := files[of.name]; len(causes) == 0 && ok {
		file = fmt.Sprintf(" (%s of source %s)", known.Path, known.Source)
	} else if len(causes) == 0 {
		file = fmt.Sprintf(" (%s/%s.yaml of the artifact)", render.ApplicationsDir, of.name)
	}
	return fmt.Sprintf("no application is applied, because the API server refuses %s%s%s: ", of.name, file, patched)
}
