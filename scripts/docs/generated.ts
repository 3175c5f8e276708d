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
import type { Operation } from './reference.ts';

/** Lists the error codes below the guide to errors. */
export function tableOfErrors(): string {
  const rows = ERROR_CODES.map(
    (code) =>
      `| [\`${code}\`](/docs/errors/${code}.md) | ${statusesOf(code).join(', ')} | ${cell(rowOfError(code).description)} |`,
  );
  const rejections = Object.entries(REJECTION_CODES).map(
    ([code, { description, remedy }]) => `| \`${code}\` | ${cell(description)} | ${cell(remedy)} |`,
  );
  return `
## All codes

| code | status | cause |
|---|---|---|
${rows.join('\n')}

## Codes of rejections

A rejected invoice whose \`rejection_reason\` starts with one of these was not rejected by the tax authority.

| \`rejection_reason\` | cause | cure |
|---|---|---|
${rejections.join('\n')}
`;
}

/** The page of an error code. @param operations of REST, to name those that answer the code */
export function errorPage(code: ErrorCode, operations: readonly Operation[]): string {
  const { description, remedy } = rowOfError(code);
  const statuses = statusesOf(code);
  const examples = statuses.map((status) => {
    const [message, param] = exampleOfError(code, status);
    return `\`\`\`json\n${JSON.stringify({ error: { code, message, param, status } }, null, 2)}\n\`\`\``;
  });
  const answering = operations.filter(({ errors }) => errors.includes(code));
  const where = answering.map(({ method, path, page, anchor }) => `- [\`${method} ${path}\`](${page}#${anchor})`);
  return `# \`${code}\`

| status | ${statuses.map((status) => `\`${status}\``).join(', ')} |
|---|---|

## Cause

${description}

## Cure

${remedy}

## ${examples.length === 1 ? 'Example' : 'Examples'}

${examples.join('\n\n')}
${where.length === 0 ? '' : `\n## Answered by\n\n${where.join('\n')}\n`}
[All errors](/docs/errors.md), and what to retry.
`;
}

/** The page of the warnings. */
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
