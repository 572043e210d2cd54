// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Recorder upgrades charts, one at a time.
type Recorder struct {
	// Config is the API server. What it has besides its own objects must not be part of a chart.
	Config *rest.Config
	Helm   Helm

	upgrades int
}

// Record returns the lines of an upgrade.
func (r *Recorder) Record(ctx context.Context, p Pair) ([]Line, error) {
	var values []byte
	var keys []string
	if p.Set == Enabled {
		var err error
		if values, keys, err = r.Helm.enable(ctx, p); err != nil {
			return nil, fmt.Errorf("enabling what %s has: %w", p, err)
		}
	}
	u, err := r.begin(ctx, p, values)
	if err != nil {
		return nil, fmt.Errorf("upgrading %s: %w", p, err)
	}
	if p.Set == Enabled && len(keys) == 0 {
		u.add(NotMeasured, "", "", "nothing can be enabled")
	} else {
		err = u.run(ctx, r.Helm, strings.Join(keys, ","))
	}
	if err := errors.Join(err, u.clean(ctx)); err != nil {
		return nil, fmt.Errorf("upgrading %s: %w", p, err)
	}
	return u.lines, r.compare(ctx, p, u)
}

// compare says of what is refused whether it is refused as well where nothing was installed before.
func (r *Recorder) compare(ctx context.Context, p Pair, u *upgrade) error {
	isRefused := func(l Line) bool { return l.What == Refused }
	if !slices.ContainsFunc(u.lines, isRefused) {
		return nil
	}
	alone, err := r.begin(ctx, Pair{Old: p.New}, u.values)
	if err != nil {
		return err
	}
	_, err = alone.install(ctx, r.Helm)
	if err := errors.Join(err, alone.clean(ctx)); err != nil {
		return fmt.Errorf("installing %s %s: %w", p.Chart, p.New.Version, err)
	}
	for i, line := range u.lines {
		if isRefused(line) && slices.ContainsFunc(alone.lines, func(l Line) bool { return l.What == Uninstalled && l.Object == line.Object }) {
			u.lines[i].What = RefusedAlone
		}
	}
	return nil
}

// begin makes the namespace of an upgrade, whose name is as long as that in the records, because charts cut names.
func (r *Recorder) begin(ctx context.Context, p Pair, values []byte) (*upgrade, error) {
	r.upgrades++
	c, err := newCluster(ctx, r.Config, fmt.Sprintf("p%03d", r.upgrades))
	return &upgrade{cluster: c, pair: p, values: values, installed: map[string]bool{}}, err
}

// upgrade is one upgrade.
type upgrade struct {
	*cluster
	pair   Pair
	values []byte
	lines  []Line
	// kinds are those that CRDs of the chart define, and installed those of them that are in the cluster.
	kinds, installed map[string]bool
	sent             int
}

func (u *upgrade) run(ctx context.Context, helm Helm, keys string) error {
	old, err := u.install(ctx, helm)
	var refused refusedError
	if errors.As(err, &refused) {
		u.add(NotMeasured, "", "", "the old version: "+string(refused))
		return nil
	}
	if err != nil {
		return err
	}
	installed := u.sent
	u.sent = 0
	manifests, err := helm.template(ctx, u.pair.New.Archive, u.namespace, u.values, true)
	if errors.As(err, &refused) {
		u.add(RefusedByHelm, "", "", string(refused))
		return nil
	}
	if err != nil {
		return err
	}
	objects, err := objectsOf(manifests)
	if err != nil {
		return err
	}
	maps.Copy(u.kinds, definedKinds(objects))
	if err := u.upgrade(ctx, old, objects); err != nil {
		return err
	}
	u.delete(old, objects)
	u.summarize(keys, installed, len(old), len(objects))
	return nil
}

func (u *upgrade) summarize(keys string, installed, old, objects int) {
	slices.SortFunc(u.lines, func(a, b Line) int {
		return strings.Compare(a.What+a.Object+a.Field, b.What+b.Object+b.Field)
	})
	counts := fmt.Sprintf("applied %d of %d objects, then %d of %d", installed, old, u.sent, objects)
	u.lines = slices.Insert(u.lines, 0, u.line(Upgraded, "", keys, counts))
}

// install installs the old version: its directory crds, what Helm runs before, the release, and what it runs after.
func (u *upgrade) install(ctx context.Context, helm Helm) ([]object, error) {
	manifests, err := helm.template(ctx, u.pair.Old.Archive, u.namespace, u.values, false)
	if err != nil {
		return nil, err
	}
	objects, err := objectsOf(manifests)
	if err != nil {
		return nil, err
	}
	u.kinds = definedKinds(objects)
	of := func(isPart func(object) bool) []object {
		return slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return !isPart(o) })
	}
	for _, part := range [][]object{
		of(func(o object) bool { return o.fromCRDs }),
		of(func(o object) bool { return o.hasHook("install") }),
		of(object.isRelease),
	} {
		if err := u.send(ctx, part, Uninstalled); err != nil {
			return nil, err
		}
	}
	for _, o := range objects {
		if o.hasHook("install") && o.isDeletedOn("hook-succeeded") && !o.isCRD() {
			if err := u.remove(ctx, o.Unstructured); err != nil {
				return nil, err
			}
		}
	}
	return objects, nil
}

// upgrade applies the new version. The directory crds comes last, because Helm does not upgrade it.
func (u *upgrade) upgrade(ctx context.Context, old, objects []object) error {
	had := map[string]bool{}
	for _, o := range old {
		if o.isRelease() {
			had[o.GetAPIVersion()+identity(o.Unstructured)] = true
		}
	}
	var hooks, release, crds []object
	for _, o := range objects {
		switch {
		case o.fromCRDs:
			crds = append(crds, o)
		case o.hasHook("upgrade"):
			hooks = append(hooks, o)
		case o.isRelease():
			if isTheirs, err := u.isOfOthers(ctx, o, had); err != nil {
				return err
			} else if isTheirs {
				u.addOf(RefusedByHelm, o, "", "it exists, and is no object of the release")
				continue
			}
			release = append(release, o)
		}
	}
	for _, o := range hooks {
		if o.isDeletedOn(beforeHookCreation) && !o.isCRD() && u.place(o) == nil {
			if err := u.remove(ctx, o.Unstructured); err != nil {
				return err
			}
		}
	}
	crds = slices.DeleteFunc(crds, func(o object) bool {
		return slices.ContainsFunc(old, func(before object) bool { return reflect.DeepEqual(before.Object, o.Object) })
	})
	return errors.Join(u.send(ctx, hooks, Refused), u.send(ctx, release, Refused), u.send(ctx, crds, RefusedCRD))
}

// isOfOthers reports whether an object that is new in the release exists without the metadata of the release.
func (u *upgrade) isOfOthers(ctx context.Context, o object, had map[string]bool) (bool, error) {
	if o.GetName() == "" || u.place(o) != nil || had[o.GetAPIVersion()+identity(o.Unstructured)] {
		return false, nil
	}
	live := o.DeepCopy()
	if err := u.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return false, ignoreMissing(err)
	}
	annotations := live.GetAnnotations()
	return live.GetLabels()[managedBy] != "Helm" || annotations[releaseName] != Release || annotations[releaseNamespace] != u.namespace, nil
}

// send applies objects and adds a line for each that is refused.
func (u *upgrade) send(ctx context.Context, objects []object, what string) error {
	for _, o := range objects {
		if err := u.sendOne(ctx, o, what); err != nil {
			return err
		}
	}
	return nil
}

func (u *upgrade) sendOne(ctx context.Context, o object, what string) error {
	kind := o.GetKind()
	if kind == "ValidatingWebhookConfiguration" || kind == "MutatingWebhookConfiguration" {
		u.notMeasured(o, "webhooks are not installed")
		return nil
	}
	if o.GetName() == "" {
		u.notMeasured(o, "it has no name")
		return nil
	}
	apply := u.apply
	if u.installed[kindOf(o)] {
		apply = u.applyNew
	} else if err := u.place(o); meta.IsNoMatchError(err) {
		u.unknown(o, what)
		return nil
	} else if err != nil {
		return err
	}
	if o.isRelease() {
		o.own(u.namespace)
	}
	if err := apply(ctx, o); err != nil {
		return u.refuse(o, what, err)
	}
	u.sent++
	switch {
	case o.isCRD():
		maps.Copy(u.installed, definedKinds([]object{o}))
	case kind == "PersistentVolumeClaim":
		return u.bind(ctx, o)
	}
	return nil
}

// unknown adds a line for an object whose kind is not served. Helm refuses versions that Kubernetes has no more, in each case, and
// kinds of this chart that it has not installed. Others are those of another chart.
func (u *upgrade) unknown(o object, what string) {
	isOfOld := what == Uninstalled
	switch {
	case isBuiltIn(o.GroupVersionKind().Group):
		what = RefusedAlone
	case u.kinds[kindOf(o)]:
		what = RefusedByHelm
	default:
		u.notMeasured(o, "its kind is defined by another chart")
		return
	}
	if isOfOld {
		what = Uninstalled
	}
	u.addOf(what, o, "apiVersion", "the API server does not serve "+o.GetAPIVersion())
}

// notMeasured adds a line once for an object, which may be in both versions.
func (u *upgrade) notMeasured(o object, reason string) {
	line := u.lineOf(NotMeasured, o, "", reason)
	if !slices.Contains(u.lines, line) {
		u.lines = append(u.lines, line)
	}
}

// isBuiltIn reports whether Kubernetes itself defines a group.
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && !strings.Contains(strings.TrimSuffix(group, ".k8s.io"), ".")
}

// refuse adds the lines of an object that the API server refuses: one for each field.
func (u *upgrade) refuse(o object, what string, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	if s.Details == nil || len(s.Details.Causes) == 0 {
		u.addOf(what, o, "", string(s.Reason)+": "+s.Message)
		return nil
	}
	for _, cause := range s.Details.Causes {
		u.addOf(what, o, cause.Field, brief(cause.Message))
	}
	return nil
}

// brief leaves out the value of a message such as "Invalid value: VALUE: field is immutable", and what follows the first line.
func brief(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	const invalid = "Invalid value: "
	if last := strings.LastIndex(message, ": ") + len(": "); strings.HasPrefix(message, invalid) && last > len(invalid) {
		return invalid + message[last:]
	}
	return message
}

// delete adds a line for each object of the release that Helm deletes.
func (u *upgrade) delete(old, objects []object) {
	stays := map[string]bool{}
	for _, o := range objects {
		if o.isRelease() {
			stays[identity(o.Unstructured)] = true
		}
	}
	for _, o := range old {
		if o.isRelease() && !stays[identity(o.Unstructured)] && o.GetAnnotations()[resourcePolicy] != "keep" {
			u.addOf(Deleted, o, "", "")
		}
	}
}

func (u *upgrade) addOf(what string, o object, field, reason string) {
	u.lines = append(u.lines, u.lineOf(what, o, field, reason))
}

func (u *upgrade) lineOf(what string, o object, field, reason string) Line {
	return u.line(what, identity(o.Unstructured), field, reason)
}

func (u *upgrade) add(what, object, field, reason string) {
	u.lines = append(u.lines, u.line(what, object, field, reason))
}

func (u *upgrade) line(what, object, field, reason string) Line {
	text := func(s string, most int) string { return plain(strings.ReplaceAll(s, u.namespace, Namespace), most) }
	return Line{
		Chart: u.pair.Chart, Set: u.pair.Set, Old: u.pair.Old.Version, New: u.pair.New.Version, What: what,
		Object: text(object, maxObject), Field: text(field, maxField), Reason: text(reason, maxReason),
	}
}
