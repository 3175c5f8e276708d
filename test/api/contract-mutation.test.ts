import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { testLong } from '../support/samples.ts';
import { type ScratchCopy, type ScratchService, scratchCopy } from '../support/scratch-copy.ts';

// A noun with a collection of its own, a mutation that is recorded, and a query are added to a copy of the source by the
// recipe of CONTRIBUTING.md. The service built from the copy then has them everywhere, and eight files were touched.

let copy: ScratchCopy;
let service: ScratchService;
let touched: string[];
let invoiceId: string;

beforeAll(async () => {
  copy = await scratchCopy();
  await addNotes();
  touched = copy.touched();
  await copy.write('commands.ts', COMMANDS);
  service = await copy.start();
  invoiceId = (await service.client.post('/v1/invoices', invoiceBody())).body.id;
});
afterAll(() => copy.remove());

/** The steps of the recipe, in its order. */
async function addNotes(): Promise<void> {
  await copy.write('src/domain/note/notes.ts', NOUN);
  const table = 'src/domain/use-cases.ts';
  await copy.edit(table, /^import \{ MEMBER/m, "import { NOTE_USE_CASES } from './note/notes.ts';\nimport { MEMBER");
  await copy.edit(table, '  ...MEMBER_USE_CASES,', '  ...MEMBER_USE_CASES,\n  ...NOTE_USE_CASES,');
  await copy.write('src/storage/notes.ts', STORE);
  await copy.edit('src/storage/collection-rules.ts', /^ {2}logos: /m, `${ROW}  logos: `);
  const composition = 'src/app/use-cases.ts';
  await copy.edit(composition, /^/, "import { createNoteStore } from '../storage/notes.ts';\n");
  await copy.edit(
    composition,
    '      ...webhooks.needs,',
    '      ...webhooks.needs,\n      notes: createNoteStore(data.store.db),',
  );
  await copy.write('src/graphql/types/note.ts', TYPES);
  await copy.edit(
    'src/graphql/schema.ts',
    "import './types/member.ts';",
    "import './types/member.ts';\nimport './types/note.ts';",
  );
  await copy.edit('src/dashboard/text/audit-actions.ts', /^ {2}api_key_created: /m, `${TEXTS}  api_key_created: `);
}

const NOUN = `import { serviceError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Invoice } from '../invoice/invoice.ts';
import { newCreationMoment } from '../order-key.ts';
import type { Member, Principal } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, Change, UseCase } from '../use-case.ts';

/** A text that the tenant keeps beside an invoice. */
export interface Note extends Owner {
  readonly id: string;
  readonly invoiceId: string;
  readonly text: string;
  readonly createdAt: Date;
  readonly order: string;
}

export const NOTE_LIMITS = { text: 500, most: 50 } as const;

/** The store of notes. */
export interface NoteStore {
  insert(note: Note): Promise<void>;
  /** Oldest first, at most {@link NOTE_LIMITS}. */
  ofInvoice(owner: Owner, invoiceId: string): Promise<Note[]>;
}

interface NoteNeeds {
  readonly notes: NoteStore;
  readonly readInvoice: (principal: Principal, id: string, clientSecret: null) => Promise<Invoice>;
}

export const NOTE_USE_CASES = {
  /** @throws {ServiceError} resource_not_found; invalid_request for a text that is too long, and for too many notes */
  addNote: {
    scope: 'operate',
    audit: { action: 'note.added', description: 'A note was added to an invoice.' },
    async run({ notes, readInvoice }: NoteNeeds, { by, record }: Change, invoiceId: string, text: string): Promise<Note> {
      if (text.length < 1 || text.length > NOTE_LIMITS.text)
        throw serviceError('invalid_request', \`text must have 1 to \${NOTE_LIMITS.text} characters.\`, 'text');
      await readInvoice(by, invoiceId, null);
      const note = { id: newId('note'), ...ownerOf(by), invoiceId, text, ...newCreationMoment() };
      if ((await notes.ofInvoice(note, invoiceId)).length >= NOTE_LIMITS.most)
        throw serviceError('invalid_request', 'This invoice has too many notes.', 'invoiceId', 422);
      await notes.insert(note);
      await record({ subject: invoiceId });
      return note;
    },
  },
  notes: {
    scope: 'read',
    async run({ notes, readInvoice }: NoteNeeds, { by }: Call, invoiceId: string): Promise<Note[]> {
      await readInvoice(by, invoiceId, null);
      return notes.ofInvoice(ownerOf(by), invoiceId);
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

function ownerOf({ tenant, environment }: Member): Owner {
  return { tenantId: tenant.id, environment };
}
`;

const STORE = `import type { Db } from 'mongodb';
import { NOTE_LIMITS, type Note, type NoteStore } from '../domain/note/notes.ts';

export function createNoteStore(db: Db): NoteStore {
  const notes = db.collection<Omit<Note, 'id'> & { _id: string }>('notes');
  return {
    async insert({ id, ...note }) {
      await notes.insertOne({ _id: id, ...note });
    },
    async ofInvoice({ tenantId, environment }, invoiceId) {
      const found = notes.find({ tenantId, environment, invoiceId }).sort({ order: 1 }).limit(NOTE_LIMITS.most);
      return (await found.toArray()).map(({ _id, ...note }) => ({ id: _id, ...note }));
    },
  };
}
`;

const ROW = `  notes: {
    ...OF_INVOICES,
    records: 'exported',
    indexes: [{ name: 'list', key: { tenantId: 1, environment: 1, invoiceId: 1, order: 1 } }],
  },
`;

const TYPES = `import { NOTE_LIMITS, type Note } from '../../domain/note/notes.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import './scalars.ts';

const NoteType = builder.objectRef<Note>('Note').implement({
  description: 'A text that the tenant keeps beside an invoice.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix \`note_\`.' }),
    text: t.exposeString('text', { description: 'The text.' }),
  }),
});

builder.queryField('notes', (t) =>
  t.field({
    type: [NoteType],
    authScopes: accessOf('notes'),
    description: 'The notes of an invoice, oldest first.',
    args: { invoiceId: t.arg.id({ required: true, description: 'Prefix \`inv_\`.' }) },
    resolve: (_root, { invoiceId }, { principal, useCases }) => useCases.notes(principal, invoiceId),
  }),
);

builder.mutationField('addNote', (t) =>
  t.field({
    type: payloadOf('addNote', 'note', NoteType, 'The note.'),
    authScopes: accessOf('addNote'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Keeps a note beside an invoice.',
    args: {
      invoiceId: t.arg.id({ required: true, description: 'Prefix \`inv_\`.' }),
      text: t.arg.string({ required: true, description: 'The text.' }),
    },
    resolve: (_root, { invoiceId, text }, { principal, useCases }) => useCases.addNote(principal, invoiceId, text),
  }),
);
`;

const TEXTS = `  note_added: {
    fr: 'Note ajoutée à une facture',
    en: 'Note added to an invoice',
    ar: 'إضافة ملاحظة إلى فاتورة',
  },
`;

/** Exports and erases a tenant of a service that has ended, as commands do, and prints how many notes are left. */
const COMMANDS = `const [DATA_DIR, tenantId, to] = process.argv.slice(2);
const { COMMANDS } = await import('./src/cli/commands.ts');
const { runCommandLine } = await import('./src/cli/run.ts');
const { processTerminal } = await import('./src/cli/terminal.ts');
const { commandParts } = await import('./src/app/command-parts.ts');
const { openAdministration } = await import('./src/app/administration.ts');
const { readConfig } = await import('./src/config.ts');
const config = () => readConfig({ DATA_DIR, MONGODB_URL: '' });
const context = { terminal: processTerminal(), config, environmentKey: () => null, parts: commandParts };
for (const args of [['export', tenantId, '--to', to], ['erase', tenantId, '--confirm', tenantId]])
  if ((await runCommandLine(['tenants', ...args], COMMANDS, context)) !== 0) throw new Error(args[0] + ' failed');
const { store, close } = await openAdministration(config());
console.log(await store.db.collection('notes').countDocuments({}));
await close();
`;

const add = (client: Client, id: string, text: string) =>
  client.graphql(`mutation { addNote(invoiceId: "${id}", text: "${text}") {
    __typename ... on AddNotePayload { note { id text } } ... on Error { code param } } }`);

it('touches eight files of the source', () => {
  expect(touched.filter((file) => !file.startsWith('src/'))).toEqual([]);
  expect(touched).toHaveLength(8);
});

it('is stored and read, with the access of its row', async () => {
  const added = (await add(service.client, invoiceId, 'Relancer')).body.data.addNote;
  expect(added).toMatchObject({ note: { id: expect.stringMatching(/^note_/), text: 'Relancer' } });
  const read = `{ notes(invoiceId: "${invoiceId}") { text } }`;
  expect((await service.client.graphql(read)).body.data.notes).toEqual([{ text: 'Relancer' }]);
  const unknown = 'inv_550e8400-e29b-41d4-a716-446655440000';
  expect((await add(service.client, unknown, 'x')).body.data.addNote).toMatchObject({ code: 'resource_not_found' });
  const long = (await add(service.client, invoiceId, 'x'.repeat(501))).body.data.addNote;
  expect(long).toEqual({ __typename: 'InvalidInputError', code: 'invalid_request', param: 'text' });
  const key = 'mutation { createApiKey(kind: publishable) { ... on CreateApiKeyPayload { token } } }';
  const { token } = (await service.client.graphql(key)).body.data.createApiKey;
  for (const refused of [await add(new Client(service.url, token, false), invoiceId, 'x')])
    expect(refused.body.errors[0].extensions).toMatchObject({ code: 'insufficient_scope' });
  expect((await service.client.graphql(read)).body.data.notes).toHaveLength(1);
});

testLong('is a recorded change, is exported, and is erased with its tenant', async () => {
  const actions = (await service.client.graphql('{ __type(name: "AuditAction") { enumValues { name description } } }'))
    .body.data.__type.enumValues;
  expect(actions).toContainEqual({ name: 'note_added', description: 'A note was added to an invoice.' });
  const tenantId = (await service.client.graphql('{ tenant { id } }')).body.data.tenant.id;
  await service.client.settled(invoiceId);
  await service.stop();
  const folder = await mkdtemp(join(tmpdir(), 'notes-'));
  const lines = async (file: string) =>
    (await readFile(join(folder, file), 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  try {
    const printed = await copy.run('commands.ts', service.dataDir, tenantId, folder);
    expect(await lines('test/notes.jsonl')).toMatchObject([{ invoiceId, text: 'Relancer', tenantId }]);
    const entries = await lines('audit.jsonl');
    expect(entries.find(({ action }) => action === 'note.added')).toMatchObject({ subject: invoiceId });
    expect(printed.trim().split('\n').at(-1)).toBe('0');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
