/** The paths of each icon, in a box of 20 by 20. */
const PATHS = {
  home: 'M3 9.5 10 3.5l7 6V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1Z',
  invoices: 'M5 2.5h7l3.5 3.5v11l-1.75-1-1.75 1-2-1-2 1-1.5-1-1.5 1ZM8 8.5h4.5M8 12h4.5',
  imports: 'M3.5 3.5h13v13h-13Zm0 4.5h13M8 3.5v13M12.5 10.5v4m-1.75-1.75 1.75 1.75 1.75-1.75',
  periods: 'M3.5 4.5h13v12h-13Zm0 4h13M7 2.5v3.5m6-3.5v3.5M7 13.5v-2m3 2v-1.5m3 1.5v-2.5',
  deliveries: 'M17 3 2.5 8.5l5.5 3L17 3l-4.5 13.5-2.5-5',
  endpoints: 'M7 2.5v4m6-4v4M4.5 6.5h11V10a5.5 5.5 0 0 1-11 0Zm5.5 9v2.5',
  console: 'M2.5 4h15v12h-15ZM5.5 7.5 8 10l-2.5 2.5M10 12.5h4',
  keys: 'M12.5 11.5a4 4 0 1 0-4-4q0 .6.2 1.2L3 14.5V17h3v-2h2v-2l2.2-1.8q1 .3 2.3.3Zm.5-4.5h.01',
  requests: 'M3.5 5h2m2.5 0h8.5m-13 5h2m2.5 0h8.5m-13 5h2m2.5 0h8.5',
  people: 'M7.5 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 16.5a5 5 0 0 1 10 0m.5-13.2a3 3 0 0 1 0 5.4m2 3.2a5 5 0 0 1 2.5 4.6',
  settings: 'M3 6h6m4 0h4M3 14h2m4 0h8M9 6a2 2 0 1 0 4 0 2 2 0 0 0-4 0Zm-4 8a2 2 0 1 0 4 0 2 2 0 0 0-4 0Z',
  audit: 'M10 2.5 16.5 5v4.5c0 4-2.7 6.7-6.5 8-3.8-1.3-6.5-4-6.5-8V5ZM7.5 9.8l2 2 3.2-3.6',
  account: 'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 7a6.5 6.5 0 0 1 13 0',
  tenants: 'M4 17V3.5h7V17m0-9.5h5V17M2.5 17h15M6.5 7h2m-2 3.5h2m-2 3.5h2',
  jobs: 'M10 5.5V10l3 2M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15Z',
  metrics: 'M3 17h14M5 14v-3.5m4 3.5V6m4 8V9m3.5 5V3.5',
} as const;

export type IconName = keyof typeof PATHS;

/** Draws an icon next to a name. Screen readers skip it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
