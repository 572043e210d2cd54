// SPDX-License-Identifier: Apache-2.0

// Package push is winnow push: it publishes a catalog in a registry, or as an image for OLM. It must not push what lint refuses.
package push
