// SPDX-License-Identifier: Apache-2.0

package diff

// SchemaChange is a change of a schema by which values that it allowed may be refused, or mean something else.
type SchemaChange struct {
	// Path of the value, such as "storage.size"; empty for all values.
	Path string `json:"path"`
	// Rule is what changes.
	Rule SchemaRule `json:"rule"`
	// From and To are JSON, cut when long; empty where there is nothing.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// SchemaRule is a kind of a change of a schema.
type SchemaRule string

// Rules of changes.
const (
	// SchemaKeyGone is a key that the newer schema does not have.
	SchemaKeyGone SchemaRule = "key gone"
	// SchemaType is a type that the newer schema does not allow.
	SchemaType SchemaRule = "type"
	// SchemaEnum are values that the newer schema does not list.
	SchemaEnum SchemaRule = "enum"
	// SchemaRequired is a key without a default that the newer schema requires.
	SchemaRequired SchemaRule = "required"
	// SchemaDefault is another default.
	SchemaDefault SchemaRule = "default"
	// SchemaBound is a limit, a pattern or a format that allows less, or a composition of schemas that differs.
	SchemaBound SchemaRule = "bound"
	// SchemaUnread is a schema that cannot be compared.
	SchemaUnread SchemaRule = "unread"
)

// SchemaCondition is the condition on changes of schemas.
const SchemaCondition = "schema"
