import { expect, it } from 'vitest';
import { canonicalCookies } from '../../../src/transport/browser-facts.ts';

it.each([
  ['', ''],
  ['a=1; b=2', 'a=1; b=2'],
  ['a=1;b=2 ;\tc=3', 'a=1; b=2; c=3'],
  // The first of a name, as the most specific path comes first (RFC 6265, section 5.4).
  ['a=1; b=2; a=3', 'a=1; b=2'],
  ['a=%2E%3D=; b=', 'a=%2E%3D=; b='],
  // What parsers read differently.
  ['a =1; a=2', 'a=2'],
  ['a= 1; b=2', 'b=2'],
  ['a="1"; b=2', 'b=2'],
  ['a; =1; ; b=2', 'b=2'],
  ['a=1,b=2; c=3', 'c=3'],
  ['a=\u00e9; \u00e9=1; c=3', 'c=3'],
  ['a=1\u00a0; c=3', 'a=1; c=3'],
])('writes the cookies %j as %j', (header, canonical) => {
  expect(canonicalCookies(header)).toBe(canonical);
  expect(canonicalCookies(canonical)).toBe(canonical);
});
