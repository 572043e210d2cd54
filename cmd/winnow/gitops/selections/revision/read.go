package selections

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/lists"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/guard"
)

// revision holds the selections, sources and consumers of a commit.
type revision struct {
	selections []placedSelection
	sources    []placedSource
	consumers  []placedConsumer
	containers []container
	notes      []string
	skipped    []skipped
}

// origin is the place of an object in the repository.
type origin struct {
	// cluster is the directory of the cluster, and kustomization the name of the one that applies the
	// object; both are empty for an object that is read from its file without a build.
	cluster, kustomization, file string
	// appliers are the names of the Kustomizations that lead to the object, from the directory on.
	appliers []string
	// alone reports that no Kustomization of the repository applies the directory, so that the cluster is unknown.
	alone bool
	// unknown are sentences on unknown parts of the object, and hidden is a digest of these parts.
	unknown []string
	hidden  string
	// unapplied reports that the file is beside others that are built, and is not one of theirs.
	unapplied bool
	// untouched reports that Flux does not update the object in the cluster.
	untouched bool
}

// knownCluster returns the directory of the cluster that has the object, empty where the repository does not tell.
func (o origin) knownCluster() string {
	if o.alone {
		return ""
	}
	return o.cluster
}

// isAt reports whether both origins are the same file, applied by the same Kustomizations.
func (o origin) isAt(other origin) bool {
	return o.cluster == other.cluster && o.file == other.file && slices.Equal(o.appliers, other.appliers)
}

// place returns the file of an object, or one in the directory that is built alone.
func (o origin) place() string {
	if o.alone {
		return path.Join(o.cluster, path.Base(o.file))
	}
	return o.file
}

type placedSelection struct {
	*v1alpha1.CatalogSelection
	origin
	// invalid is the reason why it cannot be decoded. Only its name is known then.
	invalid error
}

// reason returns the reason why a selection cannot be rendered. It returns nil for a nil selection.
func (s *placedSelection) reason() error {
	if s == nil {
		return nil
	}
	return s.invalid
}

// placedSource is a source of Flux.
type placedSource struct {
	metav1.PartialObjectMetadata
	origin
	// document is the whole object in YAML.
	document string
}

// placedConsumer is a Kustomization, which applies the artifact of a selection if its source is an ExternalArtifact.
type placedConsumer struct {
	origin
	name string
	// kind of its source, and artifact is <namespace>/<name> of it.
	kind, artifact string
	// waits reports that it is not Ready before its objects are, and moves that it changes their namespace. renames are
	// its fields that change their names.
	waits, moves bool
	renames      []string
	// prune reports that Flux deletes objects that leave the artifact, and deletes that it deletes all its
	// objects when the Kustomization is removed.
	prune, deletes bool
	// spec maps its fields to their values.
	spec map[string]any
}

// skipped is a document of a file that Flux does not apply, which is left out because it cannot be read.
type skipped struct {
	file, content string
	// number of the document in the file, and the reason why it is left out.
	number int
	reason error
}

// note returns the sentence for a report. more is inserted before the reason.
func (s skipped) note(more string) string {
	return fmt.Sprintf("%s: document %d is left out%s: %v", s.file, s.number, more, s.reason)
}

// newRevision reads the objects that a commit applies, and the files that Flux does not apply.
func newRevision(ctx context.Context, state gitops.State) revision {
	r := revision{notes: state.Notes}
	for _, o := range state.Objects {
		where := origin{cluster: o.Cluster, alone: o.Alone, kustomization: o.Kustomization, appliers: o.Appliers, file: o.File, unknown: o.Unknown, hidden: o.Hidden}
		document, err := yaml.Marshal(o.Object)
		if err == nil {
			err = r.document(ctx, where, document)
		}
		if err != nil {
			r.notes = append(r.notes, fmt.Sprintf("%s: %s %s is left out: %v", o.Cluster, o.GetKind(), o.GetName(), err))
		}
	}
	for _, file := range state.Files {
		r.read(ctx, file)
	}
	return r
}

func mayBeRelevant(content []byte) bool {
	return slices.ContainsFunc([]string{v1alpha1.CatalogSelectionKind, sourcev1.GroupVersion.Group, sourcev1.ExternalArtifactKind},
		func(word string) bool { return bytes.Contains(content, []byte(word)) })
}

// read adds the documents of a file.
func (r *revision) read(ctx context.Context, file gitops.File) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file.Content)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && mayBeRelevant(document) {
			err = r.document(ctx, origin{file: file.Path, unapplied: file.Unapplied, hidden: file.Hidden}, document)
		}
		if err != nil {
			left := skipped{file.Path, string(document), i, err}
			if file.Unapplied {
				r.notes = append(r.notes, left.note(""))
			} else {
				r.skipped = append(r.skipped, left)
			}
		}
	}
}

func (r *revision) document(ctx context.Context, where origin, document []byte) error {
	var object map[string]any
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	if items, isList := lists.Items(object); isList {
		return r.items(ctx, where, items)
	}
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	where.untouched = manifest.IsUntouched(&head)
	switch {
	case containerKinds[head.Kind] && !guard.Kept(&head):
		r.containers = append(r.containers, container{where.cluster, head.Kind, head.Name, appliersOf(where)})
	case group == sourcev1.GroupVersion.Group:
		r.sources = append(r.sources, placedSource{head, where, string(document)})
	case group == kustomizev1.GroupVersion.Group:
		return r.consumer(where, document)
	case group == v1alpha1.GroupVersion.Group && head.Kind == v1alpha1.CatalogSelectionKind:
		if !hasSources(document) {
			return errors.New("a CatalogSelection without sources, such as a patch")
		}
		cs, err := selectionfile.ParseDocument(ctx, document)
		if err != nil {
			cs = &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: head.Name, Namespace: head.Namespace}}
		}
		return r.add(placedSelection{cs, where, err})
	}
	return nil
}

// items adds the items of a list.
func (r *revision) items(ctx context.Context, where origin, items []any) error {
	var failures []error
	for i, item := range items {
		document, err := yaml.Marshal(item)
		if err == nil {
			err = r.document(ctx, where, document)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("item %d: %w", i+1, err))
		}
	}
	return errors.Join(failures...)
}

func hasSources(document []byte) bool {
	var cs struct {
		Spec struct {
			Sources any `json:"sources"`
		} `json:"spec"`
	}
	return yaml.Unmarshal(document, &cs) != nil || cs.Spec.Sources != nil
}

func (r *revision) add(cs placedSelection) error {
	for _, other := range r.selections {
		if other.cluster == cs.cluster && (cs.cluster != "" || other.file == cs.file) && sameName(other, cs) {
			return fmt.Errorf("a second CatalogSelection %s", cs.Name)
		}
	}
	r.selections = append(r.selections, cs)
	return nil
}

// has reports whether the commit has the directory of a cluster, which applies a selection, a source or a consumer.
func (r *revision) has(cluster string) bool {
	return slices.ContainsFunc(r.selections, func(s placedSelection) bool { return s.cluster == cluster }) ||
		slices.ContainsFunc(r.sources, func(s placedSource) bool { return s.cluster == cluster }) ||
		slices.ContainsFunc(r.consumers, func(k placedConsumer) bool { return k.cluster == cluster })
}

func sameName(a, b placedSelection) bool { return a.Namespace == b.Namespace && a.Name == b.Name }

// consumer adds a Kustomization.
func (r *revision) consumer(where origin, document []byte) error {
	var k kustomizev1.Kustomization
	if err := yaml.Unmarshal(document, &k); err != nil {
		return err
	}
	ref := k.Spec.SourceRef
	if ref.Namespace == "" {
		ref.Namespace = k.Namespace
	}
	var raw struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &raw); err != nil {
		return err
	}
	r.consumers = append(r.consumers, placedConsumer{
		origin: where, name: k.Namespace + "/" + k.Name, kind: ref.Kind, artifact: ref.Namespace + "/" + ref.Name,
		prune: k.Spec.Prune, deletes: deletesOnRemoval(k), spec: raw.Spec,
		waits: k.Spec.Wait || len(k.Spec.HealthChecks) > 0, renames: renamesOf(k), moves: k.Spec.TargetNamespace != "",
	})
	return nil
}

// renamesOf returns the fields of a Kustomization that change the names of objects.
func renamesOf(k kustomizev1.Kustomization) []string {
	var fields []string
	if k.Spec.NamePrefix != "" {
		fields = append(fields, "spec.namePrefix")
	}
	if k.Spec.NameSuffix != "" {
		fields = append(fields, "spec.nameSuffix")
	}
	return fields
}

// deletesOnRemoval reports whether Flux deletes the objects of a Kustomization when it is removed.
func deletesOnRemoval(k kustomizev1.Kustomization) bool {
	switch k.GetDeletionPolicy() {
	case kustomizev1.DeletionPolicyDelete, kustomizev1.DeletionPolicyWaitForTermination:
		return !k.Spec.Suspend
	case kustomizev1.DeletionPolicyOrphan:
		return false
	}
	return k.Spec.Prune && !k.Spec.Suspend
}
