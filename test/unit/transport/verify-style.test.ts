import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../src/${path}`, import.meta.url), 'utf8');

it('the page that verifies a document has the colours of the other pages, and loads none of their files', () => {
  const page = read('transport/verify/page.css');
  const base = read('dashboard/style/base.css');
  const named = [...page.matchAll(/ (--[a-z]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]);
  const names = [...new Set(named.map(([name]) => name))];
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) {
    const [light, dark, ...more] = named.filter(([each]) => each === name).map(([, value]) => value);
    expect(more).toEqual([]);
    expect(base).toContain(`${name}: light-dark(${light}, ${dark});`);
  }
  expect(page).not.toMatch(/url\(|@import|@font-face/);
});
