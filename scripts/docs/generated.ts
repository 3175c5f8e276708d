import {
  ERROR_CODES,
  type ErrorCode,
  exampleOfError,
  REJECTION_CODES,
  rowOfError,
  statusesOf,
} from '../../src/domain/error-codes.ts';
import { INVOICE_WARNINGS } from '../../src/domain/invoice/invoice-warnings.ts';
import { cell } from './cell.ts';
import { addressOf, type DocsLanguage } from './contents.ts';
import { FRENCH_ERRORS } from './french-errors.ts';
import type { Operation } from './reference.ts';

/** The words of the pages about errors. */
const WORDS = {
  en: {
    allCodes: 'All codes',
    rejections: 'Codes of rejections',
    explanation:
      'A rejected invoice whose `rejection_reason` starts with one of these was not rejected by the tax authority.',
    status: 'status',
    cause: 'Cause',
    cure: 'Cure',
    example: 'Example',
    examples: 'Examples',
    answeredBy: 'Answered by',
    end: 'All errors',
    retry: 'and what to retry',
  },
  fr: {
    allCodes: 'Tous les codes',
    rejections: 'Codes de rejet',
    explanation:
      'Une facture rejetée dont `rejection_reason` commence par l’un de ces codes n’a pas été rejetée par l’administration fiscale.',
    status: 'statut',
    cause: 'Cause',
    cure: 'Remède',
    example: 'Exemple',
    examples: 'Exemples',
    answeredBy: 'Réponse de',
    end: 'Toutes les erreurs',
    retry: 'et ce qu’il faut répéter',
  },
} as const satisfies Readonly<Record<DocsLanguage, Readonly<Record<string, string>>>>;

/** Lists the error codes below the guide to errors. */
export function tableOfErrors(language: DocsLanguage): string {
  const words = WORDS[language];
  const rows = ERROR_CODES.map((code) => {
    const address = `${addressOf(`errors/${code}`, language)}.md`;
    return `| [\`${code}\`](${address}) | ${statusesOf(code).join(', ')} | ${cell(textsOf(code, language).cause)} |`;
  });
  const rejections = Object.keys(REJECTION_CODES).map((code) => {
    const { cause, cure } = textsOf(code as keyof typeof REJECTION_CODES, language);
    return `| \`${code}\` | ${cell(cause)} | ${cell(cure)} |`;
  });
  const [cause, cure] = [words.cause.toLowerCase(), words.cure.toLowerCase()];
  return `
## ${words.allCodes}

| code | ${words.status} | ${cause} |
|---|---|---|
${rows.join('\n')}

## ${words.rejections}

${words.explanation}

| \`rejection_reason\` | ${cause} | ${cure} |
|---|---|---|
${rejections.join('\n')}
`;
}

/** Makes the page of an error code. @param operations the operations of REST, to name those that answer the code */
export function errorPage(code: ErrorCode, operations: readonly Operation[], language: DocsLanguage): string {
  const words = WORDS[language];
  const { cause, cure } = textsOf(code, language);
  const statuses = statusesOf(code);
  const examples = statuses.map((status) => {
    const [message, param] = exampleOfError(code, status);
    return `\`\`\`json\n${JSON.stringify({ error: { code, message, param, status } }, null, 2)}\n\`\`\``;
  });
  const answering = operations.filter(({ errors }) => errors.includes(code));
  const where = answering.map(({ method, path, page, anchor }) => `- [\`${method} ${path}\`](${page}#${anchor})`);
  return `# \`${code}\`

| ${words.status} | ${statuses.map((status) => `\`${status}\``).join(', ')} |
|---|---|

## ${words.cause}

${cause}

## ${words.cure}

${cure}

## ${examples.length === 1 ? words.example : words.examples}

${examples.join('\n\n')}
${where.length === 0 ? '' : `\n## ${words.answeredBy}\n\n${where.join('\n')}\n`}
[${words.end}](${addressOf('errors', language)}.md), ${words.retry}.
`;
}

function textsOf(
  code: ErrorCode | keyof typeof REJECTION_CODES,
  language: DocsLanguage,
): { cause: string; cure: string } {
  if (language === 'fr') return FRENCH_ERRORS[code];
  const { description, remedy } =
    code in REJECTION_CODES ? REJECTION_CODES[code as keyof typeof REJECTION_CODES] : rowOfError(code as ErrorCode);
  return { cause: description, cure: remedy };
}

/** Makes the page of the warnings. */
export function warningsPage(): string {
  const rows = Object.entries(INVOICE_WARNINGS).map(
    ([code, { description, remedy }]) => `| \`${code}\` | ${cell(description)} | ${cell(remedy)} |`,
  );
  return `# Warnings

Possible problems with the law or the tax authority do not make a request fail. The answer to \`POST /v1/invoices\` has
their codes in the header \`Fatoura-Warnings\`, separated by commas, also on an idempotent replay. GraphQL states each with
its field and message: \`invoice(id: …) { warnings { code path message } }\`.

| code | what is wrong | what to do |
|---|---|---|
${rows.join('\n')}
`;
}
