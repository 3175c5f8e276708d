import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileReading } from '../../domain/imports/reading.ts';
import { InputError } from '../command.ts';
import { reasonOf } from '../files.ts';
import { type Access, operate, unexpected } from '../webhooks/service.ts';

/** The parts of an import that the commands read. */
export interface ImportFacts {
  readonly id: string;
  readonly round: number;
  readonly status: 'reading' | 'unreadable' | 'checked' | 'issuing' | 'done';
  readonly settled: boolean;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly reading:
    | (Pick<
        FileReading,
        | 'format'
        | 'sheet'
        | 'encoding'
        | 'separator'
        | 'decimalSign'
        | 'dateOrder'
        | 'rows'
        | 'missing'
        | 'otherSheets'
        | 'ignoredRows'
      > & { readonly columns: readonly ColumnFacts[]; readonly privateCustomers: boolean })
    | null;
  readonly counts: Readonly<
    Record<'invoices' | 'ready' | 'faulty' | 'known' | 'issued' | 'refused' | 'accepted' | 'rejected', number>
  >;
}

/** A column of a file. */
export interface ColumnFacts {
  readonly header: string;
  readonly key: string;
  readonly field: string | null;
  readonly mayBe: readonly string[];
  readonly result: boolean;
}

/** The result of importing a file. */
export interface FileOutcome {
  /** The exit code. */
  readonly code: number;
  readonly isReadable: boolean;
}

/** A problem of an invoice of a file. */
export interface ProblemFacts {
  readonly sheet: string | null;
  readonly row: number;
  readonly column: string | null;
  readonly header: string | null;
  readonly value: string | null;
  readonly code: string;
  readonly message: string;
}

const FACTS = `id round status settled failure { code message }
  reading { format sheet encoding separator decimalSign dateOrder rows missing privateCustomers columns { header key field mayBe result }
    otherSheets ignoredRows { row reason } }
  counts { invoices ready faulty known issued refused accepted rejected }`;

/** The operations of `import`. */
export const READ_IMPORT = `query ($id: ID!) { import(id: $id) { ${FACTS} } }`;
export const READ_PROBLEMS = `query ($id: ID!, $after: String) { import(id: $id) {
  invoices(only: [faulty, refused, known], first: 100, after: $after) {
    nodes { firstRow sheet verdict warnings { code message } problems { sheet row column header value code message } } pageInfo { hasNextPage endCursor } } } }`;
export const REMAP_IMPORT = `mutation ($id: ID!, $columns: [ImportColumnInput!]!, $privateCustomers: Boolean) {
  remapImport(id: $id, columns: $columns, privateCustomers: $privateCustomers) {
    ... on RemapImportPayload { import { id } } ... on Error { refused: message } } }`;
export const START_IMPORT = `mutation ($id: ID!, $round: Int) { startImport(id: $id, round: $round) {
  ... on StartImportPayload { import { id } } ... on Error { refused: message } } }`;

const POLL_MS = 300;

/** Uploads a file. @returns the id of its import @throws {Error} with the service's message */
export async function upload({ url, secretKey }: Access, name: string, bytes: Uint8Array, language: string | null) {
  const query = new URLSearchParams({ name, ...(language !== null && { language }) });
  const response = await fetch(`${url}/imports?${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/octet-stream' },
    body: bytes as BodyInit,
    redirect: 'manual',
  });
  const answer = (await response.json().catch(() => null)) as { id?: string; error?: { message: string } } | null;
  if (answer?.id) return answer.id;
  throw answer?.error ? new Error(answer.error.message) : unexpected(url, response);
}

/**
 * Waits until an import reaches a state.
 * @param isFar tests the state
 * @param mostMs maximum wait, after which the import is returned as it is
 */
export async function waitFor(
  access: Access,
  id: string,
  isFar: (facts: ImportFacts) => boolean,
  mostMs = Number.POSITIVE_INFINITY,
): Promise<ImportFacts> {
  const startedAt = performance.now();
  for (;;) {
    const { import: facts } = await operate<{ import: ImportFacts }>(access, READ_IMPORT, { id });
    if (isFar(facts) || performance.now() - startedAt > mostMs) return facts;
    await sleep(POLL_MS);
  }
}

/** Reads up to `most` problems, and the warnings of known invoices, in the order of the file. */
export async function problemsOf(access: Access, id: string, most: number): Promise<ProblemFacts[]> {
  const found: ProblemFacts[] = [];
  for (let after: string | null = null; found.length < most; ) {
    const { import: read }: { import: ProblemsPage } = await operate(access, READ_PROBLEMS, { id, after });
    found.push(...read.invoices.nodes.flatMap(remarksOf));
    if (!read.invoices.pageInfo.hasNextPage) break;
    after = read.invoices.pageInfo.endCursor;
  }
  return found.slice(0, most);
}

interface InvoiceFacts {
  readonly firstRow: number;
  readonly sheet: string | null;
  readonly verdict: string;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly problems: readonly ProblemFacts[];
}

/** Returns the problems of an invoice, and the warning that it may not be the invoice that was issued before. */
function remarksOf({ firstRow, sheet, verdict, warnings, problems }: InvoiceFacts): ProblemFacts[] {
  const ofKnown = verdict === 'known' ? warnings : [];
  const place = { sheet, row: firstRow, column: null, header: null, value: null };
  return [...problems, ...ofKnown.map((each) => ({ ...place, ...each }))];
}

interface ProblemsPage {
  readonly invoices: {
    readonly nodes: readonly InvoiceFacts[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

/** Reads a file again with other columns. @throws {Error} with the service's message */
export async function remap(
  access: Access,
  id: string,
  columns: readonly { readonly key: string; readonly field: string | null }[],
  privateCustomers: boolean | null,
): Promise<void> {
  await operate(access, REMAP_IMPORT, { id, columns, privateCustomers });
}

export async function start(access: Access, { id, round }: Pick<ImportFacts, 'id' | 'round'>): Promise<void> {
  await operate(access, START_IMPORT, { id, round });
}

/** Writes the file of an import with its verdicts. @throws {InputError} when it cannot be written */
export async function download({ url, secretKey }: Access, id: string, path: string): Promise<void> {
  const response = await fetch(`${url}/imports/${id}/result`, {
    headers: { Authorization: `Bearer ${secretKey}` },
    redirect: 'manual',
  });
  if (!response.ok || !response.body) {
    const answer = (await response.json().catch(() => null)) as { error?: { message: string } } | null;
    throw answer?.error ? new Error(answer.error.message) : unexpected(url, response);
  }
  await writeFile(path, response.body).catch((error: unknown) => {
    throw new InputError(`${path} cannot be written: ${reasonOf(error)}.`, { cause: error });
  });
}
