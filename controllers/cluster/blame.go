package cluster

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/render"
)

// Files says where the catalogs have the definitions of an artifact, by the names of the applications:
// "applications/argocd/application.yaml of source kkp".
type Files map[string]string

// refusedObject is how kustomize-controller names the object that the API server refused in a dry-run, the
// first one if there are several: Kind/name, with the namespace between them if the object has one.
//
//	ApplicationDefinition/argocd dry-run failed: failed to create typed patch object (...)
//	ApplicationDefinition/argocd dry-run failed (Invalid): ApplicationDefinition.apps... is invalid: ...
var refusedObject = regexp.MustCompile(`^[A-Za-z0-9]+/(?:[a-z0-9-]+/)?([a-z0-9.-]+) dry-run failed\b(?: \(([A-Za-z]+)\))?`)

// faultless are the reasons of the API server with which no object is at fault: the account of the
// Kustomization, a webhook that cannot be called, or the API server itself is.
var faultless = []metav1.StatusReason{
	metav1.StatusReasonUnauthorized, metav1.StatusReasonInternalError, metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout,
	metav1.StatusReasonTooManyRequests, metav1.StatusReasonServiceUnavailable,
}

// rightMissing is how the API server says that an account lacks a right. What a webhook or a policy forbids
// has the same reason.
const rightMissing = ` is forbidden: User "`

// refusedIn returns the application of which a message says that the API server refused it. An artifact
// has definitions and nothing else.
func (c consumer) refusedIn(message string) string {
	match := refusedObject.FindStringSubmatch(message)
	first, _, _ := strings.Cut(message, "\n") // of several
	if match == nil || slices.Contains(faultless, metav1.StatusReason(match[2])) || strings.Contains(first, rightMissing) {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(match[1], c.prefix), c.suffix)
}

// blame says which application is to blame for that nothing is applied; empty if it is not known.
func blame(name string, files Files) string {
	if name == "" {
		return ""
	}
	file := files[name]
	if file == "" {
		file = fmt.Sprintf("%s/%s.yaml of the artifact", render.ApplicationsDir, name)
	}
	return fmt.Sprintf("no application is applied, because the API server refuses %s (%s): ", name, file)
}
