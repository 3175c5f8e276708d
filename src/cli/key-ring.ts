import type { Rotated } from '../app/key-rotation.ts';
import { entryByOperator, INSTALLATION } from '../domain/audit-entry.ts';
import type { KeyPurpose } from '../domain/data-keys.ts';
import { type KeyRing, KNOWN_MS } from '../domain/installation/key-ring.ts';
import { administer } from './administer.ts';
import { type Command, type ParsedArguments, UsageError } from './command.ts';
import { columns, minute } from './terminal.ts';

const JSON_OPTION = { json: { description: 'Print an object' } } as const;

/**
 * Minimum time until earlier keys end. All processes use the new key after a minute, and embedded pages live for an
 * hour at most.
 */
const LEAST_MS = 10 * 60_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const rotateMasterKey: Command = {
  name: 'master-key rotate',
  summary: 'Seals the keys of the data by a new master key; nothing that was given out changes',
  positionals: [],
  options: JSON_OPTION,
  details: `With MASTER_KEY: first give all processes the new key as MASTER_KEY and the old one as MASTER_KEY_PREVIOUS, one after the other, then
run this with the same settings, then take MASTER_KEY_PREVIOUS away. Without MASTER_KEY it makes a new master.key in DATA_DIR and
keeps the old one beside it, also while the service runs. Interrupted at any point, run it again. See docs/operations.md, "Rotating keys".`,
  async run(input, context) {
    const config = context.config();
    const rotated = await administer(context, async (administration) => {
      const { rotateMasterKey } = await context.parts.keyRotation();
      const done = await rotateMasterKey(config, administration);
      const details = { from: done.from, to: done.to };
      if (done.from !== done.to)
        await administration.audit(
          entryByOperator(INSTALLATION, null, 'master_key.rotated', { subject: null, details }),
        );
      return done;
    });
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify(rotated));
    else terminal.print(outcome(rotated, new Date()));
    return 0;
  },
};

/**
 * Returns the text about a rotation.
 * @param now when the keys were sealed; earlier backups of the same day may need the old keys
 */
function outcome({ from, to, file, kept }: Rotated, now: Date): string {
  const sealed = `The keys of the data are sealed by ${file ?? 'MASTER_KEY'} (fingerprint ${to})`;
  const done = from === to ? `${sealed}; there was nothing left to seal.` : `${sealed} and no longer by ${from}.`;
  // Rounded up to the next whole minute, because a backup of the seconds before may need the old key, too.
  const until = minute(new Date(Math.ceil(now.getTime() / 60_000) * 60_000));
  if (kept !== null)
    return `${done} The old key is kept as ${kept}: backups made before ${until} open with it only. Delete it when you have none of them any more.`;
  return from === to ? done : `${done} Keep the old key as long as backups made before ${until}.`;
}

export const listDataKeys: Command = {
  name: 'data-keys list',
  summary: 'Lists the keys of the data, and the fingerprint of the master key that seals them',
  positionals: [],
  options: JSON_OPTION,
  async run(input, context) {
    const ring = await administer(context, ({ keyRing }) => keyRing.read());
    if (!ring) throw new Error('This data has no keys yet: start the service first.');
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify(objectOf(ring)));
    else {
      const rows = ring.keys.map((key) => [
        String(key.number),
        key.purpose,
        minute(key.createdAt),
        minute(key.usedFrom),
        key.lost ? 'lost' : key.endsAt ? minute(key.endsAt) : '-',
      ]);
      terminal.print(columns([['KEY', 'FOR', 'CREATED', 'USED FROM', 'ENDS'], ...rows]));
      terminal.print(`Sealed by the master key ${ring.master?.slice(0, 8) ?? 'that the next start adopts'}.`);
    }
    return 0;
  },
};

export const rotateDataKey: Command = {
  name: 'data-keys rotate',
  summary: 'Makes a new key of the data; the values of earlier keys stay valid until these keys end',
  positionals: [],
  options: {
    'earlier-end-in': {
      value: 'TIME',
      description: 'When the values that earlier keys gave out end: 90d, 12h, 10m at least; default: as it is',
    },
    sessions: { description: 'Instead the key of sessions: everybody has to sign in again' },
    ...JSON_OPTION,
  },
  details: `All processes use the new key ${KNOWN_MS / 1000} seconds later. From then on answers have other document URLs and client secrets;
the earlier ones work until their key ends. Then run data-keys reseal, which seals stored secrets with the new key. Every process must
have the present MASTER_KEY: look for errors in the logs first.`,
  async run(input, context) {
    const purpose: KeyPurpose = input.has('sessions') ? 'sessions' : 'data';
    const given = input.find('earlier-end-in');
    if (given !== null && purpose === 'sessions') throw new UsageError('give either --sessions or --earlier-end-in');
    const delay = given === null ? null : timeOf('earlier-end-in', given, LEAST_MS);
    const ring = await changed(input, context, { rotated: purpose }, async (administration) =>
      (await context.parts.keyRotation()).rotateDataKey(context.config(), administration, {
        purpose,
        earlierEndAt: delay === null ? null : new Date(Date.now() + delay),
      }),
    );
    const made = ring.keys.at(-1);
    if (!input.has('json') && made)
      context.terminal.print(`The key ${made.number} (${purpose}) is used from ${made.usedFrom.toISOString()}.`);
    return 0;
  },
};

export const endDataKey: Command = {
  name: 'data-keys end',
  summary: 'Sets when the values that an earlier key gave out end',
  positionals: ['KEY'],
  options: {
    in: { value: 'TIME', required: true, description: '0m, 12h, 90d, or never' },
    ...JSON_OPTION,
  },
  details: `Document URLs, client secrets and tokens of embedded pages that the key gave out answer 404 or 401 from then on. Stored secrets that
the key sealed stay readable for ever.`,
  async run(input, context) {
    const number = Number(input.get('KEY'));
    if (!Number.isInteger(number)) throw new UsageError('KEY must be a number that data-keys list shows');
    const time = input.get('in');
    const endsAt = time === 'never' ? null : new Date(Date.now() + timeOf('in', time, 0));
    const facts = { key: String(number), ends: endsAt?.toISOString() ?? 'never' };
    await changed(input, context, facts, async (administration) => {
      await (await context.parts.keyRotation()).endDataKey(administration, number, endsAt);
      return (await administration.keyRing.read()) as KeyRing;
    });
    if (!input.has('json'))
      context.terminal.print(
        `The values that the key ${number} gave out end ${endsAt ? `at ${endsAt.toISOString()}` : 'never'}.`,
      );
    return 0;
  },
};

export const resealSecrets: Command = {
  name: 'data-keys reseal',
  summary: 'Seals the secrets of webhook endpoints with the newest key of the data',
  positionals: [],
  options: JSON_OPTION,
  details:
    'Also beside a running service. Interrupted, run it again. The secrets stay the same. The exit code is 1 if one does not open, or if the newest key is not used yet.',
  async run(input, context) {
    const resealed = await administer(context, async (administration) =>
      (await context.parts.keyRotation()).resealStoredSecrets(context.config(), administration),
    );
    const { endpoints, secrets, unopened, nextFrom } = resealed;
    if (input.has('json')) context.terminal.print(JSON.stringify(resealed));
    else {
      context.terminal.print(`${endpoints} endpoints: ${secrets} secrets were sealed anew.`);
      for (const id of unopened) context.terminal.print(`${id} has a secret that does not open: its key is lost.`);
      if (nextFrom !== null)
        context.terminal.print(
          `The newest key is used from ${nextFrom.toISOString()} only, and seals nothing yet: run data-keys reseal again then.`,
        );
    }
    return unopened.length === 0 && nextFrom === null ? 0 : 1;
  },
};

/** Changes the ring, records the change and shows the result. */
async function changed(
  input: ParsedArguments,
  context: Parameters<Command['run']>[1],
  details: Readonly<Record<string, string>>,
  change: (administration: Parameters<Parameters<typeof administer>[1]>[0]) => Promise<KeyRing>,
): Promise<KeyRing> {
  const ring = await administer(context, async (administration) => {
    const after = await change(administration);
    await administration.audit(entryByOperator(INSTALLATION, null, 'data_keys.changed', { subject: null, details }));
    return after;
  });
  if (input.has('json')) context.terminal.print(JSON.stringify(objectOf(ring)));
  return ring;
}

function objectOf({ revision, master, keys }: KeyRing) {
  return {
    revision,
    master: master?.slice(0, 8) ?? null,
    keys: keys.map(({ number, purpose, createdAt, usedFrom, endsAt, lost }) => ({
      key: number,
      for: purpose,
      created_at: createdAt,
      used_from: usedFrom,
      ends_at: endsAt,
      lost,
    })),
  };
}

/** Parses a duration such as `90d` to milliseconds. @throws {UsageError} */
function timeOf(option: string, text: string, least: number): number {
  const [, amount, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const time = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (!(time >= least)) throw new UsageError(`--${option} must be a time such as 90d, 12h or 10m`);
  return time;
}
