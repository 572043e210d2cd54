// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/registry/redact"
)

// Object is the common interface of all kinds of Flux sources.
type Object interface {
	client.Object
	meta.ObjectWithConditions
	GetArtifact() *meta.Artifact
}

// Kinds maps each kind of source that a CatalogSelection supports to an empty object.
func Kinds() map[string]Object {
	return map[string]Object{
		sourcev1.OCIRepositoryKind:    &sourcev1.OCIRepository{},
		sourcev1.GitRepositoryKind:    &sourcev1.GitRepository{},
		sourcev1.BucketKind:           &sourcev1.Bucket{},
		sourcev1.ExternalArtifactKind: &sourcev1.ExternalArtifact{},
	}
}

// lists are the lists of the kinds.
func lists() map[string]client.ObjectList {
	return map[string]client.ObjectList{
		sourcev1.OCIRepositoryKind:    &sourcev1.OCIRepositoryList{},
		sourcev1.GitRepositoryKind:    &sourcev1.GitRepositoryList{},
		sourcev1.BucketKind:           &sourcev1.BucketList{},
		sourcev1.ExternalArtifactKind: &sourcev1.ExternalArtifactList{},
	}
}

func hasArtifact(object Object) bool {
	artifact := object.GetArtifact()
	return artifact != nil && artifact.URL != "" && artifact.Digest != ""
}

func revisionIn(source Object) string {
	if artifact := source.GetArtifact(); artifact != nil {
		return artifact.Revision
	}
	return ""
}

// readiness is the state of a source according to its condition Ready.
type readiness struct {
	status          metav1.ConditionStatus
	reason, message string
}

// readinessIn returns the readiness of a source. A source with an artifact and without the condition is ready:
// only the controllers of Flux have to set it.
func readinessIn(object Object) readiness {
	ready, published := conditions.Get(object, meta.ReadyCondition), hasArtifact(object)
	switch {
	case published && (ready == nil || ready.Status == metav1.ConditionTrue):
		return readiness{metav1.ConditionTrue, v1alpha1.SucceededReason, ""}
	case ready == nil:
		return readiness{metav1.ConditionUnknown, v1alpha1.SourceNotReadyReason, "Flux has not reconciled it yet"}
	case ready.Status == metav1.ConditionTrue:
		return readiness{metav1.ConditionUnknown, v1alpha1.SourceNotReadyReason, "it is ready, and has no artifact"}
	}
	message := redact.Line(strings.TrimSpace(ready.Message)) // users who can read the selection may have no access to the source
	return readiness{ready.Status, ready.Reason, bounds.Truncate(cmp.Or(message, ready.Reason), maxQuotedMessage)}
}

// maxQuotedMessage bounds the quoted message of a source's condition, in bytes.
const maxQuotedMessage = 512
