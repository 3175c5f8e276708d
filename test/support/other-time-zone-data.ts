/**
 * Makes `Intl.DateTimeFormat` behave like tz 2026b and earlier, which lack Morocco's stay at UTC+0 since 20 September
 * 2026.
 * @returns a function that undoes it
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
