// Builds the web pages if need be, and fails if they are larger than .size-limit.json allows.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from './build-dashboard.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
await buildDashboard(root);
const { status } = spawnSync(process.execPath, ['node_modules/size-limit/bin.js'], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
