const times = (count: number, text: (nth: number) => string) =>
  Array.from({ length: count }, (_, nth) => text(nth)).join(' ');

/** The fields of a type that tools read. */
const TYPE = `fragment T on __Type { name description kind fields(includeDeprecated: true) { ...F } inputFields { ...V } enumValues { name description } possibleTypes { name } interfaces { name } }
  fragment F on __Field { name description args { ...V } type { ...R } }
  fragment V on __InputValue { name description defaultValue type { ...R } }
  fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

/**
 * GraphQL documents that maximize the cost of the work before execution: counting, validation, which compares
 * selections in pairs and follows fragments, and messages about faults. Some are within the limits, some beyond, some
 * valid.
 */
export const WORST_DOCUMENTS: Readonly<Record<string, string>> = {
  'a field again and again': `{ invoice(id: "x") { ${'dgiId '.repeat(4900)} } }`,
  'a field as often as allowed': `{ invoice(id: "x") { ${'dgiId '.repeat(498)} } }`,
  'a field with selections': `{ webhookEvents { edges { node { ${'deliveries { id } '.repeat(240)} } } } }`,
  'a field with an argument': `{ __schema { types { ${'fields(includeDeprecated: true) { name } '.repeat(240)} } } }`,
  'fields in fields': `{ __schema { ${times(20, () => `types { ${times(4, () => `fields { ${'name '.repeat(4)} }`)} }`)} } }`,
  'the schema four times': `{ __schema { ${times(4, (nth) => `a${nth}: types { ...T }`)} } } ${TYPE}`,
  'the schema at each root field': `{ ${times(6, (nth) => `a${nth}: __schema { types { ...T } }`)} } ${TYPE}`,
  'a large type again and again': `{ ${times(5, (nth) => `a${nth}: __type(name: "Invoice") { ${times(4, (n) => `b${n}: fields { ...F }`)} }`)} } ${TYPE}`,
  'an unused fragment': `{ __typename } fragment F on Invoice { ${'dgiId '.repeat(4900)} }`,
  'an unused fragment with aliases': `{ __typename } fragment F on Invoice { ${times(1600, (nth) => `a${nth % 9}: dgiId`)} }`,
  'unused fragments': `{ __typename } ${times(600, (nth) => `fragment F${nth} on Invoice { id }`)}`,
  'fragments that are spread once': `{ invoice(id: "x") { ${times(450, (nth) => `...F${nth}`)} } } ${times(450, (nth) => `fragment F${nth} on Invoice { id }`)}`,
  'a fragment that is spread often': `{ invoice(id: "x") { ${'...F '.repeat(2400)} } } fragment F on Invoice { id }`,
  'fragments that double': `{ invoice(id: "x") { ...F0 } } ${times(200, (nth) => `fragment F${nth} on Invoice { id ...F${nth + 1} ...F${nth + 1} }`)} fragment F200 on Invoice { id }`,
  'fragments in circles': `{ invoice(id: "x") { ...F0 } } ${times(60, (nth) => `fragment F${nth} on Invoice { ${times(20, (k) => `...F${(nth + k) % 60}`)} }`)}`,
  'a fragment that spreads itself': `{ invoice(id: "x") { ...F } } fragment F on Invoice { ${'...F '.repeat(2400)} }`,
  'fragments that do not exist': `{ invoice(id: "x") { ${times(2400, (nth) => `...F${nth}`)} } }`,
  'inline fragments side by side': `{ invoice(id: "x") { ${'... on Invoice { id } '.repeat(800)} } }`,
  'inline fragments in each other': `{ ${'... { '.repeat(1600)} __typename ${'} '.repeat(1600)} }`,
  operations: times(900, (nth) => `query A${nth} { __typename }`),
  'operations of one name': times(900, () => 'query A { __typename }'),
  'operations with one fragment': `${times(600, (nth) => `query A${nth} { ...F }`)} fragment F on Query { invoice(id: "x") { ${'id '.repeat(300)} } }`,
  variables: `query (${times(1200, (nth) => `$a${nth}: ID`)}) { __typename }`,
  'variables in a list': `query ($a: ID) { invoice(id: [${'$a '.repeat(2400)}]) { id } }`,
  'variables that do not exist': `{ invoice(id: [${times(2400, (nth) => `$a${nth}`)}]) { id } }`,
  arguments: `{ invoice(${times(1600, (nth) => `a${nth}: 1`)}) { id } }`,
  'members of an input': `mutation { validateInvoice(input: {${times(1600, (nth) => `a${nth}: 1`)}}) { valid } }`,
  'empty lines': `mutation { validateInvoice(input: {lines: [${'{} '.repeat(2400)}]}) { valid } }`,
  'empty lines that lack fields': `mutation { createInvoice(input: {lines: [${'{} '.repeat(2400)}]}) { __typename } }`,
  'members of metadata': `mutation { validateInvoice(input: {metadata: {${times(1600, (nth) => `a${nth}: ""`)}}}) { valid } }`,
  'directives that do not exist': `{ __typename ${times(2400, (nth) => `@d${nth}`)} }`,
  'a directive again and again': `{ __typename ${'@include(if: true) '.repeat(700)} }`,
  'a long name': `{ ${'a'.repeat(99_000)} }`,
  'names like known ones': `{ invoice(id: "x") { ${times(490, (nth) => `customersx${nth}`)} } }`,
  'a long number': `{ invoices(first: ${'9'.repeat(99_000)}) { edges { cursor } } }`,
  'a long text': `{ invoice(id: "${'\\u0041'.repeat(16_000)}") { id } }`,
  'a long text of marks': `{ customers(beginning: "${'\u0315\u0327'.repeat(49_000)}") { name } }`,
  'a long block of text': `{ invoice(id: """${'\n x'.repeat(30_000)}""") { id } }`,
  commas: `${','.repeat(99_000)}{ __typename }`,
  comments: `${'#\n'.repeat(49_000)}{ __typename }`,
  'lists in lists': `{ invoice(id: ${'['.repeat(2400)}${']'.repeat(2400)}) { id } }`,
};
