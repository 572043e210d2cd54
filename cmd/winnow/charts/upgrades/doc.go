// SPDX-License-Identifier: Apache-2.0

// Package upgrades finds what the upgrade of a chart may break, in what it rendered to before and after: rules of the API
// server, of Helm and of mirrors, each with an ID. It must not know how charts are rendered, nor read a cluster.
package upgrades
