// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/failure"
)

// DemandVerified refuses the first source that must be verified and is not. Artifacts that the same spec has
// published before were verified then, so that only a refusal counts for them.
func DemandVerified(observed []Observed, published bool) error {
	for _, o := range observed {
		if o.verified.signature == refused || o.verified.signature == pending && !published {
			return failure.Because(v1alpha1.VerificationFailedReason, fmt.Errorf(
				"source %s %s is required to be verified: %s", o.Kind, o.Name, o.verified.problem))
		}
	}
	return nil
}

// verificationOf evaluates the spec of a source and its condition SourceVerified. It ignores the observed
// generation of the condition, which stays behind if the source was suspended or edited since.
func verificationOf(source Object) verification {
	switch typed := source.(type) {
	case *sourcev1.OCIRepository:
		if typed.Spec.Verify == nil {
			return verification{refused, "Flux does not verify it; set spec.verify of the OCIRepository"}
		}
		return verifiedBy(typed, revisionIn(typed))
	case *sourcev1.GitRepository:
		if problem := gitProblem(typed); problem != "" {
			return verification{refused, problem}
		}
		revision := revisionIn(typed)
		return verifiedBy(typed, revision[strings.LastIndexByte(revision, ':')+1:])
	}
	return verification{refused, "Flux verifies only OCIRepositories and GitRepositories"}
}

// extracted returns the reason why a verified manifest does not cover the artifact. The manifest has the digest
// of the layer, which source-controller compares at the end of the layer. It reads that far when it copies the
// layer. When it extracts the layer, it stops at the end of the archive inside, whatever follows. With a
// contract, Winnow fetches such a layer itself; see contract.go.
func (s Observed) extracted() verification {
	if s.repository == nil || s.hasContract() || s.copied() {
		return verification{}
	}
	return verification{refused, "with format: Applications, files that Flux extracts from a layer are not compared with the signed digest; " +
		"set format: Auto, or spec.layerSelector.operation of the OCIRepository to copy"}
}

// gitProblem returns the reason why the condition of a GitRepository does not cover its artifact.
func gitProblem(source *sourcev1.GitRepository) string {
	how := source.Spec.Verification
	switch {
	case how == nil:
		return "Flux does not verify it; set spec.verify of the GitRepository"
	case !how.VerifyHEAD():
		return "the mode Tag of spec.verify does not verify the commit of the artifact; set the mode HEAD or TagAndHEAD"
	case len(source.Spec.Include) > 0 || len(source.Status.IncludedArtifacts) > 0:
		return "spec.include adds files of other repositories, which the signature does not cover; list these as sources of their own"
	}
	return ""
}

// verifiedBy returns the state by the condition SourceVerified, which must refer to the revision, for Git the
// hash of a commit.
func verifiedBy(source conditions.Getter, revision string) verification {
	condition := conditions.Get(source, sourcev1.SourceVerifiedCondition)
	switch {
	case condition == nil:
		return verification{pending, "Flux has not verified the artifact yet"}
	case condition.Status == metav1.ConditionFalse:
		return verification{refused, "Flux could not verify it: " + bounds.Truncate(condition.Message, maxQuotedMessage)}
	case condition.Status != metav1.ConditionTrue || !mentions(condition.Message, revision):
		return verification{pending, fmt.Sprintf("Flux has not verified %s, the revision of the artifact; its message: %s",
			revision, bounds.Truncate(condition.Message, maxQuotedMessage))}
	}
	return verification{}
}

// mentions reports whether a message of Flux contains the revision as a whole word, which may be quoted.
// Neither a tag nor a branch can have a space in its name.
func mentions(message, revision string) bool {
	for word := range strings.FieldsSeq(message) {
		if revision != "" && strings.Trim(word, "'") == revision {
			return true
		}
	}
	return false
}
