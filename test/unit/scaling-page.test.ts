import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { PLACEMENTS } from '../../src/storage/collection-rules.ts';

// docs/scaling.md against the rules of the collections.

const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');

it('shards every collection by the key of its rules, and no other', () => {
  const [, commands = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  const sharded: [string, unknown][] = [];
  const sh = { shardCollection: (name: string, key: object) => sharded.push([name, { ...key }]) };
  runInNewContext(commands, { sh });
  const expected = Object.entries(PLACEMENTS).flatMap(([name, placement]) =>
    'key' in placement ? [[`fatoura.${name}`, placement.key]] : [],
  );
  expect(sharded.toSorted()).toEqual(expected.toSorted());
});

it('says of zones what the shard keys are', () => {
  const ranged = Object.entries(PLACEMENTS).flatMap(([name, placement]) =>
    'key' in placement && Object.values(placement.key)[0] !== 'hashed' ? [name] : [],
  );
  expect(ranged.toSorted()).toEqual(['import_files', 'import_invoices', 'webhook_deliveries']);
  expect(page).toContain('All but three are hashes of an id');
});
