import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Reduces the cost of password hashing in the processes of the tests to a sixteenth, by the same function with lower
 * parameters. Hashing takes 95 ms of CPU on purpose each time that a password is stored or compared, and the tests do
 * that a thousand times. Processes that a test starts use the real parameters, and so do the benches.
 */
const USUAL = { N: 16_384, r: 16 } as const;
const CHEAP = 1024;

const MARK = Symbol.for('fatoura.cheap-passwords');
const { scrypt } = crypto;

function cheaper(...[password, salt, length, options, done]: Required<Parameters<typeof scrypt>>): void {
  const isPassword = options?.N === USUAL.N && options.r === USUAL.r;
  scrypt(password, salt, length, isPassword ? { ...options, N: CHEAP } : options, done);
}

// This module runs before each file of a process.
if (!(MARK in scrypt)) {
  crypto.scrypt = Object.assign(cheaper, { [MARK]: true }) as unknown as typeof scrypt;
  syncBuiltinESMExports();
}
