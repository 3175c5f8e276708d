/**
 * Has `Intl.DateTimeFormat` know nothing of Morocco's stay at UTC+0 since 20 September 2026, as tz 2026b and earlier.
 * @returns undoes it
 */
export function withoutThatOf2026c(): () => void {
  const own = Intl.DateTimeFormat;
  Intl.DateTimeFormat = new Proxy(own, {
    construct: (target, [locale, options]) =>
      new target(locale, options?.timeZone === 'Africa/Casablanca' ? { ...options, timeZone: 'Etc/GMT-1' } : options),
  });
  return () => {
    Intl.DateTimeFormat = own;
  };
}
