import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HAS_REFERENCE } from '../../test/support/reference-server.ts';
import { type DatabaseServer, openEngine, openReference } from './database-servers.ts';
import { prepareRawWork } from './engine-raw.ts';
import { prepareWork, type StoreWork } from './engine-work.ts';
import type { Benchmark, Side } from './harness.ts';

/** Operations of each kind in one repeat. */
const QUICK = 100;
const FULL = 500;

/**
 * Each server runs in its own process and is used through the official driver: the engine on its socket, as in the
 * service; the reference server on a loopback port, the only address it supports, with `--sync-on-commit` (set by its
 * `start`). SQLite in this process, without server, driver or protocol, is the lower bound. All of them wait for the
 * disk before each acknowledgement.
 */
export const benchmark: Benchmark = {
  name: 'engine',
  about: 'the embedded engine; the peers are an independent MongoDB-compatible server, and SQLite in this process',
  sides: [
    side('embedded engine', openEngine),
    ...(HAS_REFERENCE ? [side('reference server', openReference)] : []),
    rawSide(),
  ],
  answers: 'equal',
};

function side(name: string, open: () => Promise<DatabaseServer>): Side {
  let server: DatabaseServer | null = null;
  let work: StoreWork | null = null;
  return {
    name,
    async open() {
      server = await open();
      work = await prepareWork(server.client.db('bench'));
    },
    run({ quick }) {
      if (!work) throw new Error(`${name} is not open`);
      return work.round(quick ? QUICK : FULL);
    },
    async close() {
      await work?.close();
      await server?.close();
    },
  };
}

function rawSide(): Side {
  let folder = '';
  let work: StoreWork | null = null;
  return {
    name: 'SQLite in this process',
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'engine-bench-'));
      work = prepareRawWork(join(folder, 'raw.sqlite'));
    },
    run({ quick }) {
      if (!work) throw new Error('SQLite is not open');
      return work.round(quick ? QUICK : FULL);
    },
    async close() {
      await work?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
