import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INTERACTIVE_PAGE } from '../../src/transport/docs/interactive-page.ts';

/** What was once said in two ways. */
const API = new URL('../../docs/api/', import.meta.url);
const guides = readdirSync(API).filter((name) => name.endsWith('.md'));
const textOf = (name: string) => readFileSync(new URL(name, API), 'utf8');

describe('the guides and the page /docs/interactive', () => {
  it.each([...guides, 'the page'])('%s: an idempotency key is of the order, not of the moment', (name) => {
    const text = name === 'the page' ? INTERACTIVE_PAGE : textOf(name);
    expect(text).not.toMatch(/Idempotency-Key[^\n]*\$\(|demo-\$\(date/i);
  });

  it('authentication.md: live keys can be made', () => {
    expect(textOf('authentication.md')).not.toMatch(/cannot be created in this version/i);
  });

  it('agree that the message of an error is for a developer', () => {
    expect(textOf('errors.md')).toMatch(/`message` is for a developer/);
    expect(INTERACTIVE_PAGE.replaceAll(/<[^>]+>|\s+/g, ' ')).toMatch(/ message +is for developers/);
  });
});
