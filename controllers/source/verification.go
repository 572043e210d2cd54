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

// signature is what Flux makes of the signature of a source's artifact.
type signature int

const (
	// valid: Flux has verified the revision of the artifact.
	valid signature = iota
	// pending: Flux has verified another revision, or has not looked yet. On an upgrade it says that
	// the new revision is verified some time before its artifact is there.
	pending
	// refused: Flux cannot verify what the source has, or the source does not ask for it.
	refused
)

// verification is what Flux makes of the signature of a source's artifact, and why it is not valid.
// The zero value is that of an artifact for which no signature is required.
type verification struct {
	signature signature
	problem   string
}

// maxQuotedMessage bounds what is quoted of the condition of a source, in bytes.
const maxQuotedMessage = 512

// DemandVerified refuses the first source that is required to be verified and is not. Where the same
// artifacts were published by the same spec already, they were verified then, and only a refusal
// counts.
func DemandVerified(observed []Observed, published bool) error {
	for _, o := range observed {
		if o.verified.signature == refused || o.verified.signature == pending && !published {
			return failure.Because(v1alpha1.VerificationFailedReason, fmt.Errorf(
				"source %s %s is required to be verified: %s", o.Kind, o.Name, o.verified.problem))
		}
	}
	return nil
}

// verificationOf judges a source by its spec and by its condition SourceVerified. What the condition
// says of the source's generation does not count: that of a source that was suspended or edited
// since stays behind.
func verificationOf(source Object) verification {
	switch typed := source.(type) {
	case *sourcev1.OCIRepository:
		if typed.Spec.Verify == nil {
			return verification{refused, "Flux is not told how; set spec.verify of the OCIRepository"}
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

// extracted says why a verified manifest does not vouch for the artifact: it names the digest of the
// layer, which source-controller compares at the end of the layer. It gets there when it copies the
// layer as it is. When it extracts it, it stops at the end of the archive inside, whatever follows.
// With a contract, Winnow fetches such a layer itself; see contract.go.
func (s Observed) extracted() verification {
	if s.repository == nil || s.hasContract() || s.copied() {
		return verification{}
	}
	return verification{refused, "with format: Applications, what Flux extracts from a layer is not compared with what is signed; " +
		"set format: Auto, or spec.layerSelector.operation of the OCIRepository to copy"}
}

// gitProblem says why the condition of a GitRepository cannot tell that the artifact is verified.
func gitProblem(source *sourcev1.GitRepository) string {
	how := source.Spec.Verification
	switch {
	case how == nil:
		return "Flux is not told how; set spec.verify of the GitRepository"
	case !how.VerifyHEAD():
		return "the mode Tag of spec.verify leaves open which commit was verified; set the mode HEAD or TagAndHEAD"
	case len(source.Spec.Include) > 0 || len(source.Status.IncludedArtifacts) > 0:
		return "spec.include adds files of other repositories, which the signature does not cover; list these as sources of their own"
	}
	return ""
}

// verifiedBy reports whether the condition SourceVerified is about the revision, which for Git is the hash
// of a commit.
func verifiedBy(source conditions.Getter, revision string) verification {
	condition := conditions.Get(source, sourcev1.SourceVerifiedCondition)
	switch {
	case condition == nil:
		return verification{pending, "Flux has not verified the artifact yet"}
	case condition.Status == metav1.ConditionFalse:
		return verification{refused, "Flux could not verify it: " + bounds.Truncate(condition.Message, maxQuotedMessage)}
	case condition.Status != metav1.ConditionTrue || !mentions(condition.Message, revision):
		return verification{pending, fmt.Sprintf("Flux has not verified %s, the revision of the artifact; it says: %s",
			revision, bounds.Truncate(condition.Message, maxQuotedMessage))}
	}
	return verification{}
}

// mentions reports whether a message of Flux has the revision as a whole word, which may be quoted.
// Neither a tag nor a branch can have a space in its name.
func mentions(message, revision string) bool {
	for word := range strings.FieldsSeq(message) {
		if revision != "" && strings.Trim(word, "'") == revision {
			return true
		}
	}
	return false
}

func revisionIn(source Object) string {
	if artifact := source.GetArtifact(); artifact != nil {
		return artifact.Revision
	}
	return ""
}
