// SPDX-License-Identifier: Apache-2.0

// Package plain converts a bundle into the manifests that OLM v1 creates of it: service accounts, roles with the names that
// OLM generates, definitions, the other objects, and deployments. It refuses what only OLM can provide, such as the
// certificates of webhooks. It must not know where a bundle comes from.
package plain
