// SPDX-License-Identifier: Apache-2.0

// Package doctor is winnow doctor: it examines an installation of Winnow and Flux, and reports what to do. It must not change a cluster.
package doctor
