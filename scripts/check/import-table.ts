/** The imports that a part of src/ may use. */
export interface Row {
  /** A folder of src/ (`transport/rest/`) or a file (`app.ts`). */
  path: string;
  /**
   * What it may import besides its own folder: folders (`domain/`) and files. The prefix `type ` allows `import type`
   * only. `*` matches any name, and `<noun>` the same name at each of its places.
   */
  may: readonly string[];
  /** The npm packages that it may import, if they are restricted. Node's own modules are always allowed. */
  packages?: readonly string[];
}

/** Types and constants of another noun, but not its use cases. */
const OTHER_NOUNS = [
  'domain/*.ts',
  'domain/kit/',
  'domain/<noun>/<noun>.ts',
  'domain/*/ports.ts',
  'type domain/',
  'domain/morocco/time.ts',
  'domain/morocco/rules.ts',
  'domain/morocco/exemptions.ts',
  // The tables of an invoice's fields, kinds, statuses and documents.
  'domain/*/fields.ts',
  'domain/*/field-table.ts',
  'domain/*/kinds.ts',
  'domain/*/lifecycle.ts',
  'domain/*/documents.ts',
  'domain/*/tax-rate.ts',
  'domain/*/units.ts',
  'domain/*/customer-kind.ts',
  // Folds different spellings of a text to one.
  'domain/invoice/search/fold.ts',
];

/**
 * The import table (docs/architecture.md, "Import table"). The first row that matches a file applies, and every file of
 * src/ must match one.
 */
export const IMPORT_TABLE: readonly Row[] = [
  {
    path: 'main.ts',
    may: [
      'app/',
      'config.ts',
      'cli/',
      'domain/setup-error.ts',
      'engine/parent-process.ts',
      'compile-cache.ts',
      'adapters/address-attempts.ts',
    ],
  },
  {
    path: 'cli.ts',
    may: ['app/', 'config.ts', 'cli/', 'engine/parent-process.ts', 'compile-cache.ts', 'adapters/address-attempts.ts'],
  },
  { path: 'compile-cache.ts', may: [], packages: [] },
  // The watch for silent connections is the same in the browser and here.
  { path: 'cli/', may: ['type app/', 'type config.ts', 'domain/', 'dashboard/graphql/watched-fetch.ts'] },
  {
    path: 'app/',
    may: [
      'config.ts',
      'config/',
      'transport/',
      'graphql/',
      'domain/',
      'storage/',
      'jobs/',
      'adapters/',
      // Other code reaches the engine by its URI only. `copy/` works on the engine's data file.
      'engine/embedded.ts',
      'engine/running.ts',
      'engine/copy/',
    ],
  },
  { path: 'config.ts', may: ['config/', 'domain/email-address.ts', 'domain/installation-name.ts', 'type domain/'] },
  { path: 'config/', may: ['type domain/'], packages: ['zod'] },
  {
    path: 'transport/rest/',
    may: [
      'type transport/',
      'transport/*.ts',
      'graphql/execute.ts',
      'type graphql/',
      'domain/errors.ts',
      'domain/error-codes.ts',
      'domain/limits.ts',
      'domain/input-problems.ts',
      'domain/*/*-input.ts',
      // Sets, fields and limits of the REST contract.
      ...['fields', 'customer-fields', 'line-fields', 'terms-fields', 'field-table'].map(
        (name) => `domain/invoice/${name}.ts`,
      ),
      'domain/event.ts',
      'domain/invoice/lifecycle.ts',
      'domain/invoice/tax-rate.ts',
      'domain/invoice/invoice-warnings.ts',
      'domain/tenant/tenant.ts',
      'domain/invoice/customer-kind.ts',
      'type domain/',
    ],
  },
  { path: 'transport/', may: ['graphql/', 'domain/', 'text/'] },
  { path: 'graphql/', may: ['domain/'] },
  // The kit knows nothing of invoices.
  { path: 'domain/kit/', may: [], packages: [] },
  {
    path: 'domain/conditions/',
    // The nouns decide whether a condition applies.
    may: [
      ...OTHER_NOUNS,
      'domain/authority/status.ts',
      'domain/invoice/legal-warnings.ts',
      'domain/webhook/endpoint.ts',
    ],
    packages: [],
  },
  { path: 'domain/<noun>/', may: OTHER_NOUNS, packages: ['zod', 'lru-cache'] },
  // The tables of the use cases, and the types derived from them.
  { path: 'domain/use-cases.ts', may: ['domain/'], packages: [] },
  { path: 'domain/operator-use-cases.ts', may: ['domain/'], packages: [] },
  { path: 'domain/audit-actions.ts', may: ['domain/'], packages: [] },
  { path: 'domain/*.ts', may: OTHER_NOUNS, packages: ['zod'] },
  { path: 'storage/', may: ['domain/'] },
  { path: 'jobs/', may: ['domain/', 'storage/duplicate-key.ts'] },
  { path: 'adapters/address-attempts.ts', may: [] },
  { path: 'adapters/open-files.ts', may: [] },
  { path: 'adapters/threads.ts', may: [] },
  { path: 'adapters/der.ts', may: [] },
  { path: 'adapters/watched-file.ts', may: [] },
  { path: 'adapters/sync-folder.ts', may: [] },
  {
    path: 'adapters/<name>/',
    may: [
      'domain/',
      'text/',
      'adapters/threads.ts',
      'adapters/der.ts',
      'adapters/watched-file.ts',
      'adapters/sync-folder.ts',
      // Declarations, templates and returned files are workbooks.
      'adapters/address-attempts.ts',
      'adapters/workbook/',
    ],
  },
  // The texts that documents, mails and pages print.
  {
    path: 'text/',
    may: [
      'domain/money.ts',
      'domain/decimal.ts',
      'domain/document-language.ts',
      'domain/morocco/time.ts',
      'type domain/invoice/kinds.ts',
      'type domain/invoice/credit.ts',
      'type domain/invoice/customer-kind.ts',
      'type domain/countries.ts',
      'type domain/error-codes.ts',
      'type domain/imports/reading.ts',
      'type domain/imports/row-rules.ts',
      'type domain/imports/import.ts',
      'type domain/invoice/lifecycle.ts',
    ],
    packages: [],
  },
  { path: 'engine/', may: [], packages: ['bson'] },
  // Runs in browsers, so it imports nothing of the server.
  {
    path: 'dashboard/',
    // Sets and limits, whose modules import no package.
    may: [
      'domain/limits.ts',
      'domain/event.ts',
      'domain/person/limits.ts',
      'domain/person/person.ts',
      'domain/invoice/sorts.ts',
      'domain/scopes.ts',
      'domain/invoice/lifecycle.ts',
      'domain/invoice/lanes.ts',
      'domain/invoice/attention.ts',
      'domain/invoice/kinds.ts',
      'text/credit-labels.ts',
      'text/credited-labels.ts',
      'text/credit-reasons.ts',
      'text/adjustment-labels.ts',
      'text/deposit-labels.ts',
      'text/particular-labels.ts',
      'domain/conditions/condition-table.ts',
      ...['import', 'columns', 'column-headers', 'limits'].map((name) => `domain/imports/${name}.ts`),
      'type domain/imports/reading.ts',
      'text/column-name.ts',
      'domain/embedding/appearance.ts',
      'domain/embedding/frame.ts',
      'text/stamp-duty-labels.ts',
      'text/withholding-labels.ts',
      'text/customer-labels.ts',
      'text/csv.ts',
      'text/error-texts.ts',
      // The amounts of lines, computed as the service does.
      'domain/invoice/deduction.ts',
      'domain/invoice/due-totals.ts',
      'domain/net-to-pay.ts',
      'domain/payment-means.ts',
      'domain/invoice/periods/period-name.ts',
      'domain/invoice/search/bounds.ts',
      'domain/invoice/search/fold.ts',
      'domain/decimal.ts',
      'domain/invoice/units.ts',
      'domain/invoice/totals.ts',
      'domain/invoice/tax-rate.ts',
      'domain/calendar-date.ts',
      'domain/countries.ts',
      'domain/currencies.ts',
      'domain/invoice/customer-kind.ts',
      'domain/morocco/exemptions.ts',
      'domain/webhook/delivery.ts',
      'domain/tenant/tenant.ts',
      'domain/tenant/ports.ts',
      'domain/authority/breaker.ts',
      'domain/api-key/key-kinds.ts',
    ],
    packages: ['preact', 'preact-iso', '@urql/core', 'graphql-sse', 'gql.tada', 'qrcode'],
  },
];

/** The only files of src/ that may read the process environment. */
export const ENVIRONMENT_READERS: readonly string[] = [
  'config.ts',
  'config/env-file.ts',
  'compile-cache.ts',
  'engine/main.ts',
  'engine/parent-process.ts',
];

/** The result of checking one import against a row. */
export interface Verdict {
  allowed: boolean;
  /** Whether `import type` is allowed. */
  asType: boolean;
}

/** Finds the row for a file (path relative to src/) and the file's own folder; undefined if no row matches. */
export function findRow(table: readonly Row[], file: string): { row: Row; own: string } | undefined {
  for (const row of table) {
    const own = toPattern(row.path).exec(file)?.[0];
    if (own !== undefined) return { row, own };
  }
  return undefined;
}

/** Whether a file with this row may import `target` (path relative to src/), as a value or with `import type` only. */
export function judge({ row, own }: { row: Row; own: string }, target: string, typeOnly: boolean): Verdict {
  if (own.endsWith('/') && target.startsWith(own)) return { allowed: true, asType: true };
  const matches = (pattern: string): boolean => toPattern(pattern).test(target);
  const asValue = row.may.some((entry) => !entry.startsWith('type ') && matches(entry));
  const asType = asValue || row.may.some((entry) => entry.startsWith('type ') && matches(entry.slice(5)));
  return { allowed: typeOnly ? asType : asValue, asType };
}

function toPattern(path: string): RegExp {
  const seen = new Set<string>();
  const body = path.replace(/[.]/g, '\\.').replace(/\*|<(\w+)>/g, (_, name: string | undefined) => {
    if (name === undefined) return '[^/]+';
    if (seen.has(name)) return `\\k<${name}>`;
    seen.add(name);
    return `(?<${name}>[^/]+)`;
  });
  return new RegExp(`^${body}${path.endsWith('/') ? '' : '$'}`);
}
