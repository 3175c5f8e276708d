import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DOMParser, type Element } from '@xmldom/xmldom';
import type { JavaTool } from './java-tool.ts';

/** The published rules are third-party data outside the repository, in a folder next to it if present. */
const RULES = new URL('../../../shared/en16931/EN16931-UBL-validation-preprocessed.sch', import.meta.url);
export const WITHOUT_EN16931 = existsSync(RULES)
  ? null
  : "EN 16931's rules are not beside the project (../shared/en16931): skipped";

/**
 * Fatal rules that a Moroccan invoice may violate, each with the reason. The list is empty: identifiers for which the
 * standard has no Moroccan scheme code (ICE, IF, RC) are written without a scheme.
 */
const WAIVERS: Readonly<Record<string, string>> = {};

/** A violation of a fatal rule, apart from waivers. */
export interface BrokenRule {
  readonly id: string;
  /** XPath of the element. */
  readonly at: string;
}

interface Saxon {
  transform(options: object): { principalResult: string };
}

const require = createRequire(import.meta.url);
let compiled: Promise<string> | null = null;

/** The fatal rules of EN 16931 (1.3.16) that a UBL document violates. */
export async function brokenRules(document: string | Uint8Array): Promise<BrokenRule[]> {
  compiled ??= compile();
  const { transform } = require('saxon-js') as Saxon;
  const { principalResult } = transform({
    stylesheetFileName: await compiled,
    sourceText: Buffer.from(document).toString(),
    destination: 'serialized',
  });
  return brokenIn(principalResult);
}

/**
 * Does the same as `brokenRules` for many documents. Takes milliseconds per document instead of a second.
 * @param saxon `xsltProcessor()`
 */
export async function brokenRulesOfMany(saxon: JavaTool, documents: readonly string[]): Promise<BrokenRule[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'en16931-'));
  try {
    const stylesheet = join(folder, 'rules.xsl');
    await writeFile(stylesheet, stylesheetOf(readFileSync(RULES, 'utf8')));
    const results = saxon.run([stylesheet], Object.fromEntries(documents.map((xml, nth) => [`${nth}.xml`, xml])));
    if (results.length !== documents.length)
      throw new Error(`${results.length} results of ${documents.length} documents`);
    return results.map(brokenIn);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function brokenIn(result: string): BrokenRule[] {
  return [...result.matchAll(/<broken id="([^"]*)" at="([^"]*)"/g)]
    .map(([, id = '', at = '']) => ({ id, at: at.replaceAll(/Q\{[^}]*\}/g, '') }))
    .filter(({ id }) => WAIVERS[id] === undefined);
}

/**
 * Compiles the rules for Saxon, which takes seconds, and caches the result under node_modules/.cache.
 * @returns the file
 */
async function compile(): Promise<string> {
  const stylesheet = stylesheetOf(readFileSync(RULES, 'utf8'));
  const cache = fileURLToPath(new URL('../../node_modules/.cache/en16931/', import.meta.url));
  const name = createHash('sha256').update(stylesheet).digest('hex').slice(0, 16);
  const file = join(cache, `${name}.sef.json`);
  if (existsSync(file)) return file;
  await mkdir(cache, { recursive: true });
  const draft = join(cache, `${name}.${process.pid}`);
  await writeFile(`${draft}.xsl`, stylesheet);
  const xslt3 = require.resolve('xslt3');
  await promisify(execFile)(process.execPath, [xslt3, `-xsl:${draft}.xsl`, `-export:${draft}.json`, '-nogo']);
  await rename(`${draft}.json`, file);
  await rm(`${draft}.xsl`);
  return file;
}

/**
 * Converts Schematron to XSLT: one mode per pattern. Within a pattern only the first rule that matches an element
 * applies (ISO/IEC 19757-3, section 6.5), so earlier rules get a higher priority.
 */
function stylesheetOf(schematron: string): string {
  const root = new DOMParser().parseFromString(schematron, 'text/xml').documentElement;
  if (root === null) throw new Error('the rules are not XML');
  const attribute = (element: Element, name: string) => escapeAttribute(element.getAttribute(name) ?? '');
  const namespaces = childrenOf(root, 'ns').map((ns) => `xmlns:${attribute(ns, 'prefix')}="${attribute(ns, 'uri')}"`);
  const patterns = childrenOf(root, 'pattern');
  const templates = patterns.flatMap((pattern, mode) => {
    const rules = childrenOf(pattern, 'rule');
    return [
      ...rules.map((rule, index) => {
        const tests = childrenOf(rule, 'assert')
          .filter((each) => each.getAttribute('flag') === 'fatal')
          .map(
            (each) =>
              `<xsl:if test="not(${attribute(each, 'test')})"><broken id="${attribute(each, 'id')}" at="{path()}"/></xsl:if>`,
          );
        return `<xsl:template match="${attribute(rule, 'context')}" mode="m${mode}" priority="${rules.length - index}">${tests.join('')}${DESCEND(mode)}</xsl:template>`;
      }),
      `<xsl:template match="*" mode="m${mode}" priority="0">${DESCEND(mode)}</xsl:template>`,
      `<xsl:template match="text() | @*" mode="m${mode}" priority="0"/>`,
    ];
  });
  return (
    `<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" ${namespaces.join(' ')}>` +
    `<xsl:template match="/"><rules>${patterns.map((_pattern, mode) => `<xsl:apply-templates select="*" mode="m${mode}"/>`).join('')}</rules></xsl:template>` +
    `${templates.join('')}</xsl:stylesheet>`
  );
}

const DESCEND = (mode: number) => `<xsl:apply-templates select="* | @*" mode="m${mode}"/>`;

function childrenOf(parent: Element, name: string): Element[] {
  return [...parent.childNodes].filter((node): node is Element => node.nodeType === 1 && node.localName === name);
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
