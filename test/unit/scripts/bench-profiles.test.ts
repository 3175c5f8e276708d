import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CpuProfile, foldProfile, formatProfiles, threadName } from '../../../scripts/bench/fold-profiles.ts';
import { startThreadProfiles } from '../../../scripts/bench/profile-threads.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'profiles-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const frame = (id: number, functionName: string, url = '', lineNumber = 0) => ({
  id,
  callFrame: { functionName, url, lineNumber },
});

it('folds samples into self times by function and by file, without idle time', () => {
  const profile: CpuProfile = {
    nodes: [
      frame(1, '(idle)'),
      frame(2, '(garbage collector)'),
      frame(3, 'write', 'file:///srv/fatoura/src/storage/invoices.ts', 9),
      frame(4, 'find', 'file:///srv/fatoura/src/storage/invoices.ts', 19),
      frame(5, '', 'file:///srv/fatoura/node_modules/mongodb/lib/collection.js', 2),
    ],
    samples: [3, 4, 2, 1, 5, 3],
    timeDeltas: [0, 1000, 2000, 500, 4000, 500],
  };
  const folded = foldProfile(profile);
  expect(folded).toMatchObject({ busyMs: 4, wholeMs: 8, gcShare: 0.125 });
  expect(folded.files).toEqual([
    { name: 'src/storage/invoices.ts', ms: 3, share: 0.75 },
    { name: '(garbage collector)', ms: 0.5, share: 0.125 },
    { name: 'mongodb/lib/collection.js', ms: 0.5, share: 0.125 },
  ]);
  expect(folded.functions.map(({ name, ms }) => [name, ms])).toEqual([
    ['find src/storage/invoices.ts:20', 2],
    ['write src/storage/invoices.ts:10', 1],
    ['(garbage collector)', 0.5],
    ['(anonymous) mongodb/lib/collection.js:3', 0.5],
  ]);
});

it('names a thread after its module', () => {
  const of = (url: string) => threadName({ nodes: [frame(1, 'run', url)] });
  expect(of('file:///x/src/adapters/ubl/writer-thread.ts')).toBe('writer-thread');
  expect(of('file:///x/src/adapters/xades/verify-worker.ts')).toBe('verify-worker');
  expect(of('file:///x/src/engine/wire/bson.ts')).toBe('engine');
  expect(of('file:///x/other.ts')).toBe('thread');
});

it('profiles every thread and replaces the profiles of an earlier run', async () => {
  const source = `
    const { parentPort } = require('node:worker_threads');
    function spin(ms) { const end = Date.now() + ms; while (Date.now() < end); }
    parentPort.on('message', () => { spin(100); parentPort.postMessage('done'); });
    parentPort.postMessage('ready');`;
  const worker = new Worker(source, { eval: true });
  const heard = () => new Promise((resolve) => worker.once('message', resolve));
  try {
    await heard();
    for (let run = 0; run < 2; run++) {
      const profiles = await startThreadProfiles();
      const done = heard();
      worker.postMessage('spin');
      await done;
      await profiles.end(folder);
    }
  } finally {
    await worker.terminate();
  }
  const files = readdirSync(folder);
  expect(files.filter((file) => file.startsWith('00-main'))).toHaveLength(1);
  expect(new Set(files.map((file) => file.slice(0, 2))).size).toBe(files.length);
  expect(formatProfiles(folder)).toMatch(/01-thread: busy [\s\S]*\[worker eval\]/);
});

it('returns nothing for a folder without profiles', () => {
  expect(formatProfiles(folder)).toBe('');
  expect(formatProfiles(join(folder, 'missing'))).toBe('');
});
