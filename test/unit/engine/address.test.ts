import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ListenOptions, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../../../src/engine/address.ts';
import { runningEngine } from '../../../src/engine/running.ts';
import { startServer } from '../../../src/engine/server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'address-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(process.platform === 'win32')('the address of an engine', () => {
  it.each(['100%', '%25', '%zz', 'a#b', 'a?b', 'a b', 'a@b:c,d', 'بيانات', 'x'.repeat(120)])(
    'can be reached where its folder is called %s',
    async (name) => {
      const dataDir = join(folder, name);
      const engine = await startServer({ dataDir });
      const client = new MongoClient(engine.uri, { serverSelectionTimeoutMS: 2000 });
      try {
        await client.db('d').collection('c').insertOne({});
        expect(await runningEngine(dataDir)).toBe(engine.uri);
      } finally {
        await client.close();
        await engine.close();
      }
    },
  );

  /** A server on a file system, or a system, that has no unix sockets. */
  class WithoutSockets extends Server {
    override listen(...given: unknown[]): this {
      const [options, done] = given as [ListenOptions, () => void];
      if (options.path === undefined) return super.listen(options, done);
      process.nextTick(() => this.emit('error', Object.assign(new Error('listen EOPNOTSUPP'), { code: 'EOPNOTSUPP' })));
      return this;
    }
  }

  it('is a port of this machine where no sockets are to be had, but not instead of one that is asked for', async () => {
    const server = new WithoutSockets();
    const address = await listen(server, folder, {});
    expect(address.uri).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\//);
    server.close();
    const asked = listen(new WithoutSockets(), folder, { socketPath: join(folder, 'it.sock') });
    await expect(asked).rejects.toThrow('EOPNOTSUPP');
  });

  it('is a socket in the folder for temporary files where the data folder takes none', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'run'), '');
    const server = new Server();
    const address = await listen(server, dataDir, {});
    expect(address.host.startsWith(tmpdir())).toBe(true);
    server.close();
    address.cleanUp();
  });
});
