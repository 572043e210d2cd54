// SPDX-License-Identifier: Apache-2.0

// Package show is winnow show: it prints all that catalogs and selections have about an application.
package show
