// SPDX-License-Identifier: Apache-2.0

// Package model is what a web site shows: catalogs with their applications, and what a GitOps repository makes of them. It
// reads nothing, and must not know pages, files and the time. Its texts come from catalogs, and are as hostile.
package model
