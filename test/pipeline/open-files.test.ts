import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { invoiceBody } from '../support/client.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

it.skipIf(process.platform === 'win32')(
  'more connections than the process may have files: it goes on, and still starts threads',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'open-files-'));
    const child = spawn('bash', ['-c', 'ulimit -n 600 && exec "$0" "$1"', process.execPath, MAIN], {
      env: {
        ...process.env,
        MONGODB_URL: '',
        MASTER_KEY: '',
        ROLE: '',
        PUBLIC_URL: '',
        PORT: '0',
        DATA_DIR: folder,
        CHROMIUM_PATH: '/nonexistent',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const sockets: Socket[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const { url, key } = await new Promise<{ url: string; key: string }>((resolve, reject) => {
        let url: string | undefined;
        createInterface(child.stdout).on('line', (line) => {
          url ??= /^Fatoura listens on (http:\S+)/.exec(line)?.[1];
          const key = /sk_test_[\w-]+/.exec(line)?.[0];
          if (url && key) resolve({ url, key });
        });
        void exited.then(() => reject(new Error('the service ended')));
      });
      /** On the one connection that was there before. */
      const ask = async (method: string, path: string, body?: object): Promise<{ status: number; text: string }> => {
        const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
        const sent = request(url + path, { method, agent, headers });
        sent.end(body && JSON.stringify(body));
        const [answer] = await once(sent, 'response');
        let text = '';
        for await (const chunk of answer) text += chunk;
        return { status: answer.statusCode, text };
      };
      expect((await ask('GET', '/healthz')).status).toBe(200);

      const refusals: string[] = [];
      for (let i = 0; i < 900; i++) {
        const socket = connect(Number(new URL(url).port), new URL(url).hostname);
        sockets.push(socket);
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => refusals.push(String(chunk)));
        if (i % 50 === 49) await ask('GET', '/healthz');
      }
      await expect.poll(() => refusals.length).toBeGreaterThan(300);
      expect(refusals[0]).toMatch(/^HTTP\/1\.1 503 /);

      const made = await ask('POST', '/v1/invoices', invoiceBody());
      expect(made.status).toBe(201);
      const statusNow = async () =>
        JSON.parse((await ask('GET', `/v1/invoices/${JSON.parse(made.text).id}`)).text).status;
      await expect.poll(statusNow).toBe('accepted');
      expect(child.exitCode).toBeNull();
    } finally {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
);
