import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { Client } from './client.ts';
import { root } from './client-examples.ts';
import type { TestService } from './service.ts';

/** Returns the path of a language's examples in the documentation (docs/examples). */
export function examplesFile(name: string): string {
  return readFileSync(`${root}/docs/examples/${name}`, 'utf8');
}

/**
 * Runs all examples of a language with a new tenant, one after the other, and checks their results: an accepted
 * invoice, which was followed, read and listed, and no endpoint, because the last example deletes it.
 * @param environment further variables besides the address and the key of the service
 */
export async function runExamples(
  service: TestService,
  [command, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { secretKey } = await service.tenant();
  const own = { FATOURA_URL: service.url, FATOURA_KEY: secretKey, KEY: secretKey };
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...own, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((done) => void child.once('close', done));
  const [output, errors] = await Promise.all([
    Array.fromAsync(child.stdout).then((parts) => Buffer.concat(parts).toString()),
    Array.fromAsync(child.stderr).then((parts) => Buffer.concat(parts).toString()),
  ]);
  expect([await code, errors]).toEqual([0, '']);
  const client = new Client(service.url, secretKey);
  const { data } = (await client.get('/v1/invoices')).body;
  expect(data).toMatchObject([{ status: 'accepted', amount: 12_000 }]);
  // The examples that create, read and list the invoice print its id.
  expect(output.split(data[0].id).length - 1).toBeGreaterThanOrEqual(2);
  expect(output).toContain('accepted');
  expect(output).toContain('https://example.com/hook');
  expect((await client.get('/v1/webhook_endpoints')).body.data).toEqual([]);
}
