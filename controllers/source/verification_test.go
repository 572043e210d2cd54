// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func TestSignaturesCoverCopiedLayers(t *testing.T) {
	extracted := &sourcev1.OCILayerSelector{MediaType: "any", Operation: sourcev1.OCILayerExtract}
	for _, test := range []struct {
		name   string
		format string
		pulled *sourcev1.OCILayerSelector
		want   signature
	}{
		{"copied", v1alpha1.FormatApplications, sourcetest.Copied(), valid},
		{"extracted", v1alpha1.FormatApplications, extracted, refused},
		{"extracted by default", v1alpha1.FormatApplications, nil, refused},
		{"extracted, and Winnow fetches the layer itself", v1alpha1.FormatAuto, extracted, valid},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := Observed{Kind: sourcev1.OCIRepositoryKind, Place: render.CatalogLocation{Format: test.format}, repository: &sourcev1.OCIRepository{}}
			source.repository.Status.ObservedLayerSelector = test.pulled
			if got := source.extracted(); got.signature != test.want {
				t.Errorf("extracted() = %+v", got)
			}
		})
	}
}

func TestCommitsOfGitRepositories(t *testing.T) {
	const commit, other = "a0c14dc8580a23f79bc654faa79c4f62b46c2c22", "b0c14dc8580a23f79bc654faa79c4f62b46c2c22"
	tagLine := "\n\t- tag 'v1@" + other + "' with key '3299AEB0E4085BAF'"
	head := func(hash string) string { return "\n\t- commit '" + hash + "' with key '3299AEB0E4085BAF'" }
	for _, test := range []struct {
		name     string
		mode     sourcev1.GitVerificationMode
		revision string
		message  string // after "verified signature of"
		edit     func(*sourcev1.GitRepository)
		want     string // part of the problem, empty for none
	}{
		{"the commit of a branch", sourcev1.ModeGitHEAD, "main@sha1:" + commit, head(commit), nil, ""},
		{"the commit by the old name of the mode", "head", "main@sha1:" + commit, head(commit), nil, ""},
		{"the commit of a reference", sourcev1.ModeGitHEAD, "refs/pull/1/head@sha1:" + commit, head(commit), nil, ""},
		{"the commit alone", sourcev1.ModeGitHEAD, "sha1:" + commit, head(commit), nil, ""},
		{"the tag and its commit", sourcev1.ModeGitTagAndHEAD, "v1@sha1:" + commit, tagLine + head(commit), nil, ""},
		{"another commit", sourcev1.ModeGitHEAD, "main@sha1:" + commit, head(other), nil, "not verified " + commit},
		{"the beginning of a commit", sourcev1.ModeGitHEAD, "main@sha1:" + commit, head(commit + "0"), nil, "not verified " + commit},
		{"a tag with another commit", sourcev1.ModeGitTagAndHEAD, "v1@sha1:" + commit, tagLine + head(other), nil, "not verified " + commit},
		{"a tag with the commit as its name", sourcev1.ModeGitTagAndHEAD, commit + "@sha1:" + commit,
			"\n\t- tag '" + commit + "@" + other + "' with key '3299AEB0E4085BAF'" + head(other), nil, "not verified " + commit},
		{"no revision", sourcev1.ModeGitHEAD, "", head(""), nil, "not verified "},
		{"the tag alone", sourcev1.ModeGitTag, "v1@sha1:" + commit, tagLine, nil, "the mode Tag"},
		{"the tag, after the commit was verified", sourcev1.ModeGitTag, "v1@sha1:" + commit, head(commit), nil, "the mode Tag"},
		{"nothing", "", "v1@sha1:" + commit, head(commit), func(g *sourcev1.GitRepository) { g.Spec.Verification = nil }, "set spec.verify"},
		{"a repository that includes another", sourcev1.ModeGitHEAD, "main@sha1:" + commit, head(commit),
			func(g *sourcev1.GitRepository) { g.Spec.Include = make([]sourcev1.GitRepositoryInclude, 1) }, "spec.include"},
		{"an artifact that includes another", sourcev1.ModeGitHEAD, "main@sha1:" + commit, head(commit),
			func(g *sourcev1.GitRepository) { g.Status.IncludedArtifacts = []*meta.Artifact{{}} }, "spec.include"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := &sourcev1.GitRepository{}
			source.Spec.Verification = &sourcev1.GitRepositoryVerification{Mode: test.mode}
			source.Status.Artifact = &meta.Artifact{Revision: test.revision}
			sourcetest.SetVerified(&source.Status.Conditions, metav1.ConditionTrue, "verified signature of"+test.message)
			if test.edit != nil {
				test.edit(source)
			}
			got := verificationOf(source)
			if valid := got.signature == valid; valid != (test.want == "") || !strings.Contains(got.problem, test.want) {
				t.Errorf("verificationOf() = %+v", got)
			}
		})
	}
}

func TestAChangeOfTheSignatureIsSeen(t *testing.T) {
	source := func(by *sourcev1.OCIRepositoryVerification, status metav1.ConditionStatus, message string) *sourcev1.OCIRepository {
		s := &sourcev1.OCIRepository{}
		s.Spec.Verify, s.Spec.LayerSelector, s.Status.ObservedLayerSelector = by, sourcetest.Copied(), sourcetest.Copied()
		s.Status.Artifact = &meta.Artifact{Revision: "v1"}
		sourcetest.SetVerified(&s.Status.Conditions, status, message)
		return s
	}
	verified := source(sourcetest.ByCosign(), metav1.ConditionTrue, sourcetest.VerifiedMessage("v1"))
	early := source(sourcetest.ByCosign(), metav1.ConditionTrue, sourcetest.VerifiedMessage("v2"))
	unverified := source(sourcetest.ByCosign(), "", "")
	bad := source(sourcetest.ByCosign(), metav1.ConditionFalse, sourcetest.Unsigned)
	worse := source(sourcetest.ByCosign(), metav1.ConditionFalse, "of another revision: "+sourcetest.Unsigned)
	unconfigured := source(nil, "", "")
	for _, test := range []struct {
		name     string
		old, new *sourcev1.OCIRepository
		want     bool
	}{
		{"verified as before", verified, verified.DeepCopy(), false},
		{"verified for the first time", unverified, verified, true},
		{"verified again", bad, verified, true},
		{"verified after spec.verify was added", unconfigured, verified, true},
		{"refused", verified, bad, true},
		{"refused for the first time", unverified, bad, true},
		{"refused as before", bad, bad.DeepCopy(), false},
		{"another one refused", bad, worse, true},
		{"spec.verify removed", verified, unconfigured, true},
		{"without spec.verify", unconfigured, unconfigured.DeepCopy(), false},
		{"the next revision verified", verified, early, false},
		{"pending again", bad, unverified, false},
		{"spec.verify added", unconfigured, unverified, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := verificationChanged(test.old, test.new); got != test.want {
				t.Errorf("verificationChanged() = %v", got)
			}
		})
	}
	if verificationChanged(&sourcev1.Bucket{}, &sourcev1.Bucket{}) {
		t.Error("an update of a Bucket passes")
	}
}
