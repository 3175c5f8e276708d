import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectFiles } from './check/text-rules.ts';

const DECISION = /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/;
/** A path of the project, in prose, code or a diagram; not the tail of another path or an address. */
const NAMED_PATH = /(?<![\w/.@-])(?:src|test|scripts|docs|deploy|\.ci)\/[\w@.-]+(?:\/[\w@.-]+)*/g;
/** Files that a reader makes. */
const MADE_LATER = new Set(['deploy/production.env']);
const LINK = /\]\((?<markdown>[^)\s]+)\)|\bsrc="(?<image>[^"]+)"/g;
const CITED_HEADING = /(docs\/[\w/-]+\.md), "([^"]+)"/g;
/** A citation, in a comment, of a document that the repository does not hold. */
const OUTSIDE =
  /\((?:the )?(?:design|specification)(?:'s)?[ ,:]|\bdesign, section|\bspecification, "|the design's|\bREADME,? ?[("]/gi;
/** The longest line of a document, characters. Tables, code and the addresses of links may be longer. */
const WIDTH = 120;
const TEXTS = /\.(?:[jt]s|mjs|css|md)$/;

/**
 * Checks that the documents of the tree under `root` name only what exists: paths of the project, relative links with
 * their headings, decisions and headings that code cites; that their lines are wrapped; that decisions are numbered
 * without gaps or duplicates; and that no comment of src/, scripts/ or test/ cites a document outside the repository.
 * @returns the problems, `file:line: what`
 */
export function checkDocuments(root: string): string[] {
  const files = projectFiles(root);
  const decisions = files.flatMap((file) => DECISION.exec(file)?.[1] ?? []).toSorted();
  const headings = new Map<string, Headings>();
  const problems: string[] = [];

  function headingsOf(file: string): Headings {
    const known = headings.get(file) ?? readHeadings(readFileSync(join(root, file), 'utf8'));
    headings.set(file, known);
    return known;
  }

  /** Whether a path is there; a decision may be named by its number alone. */
  function isThere(path: string): boolean {
    const [, number] = /^docs\/decisions\/(\d{4})$/.exec(path) ?? [];
    return number === undefined ? existsSync(join(root, path)) : decisions.includes(number);
  }

  function checkLink(file: string, link: string): string | null {
    if (/^[a-z]+:/.test(link)) return null;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : posix.join(posix.dirname(file), path);
    if (!existsSync(join(root, target))) return `there is no ${target}`;
    return anchor === undefined || headingsOf(target).anchors.has(anchor)
      ? null
      : `${target} has no heading #${anchor}`;
  }

  for (const [index, number] of decisions.entries())
    if (Number(number) !== index + 1) problems.push(`docs/decisions: ${number} is not the number after ${index}`);
  for (const file of files) {
    const isDocument = file.endsWith('.md') && !file.startsWith('src/');
    const isCode = /^(?:src|scripts|test)\//.test(file) && TEXTS.test(file);
    // This file has the patterns, and its test has texts that match them.
    if ((!isDocument && !isCode) || /\/check-documents(?:\.test)?\.ts$/.test(file)) continue;
    const text = readFileSync(join(root, file), 'utf8');
    const report = (at: number, problem: string | null) => {
      if (problem !== null) problems.push(`${file}:${text.slice(0, at).split('\n').length}: ${problem}`);
    };
    if (isDocument) {
      for (const line of longLines(text)) problems.push(`${file}:${line}: is longer than ${WIDTH} characters`);
      for (const { index, groups } of text.matchAll(LINK))
        report(index, checkLink(file, groups?.markdown ?? groups?.image ?? ''));
      for (const { 0: path, index } of text.matchAll(NAMED_PATH))
        if (!isThere(path.replace(/\.$/, '')) && !MADE_LATER.has(path)) report(index, `there is no ${path}`);
    } else {
      for (const { 0: path, index } of text.matchAll(/\bdocs\/decisions\/\d{4}\b/g))
        if (!isThere(path)) report(index, `there is no ${path}`);
      for (const { 0: cited, index } of text.matchAll(OUTSIDE))
        report(index, `cites what is not in the repository: ${cited}`);
    }
    for (const { 1: page = '', 2: heading = '', index } of text.matchAll(CITED_HEADING)) {
      if (!existsSync(join(root, page))) report(index, `there is no ${page}`);
      else if (!headingsOf(page).titles.has(heading)) report(index, `${page} has no heading "${heading}"`);
    }
  }
  return problems;
}

/** @returns the numbers of lines that should be wrapped */
function longLines(markdown: string): number[] {
  let isCode = false;
  return markdown.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const isFree = isCode || /^\s*(?:\||<img)/.test(line);
    return isFree || line.replaceAll(/\]\([^)]*\)/g, ']').length <= WIDTH ? [] : [index + 1];
  });
}

interface Headings {
  readonly titles: ReadonlySet<string>;
  /** As GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
}

function readHeadings(markdown: string): Headings {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  const titles = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  const anchors = titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return { titles: new Set(titles), anchors: new Set(anchors) };
}

if (import.meta.main) {
  const problems = checkDocuments(fileURLToPath(new URL('..', import.meta.url)));
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
