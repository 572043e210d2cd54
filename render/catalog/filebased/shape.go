package filebased

// kind of a value.
type kind int

const (
	anything kind = iota
	aText
	aBoolean
	aNumber32
	aNumber64
	aList
	aMapping    // with certain keys
	aDictionary // with any keys
)

func (k kind) String() string {
	return [...]string{"anything", "a string", "a boolean", "a number", "a number", "a list", "a mapping", "a mapping"}[k]
}

// shape is the type that OLM has for a value. A value of another one makes a catalog invalid, whether or not it is
// used. Null has every shape.
type shape struct {
	kind kind
	// keys of a mapping, as JSON has them. Those that are not there may have any value.
	keys map[string]*shape
	// of the elements of a list or a dictionary.
	elements *shape
}

// mapping returns the shape of a mapping with texts, and other keys.
func mapping(texts []string, others map[string]*shape) *shape {
	keys := map[string]*shape{}
	for _, name := range texts {
		keys[name] = &shape{kind: aText}
	}
	for name, other := range others {
		keys[name] = other
	}
	return &shape{kind: aMapping, keys: keys}
}

func listOf(elements *shape) *shape { return &shape{kind: aList, elements: elements} }

// propertyShapes returns the shapes of the values of properties that are only checked.
func propertyShapes() map[string]*shape {
	aGVK := mapping([]string{"group", "kind", "version"}, nil)
	return map[string]*shape{
		PackageRequired:  mapping([]string{"packageName", "versionRange"}, nil),
		propertyGVK:      aGVK,
		GVKRequired:      aGVK,
		"olm.channel":    mapping([]string{"channelName"}, map[string]*shape{"priority": {kind: aNumber64}}),
		propertyMetadata: csvMetadata(aGVK),
	}
}

// csvMetadata is what a ClusterServiceVersion has besides its deployments.
func csvMetadata(aGVK *shape) *shape {
	texts := &shape{kind: aDictionary, elements: &shape{kind: aText}}
	link := mapping([]string{"name", "url"}, nil)
	definitions := func(one *shape) *shape {
		return mapping(nil, map[string]*shape{"owned": listOf(one), "required": listOf(one)})
	}
	return mapping([]string{"description", "displayName", "maturity", "minKubeVersion"}, map[string]*shape{
		"annotations":           texts,
		"labels":                texts,
		"apiServiceDefinitions": definitions(described([]string{"group", "deploymentName"}, map[string]*shape{"containerPort": {kind: aNumber32}})),
		"crdDescriptions":       definitions(described(nil, nil)),
		"installModes":          listOf(mapping([]string{"type"}, map[string]*shape{"supported": {kind: aBoolean}})),
		"keywords":              listOf(&shape{kind: aText}),
		"links":                 listOf(link),
		"maintainers":           listOf(mapping([]string{"name", "email"}, nil)),
		"nativeAPIs":            listOf(aGVK),
		"provider":              link,
	})
}

// described is the shape of the description of an API, with what some have more.
func described(texts []string, others map[string]*shape) *shape {
	descriptor := mapping([]string{"path", "displayName", "description"}, map[string]*shape{"x-descriptors": listOf(&shape{kind: aText})})
	one := mapping(append([]string{"name", "version", "kind", "displayName", "description"}, texts...), others)
	one.keys["resources"] = listOf(mapping([]string{"name", "kind", "version"}, nil))
	for _, name := range []string{"statusDescriptors", "specDescriptors", "actionDescriptors"} {
		one.keys[name] = listOf(descriptor)
	}
	return one
}
