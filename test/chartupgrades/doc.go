// SPDX-License-Identifier: Apache-2.0

// Package chartupgrades upgrades charts of real projects on a real API server, as Helm does, and records what the API server
// or Helm refuses, and what Helm deletes. It must not know the rules that are measured by these records.
//
// What it cannot measure: webhooks of the charts, also those of CRDs, are not installed, there are no controllers and no pods, and no kinds that
// other charts define. Claims are bound by the recorder, because the controller that does it is missing.
package chartupgrades
