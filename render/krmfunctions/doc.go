// SPDX-License-Identifier: Apache-2.0

// Package krmfunctions reads catalogs of KRM functions, the kinds of KEP-2906, and checks them: what makes a function unusable is an error, what only people miss is a warning. It downloads and executes
// nothing, and must not know where a catalog comes from nor who trusts it.
package krmfunctions
