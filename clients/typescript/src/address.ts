/**
 * Reads the address of the service, and returns it without a slash at its end.
 * @throws TypeError if it is missing or no request can be sent to it. The message does not quote it, because it may be
 *   the key by mistake.
 */
export function addressOf(baseUrl: string | undefined): string {
  const text = (baseUrl ?? globalThis.process?.env?.FATOURA_URL ?? '').trim();
  if (text === '') throw new TypeError('baseUrl is missing: the address of the service, or the variable FATOURA_URL.');
  if (!/^https?:\/\/[^\s/?#@\\][^\s?#@\\]*$/i.test(text) || !isUrl(text))
    throw new TypeError(
      'baseUrl is no address such as https://invoices.example.ma: http or https, without a user and without a query.',
    );
  return text.replace(/\/+$/, '');
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).port !== '0';
}
