// SPDX-License-Identifier: Apache-2.0

package get

import (
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/each"
)

// severity is the rank of a selection in a list: problems come first.
type severity int

const (
	failing severity = iota // something is refused, or cannot be reached or applied
	held                    // a safeguard holds a change
	waiting                 // something is not known, or not done yet
	idle                    // suspended
	healthy
)

// problem is a state of a selection that people should see.
type problem struct {
	severity severity
	text     string
}

// Cells of conditions that are problems. All others are the status of the condition.
const (
	cellFail = "FAIL"
	cellHeld = "HELD"
	cellWait = "WAIT"
)

// conditionOf returns a condition, nil without one. That no Kustomization here applies what is pushed is as it should be.
func conditionOf(cs *v1alpha1.CatalogSelection, kind string) *metav1.Condition {
	c := apimeta.FindStatusCondition(cs.Status.Conditions, kind)
	if c != nil && c.Reason == v1alpha1.NoConsumerReason && cs.Spec.Push != nil {
		return nil
	}
	return c
}

// conditionCell returns the status of a condition as a word: a problem stands out without colour, too.
func conditionCell(cs *v1alpha1.CatalogSelection, kind string) string {
	c := conditionOf(cs, kind)
	switch {
	case c == nil:
		return "-"
	case kind == v1alpha1.HeldCondition && c.Status == metav1.ConditionTrue:
		return cellHeld
	case kind == v1alpha1.HeldCondition:
	case c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ProgressingReason: // it ends by itself
		return cellWait
	case c.Status == metav1.ConditionFalse:
		return cellFail
	case kind == meta.ReadyCondition && isStale(cs, c):
		return string(metav1.ConditionUnknown)
	}
	return output.OrDash(string(c.Status))
}

// isStale reports whether a condition is about an older spec. A suspended selection keeps its conditions.
func isStale(cs *v1alpha1.CatalogSelection, c *metav1.Condition) bool {
	return c.ObservedGeneration > 0 && c.ObservedGeneration < cs.Generation && !cs.Spec.Suspend
}

// problemsOf returns the problems of a selection, the worst first, each text once.
func problemsOf(cs *v1alpha1.CatalogSelection) []problem {
	var all []problem
	add := func(s severity, text string) {
		if !slices.ContainsFunc(all, func(p problem) bool { return p.text == text }) {
			all = append(all, problem{s, text})
		}
	}
	ready := conditionOf(cs, meta.ReadyCondition)
	switch {
	case ready == nil && cs.Spec.Suspend:
		add(idle, "suspended before it was reconciled")
	case ready == nil:
		add(waiting, "not reconciled yet: does winnow-controller run?")
	case isStale(cs, ready):
		add(waiting, "its last edit is not reconciled yet: does winnow-controller run?")
	}
	// In this order a failure of the selection itself comes before what it leads to.
	for _, kind := range []string{meta.ReadyCondition, v1alpha1.HeldCondition, v1alpha1.SourceReadyCondition, v1alpha1.AppliedCondition,
		v1alpha1.InstancesReadyCondition, v1alpha1.PushedCondition} {
		c := conditionOf(cs, kind)
		if c == nil {
			continue
		}
		switch cell := conditionCell(cs, kind); {
		case cell == cellFail:
			add(failing, c.Reason+": "+c.Message)
		case cell == cellHeld:
			add(held, c.Reason+": "+c.Message)
		case cell == cellWait, kind != v1alpha1.HeldCondition && kind != v1alpha1.InstancesReadyCondition && c.Status == metav1.ConditionUnknown:
			add(waiting, c.Reason+": "+c.Message)
		}
	}
	if cs.Spec.Suspend && ready != nil {
		add(idle, "suspended")
	}
	slices.SortStableFunc(all, func(a, b problem) int { return int(a.severity - b.severity) })
	return all
}

// messageOf returns the problems of a selection, or without any the message of its condition Ready.
func messageOf(cs *v1alpha1.CatalogSelection) string {
	texts := each.Map(problemsOf(cs), func(p problem) string { return p.text })
	if c := conditionOf(cs, meta.ReadyCondition); len(texts) == 0 && c != nil {
		return c.Message
	}
	return strings.Join(texts, "; ")
}

// worstFirst sorts selections by their worst problem, and otherwise keeps their order.
func worstFirst(all []*live.Selection) []*live.Selection {
	rank := func(s *live.Selection) severity {
		if problems := problemsOf(s.CatalogSelection); len(problems) > 0 {
			return problems[0].severity
		}
		return healthy
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b *live.Selection) int { return int(rank(a) - rank(b)) })
}
