import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * A password takes 95 ms of CPU on purpose, each time that it is stored or compared, and the tests do that a thousand
 * times. In the processes of the tests it takes a sixteenth: the same function with a lower cost. Processes that a test
 * starts have the real one, and so have the benches.
 */
const USUAL = { N: 16_384, r: 16 } as const;
const CHEAP = 1024;

const MARK = Symbol.for('fatoura.cheap-passwords');
const { scrypt } = crypto;

function cheaper(...[password, salt, length, options, done]: Required<Parameters<typeof scrypt>>): void {
  const isPassword = options?.N === USUAL.N && options.r === USUAL.r;
  scrypt(password, salt, length, isPassword ? { ...options, N: CHEAP } : options, done);
}

// It runs before each file of a process.
if (!(MARK in scrypt)) {
  crypto.scrypt = Object.assign(cheaper, { [MARK]: true }) as unknown as typeof scrypt;
  syncBuiltinESMExports();
}
