// SPDX-License-Identifier: Apache-2.0

package main

// row is one combination of versions. What it does not name is what all other tests run.
type row struct {
	name      string
	modules   []string // directories below test/tools/matrix, each with one server in another version
	installed string   // a registry that the machine has, in place of the stack's
}

// rows returns all combinations that are tested.
func rows() []row {
	return []row{
		{name: "flux-2.7", modules: []string{"kubernetes-1.34", "flux-2.7"}},
		{name: "pinned"},
		{name: "kubernetes-1.37", modules: []string{"kubernetes-1.37", "flux-2.9"}},
		{name: "distribution-2.8", installed: "docker-registry"},
	}
}

// tests match the end-to-end tests that tell: holds, the prune table, moves, a bypass, a push, instances, verification.
const tests = `^Test(` +
	`WhatVanishesFromTheCatalogIsHeld|WhatAnEditTakesAwayIsHeldUntilItIsNamed|` +
	`ThePruneTableSaysWhatFluxDeletes|AMoveDeletesNothing|` +
	`ABypassedDefinitionSurvives|AfterTheBypassTheCatalogIsBack|` +
	`PushedCatalogIsWhatOthersPull|Instances|OnlySignedCatalogsArePublished)$`
