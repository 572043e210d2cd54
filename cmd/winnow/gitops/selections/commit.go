package selections

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/lists"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
)

// revision holds the selections, sources and consumers of a commit.
type revision struct {
	selections []placedSelection
	sources    []placedSource
	consumers  []placedConsumer
	notes      []string
	skipped    []skipped
	// files is true where nothing but files is known: then their Kustomizations are consumers as well.
	files bool
}

// origin is the place of an object in the repository.
type origin struct {
	// cluster is the directory of the cluster, and kustomization the name of the one that applies the
	// object; both are empty for an object that is read from its file without a build.
	cluster, kustomization, file string
	// unknown are sentences on unknown parts of the object, and hidden is a digest of these parts.
	unknown []string
	hidden  string
	// unapplied reports that there are Kustomizations, and that none of them applies the file.
	unapplied bool
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

// placedConsumer is a Kustomization that applies the artifact of a selection.
type placedConsumer struct {
	origin
	name string
	// artifact is <namespace>/<name> of the ExternalArtifact.
	artifact string
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
		where := origin{cluster: o.Cluster, kustomization: o.Kustomization, file: o.File, unknown: o.Unknown, hidden: o.Hidden}
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
	return bytes.Contains(content, []byte(v1alpha1.CatalogSelectionKind)) ||
		bytes.Contains(content, []byte(sourcev1.GroupVersion.Group))
}

// read adds the documents of a file.
func (r *revision) read(ctx context.Context, file gitops.File) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file.Content)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && (mayBeRelevant(document) || r.files && bytes.Contains(document, []byte(kustomizev1.GroupVersion.Group))) {
			err = r.document(ctx, origin{file: file.Path, unapplied: file.Unapplied}, document)
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
	switch {
	case group == sourcev1.GroupVersion.Group:
		r.sources = append(r.sources, placedSource{head, where, string(document)})
	case group == kustomizev1.GroupVersion.Group && (where.cluster != "" || r.files):
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

func sameName(a, b placedSelection) bool { return a.Namespace == b.Namespace && a.Name == b.Name }

// consumer adds a Kustomization if its source is an ExternalArtifact.
func (r *revision) consumer(where origin, document []byte) error {
	var k kustomizev1.Kustomization
	if err := yaml.Unmarshal(document, &k); err != nil {
		return err
	}
	ref := k.Spec.SourceRef
	if ref.Kind != sourcev1.ExternalArtifactKind {
		return nil
	}
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
		origin: where, name: k.Namespace + "/" + k.Name, artifact: ref.Namespace + "/" + ref.Name,
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
