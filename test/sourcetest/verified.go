// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VerifiedMessage returns the message of the condition SourceVerified that source-controller sets on an OCIRepository.
func VerifiedMessage(revision string) string { return "verified signature of revision " + revision }

// Unsigned is the message of that condition for an artifact without a signature.
const Unsigned = "failed to verify the signature using provider 'cosign': no matching signatures were found for 'registry.example/catalog@sha256:0'"

// SetVerified replaces the conditions by SourceVerified, or by none if message is empty.
func SetVerified(all *[]metav1.Condition, status metav1.ConditionStatus, message string) {
	*all = nil
	if message != "" {
		*all = []metav1.Condition{{
			Type: sourcev1.SourceVerifiedCondition, Status: status, Reason: "Any", Message: message,
			LastTransitionTime: metav1.NewTime(time.Unix(1_700_000_000, 0)),
		}}
	}
}

// ByCosign configures Flux to verify signatures of cosign.
func ByCosign() *sourcev1.OCIRepositoryVerification {
	return &sourcev1.OCIRepositoryVerification{Provider: "cosign"}
}

// Copied configures Flux to copy a layer: it does not compare an extracted layer with the signed digest.
func Copied() *sourcev1.OCILayerSelector {
	return &sourcev1.OCILayerSelector{Operation: sourcev1.OCILayerCopy}
}
