import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startBrowser } from '../../src/adapters/pdf/browser-process.ts';
import { unpackChromium } from '../../src/adapters/pdf/chromium-bundle.ts';
import { createThreads } from '../../src/adapters/threads.ts';
import { exhaustFiles } from './open-files.ts';

// A process that may open no file starts a thread and two programs, and then may open files again. It prints the
// results as JSON. test/unit/adapters/without-files.test.ts starts it with a low limit of open files.

const [kind = '', folder = ''] = process.argv.slice(2);
let uncaught: string | null = null;
process.on('uncaughtException', (error) => {
  uncaught = error.message;
});
const outcome = (work: Promise<unknown>) => work.then(String, (error: Error) => `${error.name}: ${error.message}`);
let fatal: string | null = null;
const program = join(folder, 'thread.mjs');
await writeFile(program, 'export default (task) => task * 2;');
const threads = createThreads<number, number>({ filename: pathToFileURL(program).href }, (error) => {
  fatal = error.message;
});
const result: Record<string, unknown> = {};
// Modules that are loaded at their first use need files, too.
await outcome(startBrowser({ executable: '/bin/false', sandbox: false, environment: {}, needsProfile: false }));
const release = exhaustFiles();
if (kind === 'thread') {
  const early = outcome(threads.run(1));
  await sleep(150);
  release();
  result.waited = await early;
} else if (kind === 'thread, for long') {
  result.refused = await outcome(threads.run(1));
  release();
} else if (kind === 'browser') {
  const start = { executable: '/bin/true', sandbox: false, environment: {}, needsProfile: false };
  result.refused = await outcome(startBrowser(start));
  release();
} else {
  release();
  const spared = exhaustFiles(2);
  result.refused = await outcome(unpackChromium(join(folder, 'cache')));
  spared();
}
result.later = await outcome(threads.run(21));
await threads.close();
await sleep(50);
console.log(JSON.stringify({ ...result, fatal, uncaught }));
