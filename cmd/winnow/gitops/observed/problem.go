// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Cluster is a cluster of a stage.
type Cluster struct {
	Name string `json:"name"`
	// Stage is the argument that names it.
	Stage string `json:"stage"`
	// Wanted is the digest in Git; empty where the stage follows a tag.
	Wanted string `json:"wanted,omitempty"`
	// Version has the versions of the catalogs that Digest was rendered from.
	Version string `json:"version,omitempty"`
	// Digest and Ready of the Kustomizations of the stage.
	Digest string                 `json:"digest,omitempty"`
	Ready  metav1.ConditionStatus `json:"ready,omitempty"`
	// Problems, the worst first.
	Problems []Problem `json:"problems"`
	// Receipt is absent if there is none of this cluster.
	Receipt *receipt.Receipt `json:"receipt,omitempty"`

	// kustomizations of the stage.
	kustomizations []receipt.Kustomization
	// Failure is why the receipt cannot be read.
	Failure error `json:"-"`
}

// Problem is what is wrong with a cluster, or with its receipt.
type Problem struct {
	// Name is one of Names.
	Name    string `json:"name"`
	Message string `json:"message"`
}

// Names of problems, the worst first. A cluster that has one of the first three has no others.
const (
	forged     = "forged"
	Unreadable = "unreadable"
	missing    = "missing"
	foreign    = "foreign"
	differing  = "differs"
	unhealthy  = "unhealthy"
	unknown    = "unknown"
	stale      = "stale"
	bypassed   = "bypassed"
	behind     = "behind"
)

// Names returns the names of problems, the worst first.
func Names() []string {
	return []string{forged, Unreadable, missing, foreign, differing, unhealthy, unknown, stale, bypassed, behind}
}

const nothingApplied = "nothing is applied yet"

// maxMessage bounds what a registry answers, in bytes.
const maxMessage = 512

// read takes from a receipt what it tells of a stage. Whether another digest is behind or foreign is decided by nameDigests.
func (c *Cluster) read(r *receipt.Receipt, of stages.Placed, now time.Time, maxAge time.Duration) {
	c.Receipt = r
	if age := now.Sub(r.Time); age > maxAge {
		c.add(stale, fmt.Sprintf("signed %s ago, more than %s", age.Round(time.Second), maxAge))
	}
	var failing []string
	c.Ready = metav1.ConditionTrue
	found := 0
	for _, k := range r.Kustomizations {
		if namespace, name, _ := strings.Cut(k.Source, "/"); name != of.Name || of.Namespace != "" && namespace != of.Namespace {
			continue
		}
		found++
		c.kustomizations = append(c.kustomizations, k)
		if k.Ready != metav1.ConditionTrue {
			failing = append(failing, fmt.Sprintf("%s/%s: %s: %s", k.Namespace, k.Name, cmp.Or(k.Reason, "not reconciled yet"), k.Message))
			if c.Ready == metav1.ConditionTrue || k.Ready == metav1.ConditionFalse {
				c.Ready = k.Ready
			}
		}
		if found == 1 {
			c.Digest, c.Version = k.Digest, receipt.VersionOf(k.Origin)
		}
	}
	if found == 0 {
		c.Ready = metav1.ConditionUnknown
		c.add(unhealthy, "no Kustomization applies the OCIRepository "+of.FullName())
		c.add(behind, nothingApplied)
	}
	const listed = 3
	c.addAll(unhealthy, failing, listed)
}

// add adds a problem.
func (c *Cluster) add(name, message string) {
	c.Problems = append(c.Problems, Problem{name, message})
	slices.SortStableFunc(c.Problems, func(a, b Problem) int { return rank(a.Name) - rank(b.Name) })
}

// addAll adds a problem with the texts on several objects, if there are some.
func (c *Cluster) addAll(name string, texts []string, most int) {
	if len(texts) > 0 {
		c.add(name, excerpt.Clauses(texts, most, 0, strings.Clone))
	}
}

// Has reports whether the cluster has a problem of a name.
func (c *Cluster) Has(name string) bool {
	return slices.ContainsFunc(c.Problems, func(p Problem) bool { return p.Name == name })
}

// Rank is less for a worse problem, and the highest without one.
func (c *Cluster) Rank() int {
	if len(c.Problems) == 0 {
		return len(Names())
	}
	return rank(c.Problems[0].Name)
}

func rank(name string) int { return slices.Index(Names(), name) }

// nameDigests decides whether clusters with another digest than their stage has in Git are behind: Git has named it before.
// history returns which of the digests Git has named.
func nameDigests(clusters []*Cluster, shallow bool, history func(digests map[string]bool) (map[string]bool, error)) error {
	others := map[string]bool{}
	for _, c := range clusters {
		for _, k := range c.kustomizations {
			if c.Wanted != "" && k.Digest != "" && k.Digest != c.Wanted {
				others[k.Digest] = true
			}
		}
	}
	var named map[string]bool
	if len(others) > 0 {
		var err error
		if named, err = history(others); err != nil {
			return err
		}
	}
	for _, c := range clusters {
		c.takeWorst(func(digest string) Problem {
			switch {
			case digest == "":
				return Problem{behind, nothingApplied}
			case !others[digest] || digest == c.Wanted:
				return Problem{}
			case named[digest]:
				return Problem{behind, "runs a digest that Git has named before " + c.Wanted}
			case shallow:
				return Problem{behind, "runs another digest than Git names; this clone is shallow: fetch the history to know whether Git has named it"}
			}
			return Problem{foreign, "runs a digest that Git has not named for this stage"}
		})
	}
	return nil
}

// takeWorst adds the worst problem that a digest has, and takes this digest.
func (c *Cluster) takeWorst(problemOf func(digest string) Problem) {
	var worst Problem
	for _, k := range c.kustomizations {
		if found := problemOf(k.Digest); found.Name != "" && (worst.Name == "" || rank(found.Name) < rank(worst.Name)) {
			worst, c.Digest, c.Version = found, k.Digest, receipt.VersionOf(k.Origin)
		}
	}
	if worst.Name != "" {
		c.add(worst.Name, worst.Message)
	}
}

// failed adds the problem that a receipt has.
func (c *Cluster) failed(r pulling.Result) {
	switch {
	case r.Err == nil:
	case r.IsMissing():
		c.add(missing, "the registry has no receipt of this cluster, or this account must not see it")
	case r.IsForged():
		c.add(forged, r.Err.Error())
	default:
		c.Failure = r.Err
		c.add(Unreadable, excerpt.To(redact.Text(r.Err.Error()), maxMessage))
	}
}
