package sourcetest

import (
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VerifiedMessage is what source-controller writes into the condition SourceVerified of an OCIRepository.
func VerifiedMessage(revision string) string { return "verified signature of revision " + revision }

// Unsigned is what it writes there when there is no signature.
const Unsigned = "failed to verify the signature using provider 'cosign': no matching signatures were found for 'registry.example/catalog@sha256:0'"

// SetVerified replaces the conditions by SourceVerified; without a message, by none.
func SetVerified(all *[]metav1.Condition, status metav1.ConditionStatus, message string) {
	*all = nil
	if message != "" {
		*all = []metav1.Condition{{
			Type: sourcev1.SourceVerifiedCondition, Status: status, Reason: "Any", Message: message,
			LastTransitionTime: metav1.NewTime(time.Unix(1_700_000_000, 0)),
		}}
	}
}

// ByCosign asks Flux to verify signatures of cosign.
func ByCosign() *sourcev1.OCIRepositoryVerification {
	return &sourcev1.OCIRepositoryVerification{Provider: "cosign"}
}

// Copied asks Flux to pull a layer as it is: what it extracts is not compared with what is signed.
func Copied() *sourcev1.OCILayerSelector {
	return &sourcev1.OCILayerSelector{Operation: sourcev1.OCILayerCopy}
}
