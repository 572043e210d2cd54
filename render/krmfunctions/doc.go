// SPDX-License-Identifier: Apache-2.0

// Package krmfunctions reads and checks catalogs of KRM functions, the kinds of KEP-2906. An error makes a function
// unusable; a warning names a fact that readers miss. It downloads and executes nothing, and must not know where a
// catalog comes from nor who trusts it.
package krmfunctions
