// Writes `docs/rules.md`. With --check, fails if the committed file differs from the generated one.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Rule } from '../src/domain/morocco/rule.ts';
import { ALL_RULES } from '../src/domain/morocco/rules.ts';

const FILE = new URL('../docs/rules.md', import.meta.url);

const HEAD = `# Rules by date

The rules of Moroccan law that an invoice meets, as the service knows them. \`npm run build\` writes this page from
\`src/domain/morocco/rules.ts\`; GraphQL's \`rules\` and the page "What applies today, what comes" of the dashboard show
them in French, Arabic and English.

- They were read in press and secondary sources, on the day that is stated. They are no legal advice.
- The service refuses no invoice for them, and changes no amount ([decision 0082](decisions/0082-rules-by-date.md)).
- **Warns**: a document that breaks the rule has a [warning](api/errors.md#warnings) with this code. **Information**:
  no content of an invoice can break it. **Off**: the sources contradict each other, so it warns of nothing.
- An announced rule applies to no document yet.
`;

function rowOf(rule: Rule): string {
  const { status, validFrom, validUntil, article, says, doubt, source, readOn } = rule;
  const from = validFrom ?? (status === 'announced' ? 'not known' : 'no day stated');
  const days = validUntil === null ? from : `${from} to ${validUntil}`;
  return `| ${[days, says.en, article ?? '', doubt?.en ?? '', `${source}; ${readOn}`].join(' | ')} |`;
}

function sectionOf(code: string): string {
  const rules = ALL_RULES.filter((rule) => rule.code === code);
  const { status, level, doubt } = rules[0]!;
  const effect = doubt !== null ? 'Off' : level === 'warning' ? 'Warns' : 'Information';
  const state = status === 'in_force' ? 'Law in force' : 'Announced';
  return `
## ${code}

${state}. ${effect}.

| from | what it says | law | doubt | source; read |
|---|---|---|---|---|
${rules.map(rowOf).join('\n')}
`;
}

const codes = [...new Set(ALL_RULES.map(({ code }) => code))];
const printed = `${HEAD}${codes.map(sectionOf).join('')}`;

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, printed);
  console.log('docs/rules.md written');
} else if (readFileSync(FILE, 'utf8') !== printed) {
  console.error('docs/rules.md differs from the table of rules: run `npm run build` and review the change');
  process.exitCode = 1;
}
