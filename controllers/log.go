// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/render/parallel"
)

// logOutcome writes the one line of a reconciliation at the level info. All else that is no error is at the level debug.
func logOutcome(ctx context.Context, outcome string, keysAndValues ...any) {
	ctrl.LoggerFrom(ctx).Info("reconciled", append([]any{"outcome", outcome}, keysAndValues...)...)
}

// log writes the line of an attempt. An error that is retried with backoff is in a line of controller-runtime, at the level
// error.
func (a *attempt) log(ctx context.Context, o outcome) {
	held := 0
	if a.selection.Status.Held != nil {
		held = int(a.selection.Status.Held.Total)
	}
	line := []any{
		"because", a.cause(), "reason", o.reason, "revision", consumers.RevisionOf(a.selection), "held", held,
		"seconds", time.Since(a.start).Round(time.Millisecond).Seconds(), "phases", a.timing.Seconds(),
	}
	if o.err != nil && o.retry != backoff {
		line = append(line, "message", o.message)
	}
	logOutcome(ctx, a.outcome(o), append(append(line, a.notes...), stackOf(o.err)...)...)
}

// outcome returns what an attempt came to in one word.
func (a *attempt) outcome(o outcome) string {
	switch {
	case o.err == nil && a.hasPublished():
		return "published"
	case o.err == nil:
		return "unchanged"
	case o.held != nil:
		return "held"
	case o.waiting:
		return "waiting"
	case o.stalled:
		return "stalled"
	}
	return "failed"
}

// cause returns why a selection is reconciled in one word: what has changed since the last time, or else "again".
func (a *attempt) cause() string {
	before, now := a.found, a.selection
	requested, _ := meta.ReconcileAnnotationValue(before.Annotations)
	switch {
	case before.Generation != before.Status.ObservedGeneration:
		return "spec"
	case requested != before.Status.GetLastHandledReconcileRequest():
		return "request"
	case a.next.sources != nil && !slices.Equal(before.Status.Sources, a.next.sources):
		return "source"
	case !equality.Semantic.DeepEqual(before.Status.Consumers, now.Status.Consumers):
		return "consumer"
	}
	return "again"
}

// hasPublished reports whether an attempt has published another artifact, or one that was withheld before.
func (a *attempt) hasPublished() bool {
	before, now := a.found, a.selection
	return consumers.RevisionOf(before) != consumers.RevisionOf(now) || before.Status.Withheld != now.Status.Withheld
}

// stackOf returns the stack of a panic as a key and a value for the log: nothing else may have it.
func stackOf(err error) []any {
	if panicked, ok := errors.AsType[*parallel.PanicError](err); ok {
		return []any{"stack", string(panicked.Stack)}
	}
	return nil
}
