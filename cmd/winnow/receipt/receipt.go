// SPDX-License-Identifier: Apache-2.0

// Package receipt is the format of receipts: what a cluster has applied, in an envelope that a key of the cluster has signed.
// It must not know how a cluster is read, nor where receipts are kept. What it opens is untrusted.
package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Bounds of a receipt.
const (
	// MaxBytes bounds the envelope.
	MaxBytes = 1 << 20
	// maxPayload and the numbers of elements bound its content.
	maxPayload, maxKustomizations, maxDefinitions, maxVersions, maxObjects = 640 << 10, 200, 5_000, 20_000, 5_000
	// maxText bounds a text, in bytes.
	maxText = 512
)

// maxUses bounds the uses of a receipt with their names, maxInstallations a number, and maxNames the names of a use.
const maxUses, maxInstallations, maxNames = 2_000, 1_000_000, 100

var errTooLarge = errors.New("it is larger than a receipt may be")

// Receipt tells what a cluster had applied at a time.
type Receipt struct {
	output.Document

	// Cluster is the name that the receipt is pushed under.
	Cluster string `json:"cluster"`
	// Time of the reading, by the clock of the cluster.
	Time time.Time `json:"time"`
	// Kustomizations of rendered artifacts, and Definitions with the label of Winnow. Both are sorted.
	Kustomizations []Kustomization `json:"kustomizations"`
	Definitions    []Definition    `json:"definitions"`
	// Omitted is the number of Kustomizations and definitions beyond the bounds of a receipt.
	Omitted int `json:"omitted,omitempty"`
	// Uses are the installations in the cluster; nil where an older winnow has written the receipt.
	Uses []Uses `json:"uses,omitempty"`
}

// Kustomization is a Kustomization of Flux that applies an artifact of an OCIRepository.
type Kustomization struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Source is namespace/name of the OCIRepository.
	Source string `json:"source"`
	// Digest of the manifest that was applied last; empty for none.
	Digest string `json:"digest,omitempty"`
	// Origin has the revisions of the sources that it was rendered from.
	Origin string `json:"origin,omitempty"`
	// Objects are the inventory, in the format of Flux, see ObjectID. Nil where it is not known: an older winnow has written the receipt,
	// or all inventories are beyond the bounds.
	Objects []string `json:"objects,omitempty"`
	// Changes are the fields of the spec by which it applies something else than the artifact, such as patches.
	Changes []string `json:"changes,omitempty"`
	// Ready, Reason and Message are the condition Ready; Unknown if it is about an older spec.
	Ready   metav1.ConditionStatus `json:"ready"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// Definition is an application definition in the cluster.
type Definition struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	Versions   []string `json:"versions,omitempty"`
	// Bypassed reports the bypass label, or the annotation that keeps Flux from updating it. BypassedSince is when the field manager that
	// has set it has last written; nil if that is not known.
	Bypassed      bool       `json:"bypassed,omitempty"`
	BypassedSince *time.Time `json:"bypassedSince,omitempty"`
}

// ObjectID returns the identity of an object as the inventory of a Kustomization has it.
func ObjectID(key safeguard.Key) string {
	return strings.Join([]string{key.Namespace, strings.ReplaceAll(key.Name, ":", "__"), key.Group, key.Kind}, "_")
}

const kind = "Receipt"

// KeySuffix ends the name of the file that has the public key of a cluster.
const KeySuffix = ".pub"

// clusterPattern is a part of the name of a repository, and of a file.
var clusterPattern = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)

// CheckCluster returns an error for a text that cannot be the name of a cluster.
func CheckCluster(name string) error {
	if len(name) > 63 || !clusterPattern.MatchString(name) {
		return fmt.Errorf("%s is no name of a cluster: use lower-case letters and digits, with a single -, . or _ between them, at most 63", excerpt.Quoted(name))
	}
	return nil
}

// New returns the receipt of a cluster at a time. It cuts what is beyond the bounds.
func New(cluster string, at time.Time, kustomizations []Kustomization, definitions []Definition, uses []Uses) *Receipt {
	r := &Receipt{
		Document: output.NewDocument(kind), Cluster: cluster, Time: at.UTC().Truncate(time.Second),
		Kustomizations: []Kustomization{}, Definitions: []Definition{},
	}
	left := maxPayload - 4<<10
	fits := func(value any) bool {
		encoded, err := json.Marshal(value)
		left -= len(encoded) + 1
		return err == nil && left >= 0
	}
	if objects := objectsOf(kustomizations); len(objects) > maxObjects || len(strings.Join(objects, "")) > maxPayload/2 {
		kustomizations = slices.Clone(kustomizations)
		for i := range kustomizations {
			kustomizations[i].Objects = nil
		}
	}
	for i, k := range kustomizations {
		k.cut()
		if i == maxKustomizations || !fits(k) {
			r.Omitted = len(kustomizations) - i
			break
		}
		r.Kustomizations = append(r.Kustomizations, k)
	}
	versions := 0
	for i, d := range definitions {
		versions += len(d.Versions)
		if i == maxDefinitions || versions > maxVersions || !fits(d) {
			r.Omitted += len(definitions) - i
			break
		}
		r.Definitions = append(r.Definitions, d)
	}
	r.Uses = bounded(uses, fits)
	return r
}

func objectsOf(kustomizations []Kustomization) (all []string) {
	return slices.Concat(each.Map(kustomizations, func(k Kustomization) []string { return k.Objects })...)
}

// cut cuts the texts that may be long.
func (k *Kustomization) cut() {
	for _, text := range []*string{&k.Namespace, &k.Name, &k.Source, &k.Origin, &k.Reason, &k.Message} {
		*text = excerpt.To(*text, maxText)
	}
	for i := range k.Changes {
		k.Changes[i] = excerpt.To(k.Changes[i], maxText)
	}
}

// parse reads a payload, which the key of a cluster has signed.
func parse(payload []byte) (*Receipt, error) {
	if len(payload) > maxPayload || bytes.Count(payload, []byte(",")) > 30*maxKustomizations+7*maxDefinitions+maxVersions+maxObjects+5*maxUses {
		return nil, errTooLarge
	}
	r := &Receipt{}
	if err := json.Unmarshal(payload, r); err != nil {
		return nil, errors.New("it cannot be read: " + excerpt.To(err.Error(), maxText))
	}
	if r.Document != output.NewDocument(kind) {
		return nil, fmt.Errorf("it is %s %s, which this winnow does not read: does it need a newer one?", excerpt.Quoted(r.APIVersion), excerpt.Quoted(r.Kind))
	}
	if r.Time.IsZero() {
		return nil, errors.New("it has no time")
	}
	versions := 0
	for _, d := range r.Definitions {
		versions += len(d.Versions)
	}
	if len(r.Kustomizations) > maxKustomizations || len(objectsOf(r.Kustomizations)) > maxObjects || len(r.Definitions) > maxDefinitions || versions > maxVersions {
		return nil, errTooLarge
	}
	for i := range r.Kustomizations {
		k := &r.Kustomizations[i]
		k.cut()
		if _, err := digest.Parse(k.Digest); err != nil && k.Digest != "" {
			return nil, fmt.Errorf("a Kustomization has the digest %s, which cannot be", excerpt.Quoted(k.Digest))
		}
		if !slices.Contains([]metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}, k.Ready) {
			return nil, fmt.Errorf("a Kustomization has ready: %s", excerpt.Quoted(string(k.Ready)))
		}
	}
	return r, checkUses(r.Uses)
}

// Uses are the installations by objects of one kind.
type Uses struct {
	// Kind is HelmRelease, Terraform, ApplicationInstallation, ClusterExtension or Subscription. One that the cluster does not serve
	// has no installations.
	Kind string `json:"kind"`
	// Unknown is why there may be others than Applications: one of the reasons below. Empty if there are none.
	Unknown string `json:"unknown,omitempty"`
	// Applications are sorted by name and version.
	Applications []Use `json:"applications,omitempty"`
}

// Reasons of Uses.Unknown.
const (
	// Forbidden is a kind that the account must not list.
	Forbidden = "Forbidden"
	// InUserClusters is the reason on a seed of KKP, whose user clusters have the installations.
	InUserClusters = "InUserClusters"
	// TooMany is beyond the bounds of a receipt.
	TooMany = "TooMany"
)

// Use is the number of installations of an application.
type Use struct {
	// Application is the name of the definition, or of the package.
	Application string `json:"application"`
	// Version of the application, or the name of the bundle; empty for a definition without versions, and where it is not known.
	Version       string `json:"version,omitempty"`
	Installations int    `json:"installations"`
	// Objects are the names, such as namespace/name; only with --names.
	Objects []string `json:"objects,omitempty"`
}

// bounded returns the first uses, as far as they fit. A kind that lacks some is unknown.
func bounded(uses []Uses, fits func(any) bool) (all []Uses) {
	entries := 0
	for _, kind := range uses {
		within := kind
		within.Applications = nil
		for _, use := range kind.Applications {
			use.Objects = use.Objects[:min(len(use.Objects), maxNames)]
			if entries += 1 + len(use.Objects); entries > maxUses || !fits(use) {
				within.Unknown = TooMany
				break
			}
			within.Applications = append(within.Applications, use)
		}
		all = append(all, within)
	}
	return all
}

// checkUses checks uses that were read. A kind that comes twice could hide that it is unknown.
func checkUses(uses []Uses) error {
	entries, known := 0, map[string]bool{}
	for i := range uses {
		of := &uses[i]
		of.Kind, of.Unknown = excerpt.To(of.Kind, maxText), excerpt.To(of.Unknown, maxText)
		for _, use := range of.Applications {
			entries += 1 + len(use.Objects)
			if use.Installations < 1 || use.Installations > maxInstallations {
				return fmt.Errorf("a use has installations: %d", use.Installations)
			}
		}
		switch {
		case entries > maxUses || len(uses) > maxUses:
			return errTooLarge
		case known[of.Kind]:
			return fmt.Errorf("it has the uses by %s twice", excerpt.Quoted(of.Kind))
		}
		known[of.Kind] = true
	}
	return nil
}
