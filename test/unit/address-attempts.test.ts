import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ADDRESS_ATTEMPT_MS } from '../../src/adapters/address-attempts.ts';
import { DELIVERY_TIMES } from '../../src/domain/limits.ts';

/** Says at the end of a process how long one address of a host may take. */
const SAY = `data:text/javascript,import net from 'node:net';
process.on('exit', () => process.stderr.write('limit ' + net.getDefaultAutoSelectFamilyAttemptTimeout()));`;

it.each([
  ['the service', 'src/main.ts', []],
  ['the command line', 'src/cli.ts', ['help']],
])(
  '%s gives each address of a host time for a lost packet: time stamps, collectors, the store',
  async (_, file, args) => {
    const program = fileURLToPath(new URL(`../../${file}`, import.meta.url));
    const child = spawn(process.execPath, ['--import', SAY, program, ...args], {
      // The service ends at once.
      env: { ...process.env, PORT: 'none' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = (await Array.fromAsync(child.stderr.setEncoding('utf8'))).join('');
    expect(said).toContain(`limit ${ADDRESS_ATTEMPT_MS}`);
  },
);

it('leaves time for a second address within the limit to connect', () => {
  expect(ADDRESS_ATTEMPT_MS).toBeGreaterThan(1000);
  expect(2 * ADDRESS_ATTEMPT_MS).toBeLessThan(DELIVERY_TIMES.connect);
});
