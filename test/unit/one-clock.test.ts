import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '../../src');

/** What takes an offset from the time zone data or the settings of a machine (docs/decisions/0076). */
const OTHER_CLOCKS = [
  /['"`]Africa\/Casablanca['"`]/g,
  /new Intl\.DateTimeFormat\((?![^;]*?timeZone: 'UTC')/g,
  /\.get(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds|TimezoneOffset)\(/g,
  /\.set(?:FullYear|Month|Date|Hours|Minutes|Seconds)\(/g,
  /\.to(?:Locale)?(?:Date|Time)String\(/g,
];
const ALLOWED = [
  // MongoDB's $dateToString and its like take the zone that a pipeline names.
  'engine/query/expression-dates.ts',
  // What the offsets are compared with.
  'app/time-zone-data.ts',
];

it('no time is formatted, and no day or year told, by another clock than the service’s own', () => {
  const found: string[] = [];
  for (const file of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:tsx?|js)$/.test(file) || ALLOWED.includes(file.replaceAll('\\', '/'))) continue;
    const text = readFileSync(join(SOURCES, file), 'utf8').replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, '');
    for (const clock of OTHER_CLOCKS) for (const [match] of text.matchAll(clock)) found.push(`${file}: ${match}`);
  }
  expect(found).toEqual([]);
});
