const HEAD = '"""Made from _resources.py by `npm run build`: the same calls, which are awaited."""\n';
/** The calls that are awaited in the form for asyncio. */
const AWAITED = /(self\._http\.(?:send|sleep)|self\.get)\(/g;
const NAMES = /(?<!""")\b(Http|InvoicePages|Iterator|Invoices|Drafts|WebhookEndpoints)\b/g;

/**
 * Makes the resources for asyncio from the synchronous ones: every method is awaited, except methods that are iterated.
 */
export function pythonAsync(source: string): string {
  const made = source
    .replace(/^""".*"""\n/, HEAD)
    .replaceAll(NAMES, 'Async$1')
    .replaceAll(AWAITED, 'await $1(')
    .replaceAll(/^( *)(for .* in self\.)/gm, '$1async $2')
    .replaceAll(/^( +)def (?!__init__)/gm, '$1async def ');
  // A list reads its pages when it is iterated.
  return made.replace(/async def (list\([^)]*\) -> AsyncInvoicePages)/, 'def $1');
}
