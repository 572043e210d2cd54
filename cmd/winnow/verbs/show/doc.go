// SPDX-License-Identifier: Apache-2.0

// Package show is winnow show: it prints all that a catalog has about an application.
package show
